//! `precast run`: read arrays, resolve the graph, call it, write or print what comes out.
//!
//! Nothing is written before everything is computed, and every file is whole before the first one gets its name.

use std::collections::BTreeSet;
use std::path::Path;

use precast_graph::{Array, Extent, FunctionGraph, TensorType, Type};
use precast_ops::Ops;
use precast_runtime::{ArrayRef, EntryError, Event, Function, Provenance, Runtime, Served};
use precast_store::Event as StoreEvent;
use serde_json::{Value, json};

use super::function_failure;
use crate::args::{Binding, LayerArgs, RunArgs};
use crate::error::{Exit, Failure};
use crate::graph::{self, Source};
use crate::{layers, npy, print, term};

/// Runs the command.
pub(super) fn run(args: &RunArgs) -> Result<Exit, Failure> {
    let mut given = Vec::new();
    for binding in &args.inputs {
        given.push((binding, npy::read(&binding.file)?));
    }
    // A position is no name that an expression could use.
    let named = given.iter().filter(|(binding, _)| binding.name.parse::<usize>().is_err());
    let found: Vec<(String, Type)> =
        named.map(|(binding, array)| (binding.name.clone(), open_type(array))).collect();
    let source = graph::read(&args.graph, &found, &Ops::standard())?;
    let runtime = layers::runtime(&args.layers, args.policy, args.writable.as_deref())?;
    let result = function(&runtime, &args.layers, source).and_then(|function| {
        let names = names(function.graph());
        let targets = bind(args.outputs.iter(), &names.1, "output", "-o")?;
        check_files(&targets)?;
        let inputs = arrange(&given, function.graph(), &names.0)?;
        let borrowed: Vec<ArrayRef<'_>> = inputs.iter().map(|array| ArrayRef::from(*array)).collect();
        let outputs = function.call(&borrowed)?;
        Ok((function, names.1, targets, outputs))
    });
    tell(&runtime, args.explain);
    let (function, names, targets, outputs) = result?;
    if args.explain {
        explain(function.provenance());
    }
    write(&targets, &outputs)?;
    report(args.json, &function, &names, &targets, &outputs)?;
    Ok(Exit::Ok)
}

/// The type of an array with every extent left open.
fn open_type(array: &Array) -> Type {
    Type::Tensor(TensorType { dtype: array.dtype(), shape: vec![Extent::Unknown; array.shape().len()] })
}

fn function(runtime: &Runtime, layers: &LayerArgs, source: Source) -> Result<Function, Failure> {
    match source {
        Source::Graph(graph) => runtime.function(&graph).map_err(|error| function_failure(layers, error)),
        Source::Entry(name) => runtime.entry(&name).map_err(|error| match error {
            EntryError::Unknown { name, .. } => layers::no_entry(layers, &name, &runtime.entries()),
            EntryError::Function { name, source } => {
                function_failure(layers, *source).within(format!("cannot run entry `{name}`"))
            }
            other => other.into(),
        }),
    }
}

/// Names of the inputs and of the outputs.
fn names(graph: &FunctionGraph) -> (Vec<String>, Vec<String>) {
    let inputs = (0..graph.inputs().len()).map(|position| graph.input_name(position).to_owned()).collect();
    let outputs = (0..graph.outputs().len()).map(|position| graph.output_name(position)).collect();
    (inputs, outputs)
}

/// Puts bindings into the order of `names`; each is by name, or by position.
fn bind<'a>(
    bindings: impl Iterator<Item = &'a Binding>,
    names: &[String],
    what: &str,
    option: &str,
) -> Result<Vec<Option<&'a Binding>>, Failure> {
    let mut bound: Vec<Option<&Binding>> = vec![None; names.len()];
    for binding in bindings {
        let by_name = names.iter().position(|name| *name == binding.name);
        let position =
            by_name.or_else(|| binding.name.parse().ok().filter(|position| *position < names.len()));
        let Some(position) = position else {
            return Err(Failure::usage(format!("the graph has no {what} `{}`", binding.name))
                .hint(format!("it has `{}`; `{option} 0=FILE` names one by position", names.join("`, `"))));
        };
        if bound[position].replace(binding).is_some() {
            return Err(Failure::usage(format!("{what} `{}` is given twice", names[position])));
        }
    }
    Ok(bound)
}

/// Checks that no file is to hold two outputs.
fn check_files(targets: &[Option<&Binding>]) -> Result<(), Failure> {
    let mut seen = BTreeSet::new();
    // One file may be spelled in several ways; a device may take any number of outputs.
    let place = |file: &Path| {
        let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let parent = fs_err::canonicalize(parent).unwrap_or_else(|_| parent.to_owned());
        file.file_name().map(|name| parent.join(name))
    };
    let is_device = |file: &Path| fs_err::metadata(file).is_ok_and(|metadata| !metadata.is_file());
    let mut files = targets.iter().flatten().filter(|binding| !is_device(&binding.file));
    match files.find(|binding| !seen.insert(place(&binding.file))) {
        Some(binding) => Err(Failure::usage(format!("`{}` is to hold two outputs", binding.file.display()))),
        None => Ok(()),
    }
}

