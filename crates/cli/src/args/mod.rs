//! The command line: its arguments, help and examples. The commands themselves are in `cmd`.

mod binding;
mod build;
mod carry;
mod check_op;
mod doctor;
mod gc;
mod graph;
mod layers;
mod look;
mod ops;
mod picture;
mod profile;
mod record;
#[cfg(feature = "remote")]
mod remote;
mod run;
mod sbom;
mod shell;
mod sign;
mod update;
mod verify;

pub(crate) use binding::Binding;
pub(crate) use build::BuildArgs;
#[cfg(feature = "remote")]
pub(crate) use build::ElsewhereArgs;
pub(crate) use carry::{ExportArgs, ImportArgs};
pub(crate) use check_op::CheckOpArgs;
pub(crate) use doctor::DoctorArgs;
pub(crate) use gc::GcArgs;
pub(crate) use graph::GraphArgs;
pub(crate) use layers::LayerArgs;
pub(crate) use look::{CheckArgs, ExplainArgs, LsArgs, ShowArgs};
pub(crate) use ops::OpsArgs;
pub(crate) use picture::PictureArgs;
pub(crate) use profile::ProfileArgs;
pub(crate) use record::RecordArgs;
#[cfg(feature = "remote")]
pub(crate) use remote::{IndexArgs, PullArgs, PushArgs};
pub(crate) use run::RunArgs;
pub(crate) use sbom::SbomArgs;
pub(crate) use shell::{CompletionsArgs, ManArgs};
pub(crate) use sign::{KeygenArgs, PasswordArgs, SignArgs, TrustAction, TrustArgs};
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
  1  it could not be done; the message says why
  2  the command line is wrong
  3  a miss: no layer has what is wanted (`check`, or `run` under `strict`)
  4  `verify` (or `doctor --verify`) found damage
  5  `check-op`, or `run` in debug mode, found an op that breaks its contract
  6  `verify --rebuild` or `challenge` found that one action gave different bytes
  7  a signature that is asked for is missing or does not count

Environment:
  PRECAST_STORE      the store, where none is named on the command line
  PRECAST_BUILDER    the URI of who builds, where none is named on the command line
  PRECAST_KEYRING    whose signatures are asked for, where no keyring is named on the command line
  PRECAST_DEBUG      1: `run` checks every Apply first, as `check-op` does
  PRECAST_RECORD     the manifest that misses are recorded in; `precast record` sets it
  PRECAST_ISA_LIMIT  the highest ISA level whose code is loaded, `x86-64-v3`
  CC                 the C compiler, where it is not the usual one
  NO_COLOR           no colours";

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
    /// Returns the complete command line, including a rule between arguments of different structs.
    pub(crate) fn whole() -> clap::Command {
        <Self as clap::CommandFactory>::command().mut_subcommand("explain", |explain| {
            explain.mut_arg("expr", |expr| expr.required_unless_present("last"))
        })
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
    Gc(GcArgs),
    Completions(CompletionsArgs),
    Man(ManArgs),
}
