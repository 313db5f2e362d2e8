//! `precast export` and `precast import`: from one store to another, without a network.

use std::path::PathBuf;

use clap::Args;
use precast_store::Release;

const EXPORT_EXAMPLES: &str = "\
Examples:
  precast export --out release.export --key alice.key     everything, signed
  precast export --out score.export --entry score         one graph, and the modules that it calls
  precast sign release.export --key bob.key               a second signature, in the same file";

/// Puts entries and modules of a store into one file, which verifies by itself where there is no network.
///
/// The same store gives the same file, but for its signatures, which are those of `minisign` over the member `statement`.
#[derive(Debug, Args)]
#[command(after_help = EXPORT_EXAMPLES)]
pub(crate) struct ExportArgs {
    /// The file.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// A graph to export, with what it calls, for every ISA level that the store has; repeated. [default: all there is]
    #[arg(long, value_name = "NAME")]
    pub(crate) entry: Vec<String>,
    /// The store. [default: $PRECAST_STORE, else ./artifacts]
    #[arg(long, value_name = "DIR")]
    pub(crate) store: Option<PathBuf>,
    /// Says that this takes the place of earlier exports of this name: where it was imported, those with lower numbers are refused.
    #[arg(long, value_name = "NAME=NUMBER")]
    pub(crate) release: Option<Release>,
    /// A secret key to sign with.
    #[arg(long, value_name = "KEY")]
    pub(crate) key: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) password: super::PasswordArgs,
    /// Prints JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

const IMPORT_EXAMPLES: &str = "\
Examples:
  precast import release.export --keyring precast.keyring
  precast import release.export --keyring precast.keyring --store cache --dry-run
  precast import mine.export --unsigned                   made by somebody who can write here anyway

All of the file is verified before anything of it is written; interrupted, an import has brought less, and can be done again.";

/// Puts what was exported into a store, if enough keys have signed it.
#[derive(Debug, Args)]
#[command(after_help = IMPORT_EXAMPLES)]
pub(crate) struct ImportArgs {
    /// What `precast export` wrote.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The keyring of which keys have to have signed it. [default: $PRECAST_KEYRING]
    #[arg(long, value_name = "FILE")]
    pub(crate) keyring: Option<PathBuf>,
    /// Asks for no signature.
    #[arg(long, conflicts_with = "keyring")]
    pub(crate) unsigned: bool,
    /// The store; made where there is none. [default: $PRECAST_STORE, else ./artifacts]
    #[arg(long, value_name = "DIR")]
    pub(crate) store: Option<PathBuf>,
    /// Takes an earlier release than the store has, or an export that is none.
    #[arg(long)]
    pub(crate) older: bool,
    /// Verifies, and writes nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Prints JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
