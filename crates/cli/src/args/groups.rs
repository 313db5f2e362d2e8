//! The first help page: ten commands with a description each, and the names of all others by task.

use clap::Command;

/// The commands of the first help page, in the order in which they are used.
const FIRST: [&str; 10] =
    ["build", "run", "record", "check", "explain", "ls", "show", "ops", "doctor", "profile"];

/// The other commands by task. Commands that a build of this program lacks are left out.
const OTHERS: [(&str, &[&str]); 4] = [
    (
        "Releases",
        &["update", "verify", "challenge", "sbom", "export", "import", "release", "push", "pull", "index"],
    ),
    ("Signatures", &["keygen", "sign", "trust"]),
    ("Development", &["graph", "check-op", "bridgestan"]),
    ("Maintenance", &["gc", "completions", "man"]),
];

/// Gives the command line its first help page.
pub(super) fn with_groups(command: Command) -> Command {
    let heading = crate::term::STYLES.get_header();
    let name = crate::term::STYLES.get_literal();
    let width = FIRST.iter().map(|name| name.len()).max().unwrap_or_default();
    let about = |name: &str| command.find_subcommand(name).and_then(Command::get_about).cloned();
    let mut text = format!("{heading}Commands:{heading:#}\n");
    for first in FIRST {
        let about = about(first).unwrap_or_default();
        text += &format!("  {name}{first:width$}{name:#}  {about}\n");
    }
    text += &format!("\n{heading}More commands{heading:#} (`precast help COMMAND` describes one):\n");
    let width = OTHERS.iter().map(|(task, _)| task.len()).max().unwrap_or_default();
    for (task, names) in OTHERS {
        let names: Vec<&str> =
            names.iter().copied().filter(|name| command.find_subcommand(name).is_some()).collect();
        text += &format!("  {task:width$}  {}\n", names.join(", "));
    }
    let template = format!(
        "{{before-help}}{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{text}\n\
         {heading}Options:{heading:#}\n{{options}}{{after-help}}"
    );
    command.help_template(template)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_has_one_place() {
        let whole = crate::args::Cli::whole();
        let mut declared: Vec<&str> = whole.get_subcommands().map(Command::get_name).collect();
        let others = OTHERS.iter().flat_map(|(_, names)| *names);
        let mut placed: Vec<&str> = FIRST.iter().chain(others).copied().collect();
        placed.retain(|name| declared.contains(name) || cfg!(feature = "remote"));
        declared.sort_unstable();
        placed.sort_unstable();
        assert_eq!(placed, declared);
    }
}
