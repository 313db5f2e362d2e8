//! The graph that a command line names: an expression, a file, or the name of an entry.

use std::collections::BTreeSet;
use std::path::Path;

use precast_build::Manifest;
use precast_graph::text::ParseTextError;
use precast_graph::{FunctionGraph, VarId, json, text};
use precast_ops::Ops;
use precast_ops::rewrite::stabilise;
use precast_store::file;

use crate::args::{GraphArgs, LayerArgs};
use crate::arrays::{self, Given};
use crate::error::Failure;
use crate::layers;

/// A graph, or the name of an entry in a layer.
#[derive(Debug)]
pub(crate) enum Source {
    Graph(FunctionGraph),
    Entry(String),
}

/// Returns the arrays that an expression can name. A position is not a name.
fn named(given: &[Given]) -> impl Iterator<Item = &Given> {
    given.iter().filter(|one| one.name.parse::<usize>().is_err())
}

/// Reads the graph, and stabilises it if requested. Inputs of an expression without a declared type are the arrays in
/// `given`, in their order. Functions that the library lacks are ops of the named manifest, else of entries in the
/// layers.
pub(crate) fn read(
    args: &GraphArgs,
    given: &[Given],
    ops: &Ops,
    layers: &LayerArgs,
) -> Result<Source, Failure> {
    let source = read_as_it_is(args, given, ops, layers)?;
    match source {
        Source::Graph(graph) if args.stabilise => Ok(Source::Graph(stabilise(&graph)?)),
        source => Ok(source),
    }
}

fn read_as_it_is(
    args: &GraphArgs,
    given: &[Given],
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
            text::parse_input(declaration)
                .map_err(|error| Failure::usage(format!("invalid `--type {declaration}`")).because(error))?,
        );
    }
    let unnamed = |name: &str| named(given).any(|one| one.name == name && !one.is_named);
    let declared: Vec<String> = inputs.iter().map(|(name, _)| name.clone()).collect();
    for one in named(given) {
        // A member of an `.npz` may have a name that expressions cannot use.
        let is_name = one.is_named || text::parse_input(&format!("{}=f64", one.name)).is_ok();
        if let Ok(array) = &one.array
            && is_name
            && inputs.iter().all(|(declared, _)| *declared != one.name)
        {
            inputs.push((one.name.clone(), arrays::open_type(array).into()));
        }
    }
    let outputs: Vec<&str> = args.expr.iter().map(String::as_str).collect();
    let mut ops = match &args.manifest {
        Some(path) => of_manifest(path, ops.clone())?,
        None => ops.clone(),
    };
    let is_used = |name: &str| declared.iter().any(|known| known == name) || !unnamed(name);
    let parse = |ops: &Ops| text::parse_using(&outputs, &inputs, &is_used, ops);
    let mut parsed = parse(&ops);
    if matches!(parsed, Err(ParseTextError::UnknownFunction { .. })) && args.manifest.is_none() {
        ops = of_entries(ops, layers)?;
        parsed = parse(&ops);
    }
    let graph = parsed.map(|graph| {
        let unused = unused(&graph);
        inputs.retain(|(name, _)| is_used(name) || !unused.contains(name));
        if unused.is_empty() {
            return graph;
        }
        // An expression may name an array without using it in a computation.
        text::parse_using(&outputs, &inputs, &is_used, &ops).unwrap_or(graph)
    });
    let may_be_own = args.manifest.is_none();
    graph
        .map(Source::Graph)
        .map_err(|error| unreadable(&error, given).unwrap_or_else(|| refused(error, may_be_own)))
}

/// Returns the inputs that no computation uses.
fn unused(graph: &FunctionGraph) -> BTreeSet<String> {
    let used = graph.applies().iter().flat_map(|apply| &apply.inputs).chain(graph.outputs());
    let used: BTreeSet<VarId> = used.copied().collect();
    let inputs = graph.inputs().iter().enumerate().filter(|(_, input)| !used.contains(input));
    inputs.map(|(position, _)| graph.input_name(position).to_owned()).collect()
}

/// Returns the failure for an expression that uses an unreadable array.
fn unreadable(error: &ParseTextError, given: &[Given]) -> Option<Failure> {
    let ParseTextError::UnknownName { found, .. } = error else { return None };
    named(given).find(|one| one.name == *found)?.array().err()
}

/// Returns the failure for an invalid expression.
fn refused(error: ParseTextError, may_be_own: bool) -> Failure {
    let hint = match &error {
        ParseTextError::UnknownName { found, nearest: None, .. } => Some(format!(
            "pass the input with `-i {found}=FILE`, or only its type with `--type '{found}=f64[?]'`"
        )),
        ParseTextError::UnknownFunction { found, nearest: None, .. } if may_be_own => Some(format!(
            "if `{found}` is an op of yours, name its manifest with `--manifest FILE`, or the store that it was built \
             into with `--store DIR`"
        )),
        _ => None,
    };
    let failure = Failure::new("invalid expression").because(error);
    hint.into_iter().fold(failure, Failure::hint)
}

/// Returns the library with the external ops of a manifest.
fn of_manifest(path: &Path, ops: Ops) -> Result<Ops, Failure> {
    let read = Manifest::read(path).and_then(|manifest| manifest.ops(ops));
    read.map_err(|error| Failure::new(format!("cannot use the ops of `{}`", path.display())).because(error))
}

/// Returns the library with the external ops whose combinations are entries of the layers. If two have the same name,
/// the first layer wins.
fn of_entries(mut ops: Ops, args: &LayerArgs) -> Result<Ops, Failure> {
    for layer in layers::open(args, &layers::to_run(args))? {
        for entry in layer.entries()? {
            // An unreadable entry has no ops to offer. A command that resolves this entry reports the error.
            let Ok(graph) = json::parse(&entry.declared, &ops) else { continue };
            ops = ops.with_combination(&entry.name, &graph);
        }
    }
    Ok(ops)
}
