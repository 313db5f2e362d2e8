//! `precast check`: reports a hit or a miss before anything is loaded.

use std::collections::BTreeSet;

use precast_core::event::split_hints;
use precast_runtime::Check;
use serde_json::json;

use super::explanation;
use crate::args::CheckArgs;
use crate::error::{Exit, Failure};
use crate::term;

/// Runs the command.
pub(super) fn run(args: &CheckArgs) -> Result<Exit, Failure> {
    let explanation = explanation(&args.graph, &args.layers)?;
    let check = explanation.check();
    let exit = if check.is_hit() { Exit::Ok } else { Exit::Miss };
    let told = match check.is_hit() {
        true => Vec::new(),
        false => explanation.missing().map(|miss| split_hints(&miss.to_string())).collect(),
    };
    let (mut missing, hints): (Vec<String>, Vec<Vec<String>>) = told.into_iter().unzip();
    let hints: BTreeSet<String> = hints.into_iter().flatten().collect();
    // `x + x` and `x + y` are different modules with the same text.
    missing.dedup();
    let word = word(check);
    let isa = if check.is_hit() { explanation.isa() } else { Vec::new() };
    if args.json {
        term::print_json(&json!({
            "hit": check.is_hit(), "served": word, "isa": isa, "missing": missing, "hints": hints,
        }))?;
        return Ok(exit);
    }
    let answer = match check {
        Check::Whole if explanation.segments.len() == 1 => "one module for the whole graph".to_owned(),
        Check::Whole => {
            format!("one module for each of {} segments", explanation.segments.len())
        }
        Check::Groups => "one module for each group".to_owned(),
        Check::Mixed => "modules for groups and parts of groups".to_owned(),
        Check::OpByOp => "one module for each op".to_owned(),
        _ => {
            let hints = hints.iter().map(|hint| format!("hint: {hint}"));
            term::print(&(missing.into_iter().chain(hints).collect::<Vec<_>>().join("\n") + "\n"))?;
            return Ok(exit);
        }
    };
    term::print(&format!("hit: {answer}, for {}\n", isa.join(" and ")))?;
    Ok(exit)
}

/// Returns the word for the JSON output.
pub(super) fn word(check: Check) -> &'static str {
    match check {
        Check::Whole => "whole",
        Check::Groups => "groups",
        Check::Mixed => "mixed",
        Check::OpByOp => "op by op",
        _ => "miss",
    }
}
