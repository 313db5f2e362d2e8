//! `precast run`: reads arrays, resolves the graph, calls it, and writes or prints the outputs.
//!
//! Nothing is written before everything is computed, and every file is complete before the first one is renamed into
//! place.

use std::path::Path;

use precast_build::interrupt;
use precast_core::cancellable;
use precast_graph::{Array, FunctionGraph, Type};
use precast_runtime::debug::Violation;
use precast_runtime::{
    ArrayRef, CallError, CodeOrigin, EntryError, Function, Provenance, Runtime, debug_findings,
};
use serde_json::{Value, json};

use super::function_failure;
use crate::args::RunArgs;
use crate::arrays::{self, Given, Targets};
use crate::error::{Exit, Failure};
use crate::graph::{self, Source};
use crate::{layers, print, repro, term};

/// Runs the command.
pub(super) fn run(args: &RunArgs) -> Result<Exit, Failure> {
    let given = arrays::read(&args.inputs)?;
    let source = graph::read(&args.graph, &given, &args.graph.ops(), &args.layers)?;
    let runtime = layers::runtime(&args.layers, args.policy, args.writable.as_deref(), args.graph.ops())?;
    let result = function(&runtime, args, source, &given).and_then(|function| {
        let names: Vec<String> = function.outputs().iter().map(|port| port.name.clone()).collect();
        let targets = Targets::new(&args.outputs, &names)?;
        let inputs = arrays::arrange(&given, function.inputs())?;
        let borrowed: Vec<ArrayRef<'_>> = inputs.iter().map(|array| ArrayRef::from(*array)).collect();
        let is_ended = || interrupt::exit_code().is_some();
        let outputs = cancellable(&is_ended, || function.call(&borrowed)).map_err(call_failure)?;
        Ok((function, names, targets, outputs))
    });
    layers::tell(&runtime, &args.layers, args.explain);
    let (function, names, targets, outputs) = result?;
    if let Some(findings) = debug_findings(&function) {
        let lines: Vec<String> = findings.applies.iter().map(super::check_op::line).collect();
        let skipped = findings.applies.iter().filter(|apply| apply.skipped.is_some()).count();
        let checked = match (findings.applies.len() - skipped, skipped) {
            (_, 0) => "all Applies were checked, with results equal to those returned".to_owned(),
            (0, _) => "nothing was checked".to_owned(),
            (checked, skipped) => {
                format!("{checked} checked, with results equal to those returned; {skipped} skipped")
            }
        };
        term::note(&format!("debug mode: {checked}\n  {}", lines.join("\n  ")));
    }
    if args.explain {
        explain(function.provenance());
    }
    targets.write(&names, &outputs)?;
    report(args.json, &function, &names, &targets, &outputs)?;
    Ok(Exit::Ok)
}

/// Returns the failure for a failed call, and writes a reproducer of a violation.
fn call_failure(error: CallError) -> Failure {
    let Some(violation) = error.cause::<Violation>() else { return error.into() };
    let written = match repro::write(Path::new(REPRO), &mut repro::Names::default(), violation) {
        Ok(written) => format!("reproduce it with `{}`", written.command),
        Err(_) => "cannot write the reproducer here".to_owned(),
    };
    Failure::from(error).exiting(Exit::Violation).hint(written)
}

/// The directory for reproducers in debug mode.
const REPRO: &str = "precast-repro";