/// Puts the arrays into the order of the graph's inputs and holds them against its types.
fn arrange<'a>(
    given: &'a [(&Binding, Array)],
    graph: &FunctionGraph,
    names: &[String],
) -> Result<Vec<&'a Array>, Failure> {
    let bound = bind(given.iter().map(|(binding, _)| *binding), names, "input", "-i")?;
    let mut inputs = Vec::new();
    for ((name, binding), variable) in names.iter().zip(bound).zip(graph.inputs()) {
        let array =
            binding.and_then(|wanted| given.iter().find(|(binding, _)| std::ptr::eq(*binding, wanted)));
        let Some((binding, array)) = array else {
            return Err(
                Failure::usage(format!("input `{name}` is not given")).hint(format!("add `-i {name}=FILE`"))
            );
        };
        check(name, &binding.file, array, graph.ty(*variable))?;
        inputs.push(array);
    }
    Ok(inputs)
}

fn check(name: &str, file: &Path, array: &Array, expected: &Type) -> Result<(), Failure> {
    if expected.admits(array.dtype(), array.shape()) {
        return Ok(());
    }
    let (found, file) = (array.ty(), file.display());
    let failure = Failure::new(format!("input `{name}` in `{file}` is `{found}`, expected `{expected}`"));
    Err(if array.dtype() != expected.dtype() {
        let python = match expected.dtype().name() {
            "f32" => "float32",
            "f64" => "float64",
            "i64" => "int64",
            other => other,
        };
        failure.hint(format!(
            "convert it with `a.astype('{python}')`, or declare `{name}` as `{}`",
            open_type(array)
        ))
    } else if array.shape().len() != expected.ndim() {
        failure.hint(format!(
            "reshape it to {} dimensions, or declare `{name}` as `{}`",
            expected.ndim(),
            open_type(array)
        ))
    } else {
        failure
    })
}

/// Tells of what went wrong on the way without stopping it, and of everything where that is asked for.
fn tell(runtime: &Runtime, all: bool) {
    for event in runtime.stats().events {
        match event {
            Event::NotPublished { .. }
            | Event::NotLoaded { .. }
            | Event::Layer(StoreEvent::Damaged { .. }) => {
                term::warning(&event.to_string());
            }
            event if all => term::note(&event.to_string()),
            _ => {}
        }
    }
}

fn explain(provenance: &[Provenance]) {
    for part in provenance {
        let who = match &part.served {
            Served::Artifact { key, layer, isa, .. } => format!("key {} ({isa}) of {layer}", key.short()),
            Served::Jit { key, isa, .. } => format!("key {} ({isa}), compiled now", key.short()),
            Served::Interpreted => "the interpreter".to_owned(),
            _ => "another".to_owned(),
        };
        term::note(&format!("served by {who}:\n  {}", part.ops.join("\n  ")));
    }
}

fn write(targets: &[Option<&Binding>], outputs: &[Array]) -> Result<(), Failure> {
    let mut pending = Vec::new();
    for (binding, array) in targets.iter().zip(outputs) {
        if let Some(binding) = binding {
            pending.push(npy::write(&binding.file, array)?);
        }
    }
    for file in pending {
        file.commit()?;
    }
    Ok(())
}

fn report(
    as_json: bool,
    function: &Function,
    names: &[String],
    targets: &[Option<&Binding>],
    outputs: &[Array],
) -> Result<(), Failure> {
    let outputs = names.iter().zip(targets).zip(outputs);
    if as_json {
        let outputs: Vec<Value> = outputs
            .map(|((name, target), array)| {
                let mut value = json!({"name": name, "dtype": array.dtype().name(), "shape": array.shape()});
                match target {
                    Some(binding) => value["file"] = json!(binding.file.to_string_lossy()),
                    None => value["data"] = print::json_array(array),
                }
                value
            })
            .collect();
        let provenance: Vec<Value> = function.provenance().iter().map(json_provenance).collect();
        return term::print_json(&json!({"outputs": outputs, "provenance": provenance}));
    }
    let unwritten = outputs.filter(|((_, target), _)| target.is_none());
    let text: String = unwritten.map(|((name, _), array)| print::array(name, array)).collect();
    term::print(&text)
}

fn json_provenance(part: &Provenance) -> Value {
    match &part.served {
        Served::Artifact { key, layer, action, digest, isa } => json!({
            "ops": part.ops, "served": "artifact", "key": key, "layer": layer, "action": action,
            "digest": digest, "isa": isa,
        }),
        Served::Jit { key, digest, isa } => {
            json!({"ops": part.ops, "served": "jit", "key": key, "digest": digest, "isa": isa})
        }
        Served::Interpreted => json!({"ops": part.ops, "served": "interpreter"}),
        _ => json!({"ops": part.ops, "served": "other"}),
    }
}
