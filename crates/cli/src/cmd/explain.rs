//! `precast explain`: shows which module serves each part of a graph; for a miss, the nearest module and all
//! differences.

use std::fmt::Write as _;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use precast_build::history;
use precast_core::event::chain;
use precast_core::program::Port;
use precast_core::span;
use precast_core::trace::outcome;
use precast_graph::{Array, Extent, FunctionGraph};
use precast_runtime::{ArrayRef, Function, Lookup, Miss, Policy, Reason};
use serde_json::{Value, json};

use super::{check, explanation_of};
use crate::args::ExplainArgs;
use crate::error::{Exit, Failure};
use crate::trace::Trace;
use crate::{layers, print, term, why};

/// Runs the command.
pub(super) fn run(args: &ExplainArgs) -> Result<Exit, Failure> {
    if args.last {
        return last(args);
    }
    let (graph, explanation) = explanation_of(&args.graph, &args.layers)?;
    let answer = explanation.check();
    let trace = args.trace.then(|| trace(args, &graph)).transpose()?;
    if args.json {
        let ops: Vec<Value> = explanation.ops.iter().map(json_lookup).collect();
        let segments: Vec<Value> = explanation.segments.iter().map(json_lookup).collect();
        let mut told =
            json!({"hit": answer.is_hit(), "served": check::word(answer), "segments": segments, "ops": ops});
        if let Some(trace) = trace {
            told["trace"] = trace.json();
        }
        term::print_json(&told)?;
        return Ok(Exit::Ok);
    }
    let mut text = format!("served: {}\n", check::word(answer));
    for (position, segment) in explanation.segments.iter().enumerate() {
        let _ = match explanation.segments.len() {
            1 => write!(text, "\nwhole graph\n{}", lookup(segment)),
            _ => write!(text, "\nsegment {position}\n{}", lookup(segment)),
        };
    }
    let segments: Vec<String> = explanation.segments.iter().map(lookup).collect();
    for (position, op) in explanation.ops.iter().enumerate() {
        // The only op of a segment is the segment.
        if segments.contains(&lookup(op)) {
            continue;
        }
        let _ = write!(text, "\nop {position}\n{}", lookup(op));
    }
    if let Some(trace) = trace {
        let _ = write!(text, "\ntrace\n{}", trace.text());
    }
    term::print(&text)?;
    Ok(Exit::Ok)
}

/// Explains why the last build compiled its units.
fn last(args: &ExplainArgs) -> Result<Exit, Failure> {
    let stores = layers::to_look(&args.layers);
    let found = stores.iter().find_map(|store| Some((store, history::last(store)?)));
    let Some((store, build)) = found else {
        return Err(Failure::new("no build has compiled anything yet")
            .hint("name the store of the build with `--store DIR`; it remembers the last twenty builds"));
    };
    let ago =
        SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs().saturating_sub(build.when);
    if args.json {
        term::print_json(&json!({
            "store": store.to_string_lossy(), "what": build.what, "when": build.when, "hits": build.hits,
            "compilations": why::json(&build.compilations),
        }))?;
    } else {
        let (compiled, what) = (build.compilations.len(), build.what);
        let ago = print::duration(Duration::from_secs(ago));
        let head = format!("`{what}`, {ago} ago: {} found, {compiled} compiled\n\n", build.hits);
        term::print(&(head + &why::text(&build.compilations)))?;
    }
    Ok(Exit::Ok)
}

/// Resolves the function, calls it, and returns the trace. A miss or a failed call ends the trace, but is not a
/// failure of the command.
fn trace(args: &ExplainArgs, graph: &FunctionGraph) -> Result<Trace, Failure> {
    let policy = args.policy;
    let runtime = layers::runtime(&args.layers, policy, None, args.graph.ops())?;
    let trace = Trace::listen()?;
    if let Ok(function) = runtime.function(graph) {
        call(&function);
        // The graph compiled in the background serves the next call, so the trace includes a second call.
        if policy == Policy::Tiered {
            runtime.flush();
            call(&function);
        }
    }
    layers::tell(&runtime, &args.layers, false);
    Ok(trace)
}

fn call(function: &Function) {
    let extent = |extent: &Extent| match extent {
        Extent::Fixed(n) => usize::try_from(*n).unwrap_or(1),
        Extent::Unknown => 1,
    };
    let zeros =
        |port: &Port| Array::zeros(port.ty.dtype(), &port.ty.shape().iter().map(extent).collect::<Vec<_>>());
    let inputs: Vec<Array> = function.inputs().iter().map(zeros).collect();
    let inputs: Vec<ArrayRef<'_>> = inputs.iter().map(ArrayRef::from).collect();
    let span = span!("call"; outcome, problem);
    let result = function.call(&inputs);
    span.record("outcome", outcome(&result));
    if let Err(error) = result {
        span.record("problem", chain(&error).as_str());
    }
}

fn lookup(lookup: &Lookup) -> String {
    match lookup {
        Lookup::Found { signature, key, layer, isa, .. } => {
            format!("  hit      {signature}\n  key      {key}\n  variant  {isa} of {layer}\n")
        }
        Lookup::Missing(miss) => missing(miss),
        _ => String::new(),
    }
}

fn missing(miss: &Miss) -> String {
    let mut text = format!("  miss     {}\n  key      {}\n", miss.signature, miss.key);
    for reason in &miss.reasons {
        if let Reason::Nearest { signature, differences, .. } = reason {
            labelled(&mut text, "nearest", signature);
            for difference in differences {
                let _ = writeln!(text, "    {difference}");
            }
        } else {
            labelled(&mut text, "because", &reason.to_string());
        }
    }
    miss.stale.iter().for_each(|stale| labelled(&mut text, "stale", &stale.to_string()));
    text
}

/// Writes lines with a label before the first.
fn labelled(text: &mut String, label: &str, lines: &str) {
    for (line, label) in lines.lines().zip([label].into_iter().chain(std::iter::repeat(""))) {
        let _ = writeln!(text, "  {label:8} {line}");
    }
}

fn json_lookup(lookup: &Lookup) -> Value {
    match lookup {
        Lookup::Found { signature, key, layer, digest, isa } => json!({
            "hit": true, "signature": signature, "key": key, "layer": layer, "digest": digest, "isa": isa,
        }),
        Lookup::Missing(miss) => {
            let mut told = json!(miss);
            told["hit"] = json!(false);
            told
        }
        _ => Value::Null,
    }
}
