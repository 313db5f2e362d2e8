//! The reasons why modules were compiled: causes first, each with its consequences and cost.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use precast_build::Compilation;
use serde_json::{Value, json};

use crate::print;

/// The largest number of units that are listed below one cause.
const LISTED: usize = 8;

/// Renders compilations: the most expensive cause first, with its units below it.
pub(crate) fn text(compilations: &[Compilation]) -> String {
    let mut causes: BTreeMap<String, Vec<&Compilation>> = BTreeMap::new();
    for compilation in compilations {
        causes.entry(compilation.cause()).or_default().push(compilation);
    }
    let cost = |list: &[&Compilation]| list.iter().map(|one| one.millis).sum::<u64>();
    let mut causes: Vec<(String, Vec<&Compilation>)> = causes.into_iter().collect();
    causes.sort_by_key(|(_, list)| std::cmp::Reverse(cost(list)));
    let mut text = String::new();
    for (why, list) in causes {
        let units = print::count(list.len(), "unit", "units");
        let time = print::duration(Duration::from_millis(cost(&list)));
        let _ = writeln!(text, "{why}\n  {units}, {time}");
        for one in list.iter().take(LISTED) {
            let _ = writeln!(text, "    {}, {} ms", one.title, one.millis);
        }
        if list.len() > LISTED {
            let _ = writeln!(text, "    and {} more", list.len() - LISTED);
        }
    }
    text
}

/// Returns the compilations as JSON.
pub(crate) fn json(compilations: &[Compilation]) -> Value {
    let all = compilations.iter().map(
        |one| json!({"title": one.title, "why": one.why, "signature": one.signature, "words": one.cause(), "ms": one.millis}),
    );
    Value::Array(all.collect())
}
