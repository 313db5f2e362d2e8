//! `precast show --passes`: lists the rewrites, or shows the graph after each of them.

use std::fmt::Write as _;

use precast_graph::FunctionGraph;
use precast_ops::Ops;
use precast_ops::rewrite::{self, PASSES, Pass, Passes};
use serde_json::json;

use crate::args::{GraphArgs, ShowArgs};
use crate::error::{Exit, Failure};
use crate::graph::{self, Source};
use crate::{layers, print, term};

/// Runs the command.
pub(super) fn run(args: &ShowArgs, chosen: &Passes) -> Result<Exit, Failure> {
    match declared(args)? {
        None if args.json => term::print_json(&json!(PASSES.iter().map(pass_json).collect::<Vec<_>>()))?,
        None => term::print(&list())?,
        Some(graph) => {
            let trace = rewrite::trace_of(&graph, &chosen.with_needed())?;
            if args.json {
                term::print_json(&trace_json(&graph, &trace))?;
            } else {
                term::print(&trace_text(&graph, &trace))?;
            }
        }
    }
    Ok(Exit::Ok)
}

/// Returns the graph that the command line names, if any.
fn declared(args: &ShowArgs) -> Result<Option<FunctionGraph>, Failure> {
    let ops = Ops::standard();
    if let Some(name) = &args.what {
        let layers = layers::open_some(&args.layers)?;
        let graph = layers::find_graph(&layers, name, &ops)?;
        return graph.map(Some).ok_or_else(|| layers::no_entry(&args.layers, name, &[]));
    }
    if args.expr.is_empty() && args.graph.is_none() {
        return Ok(None);
    }
    let source = GraphArgs {
        expr: args.expr.clone(),
        types: args.types.clone(),
        graph: args.graph.clone(),
        entry: None,
        manifest: args.manifest.clone(),
        debug_info: false,
        passes: None,
        stabilise: false,
    };
    match graph::read(&source, &[], &ops, &args.layers)? {
        Source::Graph(graph) => Ok(Some(graph)),
        Source::Entry(_) => Ok(None),
    }
}

fn list() -> String {
    let line = |pass: &Pass| {
        let always = if pass.needed { "; always applied" } else { "" };
        format!("{:16} {}{always}\n", pass.name, pass.about)
    };
    PASSES.iter().map(line).collect()
}

fn pass_json(pass: &Pass) -> serde_json::Value {
    json!({"name": pass.name, "about": pass.about, "needed": pass.needed})
}

/// Renders the graph as declared, then after each pass that changed it.
fn trace_text(graph: &FunctionGraph, trace: &[(Pass, FunctionGraph)]) -> String {
    let mut text = format!("declared      {}\n", indented(graph));
    let mut before = graph;
    for (pass, after) in trace {
        if after == before {
            let _ = writeln!(text, "{:13} changes nothing", pass.name);
        } else {
            let (from, to) = (before.applies().len(), after.applies().len());
            let _ = writeln!(text, "{:13} {from} to {}", pass.name, print::count(to, "apply", "applies"));
            let _ = writeln!(text, "              {}", indented(after));
        }
        before = after;
    }
    text
}

/// Renders the steps of a graph, one per line, aligned after a column of names.
fn indented(graph: &FunctionGraph) -> String {
    steps(&graph.to_string()).replace('\n', "\n  ")
}

fn trace_json(graph: &FunctionGraph, trace: &[(Pass, FunctionGraph)]) -> serde_json::Value {
    let mut before = graph;
    let mut passes = Vec::new();
    for (pass, after) in trace {
        passes.push(json!({
            "name": pass.name, "changed": after != before, "applies": after.applies().len(), "graph": after.to_string(),
        }));
        before = after;
    }
    json!({"declared": graph.to_string(), "applies": graph.applies().len(), "passes": passes})
}

/// Puts each step of a graph on a line; text in braces stays on its line.
pub(super) fn steps(graph: &str) -> String {
    let (mut text, mut depth) = (String::new(), 0_usize);
    for part in graph.split_inclusive("; ") {
        depth += part.matches('{').count();
        depth = depth.saturating_sub(part.matches('}').count());
        match part.strip_suffix("; ").filter(|_| depth == 0) {
            Some(step) => text += &format!("{step}\n            "),
            None => text += part,
        }
    }
    text
}
