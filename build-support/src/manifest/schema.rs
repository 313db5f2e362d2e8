//! The tables of a manifest, as serde reads them. Every value keeps its position in the text.

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;
use std::fmt;
use toml::Spanned;

/// The whole of `precast.toml`, or the table `[package.metadata.precast]`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// The ISA levels to compile for. The default levels are those of the target.
    pub isa: Option<Vec<Spanned<String>>>,
    /// The target of `precast build`; a `build.rs` compiles for the target of Cargo.
    pub target: Option<Spanned<String>>,
    /// The lowest version of glibc that the modules must run with: `"2.28"`. The compiler must be zig.
    pub glibc: Option<Spanned<String>>,
    /// JSON metadata of the bundle. Each key has a namespace: `"mine.notes"`.
    pub json: Option<Spanned<BTreeMap<String, serde_json::Value>>>,
    /// Matrices, each of one op.
    #[serde(default)]
    pub op: Vec<Spanned<OpTable>>,
    /// Named graphs.
    #[serde(default)]
    pub graph: Vec<Spanned<GraphTable>>,
    /// External ops with their C files.
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
    /// The ranks: `[1, 2]`.
    pub ndim: Vec<Spanned<usize>>,
}

/// `[[graph]]`: a whole graph, from expressions or from a file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GraphTable {
    /// The name that programs call the graph by.
    pub name: Spanned<String>,
    /// The documentation of the graph, in Markdown. It is part of the bundle.
    #[serde(default)]
    pub doc: String,
    /// The inputs, in the order of arguments: `["x: f64[?]"]`.
    pub inputs: Option<Vec<Spanned<String>>>,
    /// The outputs, in order: `["out = sum(x*x)"]`. A single text, which can have several lines, is the only output.
    #[serde(default, deserialize_with = "texts")]
    pub outputs: Option<Vec<Spanned<String>>>,
    /// A file with the graph in JSON form, relative to the manifest; replaces `inputs` and `outputs`.
    pub file: Option<Spanned<String>>,
    /// The graph in JSON form, inline; replaces the three keys above. `precast record` writes this key.
    pub json: Option<Spanned<String>>,
    /// The inputs by which the only output, a number, is differentiated: `["w", "b"]`. It adds the graph
    /// `<name>.value_and_grad`, with the output and `grad_<input>` for each of them.
    #[serde(default)]
    pub gradients: Vec<Spanned<String>>,
    /// The kinds of modules to compile: `whole`, `groups`, `ops`. The default is one module for the whole graph.
    #[serde(default)]
    pub serve: Vec<Spanned<String>>,
    /// Whether to rewrite numerically unstable formulas, e.g. `log(1 + x)` to `log1p(x)`. The default is `false`.
    #[serde(default)]
    pub stabilise: bool,
}

/// Reads texts, or a single text.
fn texts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<Spanned<String>>>, D::Error> {
    struct Texts;

    impl<'de> Visitor<'de> for Texts {
        type Value = Vec<Spanned<String>>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a text, or a list of texts")
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
            // The position is that of the whole value, which is known outside.
            Ok(vec![Spanned::new(0..0, text.to_owned())])
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
            let mut texts = Vec::new();
            while let Some(text) = list.next_element()? {
                texts.push(text);
            }
            Ok(texts)
        }
    }

    struct Any(Vec<Spanned<String>>);

    impl<'de> Deserialize<'de> for Any {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            deserializer.deserialize_any(Texts).map(Self)
        }
    }

    let value = Spanned::<Any>::deserialize(deserializer)?;
    let whole = value.span();
    let placed = |text: Spanned<String>| {
        let is_placed = text.span() != (0..0);
        if is_placed { text } else { Spanned::new(whole.clone(), text.into_inner()) }
    };
    Ok(Some(value.into_inner().0.into_iter().map(placed).collect()))
}

