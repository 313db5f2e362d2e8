//! `precast build`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;
use precast_compile::Isa;
#[cfg(feature = "remote")]
use precast_core::redact::UrlText;
use precast_ops::rewrite::Passes;

const EXAMPLES: &str = "\
Examples:
  precast build                                    ./precast.toml into ./artifacts
  precast build model/precast.toml --store cache   another manifest, another store
  precast build --bundle model.precast             also write one file to deploy
  precast build --isa x86-64-v2,x86-64-v3 -j 4     two variants, four parallel compilers
  precast build --json | jq .compiled              for scripts

A manifest:
  [[op]]                        # all combinations of these dtypes and ranks
  name = \"add\"
  dtypes = [\"f32\", \"f64\"]
  ndim = [1, 2]

  [[graph]]                     # call it by name: precast run --entry score …
  name = \"score\"
  inputs = [\"x: f64[?]\", \"y: f64[?]\", \"z: f64[?]\"]
  outputs = [\"out = sum(exp(-x*x)*y + z)\"]";

/// Compile the graphs and ops of a manifest into a store, and optionally into a bundle
///
/// Artifacts that the store already has are verified and not compiled again.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[cfg_attr(feature = "remote", command(group = clap::ArgGroup::new("verified").args(["remote", "remote_cache"]).multiple(true)))]
pub(crate) struct BuildArgs {
    /// Manifest file; for a `Cargo.toml`, the table `[package.metadata.precast]`
    #[arg(default_value = "precast.toml")]
    pub(crate) manifest: PathBuf,
    /// Store directory (created if missing) [default: $PRECAST_STORE, else ./artifacts]
    #[arg(long, value_name = "DIR", value_parser = super::local())]
    pub(crate) store: Option<PathBuf>,
    /// Also write all requested artifacts to one bundle file
    #[arg(long, value_name = "FILE", value_parser = super::local())]
    pub(crate) bundle: Option<PathBuf>,
    /// Fetch artifacts from this store instead of compiling them, if enough keys have signed them (--keyring);
    /// https://host/path or s3://bucket/prefix (repeatable)
    #[cfg(feature = "remote")]
    #[arg(long, value_name = "URL")]
    pub(crate) remote: Vec<UrlText>,
    /// Keyring that remote artifacts must be signed with [default: $PRECAST_KEYRING]
    #[cfg(feature = "remote")]
    #[arg(long, value_name = "FILE", requires = "verified")]
    pub(crate) keyring: Option<PathBuf>,
    #[cfg(feature = "remote")]
    #[command(flatten)]
    pub(crate) elsewhere: ElsewhereArgs,
    /// Target triple to compile for, as Rust spells it [default: the manifest's, else this machine's]
    #[arg(long, value_name = "TRIPLE")]
    pub(crate) target: Option<String>,
    /// Lowest version of glibc that the modules must run with, such as 2.28; needs zig as the compiler
    /// [default: the manifest's, else that of the compiler]
    #[arg(long, value_name = "VERSION")]
    pub(crate) glibc: Option<String>,
    /// ISA levels to compile for [default: the manifest's, else the target's]
    #[arg(long, value_name = "LEVEL", value_delimiter = ',')]
    pub(crate) isa: Vec<Isa>,
    /// Number of compilers to run at once [default: one per processor, or Cargo's jobserver]
    #[arg(short, long, value_name = "N")]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// Fail if `precast.lock` (`model.lock` for `model.toml`) would change, and list the changes; if it pins
    /// archives, accept only those
    #[arg(long, conflicts_with_all = ["debug_info", "passes"])]
    pub(crate) locked: bool,
    /// Like --locked, and never compile: fail if an artifact is missing from the store, the remotes and the cache.
    /// Pinned artifacts are found without a compiler; linking a bundle of several modules needs one
    #[arg(long, conflicts_with_all = ["debug_info", "passes"])]
    pub(crate) frozen: bool,
    /// Write the lock file and pin the archives of this build in it, for a release
    #[arg(long, conflicts_with_all = ["locked", "frozen", "debug_info", "passes"])]
    pub(crate) pin: bool,
    /// Compile for a debugger, without optimisation; used by `precast run --debug-info`
    #[arg(long)]
    pub(crate) debug_info: bool,
    /// Rewrites to apply to declared graphs, e.g. `all,-fuse`; used by `precast run --passes` with the same list
    /// [default: all; `precast show --passes` lists them]
    #[arg(long, value_name = "LIST", allow_hyphen_values = true)]
    pub(crate) passes: Option<Passes>,
    /// Report why each unit was compiled and how long it took, with the differences from the nearest artifact in the
    /// store
    #[arg(long)]
    pub(crate) why: bool,
    /// Write the files that the build read as a rule of make, for `depfile` of ninja and `DEPFILE` of CMake. Its target is
    /// the bundle, else the store
    #[arg(long, value_name = "FILE")]
    pub(crate) depfile: Option<PathBuf>,
    /// Write an HTML page with the compile time of each unit
    #[arg(long, value_name = "FILE")]
    pub(crate) timings: Option<PathBuf>,
    /// Builder URI for provenance: record builder, time and inputs next to each compiled record and next to the
    /// bundle (in-toto statements with SLSA provenance) [default: $PRECAST_BUILDER]
    #[arg(long, value_name = "URI")]
    pub(crate) builder: Option<String>,
    /// URI of the manifest's repository for provenance, e.g. git+https://host/repository@refs/tags/v1
    #[arg(long, value_name = "URI")]
    pub(crate) source: Option<String>,
    /// Commit of --source for provenance
    #[arg(long, value_name = "HASH", requires = "source")]
    pub(crate) source_commit: Option<String>,
    /// Identifier of this run for provenance, e.g. the URL of the CI job
    #[arg(long, value_name = "ID")]
    pub(crate) invocation: Option<String>,
    /// Print the summary as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// The parts of a build that run on other machines, through the Bazel Remote Execution API.
#[cfg(feature = "remote")]
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("elsewhere").args(["remote_cache", "remote_exec"]).multiple(true))]
pub(crate) struct ElsewhereArgs {
    /// Fetch compiled artifacts from this cache of the Bazel Remote Execution API, and upload new ones;
    /// grpc://host:port/instance, or grpcs:// with TLS. With --keyring, fetch only artifacts signed by enough keys.
    /// $PRECAST_REMOTE_TOKEN holds a bearer token for the cache and the farm
    #[arg(long, value_name = "URL")]
    pub(crate) remote_cache: Option<UrlText>,
    /// Compile on this farm of the Bazel Remote Execution API (same URL form as --remote-cache), with 32 compilers at
    /// once unless --jobs is given. Its workers must have the toolchain of this machine
    #[arg(long, value_name = "URL", conflicts_with = "frozen")]
    pub(crate) remote_exec: Option<UrlText>,
    /// Platform property that workers must have, in addition to precast-toolchain (repeatable)
    #[arg(long, value_name = "NAME=VALUE", value_parser = property, requires = "remote_exec")]
    pub(crate) remote_property: Vec<(String, String)>,
    /// CA certificates (PEM file) for the cache and the farm [default: $PRECAST_REMOTE_CA, else the system's]
    #[arg(long, value_name = "FILE", requires = "elsewhere")]
    pub(crate) remote_ca: Option<PathBuf>,
    /// Client certificate (PEM file) for mutual TLS [default: $PRECAST_REMOTE_CERTIFICATE]
    #[arg(long, value_name = "FILE", requires_all = ["elsewhere", "remote_key"])]
    pub(crate) remote_certificate: Option<PathBuf>,
    /// Private key (PEM file) of the client certificate [default: $PRECAST_REMOTE_KEY]
    #[arg(long, value_name = "FILE", requires = "remote_certificate")]
    pub(crate) remote_key: Option<PathBuf>,
    /// Credential helper with Bazel's protocol: `PROGRAM get` reads a URI and returns authentication headers
    /// [default: $PRECAST_REMOTE_CREDENTIALS]
    #[arg(long, value_name = "PROGRAM", requires = "elsewhere")]
    pub(crate) remote_credentials: Option<PathBuf>,
}

#[cfg(feature = "remote")]
fn property(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    if name.is_empty() {
        Err("missing name of a property".to_owned())
    } else {
        Ok((name.to_owned(), value.to_owned()))
    }
}
