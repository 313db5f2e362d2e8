//! The tables of a manifest, as serde reads them. Every value keeps its place in the text.

use serde::Deserialize;
use toml::Spanned;

/// `precast.toml` as a whole, or the table `[package.metadata.precast]`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// The ISA levels to compile for; the target's defaults when left out.
    pub isa: Option<Vec<Spanned<String>>>,
    /// The target of `precast build`; a `build.rs` compiles for Cargo's.
    pub target: Option<Spanned<String>>,
    /// Matrices of one op each.
    #[serde(default)]
    pub op: Vec<Spanned<OpTable>>,
    /// Graphs called by name.
    #[serde(default)]
    pub graph: Vec<Spanned<GraphTable>>,
}

/// `[[op]]`: every combination of the listed dtypes and ranks.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpTable {
    /// The op: `add`.
    pub name: Spanned<String>,
    /// Dtypes: `["f32", "f64"]`.
    pub dtypes: Vec<Spanned<String>>,
    /// Numbers of dimensions: `[1, 2]`.
    pub ndim: Vec<Spanned<usize>>,
}

/// `[[graph]]`: a whole graph, from expressions or from a file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GraphTable {
    /// The name it is called by.
    pub name: Spanned<String>,
    /// Inputs in the order of arguments: `["x: f64[?]"]`.
    pub inputs: Option<Vec<Spanned<String>>>,
    /// Outputs in order: `["out = sum(x*x)"]`.
    pub outputs: Option<Vec<Spanned<String>>>,
    /// A graph in its JSON form, relative to the manifest; in place of the two above.
    pub file: Option<Spanned<String>>,
}
