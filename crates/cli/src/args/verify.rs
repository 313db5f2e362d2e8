//! `precast verify` and `precast challenge`: whether what there is, is what it should be.

use std::path::PathBuf;

use clap::Args;

use super::LayerArgs;

const VERIFY_EXAMPLES: &str = "\
Examples:
  precast verify                                      ./artifacts: every file is read and hashed
  precast verify --bundle model.precast               a bundle, as it was copied
  precast verify --store cache --rebuild precast.toml compiles again what the manifest declares
  precast verify --regen precast.toml                 generates it again, without a compiler
  precast verify --lock precast.lock                  the store has what a release names and pins

A rebuild needs the compiler that made the artifacts: what another one made is counted, and not compared.";

/// Reads and verifies everything that stores and bundles hold. Exit code 4: damage; 6: a rebuild gave other bytes.
///
/// Damage is moved to the store's quarantine, as by whoever reads it; the next build puts back what was there.
#[derive(Debug, Args)]
#[command(after_help = VERIFY_EXAMPLES)]
pub(crate) struct VerifyArgs {
    /// Compiles what these manifests declare again, and compares the bytes with those of the stores.
    #[arg(long, value_name = "MANIFEST", num_args = 1..)]
    pub(crate) rebuild: Vec<PathBuf>,
    /// Generates what these manifests declare again, and checks that the stores have each module and each fingerprint leads to its
    /// own. No compiler is needed.
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
