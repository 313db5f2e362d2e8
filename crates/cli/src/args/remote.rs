//! `precast push`, `pull` and `index`: publish to and fetch from remotes.

use std::path::PathBuf;

use clap::Args;
use precast_core::redact::UrlText;

const PUSH_EXAMPLES: &str = "\
Examples:
  precast push s3://bucket/kernels                        a store to a bucket
  precast push s3://bucket/kernels --entry score          one graph and its modules
  precast push oci://ghcr.io/me/model:1.4 model.precast   a bundle and its signatures to a registry
  precast push oci://ghcr.io/me/model:1.4 model.precast --provenance   with its signed provenance

Credentials come from `AWS_ACCESS_KEY_ID` and related variables, or from `docker login` or
`podman login`.";

/// Push a store to a bucket, or a bundle or an export to a registry
///
/// Objects are uploaded to a bucket before the records that name them, and records before the files that name them.
/// Files that the bucket already has are verified and kept. A release is an artifact with the file as its layers; the
/// printed digest identifies exactly this file.
#[derive(Debug, Args)]
#[command(after_help = PUSH_EXAMPLES)]
pub(crate) struct PushArgs {
    /// `s3://bucket/prefix`, or `oci://host/repository:tag`
    #[arg(value_name = "URL")]
    pub(crate) url: UrlText,
    /// Bundle or export, for a registry
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Store directory, for a bucket [default: $PRECAST_STORE, else ./artifacts]
    #[arg(long, value_name = "DIR", conflicts_with = "file", value_parser = super::local())]
    pub(crate) store: Option<PathBuf>,
    /// Push only this graph and the modules that it calls, for every ISA level in the store (repeatable) [default:
    /// all entries and modules]
    #[arg(long, value_name = "NAME", conflicts_with = "file")]
    pub(crate) entry: Vec<String>,
    /// Attach a bill of materials of the file (`precast sbom`) to the release
    #[arg(long, value_name = "FILE", requires = "file")]
    pub(crate) sbom: Option<PathBuf>,
    /// Attach the signed provenance next to the file (`precast sign --dsse`) to the release
    #[arg(long, requires = "file")]
    pub(crate) provenance: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

const PULL_EXAMPLES: &str = "\
Examples:
  precast pull oci://ghcr.io/me/model:1.4 --keyring precast.keyring
  precast pull oci://ghcr.io/me/model@sha256:0a1b… --out model.precast";

/// Pull a bundle or an export from a registry, with its signatures and its signed provenance
///
/// A digest identifies the pushed file byte for byte. A tag is resolved by the registry, so a keyring must verify the
/// signatures, now or when the file is used. A signed release that is older than the last one pulled here is
/// rejected.
#[derive(Debug, Args)]
#[command(after_help = PULL_EXAMPLES)]
pub(crate) struct PullArgs {
    /// `oci://host/repository:tag`, or `…@sha256:…`
    #[arg(value_name = "URL")]
    pub(crate) url: UrlText,
    /// File to write, with its signatures and provenance next to it [default: the name that it was pushed with]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Keyring that the file must be signed with [default: $PRECAST_KEYRING, else no signatures are required]
    #[arg(long, value_name = "FILE")]
    pub(crate) keyring: Option<PathBuf>,
    /// Accept an older release than the last one pulled here
    #[arg(long)]
    pub(crate) older: bool,
    /// Fail if a tag cannot be compared with its earlier meaning, e.g. without a cache directory
    #[arg(long)]
    pub(crate) require_history: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

const INDEX_EXAMPLES: &str = "\
Examples:
  precast index artifacts && rsync -a artifacts/ www:/srv/kernels
  precast check --entry score --remote https://www/kernels --keyring precast.keyring";

/// Write index files into a store, so that a plain web server can serve it
///
/// Only such a server needs them. Run the command again after artifacts are published or deleted.
#[derive(Debug, Args)]
#[command(after_help = INDEX_EXAMPLES)]
pub(crate) struct IndexArgs {
    /// Store directory [default: $PRECAST_STORE, else ./artifacts]
    #[arg(value_name = "DIR", value_parser = super::local())]
    pub(crate) store: Option<PathBuf>,
}
