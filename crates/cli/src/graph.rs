//! The graph that a command line speaks of: an expression, a file, or the name of an entry.

use std::path::Path;

use precast_build::Manifest;
use precast_graph::text::ParseTextError;
use precast_graph::{FunctionGraph, Type, json, text};
use precast_ops::Ops;
use precast_store::file;

use crate::args::{GraphArgs, LayerArgs};
use crate::error::Failure;
use crate::layers;

/// A graph, or the name of one that a layer has.
#[derive(Debug)]
pub(crate) enum Source {
    Graph(FunctionGraph),
    Entry(String),
}

/// Reads the graph. Inputs of an expression whose type is not said take one of `found`, in its order; functions that the
/// library does not have are ops of the manifest that is named, else of entries in the layers.
pub(crate) fn read(
    args: &GraphArgs,
    found: &[(String, Type)],
    ops: &Ops,
    layers: &LayerArgs,
) -> Result<Source, Failure> {
    if let Some(name) = &args.entry {
        return Ok(Source::Entry(name.clone()));
    }
    if let Some(path) = &args.graph {
        let place = path.display();
        let text = file::read_text(path)
            .map_err(|error| Failure::new(format!("cannot read the graph in `{place}`")).because(error))?;
        let graph = json::parse(&text, ops)
            .map_err(|error| Failure::new(format!("cannot read the graph in `{place}`")).because(error))?;
        return Ok(Source::Graph(graph));
    }
    let mut inputs = Vec::new();
    for declaration in &args.types {
        inputs.push(
            text::parse_input(declaration).map_err(|error| {
                Failure::usage(format!("cannot read `--type {declaration}`")).because(error)
            })?,
        );
    }
    for (name, ty) in found {
        if inputs.iter().all(|(declared, _)| declared != name) {
            inputs.push((name.clone(), ty.clone()));
        }
    }
    let outputs: Vec<&str> = args.expr.iter().map(String::as_str).collect();
    let ops = match &args.manifest {
        Some(path) => of_manifest(path, ops.clone())?,
        None => ops.clone(),
    };
    // A file of arrays may hold more than is used.
    let parse = if inputs.len() == args.types.len() { text::parse_used } else { text::parse };
    let parsed = match parse(&outputs, &inputs, &ops) {
        Err(ParseTextError::UnknownFunction { .. }) if args.manifest.is_none() => {
            parse(&outputs, &inputs, &of_entries(ops, layers)?)
        }
        parsed => parsed,
    };
    let graph = parsed.map_err(|error| Failure::new("cannot read the expression").because(error))?;
    Ok(Source::Graph(graph))
}

/// The library with the external ops of a manifest.
fn of_manifest(path: &Path, ops: Ops) -> Result<Ops, Failure> {
    let read = Manifest::read(path).and_then(|manifest| manifest.ops(ops));
    read.map_err(|error| {
        Failure::new(format!("cannot use the ops that `{}` declares", path.display())).because(error)
    })
}

/// The library with the external ops whose combinations are entries of the layers. Of two of one name the first layer's counts.
fn of_entries(mut ops: Ops, args: &LayerArgs) -> Result<Ops, Failure> {
    for layer in layers::open(args, &layers::to_run(args))? {
        for entry in layer.entries()? {
            // An entry that cannot be read has no ops to offer; who asks for it is told.
            let Ok(graph) = json::parse(&entry.declared, &ops) else { continue };
            ops = ops.with_combination(&entry.name, &graph);
        }
    }
    Ok(ops)
}
