//! `precast release`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use precast_store::{ParseReleaseError, Release};

const EXAMPLES: &str = "\
Examples:
  precast release create model --switch       all entries of the store, as the next release of `model`
  precast release switch model=7              serve release 7
  precast release rollback model              serve what was served before
  precast import r8.export --switch --keyring precast.keyring   import a release and serve it

Programs that open the store afterwards see all entries of one release. `precast gc` keeps the last
three releases of each name (--keep-releases).";

/// Serve numbered releases of a store, and go back to an earlier one
///
/// A release is a set of entries under a name and a number. While a release of a name is served, builds and imports do
/// not change the meaning of its entries.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ReleaseArgs {
    /// Store directory [default: $PRECAST_STORE, else ./artifacts]
    #[arg(long, value_name = "DIR", value_parser = super::local(), global = true)]
    pub(crate) store: Option<PathBuf>,
    /// Switch only to releases whose entries and modules are signed with this keyring [default: $PRECAST_KEYRING]
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) keyring: Option<PathBuf>,
    /// Print JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) action: ReleaseAction,
}

/// The action on the releases.
#[derive(Debug, Subcommand)]
pub(crate) enum ReleaseAction {
    /// Record entries as a release
    Create {
        /// Name, and optionally `=` and a number [default number: the next one]
        #[arg(value_name = "NAME[=NUMBER]", value_parser = name_and_number)]
        name: (String, Option<u64>),
        /// Only this entry (repeatable) [default: all entries]
        #[arg(long, value_name = "NAME")]
        entry: Vec<String>,
        /// Also serve the release
        #[arg(long)]
        switch: bool,
    },
    /// Serve a recorded release
    Switch {
        /// The release
        #[arg(value_name = "NAME=NUMBER")]
        release: Release,
    },
    /// Serve the release that was served before, never one that was rolled back from
    Rollback {
        /// Name of the release
        #[arg(value_name = "NAME", value_parser = name)]
        name: String,
    },
    /// List the releases
    List,
}

/// Parses a name, and a number if there is one.
fn name_and_number(text: &str) -> Result<(String, Option<u64>), String> {
    match text.contains('=') {
        false => name(text).map(|name| (name, None)),
        true => {
            let release: Release = text.parse().map_err(|error: ParseReleaseError| error.to_string())?;
            Ok((release.name, Some(release.number)))
        }
    }
}

/// Parses the name of a release.
fn name(text: &str) -> Result<String, String> {
    if text.contains('=') {
        return Err("expected a name without a number".to_owned());
    }
    let release: Release =
        format!("{text}=0").parse().map_err(|error: ParseReleaseError| error.to_string())?;
    Ok(release.name)
}