fn function(runtime: &Runtime, args: &RunArgs, source: Source, given: &[Given]) -> Result<Function, Failure> {
    let layers = &args.layers;
    let entry = |name: &str, types: Option<Vec<Type>>| match types {
        Some(types) => runtime.entry_for(name, &types),
        None => runtime.entry(name),
    };
    // Mismatched arrays are reported before anything is compiled.
    let fits = |graph: &FunctionGraph| {
        let (inputs, outputs) = graph.interface();
        let names: Vec<String> = outputs.into_iter().map(|port| port.name).collect();
        Targets::new(&args.outputs, &names)?;
        arrays::arrange(given, &inputs).map(drop)
    };
    match source {
        Source::Graph(graph) => {
            fits(&graph)?;
            runtime.function(&graph).map_err(|error| function_failure(layers, error))
        }
        Source::Entry(name) => {
            if let Ok(graph) = runtime.entry_graph(&name) {
                fits(&graph)?;
            }
            let types = combination(runtime, &name, given)?;
            entry(&name, types).map_err(|error| match error {
                EntryError::Unknown { name, .. } => layers::no_entry(layers, &name, &runtime.entries()),
                EntryError::Function { name, source } => {
                    function_failure(layers, *source).within(format!("cannot run entry `{name}`"))
                }
                other => other.into(),
            })
        }
    }
}

/// Returns the types of the given arrays, in the order of the inputs of an entry with combinations; `None` if there
/// are no combinations to choose from.
fn combination(runtime: &Runtime, name: &str, given: &[Given]) -> Result<Option<Vec<Type>>, Failure> {
    let combinations = runtime.combinations(name);
    let Some(first) = combinations.first().filter(|first| *first != name) else { return Ok(None) };
    let names = runtime.entry_graph(first)?.interface().0;
    let position = |one: &Given| {
        let by_name = names.iter().position(|port| port.name == one.name);
        by_name.or_else(|| one.name.parse().ok())
    };
    let mut placed: Vec<(Option<usize>, Type)> = Vec::new();
    for one in given {
        let position = position(one);
        if position.is_some() || one.is_named {
            placed.push((position, arrays::open_type(one.array()?)));
        }
    }
    placed.sort_by_key(|(position, _)| *position);
    Ok(Some(placed.into_iter().map(|(_, ty)| ty).collect()))
}

fn explain(provenance: &[Provenance]) {
    for part in provenance {
        let who = match &part.served {
            CodeOrigin::Artifact { key, layer, isa, .. } => format!("key {} ({isa}) of {layer}", key.short()),
            CodeOrigin::Jit { key, isa, .. } => format!("key {} ({isa}), compiled now", key.short()),
            CodeOrigin::Interpreted => "the interpreter".to_owned(),
            _ => "another".to_owned(),
        };
        term::note(&format!("served by {who}:\n  {}", part.ops.join("\n  ")));
    }
}

fn report(
    as_json: bool,
    function: &Function,
    names: &[String],
    targets: &Targets<'_>,
    outputs: &[Array],
) -> Result<(), Failure> {
    let outputs = names.iter().enumerate().zip(outputs);
    let outputs = outputs.map(|((position, name), array)| (name, targets.file(position), array));
    if as_json {
        let outputs: Vec<Value> = outputs
            .map(|(name, target, array)| {
                let mut value = json!({"name": name, "dtype": array.dtype().name(), "shape": array.shape()});
                match target {
                    Some(file) => value["file"] = json!(file.to_string_lossy()),
                    None => value["data"] = print::json_array(array),
                }
                value
            })
            .collect();
        let provenance: Vec<Value> = function.provenance().iter().map(json_provenance).collect();
        return term::print_json(&json!({"outputs": outputs, "provenance": provenance}));
    }
    let unwritten = outputs.filter(|(_, target, _)| target.is_none());
    let text: String = unwritten.map(|(name, _, array)| print::array(name, array)).collect();
    term::print(&text)
}

fn json_provenance(part: &Provenance) -> Value {
    match &part.served {
        CodeOrigin::Artifact { key, layer, action, digest, isa } => json!({
            "ops": part.ops, "served": "artifact", "key": key, "layer": layer, "action": action,
            "digest": digest, "isa": isa,
        }),
        CodeOrigin::Jit { key, digest, isa } => {
            json!({"ops": part.ops, "served": "jit", "key": key, "digest": digest, "isa": isa})
        }
        CodeOrigin::Interpreted => json!({"ops": part.ops, "served": "interpreter"}),
        _ => json!({"ops": part.ops, "served": "other"}),
    }
}
