//! Renders a miss as a table of a manifest.
//!
//! ```toml
//! # v2 = mul(x, y); v3 = sum{axis=None}(v2); return v3
//! [[graph]]
//! name = "recorded-1f0e…"
//! json = '{"precast_graph":1,…}'
//! ```
//! The name contains the key of the module, or a digest of the keys of several modules. It is the same in every
//! process, and graphs with different code have different names. A graph of one Apply is written as the matrix of its
//! op if the matrix contains its module, because the matrix serves every use of the op.

use precast_codegen::{link, single};
use precast_core::names::is_hidden;
use precast_graph::{FunctionGraph, OpLibrary as _, json};
use precast_ops::{Ops, Serve, combinations};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// The most bytes of a comment line.
const COMMENT_BYTES: usize = 160;

/// A table with its identity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Declaration {
    pub(super) identity: Identity,
    /// The table, with comments.
    pub(super) text: String,
}

/// The identity of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Identity {
    /// `[[op]]`: any matrix that contains this combination.
    Op { name: String, dtype: String, ndim: usize },
    /// `[[graph]]`: the graph's name.
    Graph { name: String },
}

impl Declaration {
    /// Creates the declaration of a graph with this name.
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
            text.push_str("# uses custom ops: build it with a `build.rs` that has the program's ops\n");
        }
        // Written only if it differs from the default; the suffix of the name distinguishes tables that request other
        // modules.
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

/// Returns the matrix of one op, dtype and rank that contains the module of a graph's only Apply.
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

/// Renders text as a comment of one line, with hidden characters replaced by spaces.
fn comment(text: &str) -> String {
    let plain: String = text.chars().map(|c| if is_hidden(c) { ' ' } else { c }).collect();
    let end = plain.char_indices().map(|(at, _)| at).find(|at| *at > COMMENT_BYTES);
    match end {
        Some(end) => format!("# {} …\n", &plain[..end]),
        None => format!("# {plain}\n"),
    }
}

/// Renders text as a TOML string.
fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}
