//! `precast ops`: what expressions can call.

use std::fmt::Write as _;

use precast_graph::text::OPERATORS;
use precast_graph::{DType, OpLibrary as _, nearest};
use precast_ops::{Ops, Row};
use serde_json::{Value, json};

use crate::args::OpsArgs;
use crate::error::{Exit, Failure};
use crate::{print, term};

/// Runs the command.
pub(super) fn run(args: &OpsArgs) -> Result<Exit, Failure> {
    let chosen: Vec<&Row> = match &args.name {
        None => Ops::rows().collect(),
        Some(name) => match find(name) {
            Some(row) => vec![row],
            None if name.parse::<DType>().is_ok() => find("cast").into_iter().collect(),
            None => return Err(unknown(name)),
        },
    };
    if args.json {
        term::print_json(&chosen.into_iter().map(json).collect::<Vec<Value>>())?;
    } else if args.name.is_some() {
        term::print(&chosen.into_iter().map(page).collect::<String>())?;
    } else {
        let line = |row: &Row| vec![call(row), row.aliases.join(" "), row.takes(), row.help.to_owned()];
        let rows: Vec<Vec<String>> = chosen.into_iter().map(line).collect();
        term::print(&print::table(&["FUNCTION", "ALSO", "DTYPES", "RESULT"], &rows))?;
    }
    Ok(Exit::Ok)
}

/// The function of a name, which may be one of NumPy's modules' or an operator.
fn find(name: &str) -> Option<&'static Row> {
    let name = OPERATORS.iter().find(|(sign, _)| *sign == name).map_or(name, |(_, function)| function);
    Ops::row(name.rsplit('.').next().unwrap_or(name))
}

fn unknown(name: &str) -> Failure {
    let known = Ops::standard().names();
    let failure = Failure::usage(format!("unknown function `{name}`"));
    match nearest(name, known.iter().map(String::as_str)) {
        Some(near) => failure.hint(format!("`precast ops {near}` shows the nearest name")),
        None => failure.hint("`precast ops` lists all functions"),
    }
}

/// A call in short: `sum(x, …)`.
fn call(row: &Row) -> String {
    let more = (!row.keywords.is_empty()).then(|| "…".to_owned());
    let arguments = row.fixed().iter().map(|name| (*name).to_owned());
    let all: Vec<String> =
        arguments.chain(row.variadic().map(|name| format!("*{name}"))).chain(more).collect();
    format!("{}({})", row.name, all.join(", "))
}

/// How else a function is written: operators of it, and as a method.
fn forms(row: &Row) -> Vec<String> {
    let operators = OPERATORS.iter().filter(|(_, function)| *function == row.name);
    let mut forms: Vec<String> = operators.map(|(sign, _)| format!("x {sign} y")).collect();
    let names = std::iter::once(row.name).chain(row.aliases.iter().copied());
    let methods = names.filter(|name| Ops::standard().method(name).is_some());
    forms.extend(methods.map(|name| format!("x.{name}(…)")));
    forms
}

fn page(row: &Row) -> String {
    let mut text = format!("{}\n  {}\n", row.signature(), row.help);
    let facts = [
        ("also named", row.aliases.join(", ")),
        ("also written", forms(row).join(", ")),
        ("dtypes", row.takes()),
    ];
    for (what, said) in facts.into_iter().filter(|(_, said)| !said.is_empty()) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {what:13} {said}");
    }
    text
}

fn json(row: &Row) -> Value {
    let keyword = |keyword: &precast_ops::Keyword| json!({"name": keyword.name, "default": keyword.default, "positional": keyword.positional});
    let dtypes: Vec<&str> = row.dtypes().into_iter().map(DType::name).collect();
    json!({
        "name": row.name,
        "aliases": row.aliases,
        "signature": row.signature(),
        "arguments": row.fixed(),
        "variadic": row.variadic(),
        "keywords": row.keywords.iter().map(keyword).collect::<Vec<_>>(),
        "forms": forms(row),
        "dtypes": dtypes,
        "help": row.help,
    })
}
