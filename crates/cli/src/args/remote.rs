//! `precast push`, `pull` and `index`: to and from places elsewhere.

use std::path::PathBuf;

use clap::Args;

const PUSH_EXAMPLES: &str = "\
Examples:
  precast push s3://bucket/kernels                        the store, into a bucket
  precast push s3://bucket/kernels --entry score          one graph, and the modules that it calls
  precast push oci://ghcr.io/me/model:1.4 model.precast   a bundle, into a registry; `model.precast.minisig` goes along

Credentials are taken from where others keep them: `AWS_ACCESS_KEY_ID` and its like, `docker login`, `podman login`.";

/// Puts a store into a bucket, or a bundle or an export into a registry.
///
/// Into a bucket objects go before records and records before what names them; what is there already is verified, and stays. A
/// release is an artifact with the file as its layers; the digest that is printed names exactly this file.
#[derive(Debug, Args)]
#[command(after_help = PUSH_EXAMPLES)]
pub(crate) struct PushArgs {
    /// `s3://bucket/prefix`, or `oci://host/repository:tag`.
    #[arg(value_name = "URL")]
    pub(crate) url: String,
    /// The bundle or the export, for a registry.
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// The store, for a bucket. [default: $PRECAST_STORE, else ./artifacts]
    #[arg(long, value_name = "DIR", conflicts_with = "file")]
    pub(crate) store: Option<PathBuf>,
    /// A graph to push, with what it calls, for every ISA level that the store has; repeated. [default: all there is]
    #[arg(long, value_name = "NAME", conflicts_with = "file")]
    pub(crate) entry: Vec<String>,
    /// A bill of materials of the file (`precast sbom`), to be found by whoever finds the release.
    #[arg(long, value_name = "FILE", requires = "file")]
    pub(crate) sbom: Option<PathBuf>,
    /// Prints JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

const PULL_EXAMPLES: &str = "\
Examples:
  precast pull oci://ghcr.io/me/model:1.4 --keyring precast.keyring
  precast pull oci://ghcr.io/me/model@sha256:0a1b… --out model.precast";

/// Takes a bundle or an export out of a registry, and its signatures with it.
///
/// By its digest it is what was pushed, byte for byte. By its tag it is what the registry says: then a keyring tells whose it is,
/// now or when the file is used, and a signed release from before the last one that was pulled here is refused.
#[derive(Debug, Args)]
#[command(after_help = PULL_EXAMPLES)]
pub(crate) struct PullArgs {
    /// `oci://host/repository:tag`, or `…@sha256:…`.
    #[arg(value_name = "URL")]
    pub(crate) url: String,
    /// The file; its signatures are put beside it. [default: the name that it was pushed with]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// The keyring of which keys have to have signed it. [default: $PRECAST_KEYRING, else none are asked for]
    #[arg(long, value_name = "FILE")]
    pub(crate) keyring: Option<PathBuf>,
    /// Takes a release from before the last one that was pulled here.
    #[arg(long)]
    pub(crate) older: bool,
    /// Fail where a tag cannot be compared with what it meant before, as without a cache directory
    #[arg(long)]
    pub(crate) require_history: bool,
    /// Prints JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

const INDEX_EXAMPLES: &str = "\
Examples:
  precast index artifacts && rsync -a artifacts/ www:/srv/kernels
  precast check --entry score --remote https://www/kernels --keyring precast.keyring";

/// Writes lists of names into a store, so that a plain web server can serve it.
///
/// Nothing else needs them. What is published or deleted afterwards is in them when they are written again.
#[derive(Debug, Args)]
#[command(after_help = INDEX_EXAMPLES)]
pub(crate) struct IndexArgs {
    /// The store. [default: $PRECAST_STORE, else ./artifacts]
    #[arg(value_name = "DIR")]
    pub(crate) store: Option<PathBuf>,
}
