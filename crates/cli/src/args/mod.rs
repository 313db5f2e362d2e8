//! The command line: its arguments, help and examples. The commands themselves are in `cmd`.

mod absent;
mod binding;
mod bridgestan;
mod build;
mod carry;
mod check_op;
mod doctor;
mod gc;
mod graph;
mod groups;
mod layers;
mod local;
mod look;
mod ops;
mod page;
mod picture;
mod profile;
mod record;
mod release;
#[cfg(feature = "remote")]
mod remote;
mod run;
mod sbom;
mod shell;
mod sign;
mod update;
mod verify;

pub(crate) use absent::{INSTALL, needs_remote};
pub(crate) use binding::Binding;
pub(crate) use bridgestan::BridgestanArgs;
pub(crate) use build::BuildArgs;
#[cfg(feature = "remote")]
pub(crate) use build::ElsewhereArgs;
pub(crate) use carry::{ExportArgs, ImportArgs};
pub(crate) use check_op::CheckOpArgs;
pub(crate) use doctor::DoctorArgs;
pub(crate) use gc::GcArgs;
pub(crate) use graph::GraphArgs;
pub(crate) use layers::LayerArgs;
use local::local;
pub(crate) use look::{CheckArgs, ExplainArgs, LsArgs, ShowArgs};
pub(crate) use ops::OpsArgs;
pub(crate) use page::page;
pub(crate) use picture::PictureArgs;
pub(crate) use profile::ProfileArgs;
pub(crate) use record::RecordArgs;
pub(crate) use release::{ReleaseAction, ReleaseArgs};
#[cfg(feature = "remote")]
pub(crate) use remote::{IndexArgs, PullArgs, PushArgs};
pub(crate) use run::RunArgs;
pub(crate) use sbom::SbomArgs;
pub(crate) use shell::{CompletionsArgs, ManArgs};
pub(crate) use sign::{KeygenArgs, PasswordArgs, PublicArgs, SignArgs, SignerArgs, TrustAction, TrustArgs};
pub(crate) use update::UpdateArgs;
pub(crate) use verify::{ChallengeArgs, VerifyArgs};

use std::sync::LazyLock;

use clap::{Parser, Subcommand};
use precast_ops::OtherVersion;

use crate::term::STYLES;

/// Exit codes, the same for every command, and environment variables.
const EXIT_CODES: &str = "\
Exit codes:
  0  done
  1  error
  2  invalid command line
  3  miss: no layer has the graph (`check`, or `run` under `strict`)
  4  `verify` or `doctor --verify` found damage
  5  `check-op`, or `run` in debug mode, found an op that violates its contract
  6  `verify --rebuild` or `challenge` found different results of one action
  7  a required signature is missing or not trusted

Environment:
  PRECAST_STORE      default store
  PRECAST_BUILDER    builder URI for provenance; --builder overrides it
  PRECAST_KEYRING    keyring for required signatures; --keyring overrides it
  PRECAST_DEBUG      1: `run` checks every Apply first, as `check-op` does
  PRECAST_RECORD     manifest that misses are recorded in; set by `precast record`
  PRECAST_ISA_LIMIT  highest ISA level to load, such as `x86-64-v3`
  CC                 C compiler
  NO_COLOR           disable colors";

/// Returns the version of this program as messages about other versions name it, with its commit if known.
fn version() -> &'static str {
    static VERSION: LazyLock<String> =
        LazyLock::new(|| format!("{}{}", OtherVersion::this(), env!("PRECAST_OF_COMMIT")));
    &VERSION
}

/// Compile numeric graphs ahead of time and run them
#[derive(Debug, Parser)]
#[command(name = "precast", version = version(), styles = STYLES, after_help = EXIT_CODES)]
#[command(max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Cli {
    /// Returns the complete command line.
    pub(crate) fn whole() -> clap::Command {
        groups::with_groups(<Self as clap::CommandFactory>::command())
    }
}

/// The commands, in the order in which they are used.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Build(BuildArgs),
    Update(UpdateArgs),
    Run(RunArgs),
    Record(RecordArgs),
    Ops(OpsArgs),
    Ls(LsArgs),
    Show(ShowArgs),
    Check(CheckArgs),
    CheckOp(CheckOpArgs),
    Explain(ExplainArgs),
    Graph(PictureArgs),
    Profile(ProfileArgs),
    Doctor(DoctorArgs),
    Verify(VerifyArgs),
    Challenge(ChallengeArgs),
    Sbom(SbomArgs),
    Bridgestan(BridgestanArgs),
    Keygen(KeygenArgs),
    Sign(SignArgs),
    Trust(TrustArgs),
    Export(ExportArgs),
    Import(ImportArgs),
    #[cfg(feature = "remote")]
    Push(PushArgs),
    #[cfg(feature = "remote")]
    Pull(PullArgs),
    #[cfg(feature = "remote")]
    Index(IndexArgs),
    Release(ReleaseArgs),
    Gc(GcArgs),
    Completions(CompletionsArgs),
    Man(ManArgs),
}
