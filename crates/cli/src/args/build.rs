//! `precast build`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;
use precast_compile::Isa;
use precast_ops::rewrite::Passes;

const EXAMPLES: &str = "\
Examples:
  precast build                                    ./precast.toml into ./artifacts
  precast build model/precast.toml --store cache   another manifest, another store
  precast build --bundle model.precast             also one file to deploy
  precast build --isa x86-64-v2,x86-64-v3 -j 4     two variants, four compilers at once
  precast build --json | jq .compiled              for scripts

A manifest:
  [[op]]                        # every combination of the listed dtypes and ranks
  name = \"add\"
  dtypes = [\"f32\", \"f64\"]
  ndim = [1, 2]

  [[graph]]                     # called by its name: precast run --entry score …
  name = \"score\"
  inputs = [\"x: f64[?]\", \"y: f64[?]\", \"z: f64[?]\"]
  outputs = [\"out = sum(exp(-x*x)*y + z)\"]";

/// Compiles what a manifest declares into a store, and into a bundle.
///
/// What the store has already is verified and not compiled again.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[cfg_attr(feature = "remote", command(group = clap::ArgGroup::new("verified").args(["remote", "remote_cache"]).multiple(true)))]
pub(crate) struct BuildArgs {
    /// The manifest; of a `Cargo.toml` it is the table `[package.metadata.precast]`.
    #[arg(default_value = "precast.toml")]
    pub(crate) manifest: PathBuf,
    /// The store to publish to; made where there is none. [default: $PRECAST_STORE, else ./artifacts]
    #[arg(long, value_name = "DIR")]
    pub(crate) store: Option<PathBuf>,
    /// Writes everything that was asked for into this one file as well.
    #[arg(long, value_name = "FILE")]
    pub(crate) bundle: Option<PathBuf>,
    /// A store elsewhere that may have what is to be compiled, https://host/path or s3://bucket/prefix; repeated. What it has and
    /// enough keys have signed (--keyring) is put into the store instead of being compiled.
    #[cfg(feature = "remote")]
    #[arg(long, value_name = "URL")]
    pub(crate) remote: Vec<String>,
    /// The keyring of which keys have to have signed what comes from elsewhere. [default: $PRECAST_KEYRING]
    #[cfg(feature = "remote")]
    #[arg(long, value_name = "FILE", requires = "verified")]
    pub(crate) keyring: Option<PathBuf>,
    #[cfg(feature = "remote")]
    #[command(flatten)]
    pub(crate) elsewhere: ElsewhereArgs,
    /// The target to compile for, as Rust spells it. [default: the manifest's, else this machine's]
    #[arg(long, value_name = "TRIPLE")]
    pub(crate) target: Option<String>,
    /// The ISA levels to compile for. [default: the manifest's, else the target's]
    #[arg(long, value_name = "LEVEL", value_delimiter = ',')]
    pub(crate) isa: Vec<Isa>,
    /// How many compilers run at once. [default: one a processor, or Cargo's jobserver]
    #[arg(short, long, value_name = "N")]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// Fails where `precast.lock` (of `model.toml` it is `model.lock`) would change, and lists what; where archives are pinned in
    /// it, takes no others.
    #[arg(long, conflicts_with_all = ["debug_info", "passes"])]
    pub(crate) locked: bool,
    /// As --locked, and compiles nothing: the store, a remote or the cache has to have everything.
    /// What is pinned is found without a compiler; a bundle of several modules is linked, which takes one.
    #[arg(long, conflicts_with_all = ["debug_info", "passes"])]
    pub(crate) frozen: bool,
    /// Writes the lock file with the archives of this build in it: for a release.
    #[arg(long, conflicts_with_all = ["locked", "frozen", "debug_info", "passes"])]
    pub(crate) pin: bool,
    /// Compiles for a debugger, without optimisation; such modules serve `precast run --debug-info`.
    #[arg(long)]
    pub(crate) debug_info: bool,
    /// The rewrites that declared graphs go through, as in `all,-fuse`; such modules serve `precast run --passes` of the same
    /// list. [default: all; `precast show --passes` lists them]
    #[arg(long, value_name = "LIST", allow_hyphen_values = true)]
    pub(crate) passes: Option<Passes>,
    /// Says why each unit was compiled, and how long that took: what differs from the nearest that the store had.
    #[arg(long)]
    pub(crate) why: bool,
    /// Names who builds, by a URI: who built what, when and from what is then written beside each record that is compiled, and
    /// beside the bundle (in-toto statements with SLSA's provenance). [default: $PRECAST_BUILDER]
    #[arg(long, value_name = "URI")]
    pub(crate) builder: Option<String>,
    /// Prints the summary as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// What of a build happens on other machines, by the Bazel Remote Execution API.
#[cfg(feature = "remote")]
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("elsewhere").args(["remote_cache", "remote_exec"]).multiple(true))]
pub(crate) struct ElsewhereArgs {
    /// A cache of the Bazel Remote Execution API, grpc://host:port/instance, or grpcs:// where it is encrypted: what it has is
    /// taken instead of being compiled, and what is compiled is put there. With --keyring only what enough keys have signed is
    /// taken. A bearer token for the cache and the farm is taken from $PRECAST_REMOTE_TOKEN.
    #[arg(long, value_name = "URL")]
    pub(crate) remote_cache: Option<String>,
    /// A farm of the Bazel Remote Execution API, at a URL of the same kind: the compiler runs there, 32 at once unless --jobs
    /// says otherwise. Its workers must have the toolchain of this machine.
    #[arg(long, value_name = "URL", conflicts_with = "frozen")]
    pub(crate) remote_exec: Option<String>,
    /// A platform property of the workers that may compile, beside precast-toolchain; repeated.
    #[arg(long, value_name = "NAME=VALUE", value_parser = property, requires = "remote_exec")]
    pub(crate) remote_property: Vec<(String, String)>,
    /// The authorities that may certify the cache and the farm: a file in PEM. [default: $PRECAST_REMOTE_CA, else the system's]
    #[arg(long, value_name = "FILE", requires = "elsewhere")]
    pub(crate) remote_ca: Option<PathBuf>,
    /// The certificate that is shown to them where they ask for one: a file in PEM. [default: $PRECAST_REMOTE_CERTIFICATE]
    #[arg(long, value_name = "FILE", requires_all = ["elsewhere", "remote_key"])]
    pub(crate) remote_certificate: Option<PathBuf>,
    /// The private key of that certificate: a file in PEM. [default: $PRECAST_REMOTE_KEY]
    #[arg(long, value_name = "FILE", requires = "remote_certificate")]
    pub(crate) remote_key: Option<PathBuf>,
    /// A credential helper, as Bazel has them: PROGRAM get reads a URI and answers with the headers that say who asks.
    /// [default: $PRECAST_REMOTE_CREDENTIALS]
    #[arg(long, value_name = "PROGRAM", requires = "elsewhere")]
    pub(crate) remote_credentials: Option<PathBuf>,
}

#[cfg(feature = "remote")]
fn property(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    if name.is_empty() {
        Err("a property needs a name".to_owned())
    } else {
        Ok((name.to_owned(), value.to_owned()))
    }
}
