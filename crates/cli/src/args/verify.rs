//! `precast verify` and `precast challenge`: whether what there is, is what it should be.

use std::path::PathBuf;

use clap::Args;

use super::LayerArgs;

const VERIFY_EXAMPLES: &str = "\
Examples:
  precast verify                                      ./artifacts: every file is read and hashed
  precast verify model.precast                        a bundle, as it was copied
  precast verify release.export                       an export, as `import` verifies it
  precast verify --store cache --rebuild precast.toml compiles again what the manifest declares
  precast verify --recompile                          compiles again what the archives hold, from themselves alone
  precast verify --regen precast.toml                 do declarations still lead to these modules?
  precast verify --lock precast.lock                  the store has what a release names and pins

A rebuild needs the compiler that made the artifacts: what another one made is counted, and not compared.";

/// Reads and verifies everything that stores, bundles and exports hold. Exit code 4: damage; 6: what was made again is another.
///
/// Damage is moved to the store's quarantine, as by whoever reads it; the next build puts back what was there.
#[derive(Debug, Args)]
#[command(after_help = VERIFY_EXAMPLES)]
pub(crate) struct VerifyArgs {
    /// A bundle or a store, as by --bundle and --store, an export, or a lock file, as by --lock; repeated.
    #[arg(value_name = "FILE|DIR")]
    pub(crate) named: Vec<PathBuf>,
    /// Compiles what these manifests declare again, and compares the bytes with those of the stores.
    #[arg(long, value_name = "MANIFEST", num_args = 1..)]
    pub(crate) rebuild: Vec<PathBuf>,
    /// Compiles every archive again from its own text, headers and flags, and compares the bytes: no manifest is asked for.
    #[arg(long)]
    pub(crate) recompile: bool,
    /// Derives keys, fingerprints and programs again from these manifests, without a compiler, and looks for them in the stores.
    #[arg(long, value_name = "MANIFEST", num_args = 1..)]
    pub(crate) regen: Vec<PathBuf>,
    /// Checks that the stores have what these lock files name and pin.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(crate) lock: Vec<PathBuf>,
    /// Prints JSON.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) layers: LayerArgs,
}

const CHALLENGE_EXAMPLES: &str = "\
Examples:
  precast challenge artifacts /mnt/ci/artifacts       two builders: did they get the same?
  precast challenge artifacts                         one store: has an action given two results?

One action (the same modules, flags, target, compiler to the last byte) has to give one result: a difference is an alarm.
The same module from another action, as another compiler, is told and no alarm.";

/// Compares what stores have from the same action. Exit code 6: different bytes.
#[derive(Debug, Args)]
#[command(after_help = CHALLENGE_EXAMPLES)]
pub(crate) struct ChallengeArgs {
    /// The stores.
    #[arg(value_name = "STORE", required = true)]
    pub(crate) stores: Vec<PathBuf>,
    /// Prints JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