/// `[[external]]`: an op implemented by C files, for each combination of dtypes. The keys match the fields of
/// [`Declaration`](precast_codegen::external::Declaration).
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExternalTable {
    /// The op's name, by which graphs call it.
    pub name: Spanned<String>,
    /// C files with sections, relative to the manifest.
    pub files: Vec<Spanned<String>>,
    /// The function that computes the outputs.
    pub func: Option<Spanned<String>>,
    /// The dtypes of each letter: `{ T = ["f32", "f64"] }`.
    #[serde(default)]
    pub dtypes: BTreeMap<String, Vec<Spanned<String>>>,
    /// The ranks, if a type leaves them open: `{T}[..]`.
    pub ndim: Option<Vec<Spanned<usize>>>,
    /// The type patterns of the inputs: `["{T}[?]"]`.
    #[serde(default)]
    pub inputs: Vec<Spanned<String>>,
    /// The type patterns of the outputs: `["upcast(T, U)[?]"]`.
    pub outputs: Vec<Spanned<String>>,
    /// The number of input parameters of the C function.
    pub max_inputs: Option<usize>,
    /// The number of output parameters of the C function.
    pub max_outputs: Option<usize>,
    /// Run-time params and their values: `{ alpha = 0.5 }`.
    #[serde(default)]
    pub params: BTreeMap<String, Spanned<toml::Value>>,
    /// The types of params that cannot be derived from their values.
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
    /// Additional compiler arguments.
    #[serde(default)]
    pub compile_args: Vec<String>,
    /// Compiler arguments to remove.
    #[serde(default)]
    pub no_compile_args: Vec<String>,
    /// `c` or `c++`.
    pub language: Option<Spanned<String>>,
    /// The author's version of the code.
    pub version: Option<Vec<u32>>,
    /// Pairs `[output, input]`: outputs that are views of inputs.
    #[serde(default)]
    pub view_map: Vec<(usize, usize)>,
    /// Pairs `[output, input]`: inputs that are overwritten.
    #[serde(default)]
    pub destroy_map: Vec<(usize, usize)>,
    /// The reference for each output: an expression over `x0`, `x1`, … and the params, or a list of them; or a C
    /// function that computes one element.
    pub reference: Option<Spanned<ReferenceTable>>,
    /// The derivative: for each input, an expression over `x0`, `x1`, …, the params, `out` and the gradient `g` by it.
    /// Without it, the derivative is that of the reference.
    #[serde(default)]
    pub gradient: Vec<String>,
    /// Whether the generated code validates the input values by their types.
    pub check_input: Option<bool>,
    /// Whether C code that uses NumPy's headers handles f16 and bf16 correctly.
    #[serde(default)]
    pub f16_ok: bool,
}

/// The reference that an op is checked against: expressions, or `{ file = "plain.c", func = "within" }`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged, expecting = "expected an expression, a list of them, or `{ file = \"…\", func = \"…\" }`")]
pub enum ReferenceTable {
    /// One expression.
    One(String),
    /// Several expressions, one for each output, in order.
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
    /// The function's name.
    pub func: String,
}

/// The type of a param: `"f32"`, `"generic"`, or a table with one of `tensor` and `enum`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(
    untagged,
    deny_unknown_fields,
    expecting = "expected a dtype, `generic`, `{ tensor = \"f64\" }`, or a table of `enum`, `ctype`, `headers` and \
                 `aliases`"
)]
pub enum ParamTable {
    /// The dtype of one number, or `generic` for any tensor.
    Name(String),
    /// A tensor: `{ tensor = "f64" }`.
    Tensor {
        /// Its dtype.
        tensor: String,
    },
    /// Constants: `{ enum = ["LEFT", "RIGHT"] }`, `{ enum = { METRE = 1, INCH = 0.0254 }, ctype = "double" }`, or,
    /// with `headers`, constants that these headers define.
    Enum {
        /// The constants: a list of names, or names with values.
        #[serde(rename = "enum")]
        constants: ConstantTable,
        /// The C type of a value. [default: `int`]
        ctype: Option<String>,
        /// Headers that define the constants.
        headers: Option<Vec<String>>,
        /// Aliases of constants.
        #[serde(default)]
        aliases: BTreeMap<String, String>,
    },
}

/// The constants of an enumeration.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum ConstantTable {
    /// Names with the values 0, 1, 2, …, or with the values that C headers define.
    Names(Vec<String>),
    /// Names with explicit values.
    Values(BTreeMap<String, toml::Value>),
}
