//! `precast check`: hit or miss, before anything is loaded.

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
    let mut missing: Vec<String> = match check.is_hit() {
        true => Vec::new(),
        false => explanation.missing().map(ToString::to_string).collect(),
    };
    // `x + x` is another module than `x + y`, and reads the same.
    missing.dedup();
    let word = word(check);
    if args.json {
        term::print_json(&json!({"hit": check.is_hit(), "served": word, "missing": missing}))?;
        return Ok(exit);
    }
    let text = match check {
        Check::Whole if explanation.segments.len() == 1 => {
            "hit: one module serves the whole graph\n".to_owned()
        }
        Check::Whole => {
            format!("hit: a module serves each of the graph's {} segments\n", explanation.segments.len())
        }
        Check::Groups => "hit: every group is served by a module of its own\n".to_owned(),
        Check::Mixed => "hit: groups and parts of groups are served by modules of their own\n".to_owned(),
        Check::OpByOp => "hit: every op is served by a module of its own\n".to_owned(),
        _ => missing.join("\n") + "\n",
    };
    term::print(&text)?;
    Ok(exit)
}

/// Gives the word for scripts.
pub(super) fn word(check: Check) -> &'static str {
    match check {
        Check::Whole => "whole",
        Check::Groups => "groups",
        Check::Mixed => "mixed",
        Check::OpByOp => "op by op",
        _ => "miss",
    }
}
