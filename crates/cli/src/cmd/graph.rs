//! `precast graph`: draws graphs.
//!
//! The picture shows the graph as layers would serve it, with a box for each artifact. A group that is served by
//! several modules is drawn as these parts.

use precast_graph::FunctionGraph;
use precast_ops::Ops;
use precast_ops::rewrite::Form;
use precast_picture::{self as picture, NodeArtifact, Picture};
use precast_runtime::{Explanation, Lookup};

use super::explanation_of;
use crate::args::{GraphArgs, PictureArgs};
use crate::error::{Exit, Failure};
use crate::kind::Kind;
use crate::{layers, term, whole};

/// Runs the command.
pub(super) fn run(args: &PictureArgs) -> Result<Exit, Failure> {
    let source = GraphArgs {
        expr: args.expr.clone(),
        types: args.types.clone(),
        graph: args.file.clone(),
        entry: args.entry.clone(),
        manifest: args.manifest.clone(),
        debug_info: false,
        passes: None,
        stabilise: false,
    };
    let (graph, explanation) = explanation_of(&source, &args.layers)?;
    let drawn =
        if args.plain { Ops::standard().lower(&graph, Form::Unfused)? } else { explanation.graph().clone() };
    let asked = !args.layers.is_empty() || !layers::to_run(&args.layers).is_empty();
    let served = served(&explanation, &drawn, args.plain, asked);
    let picture = Picture::new(&title(args), &drawn, &served);
    let text = if args.form.svg {
        picture::svg(&picture)
    } else if args.form.dot {
        picture::dot(&picture)
    } else {
        picture::html(&picture)
    };
    match &args.output {
        Some(file) => whole::write(file, Kind::Text, |out| out.write_all(text.as_bytes()))?.commit()?,
        None => term::print(&text)?,
    }
    Ok(Exit::Ok)
}

fn title(args: &PictureArgs) -> String {
    match (&args.entry, &args.file) {
        (Some(entry), _) => format!("entry {entry}"),
        (None, Some(file)) => file.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        (None, None) => args.expr.join("; "),
    }
}

/// Returns the artifact that serves each Apply of the drawn graph, which is the graph as served or, if `plain`, as
/// declared.
fn served(explanation: &Explanation, graph: &FunctionGraph, plain: bool, asked: bool) -> Vec<NodeArtifact> {
    let applies = graph.applies();
    if !asked {
        return vec![NodeArtifact::Unknown; applies.len()];
    }
    if !plain {
        return explanation.served().iter().map(one).collect();
    }
    if let [whole] = &explanation.segments[..]
        && whole.is_found()
    {
        return vec![one(whole); applies.len()];
    }
    // Without rewrites an Apply has its own module or is part of a larger one, which this picture does not show.
    let cut = explanation.graph();
    let alone = |apply| {
        let signature = graph.signature(apply);
        let same = cut.applies().iter().position(|other| cut.signature(other) == signature);
        same.and_then(|at| explanation.served().get(at)).map_or(NodeArtifact::Unknown, one)
    };
    applies.iter().map(alone).collect()
}

fn one(lookup: &Lookup) -> NodeArtifact {
    match lookup {
        Lookup::Found { key, layer, isa, .. } => {
            NodeArtifact::Artifact(format!("{} ({isa}) of {layer}", key.short()))
        }
        _ => NodeArtifact::Missing,
    }
}
