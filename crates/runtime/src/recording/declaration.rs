//! A miss as a table of a manifest.
//!
//! ```toml
//! # v2 = mul(x, y); v3 = sum{axis=None}(v2); return v3
//! [[graph]]
//! name = "recorded-1f0e…"
//! json = '{"precast_graph":1,…}'
//! ```
//! The name is that of the module's key, of several modules a digest of all: the same in every process, and no two graphs of
//! other code share it. A graph of one
//! Apply is written as the matrix of its op, if that has it: it serves every use of the op.

use precast_codegen::{link, single};
use precast_core::names::is_hidden;
use precast_graph::{FunctionGraph, OpLibrary as _, json};
use precast_ops::{Ops, Serve, combinations};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Most bytes of a comment's line.
const COMMENT_BYTES: usize = 160;

/// A table, and what it is known by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Declaration {
    pub(super) identity: Identity,
    /// The table, with comments.
    pub(super) text: String,
}

/// What a table is known by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Identity {
    /// `[[op]]`: any matrix that has this combination.
    Op { name: String, dtype: String, ndim: usize },
    /// `[[graph]]`: the name.
    Graph { name: String },
}

impl Declaration {
    /// The declaration of a graph that is known by this name.
    pub(super) fn new(
        graph: &FunctionGraph,
        lowered: &FunctionGraph,
        name: &str,
        serve: &BTreeSet<Serve>,
        ops: &Ops,
    ) -> Self {
        match matrix(lowered, ops) {
            Some(identity @ Identity::Op { .. }) => Self { text: op(&identity, lowered), identity },
            _ => Self::graph(graph, name, serve),
        }
    }

    fn graph(graph: &FunctionGraph, name: &str, serve: &BTreeSet<Serve>) -> Self {
        let mut name = format!("recorded-{name}");
        let json = json::render(graph);
        let mut text = comment(&graph.to_string());
        if json::parse(&json, &Ops::standard()).is_err() {
            text.push_str(
                "# has what the standard library lacks: to be built by a `build.rs` with the program's ops\n",
            );
        }
        // Said only where it is not what is compiled anyway; the name tells tables that ask for other things apart.
        let mut words = String::new();
        if !serve.is_empty() && *serve != BTreeSet::from([Serve::Whole]) {
            serve.iter().for_each(|word| name.push_str(&format!("-{word}")));
            let list: Vec<String> = serve.iter().map(|word| format!("\"{word}\"")).collect();
            words = format!("serve = [{}]\n", list.join(", "));
        }
        let _ = writeln!(text, "[[graph]]\nname = {}\n{words}json = {}", quoted(&name), quoted(&json));
        Self { identity: Identity::Graph { name }, text }
    }
}

/// The matrix of one op, dtype and rank that has the module of a graph's only Apply.
fn matrix(lowered: &FunctionGraph, ops: &Ops) -> Option<Identity> {
    let [apply] = lowered.applies() else { return None };
    let label = apply.op.label();
    let name = label.split('{').next().unwrap_or_default().to_owned();
    let first = lowered.ty(*apply.inputs.first()?);
    let dtype = first.dtype();
    let ndim = apply.inputs.iter().map(|input| lowered.ty(*input).ndim()).max()?;
    if !ops.names().contains(&name) {
        return None;
    }
    let key = |graph: &FunctionGraph| link(graph, ops.c()).ok().map(|module| module.key());
    let wanted = key(&single(lowered, 0, ops.c()).ok()?)?;
    let made = combinations(&name, &[dtype], &[ndim], ops).ok()?;
    let has = made.iter().any(|combination| key(&combination.graph) == Some(wanted));
    has.then(|| Identity::Op { name, dtype: dtype.name().to_owned(), ndim })
}

fn op(identity: &Identity, lowered: &FunctionGraph) -> String {
    let Identity::Op { name, dtype, ndim } = identity else { return String::new() };
    let signature = lowered.applies().first().map(|apply| lowered.signature(apply)).unwrap_or_default();
    let comment = comment(&signature);
    format!("{comment}[[op]]\nname = {}\ndtypes = [\"{dtype}\"]\nndim = [{ndim}]\n", quoted(name))
}

/// Text as a comment of one line, its hidden characters as spaces.
fn comment(text: &str) -> String {
    let plain: String = text.chars().map(|c| if is_hidden(c) { ' ' } else { c }).collect();
    let end = plain.char_indices().map(|(at, _)| at).find(|at| *at > COMMENT_BYTES);
    match end {
        Some(end) => format!("# {} …\n", &plain[..end]),
        None => format!("# {plain}\n"),
    }
}

/// Text as a string of TOML.
fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}
