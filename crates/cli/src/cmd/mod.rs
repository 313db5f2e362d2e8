//! The commands, one file each.

mod again;
mod bridgestan;
mod build;
mod carry;
mod challenge;
mod check;
mod check_op;
mod doctor;
mod explain;
mod gc;
mod graph;
mod ls;
mod ops;
mod passes;
mod profile;
mod record;
mod release;
#[cfg(feature = "remote")]
mod remote;
mod run;
mod sbom;
mod shell;
mod show;
mod sign;
mod trust;
mod update;
mod verify;

use precast_graph::FunctionGraph;
use precast_runtime::{Explanation, FunctionError};

use crate::args::{Command, GraphArgs, LayerArgs};
use crate::error::{Exit, Failure};
use crate::{graph as source, layers, term};

/// Runs a command.
pub(crate) fn run(command: Command) -> Result<Exit, Failure> {
    match command {
        Command::Build(args) => build::run(&args),
        Command::Update(args) => update::run(&args),
        Command::Run(args) => run::run(&args),
        Command::Record(args) => record::run(&args),
        Command::Ops(args) => ops::run(&args),
        Command::Ls(args) => ls::run(&args),
        Command::Show(args) => show::run(&args),
        Command::Check(args) => check::run(&args),
        Command::CheckOp(args) => check_op::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Graph(args) => graph::run(&args),
        Command::Profile(args) => profile::run(&args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Verify(args) => verify::run(args),
        Command::Challenge(args) => challenge::run(&args),
        Command::Sbom(args) => sbom::run(&args),
        Command::Bridgestan(args) => bridgestan::run(&args),
        Command::Keygen(args) => sign::keygen(&args),
        Command::Sign(args) => sign::run(&args),
        Command::Trust(args) => trust::run(args),
        Command::Export(args) => carry::export(args),
        Command::Import(args) => carry::import(args),
        #[cfg(feature = "remote")]
        Command::Push(args) => remote::push(args),
        #[cfg(feature = "remote")]
        Command::Pull(args) => remote::pull(args),
        #[cfg(feature = "remote")]
        Command::Index(args) => remote::index(args),
        Command::Release(args) => release::run(args),
        Command::Gc(args) => gc::run(args),
        Command::Completions(args) => shell::completions(&args),
        Command::Man(args) => shell::man(&args),
    }
}

/// Stops the work of a command after a signal. Returns whether the command itself continues.
pub(crate) fn end(signal: i32) -> bool {
    precast_runtime::debug::cancel();
    record::hand_on(signal)
}

/// Returns the failure for a graph that cannot become a function; a miss has its own exit code.
fn function_failure(args: &LayerArgs, error: FunctionError) -> Failure {
    let FunctionError::Miss { recorded, no_compiler, .. } = &error else { return error.into() };
    let (is_recorded, can_compile) = (recorded.is_some(), no_compiler.is_none());
    let failure = Failure::from(error).exiting(Exit::Miss);
    let failure = match layers::no_layer_hint(args) {
        Some(hint) => failure.hint(hint),
        None => failure,
    };
    if is_recorded {
        return failure;
    }
    failure.hint(match can_compile {
        true => "declare it in a manifest and run `precast build`, or compile it with `--policy jit`",
        false => "declare it in a manifest, and run `precast build` on a machine with a compiler",
    })
}

/// Explains how the layers of a command line would serve a graph.
fn explanation(graph: &GraphArgs, args: &LayerArgs) -> Result<Explanation, Failure> {
    explanation_of(graph, args).map(|(_, explanation)| explanation)
}

/// Returns the graph of a command line, and how the layers would serve it.
fn explanation_of(graph: &GraphArgs, args: &LayerArgs) -> Result<(FunctionGraph, Explanation), Failure> {
    let runtime = layers::runtime(args, precast_runtime::Policy::Strict, None, graph.ops())?;
    let graph = match source::read(graph, &[], runtime.ops(), args)? {
        source::Source::Graph(graph) => graph,
        source::Source::Entry(name) => {
            let opened = layers::open(args, &layers::to_run(args))?;
            match layers::find_graph(&opened, &name, runtime.ops())? {
                Some(graph) => graph,
                None => return Err(layers::no_entry(args, &name, &runtime.entries())),
            }
        }
    };
    let explanation = runtime.explain(&graph).map_err(|error| function_failure(args, error));
    layers::no_layer_hint(args).iter().for_each(|hint| term::note(hint));
    layers::tell(&runtime, args, false);
    layers::tell_fetched(&runtime);
    Ok((graph, explanation?))
}
