//! The tables of a manifest, as serde reads them. Every value keeps its place in the text.

use serde::Deserialize;
use std::collections::BTreeMap;
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
    /// Ops whose C stands in files.
    #[serde(default)]
    pub external: Vec<Spanned<ExternalTable>>,
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
    /// A file with a graph in its JSON form, relative to the manifest; in place of the two above.
    pub file: Option<Spanned<String>>,
    /// A graph in its JSON form, here; in place of all above. What `precast record` writes.
    pub json: Option<Spanned<String>>,
    /// What is compiled: `whole`, `groups`, `ops`; one module for the whole graph when left out.
    #[serde(default)]
    pub serve: Vec<Spanned<String>>,
    /// Whether formulas that lose digits or overflow become those that do not; as it is written when left out.
    #[serde(default)]
    pub stabilise: bool,
}

/// `[[external]]`: an op whose C stands in files, for each combination of dtypes. The keys are those of
/// [`Declaration`](precast_codegen::external::Declaration).
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExternalTable {
    /// The op, and the name it is called by.
    pub name: Spanned<String>,
    /// C files with sections, relative to the manifest.
    pub files: Vec<Spanned<String>>,
    /// The function that computes the outputs.
    pub func: Option<Spanned<String>>,
    /// The dtypes of each letter: `{ T = ["f32", "f64"] }`.
    #[serde(default)]
    pub dtypes: BTreeMap<String, Vec<Spanned<String>>>,
    /// Numbers of dimensions, where a type leaves them open: `{T}[..]`.
    pub ndim: Option<Vec<Spanned<usize>>>,
    /// Type patterns: `["{T}[?]"]`.
    #[serde(default)]
    pub inputs: Vec<Spanned<String>>,
    /// Type patterns: `["upcast(T, U)[?]"]`.
    pub outputs: Vec<Spanned<String>>,
    /// The number of inputs that the function takes.
    pub max_inputs: Option<usize>,
    /// The number of outputs that the function takes.
    pub max_outputs: Option<usize>,
    /// Run-time params and their values: `{ alpha = 0.5 }`.
    #[serde(default)]
    pub params: BTreeMap<String, Spanned<toml::Value>>,
    /// The types of params that do not follow from their values.
    #[serde(default)]
    pub param_types: BTreeMap<String, Spanned<ParamTable>>,
    /// Headers to include.
    #[serde(default)]
    pub headers: Vec<String>,
    /// Directories searched for headers: relative to the manifest, or absolute.
    #[serde(default)]
    pub header_dirs: Vec<String>,
    /// Libraries to link.
    #[serde(default)]
    pub libraries: Vec<String>,
    /// Directories searched for libraries: relative to the manifest, or absolute.
    #[serde(default)]
    pub lib_dirs: Vec<String>,
    /// Arguments to add to the compiler's.
    #[serde(default)]
    pub compile_args: Vec<String>,
    /// Arguments to take from the compiler's.
    #[serde(default)]
    pub no_compile_args: Vec<String>,
    /// `c` or `c++`.
    pub language: Option<Spanned<String>>,
    /// The author's version of the code.
    pub version: Option<Vec<u32>>,
    /// Pairs `[output, input]`: views.
    #[serde(default)]
    pub view_map: Vec<(usize, usize)>,
    /// Pairs `[output, input]`: inputs that are overwritten.
    #[serde(default)]
    pub destroy_map: Vec<(usize, usize)>,
    /// What each output is, as an expression over `x0`, `x1`, … and the params: one text, or a list of them; or a function in C
    /// that computes one element.
    pub reference: Option<Spanned<ReferenceTable>>,
    /// Whether types validate the values.
    pub check_input: Option<bool>,
    /// Whether C for NumPy's headers takes f16 and bf16 for what they are.
    #[serde(default)]
    pub f16_ok: bool,
}

/// What an op is held against: expressions, or `{ file = "plain.c", func = "within" }`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged, expecting = "expected an expression, a list of them, or `{ file = \"…\", func = \"…\" }`")]
pub enum ReferenceTable {
    /// One expression.
    One(String),
    /// Several, in order.
    Many(Vec<String>),
    /// A function in plain C.
    Function(FunctionTable),
}

/// A function in plain C that computes one element.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FunctionTable {
    /// The C file, relative to the manifest.
    pub file: String,
    /// Its name.
    pub func: String,
}

/// The type of a param: `"f32"`, `"generic"`, or a table with one of `tensor` and `enum`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(
    untagged,
    deny_unknown_fields,
    expecting = "a param is a dtype, `generic`, `{ tensor = \"f64\" }`, or a table of `enum`, `ctype`, `headers` and `aliases`"
)]
pub enum ParamTable {
    /// The dtype of one number, or `generic` for any tensor.
    Name(String),
    /// A tensor: `{ tensor = "f64" }`.
    Tensor {
        /// Its dtype.
        tensor: String,
    },
    /// Constants: `{ enum = ["LEFT", "RIGHT"] }`, `{ enum = { METRE = 1, INCH = 0.0254 }, ctype = "double" }`, or with
    /// `headers` those that C defines.
    Enum {
        /// The constants: names, or names with their values.
        #[serde(rename = "enum")]
        constants: ConstantTable,
        /// The C type of a value. [default: `int`]
        ctype: Option<String>,
        /// Headers that define the constants.
        headers: Option<Vec<String>>,
        /// Other names, and the constants that they stand for.
        #[serde(default)]
        aliases: BTreeMap<String, String>,
    },
}

/// The constants of an enumeration.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum ConstantTable {
    /// 0, 1, 2, …, or C's own values.
    Names(Vec<String>),
    /// Given values.
    Values(BTreeMap<String, toml::Value>),
}
