//! Commands and options of the feature `remote`, which a program without the feature knows by name only.

use clap::error::{ContextKind, ContextValue};

/// The commands.
const COMMANDS: [&str; 3] = ["push", "pull", "index"];

/// The start of the name of every option.
const OPTION: &str = "--remote";

/// Returns an error message if a command line was refused because it uses the feature `remote`.
pub(crate) fn needs_remote(refused: &clap::Error) -> Option<String> {
    let named = |kind| match refused.get(kind) {
        Some(ContextValue::String(name)) => Some(name.as_str()),
        _ => None,
    };
    let command = named(ContextKind::InvalidSubcommand).filter(|name| COMMANDS.contains(name));
    let option = named(ContextKind::InvalidArg).filter(|name| name.starts_with(OPTION));
    let name = command.or(option)?;
    Some(format!("`{name}` needs the feature `remote`, which this program was built without"))
}

/// The command that installs the program with the feature.
pub(crate) const INSTALL: &str =
    "install it again: `cargo install --locked --path crates/cli --features remote`";

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Arg, Command};

    fn refused(arguments: &[&str]) -> Option<String> {
        let own = Command::new("precast")
            .subcommand_required(true)
            .subcommand(Command::new("ls").arg(Arg::new("store").long("store")));
        needs_remote(&own.try_get_matches_from(arguments).unwrap_err())
    }

    #[test]
    fn commands_and_options_of_the_feature_are_known() {
        for arguments in [
            &["precast", "push", "x"][..],
            &["precast", "ls", "--remote", "x"],
            &["precast", "ls", "--remote-cache=x"],
        ] {
            assert!(
                refused(arguments).is_some_and(|message| message.contains("feature `remote`")),
                "{arguments:?}"
            );
        }
        for arguments in [&["precast", "posh"][..], &["precast", "ls", "--rem"], &["precast"]] {
            assert_eq!(refused(arguments), None);
        }
    }

    #[cfg(feature = "remote")]
    #[test]
    fn the_feature_has_these_commands() {
        let whole = crate::args::Cli::whole();
        assert!(COMMANDS.iter().all(|name| whole.find_subcommand(name).is_some()));
    }
}
