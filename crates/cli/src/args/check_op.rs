//! `precast check-op`.

use std::path::PathBuf;

use clap::Args;
use precast_graph::DType;
use precast_runtime::Policy;

use super::{Binding, LayerArgs};

const EXAMPLES: &str = "\
Examples:
  precast check-op exp --dtype f32,f64 --ndim 1,2    an op of the library
  precast check-op my_op --manifest precast.toml     an [[external]] op of a manifest, in every combination
  precast check-op --manifest precast.toml           every Apply that a manifest declares
  precast check-op --expr 'sum(exp(-x*x)*y)' --type 'x=f64[?]' --type 'y=f64[?]'
  precast check-op --entry score --store artifacts -i x=x.npy -i y=y.npy -i z=z.npy

Each Apply runs alone, in C, in a child process, on memory fenced by pages that nobody may touch: on random and edge
inputs, or on yours. What is checked: DEBUGGING.md.";

/// Checks ops in C against their contract and against their reference. Exit code 5: one breaks it.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CheckOpArgs {
    /// An op of the library, or a name that the manifest declares.
    #[arg(value_name = "OP", required_unless_present_any = ["manifest", "expr", "graph", "entry"], conflicts_with_all = ["expr", "graph", "entry"])]
    pub(crate) op: Option<String>,
    /// The dtypes to check an op of the library with.
    #[arg(long, value_name = "DTYPE", value_delimiter = ',', default_value = "f64", value_parser = dtype)]
    pub(crate) dtype: Vec<DType>,
    /// The ranks to check an op of the library with.
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "1,2")]
    pub(crate) ndim: Vec<usize>,
    /// The manifest that declares what is checked, or the ops that the expression calls.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["graph", "entry"])]
    pub(crate) manifest: Option<PathBuf>,
    /// A graph as an expression; repeated, one output each.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, conflicts_with_all = ["graph", "entry"])]
    pub(crate) expr: Vec<String>,
    /// The type of an input of the expression, as in `x=f64[?]`.
    #[arg(long = "type", value_name = "NAME=TYPE", requires = "expr")]
    pub(crate) types: Vec<String>,
    /// A graph in its JSON form.
    #[arg(long, value_name = "FILE", conflicts_with = "entry")]
    pub(crate) graph: Option<PathBuf>,
    /// The name of a graph that a manifest declared and that was built.
    #[arg(long, value_name = "NAME")]
    pub(crate) entry: Option<String>,
    /// An input of the graph and the file that holds it: the graph is checked on these values, not on random ones.
    #[arg(short, long = "input", value_name = "NAME=FILE", value_parser = Binding::parser(), conflicts_with = "op")]
    pub(crate) inputs: Vec<Binding>,
    /// Where the random inputs begin.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Lets results differ from the reference by rounding.
    #[arg(long)]
    pub(crate) approximate: bool,
    /// How many seconds one call of an op may take; one that takes longer hangs.
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) timeout: u32,
    /// Where to put what repeats a violation: the graph of the Apply, and its inputs.
    #[arg(long, value_name = "DIR", default_value = "precast-repro")]
    pub(crate) repro: PathBuf,
    /// What to do when no layer has a module. [default: jit where there is a compiler, else strict]
    #[arg(long, value_name = "strict|interpret|jit|tiered")]
    pub(crate) policy: Option<Policy>,
    /// Prints JSON.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) layers: LayerArgs,
}

fn dtype(text: &str) -> Result<DType, String> {
    text.parse().map_err(|error: precast_graph::ParseDTypeError| error.to_string())
}
