//! `precast export` and `precast import`: move artifacts from one store to another without a network.

use std::path::PathBuf;

use clap::Args;
use precast_store::Release;

const EXPORT_EXAMPLES: &str = "\
Examples:
  precast export --out release.export --key alice.key     everything, signed
  precast export --out score.export --entry score         one graph and its modules
  precast sign release.export --key bob.key               add a second signature to the file";

/// Export entries and modules of a store to one file that can be verified offline
///
/// The same store always gives the same file, apart from its signatures. These are `minisign` signatures of the
/// member `statement`.
#[derive(Debug, Args)]
#[command(after_help = EXPORT_EXAMPLES)]
pub(crate) struct ExportArgs {
    /// File to write
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// Export only this graph and the modules that it calls, for every ISA level in the store (repeatable) [default:
    /// all entries and modules]
    #[arg(long, value_name = "NAME")]
    pub(crate) entry: Vec<String>,
    /// With --release, also export modules that no entry calls, such as those of single ops
    #[arg(long, requires = "release", conflicts_with = "entry")]
    pub(crate) all: bool,
    /// Store directory [default: $PRECAST_STORE, else ./artifacts]
    #[arg(long, value_name = "DIR", value_parser = super::local())]
    pub(crate) store: Option<PathBuf>,
    /// Release name and number of this export: all entries and the modules that they call; a store that imported it
    /// rejects lower numbers of the same name
    #[arg(long, value_name = "NAME=NUMBER")]
    pub(crate) release: Option<Release>,
    #[command(flatten)]
    pub(crate) signer: super::SignerArgs,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

const IMPORT_EXAMPLES: &str = "\
Examples:
  precast import release.export --keyring precast.keyring
  precast import release.export --keyring precast.keyring --store cache --dry-run
  precast import mine.export --unsigned                   an export of your own

The whole file is verified before anything is written. An interrupted import can be repeated.";

/// Import an exported file into a store, if enough keys have signed it
#[derive(Debug, Args)]
#[command(after_help = IMPORT_EXAMPLES)]
pub(crate) struct ImportArgs {
    /// File written by `precast export`
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Keyring that the file must be signed with [default: $PRECAST_KEYRING]
    #[arg(long, value_name = "FILE")]
    pub(crate) keyring: Option<PathBuf>,
    /// Accept the file without a signature
    #[arg(long, conflicts_with = "keyring")]
    pub(crate) unsigned: bool,
    /// Store directory (created if missing) [default: $PRECAST_STORE, else ./artifacts]
    #[arg(long, value_name = "DIR", value_parser = super::local())]
    pub(crate) store: Option<PathBuf>,
    /// Accept an older release than the store has, or an export without a release number
    #[arg(long)]
    pub(crate) older: bool,
    /// Also serve the imported release, as `precast release switch` does
    #[arg(long, conflicts_with = "dry_run")]
    pub(crate) switch: bool,
    /// Verify only, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
