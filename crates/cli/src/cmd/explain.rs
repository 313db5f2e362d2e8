//! `precast explain`: which module would serve what; for what is missing, the nearest and the differences one by one.

use std::fmt::Write as _;

use precast_runtime::{Lookup, Miss};
use serde_json::{Value, json};

use super::{check, explanation};
use crate::args::ExplainArgs;
use crate::error::{Exit, Failure};
use crate::term;

/// Runs the command.
pub(super) fn run(args: &ExplainArgs) -> Result<Exit, Failure> {
    let explanation = explanation(&args.graph, &args.layers)?;
    let answer = explanation.check();
    if args.json {
        let ops: Vec<Value> = explanation.ops.iter().map(json_lookup).collect();
        let segments: Vec<Value> = explanation.segments.iter().map(json_lookup).collect();
        term::print_json(
            &json!({"hit": answer.is_hit(), "served": check::word(answer), "segments": segments, "ops": ops}),
        )?;
        return Ok(Exit::Ok);
    }
    let mut text = format!("served: {}\n", check::word(answer));
    for (position, segment) in explanation.segments.iter().enumerate() {
        let _ = match explanation.segments.len() {
            1 => write!(text, "\nwhole graph\n{}", lookup(segment)),
            _ => write!(text, "\nsegment {position}\n{}", lookup(segment)),
        };
    }
    for (position, op) in explanation.ops.iter().enumerate() {
        let _ = write!(text, "\nop {position}\n{}", lookup(op));
    }
    term::print(&text)?;
    Ok(Exit::Ok)
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
    for (isa, unmet) in &miss.inadmissible {
        let _ = writeln!(text, "  variant  {isa} is there, but {unmet}");
    }
    if let Some(reason) = &miss.unusable {
        let _ = writeln!(text, "  unusable a layer has it, but {reason}");
    }
    match &miss.nearest {
        None => text.push_str("  nearest  none: the layers hold no module\n"),
        // The module itself is there; that this host cannot run it was said above.
        Some((_, diff)) if diff.is_empty() => {}
        Some((signature, diff)) => {
            let _ = writeln!(text, "  nearest  {signature}");
            for difference in &diff.differences {
                let _ = writeln!(text, "    {difference}");
            }
        }
    }
    for stale in &miss.stale {
        for (line, label) in stale.to_string().lines().zip(["stale", ""]) {
            let _ = writeln!(text, "  {label:8} {line}");
        }
    }
    text
}

fn json_lookup(lookup: &Lookup) -> Value {
    match lookup {
        Lookup::Found { signature, key, layer, digest, isa } => json!({
            "hit": true, "signature": signature, "key": key, "layer": layer, "digest": digest, "isa": isa,
        }),
        Lookup::Missing(miss) => {
            let nearest = miss.nearest.as_ref().map(|(signature, diff)| {
                let differences: Vec<String> = diff.differences.iter().map(ToString::to_string).collect();
                json!({"signature": signature, "differences": differences})
            });
            let variants: Vec<Value> = miss
                .inadmissible
                .iter()
                .map(|(isa, unmet)| json!({"isa": isa, "unmet": unmet.to_string()}))
                .collect();
            json!({
                "hit": false, "signature": miss.signature, "key": miss.key, "nearest": nearest,
                "inadmissible": variants, "unusable": miss.unusable, "stale": miss.stale,
            })
        }
        _ => Value::Null,
    }
}
