//! `precast verify` and `precast challenge`: check that artifacts are intact and reproducible.

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

/// Read and verify all files of stores, bundles and exports (exit code 4: damage, 6: rebuilt bytes differ)
///
/// Corrupt files are moved to the store's quarantine, as every reader does; the next build recreates them.
#[derive(Debug, Args)]
#[command(after_help = VERIFY_EXAMPLES)]
pub(crate) struct VerifyArgs {
    /// Bundle (as --bundle), store (as --store), lock file (as --lock) or export to verify (repeatable)
    #[arg(value_name = "FILE|DIR")]
    pub(crate) named: Vec<PathBuf>,
    /// Rebuild what these manifests declare, and compare the bytes with those in the stores
    #[arg(long, value_name = "MANIFEST", num_args = 1..)]
    pub(crate) rebuild: Vec<PathBuf>,
    /// Rebuild every archive from its own source text, headers and flags, and compare the bytes; needs no manifest
    #[arg(long)]
    pub(crate) recompile: bool,
    /// Derive keys, fingerprints and programs again from these manifests, without a compiler, and look them up in the
    /// stores
    #[arg(long, value_name = "MANIFEST", num_args = 1..)]
    pub(crate) regen: Vec<PathBuf>,
    /// Check that the stores have the artifacts that these lock files name and pin
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(crate) lock: Vec<PathBuf>,
    /// Print JSON
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

/// Compare results of the same action between stores (exit code 6: different bytes)
#[derive(Debug, Args)]
#[command(after_help = CHALLENGE_EXAMPLES)]
pub(crate) struct ChallengeArgs {
    /// Store directories
    #[arg(value_name = "STORE", required = true)]
    pub(crate) stores: Vec<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
