//! The graph that a command line speaks of: an expression, a file, or the name of an entry.

use precast_graph::{FunctionGraph, Type, json, text};
use precast_ops::Ops;
use precast_store::file;

use crate::args::GraphArgs;
use crate::error::Failure;

/// A graph, or the name of one that a layer has.
#[derive(Debug)]
pub(crate) enum Source {
    Graph(FunctionGraph),
    Entry(String),
}

/// Reads the graph. Inputs of an expression whose type is not said take one of `found`, in its order.
pub(crate) fn read(args: &GraphArgs, found: &[(String, Type)], ops: &Ops) -> Result<Source, Failure> {
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
    // A file of arrays may hold more than is used.
    let parse = if inputs.len() == args.types.len() { text::parse_used } else { text::parse };
    let graph = parse(&outputs, &inputs, ops)
        .map_err(|error| Failure::new("cannot read the expression").because(error))?;
    Ok(Source::Graph(graph))
}
