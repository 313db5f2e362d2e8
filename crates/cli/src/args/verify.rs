//! `precast verify` and `precast challenge`: check that artifacts are intact and reproducible.

use std::path::PathBuf;

use clap::Args;

use super::LayerArgs;

const VERIFY_EXAMPLES: &str = "\
Examples:
  precast verify                                      read and hash every file of ./artifacts
  precast verify model.precast                        verify a bundle
  precast verify release.export                       verify an export, as `import` does
  precast verify model.cdx.json --keyring precast.keyring   verify the signatures of a file
  precast verify next.keyring --keyring precast.keyring     verify a keyring, as `trust update` does
  precast verify --store cache --rebuild precast.toml rebuild the manifest and compare
  precast verify --recompile                          recompile the archives and compare
  precast verify --regen precast.toml                 derive the modules of a manifest and compare
  precast verify --lock precast.lock                  check that nothing of a release is missing

A rebuild needs the compiler of the artifacts. Artifacts of other compilers are counted, but not
compared.";

/// Read and verify all files of stores, bundles and exports (exit code 4: damage, 6: rebuilt bytes differ)
///
/// Corrupt files are moved to the store's quarantine, as every reader does; the next build recreates them.
#[derive(Debug, Args)]
#[command(after_help = VERIFY_EXAMPLES)]
pub(crate) struct VerifyArgs {
    /// Bundle (as --bundle), store (as --store), lock file (as --lock), export, keyring, or another file with
    /// signatures, to verify (repeatable)
    #[arg(value_name = "FILE|DIR")]
    pub(crate) named: Vec<PathBuf>,
    /// Rebuild what these manifests declare, and compare the bytes with those in the stores
    #[arg(long, value_name = "MANIFEST", num_args = 1..)]
    pub(crate) rebuild: Vec<PathBuf>,
    /// Rebuild every archive from its own source text, headers and flags, and compare the bytes; needs no manifest
    #[arg(long)]
    pub(crate) recompile: bool,
    /// Derive keys, fingerprints and programs again from these manifests, without a compiler, and look them up in the
    /// stores and bundles
    #[arg(long, value_name = "MANIFEST", num_args = 1..)]
    pub(crate) regen: Vec<PathBuf>,
    /// Check that the stores and bundles have the artifacts that these lock files name and pin
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(crate) lock: Vec<PathBuf>,
    /// Name that the signatures of bundles, exports and other files must state (`precast sign --name`)
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Check the signed provenance next to each bundle (`precast sign --dsse`)
    #[arg(long)]
    pub(crate) provenance: bool,
    /// Builder URI that the provenance must name
    #[arg(long, value_name = "URI", requires = "provenance")]
    pub(crate) builder: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) layers: LayerArgs,
}

const CHALLENGE_EXAMPLES: &str = "\
Examples:
  precast challenge artifacts /mnt/ci/artifacts       compare the results of two builders
  precast challenge a.precast b.precast               compare the machine code of two bundles
  precast challenge artifacts                         find actions with two results in one store

An action (modules, flags, target and compiler) must always have the same result: a difference is an
alarm. Modules built by different actions, such as with another compiler, are listed without an
alarm. A bundle of several modules is compared with other bundles, since its modules are joined.
Bundles have no names of functions: also name the stores of their builders to see the names.";

/// Compare results of the same action in stores, bundles and exports (exit code 6: different bytes)
#[derive(Debug, Args)]
#[command(after_help = CHALLENGE_EXAMPLES)]
pub(crate) struct ChallengeArgs {
    /// Store directories, bundles and exports
    #[arg(value_name = "STORE|FILE", required = true)]
    pub(crate) places: Vec<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
