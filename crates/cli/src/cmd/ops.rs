//! `precast ops`: lists the functions that expressions can call.

use std::fmt::Write as _;
use std::path::Path;

use precast_build::{Declaration, Manifest};
use precast_graph::text::OPERATORS;
use precast_graph::{DType, OpLibrary as _, nearest};
use precast_ops::{Ops, Row};
use serde_json::{Value, json};

use crate::args::OpsArgs;
use crate::error::{Exit, Failure};
use crate::{print, term};

/// Runs the command.
pub(super) fn run(args: &OpsArgs) -> Result<Exit, Failure> {
    let (ops, manifest) = own(args)?;
    let mut own: Vec<&Declaration> = ops.externals().map(|op| op.declaration()).collect();
    let chosen: Vec<&Row> = match &args.name {
        None => Ops::rows().collect(),
        Some(name) if ops.external(name).is_some() => {
            own.retain(|op| op.name == *name);
            Vec::new()
        }
        Some(name) => {
            own.clear();
            match find(name) {
                Some(row) => vec![row],
                None if name.parse::<DType>().is_ok() => find("cast").into_iter().collect(),
                None => return Err(unknown(name, &ops)),
            }
        }
    };
    let help = |op: &Declaration| {
        let types = format!("{} -> {}", op.inputs.join(", "), op.outputs.join(", "));
        (types, format!("Op of {manifest}."))
    };
    if args.json {
        let of_own = |op: &&Declaration| own_json(&ops, op);
        let rows = own.iter().map(of_own).chain(chosen.into_iter().map(json));
        term::print_json(&rows.collect::<Vec<Value>>())?;
    } else if args.name.is_some() {
        let of_own = |op: &&Declaration| {
            let (types, help) = help(op);
            format!("{}\n  {help}\n  {:13} {types}\n", signature(&ops, op), "types")
        };
        term::print(&own.iter().map(of_own).chain(chosen.into_iter().map(page)).collect::<String>())?;
    } else {
        let of_own = |op: &&Declaration| {
            let (types, help) = help(op);
            vec![signature(&ops, op), String::new(), types, help]
        };
        let line = |row: &Row| vec![call(row), row.aliases.join(" "), row.takes(), row.help.to_owned()];
        let rows: Vec<Vec<String>> = own.iter().map(of_own).chain(chosen.into_iter().map(line)).collect();
        term::print(&print::table(&["FUNCTION", "ALSO", "DTYPES", "RESULT"], &rows))?;
    }
    Ok(Exit::Ok)
}

/// Returns the library with the ops of the manifest, and the manifest's name.
fn own(args: &OpsArgs) -> Result<(Ops, String), Failure> {
    let (ops, at_hand) = (Ops::standard(), Path::new("precast.toml"));
    let path = match &args.manifest {
        Some(path) => path,
        None if at_hand.is_file() => at_hand,
        None => return Ok((ops, String::new())),
    };
    let place = path.display();
    let read = Manifest::read(path).and_then(|manifest| manifest.ops(ops.clone()));
    match read {
        Ok(ops) => Ok((ops, format!("`{place}`"))),
        Err(error) if args.manifest.is_some() => {
            Err(Failure::new(format!("cannot use the ops of `{place}`")).because(error))
        }
        Err(_) => {
            term::warning(&format!("ops of `{place}` are missing: run `precast build` for the error"));
            Ok((ops, String::new()))
        }
    }
}

/// Returns the signature of a manifest's op.
fn signature(ops: &Ops, op: &Declaration) -> String {
    ops.signature_by_name(&op.name).unwrap_or_default()
}

fn own_json(ops: &Ops, op: &Declaration) -> Value {
    let params: Vec<&String> = op.params.keys().collect();
    json!({
        "name": op.name, "signature": signature(ops, op), "inputs": op.inputs, "outputs": op.outputs,
        "params": params, "own": true,
    })
}

/// Finds a function by its name, by a name in one of NumPy's modules, or by an operator.
fn find(name: &str) -> Option<&'static Row> {
    let name = OPERATORS.iter().find(|(sign, _)| *sign == name).map_or(name, |(_, function)| function);
    let (module, function) = name.rsplit_once('.').unwrap_or(("", name));
    if module == "random" { Ops::row(&format!("random_{function}")) } else { Ops::row(function) }
}

fn unknown(name: &str, ops: &Ops) -> Failure {
    let known = ops.names();
    let near = nearest(name, known.iter().map(String::as_str));
    let near = near.map(|near| format!("; nearest `{near}`")).unwrap_or_default();
    Failure::usage(format!("unknown function `{name}`{near}")).hint("run `precast ops` to list all functions")
}

/// Returns a short form of a call: `sum(x, …)`.
fn call(row: &Row) -> String {
    let more = (!row.keywords.is_empty()).then(|| "…".to_owned());
    let arguments = row.fixed().iter().map(|name| (*name).to_owned());
    let all: Vec<String> =
        arguments.chain(row.variadic().map(|name| format!("*{name}"))).chain(more).collect();
    format!("{}({})", row.name, all.join(", "))
}

/// Returns the other spellings of a function: its operators, and its method.
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
