//! `precast check-op`.

use std::path::PathBuf;

use clap::{ArgGroup, Args};
use precast_graph::DType;
use precast_runtime::Policy;

use super::{Binding, LayerArgs};

const EXAMPLES: &str = "\
Examples:
  precast check-op exp --dtype f32,f64 --ndim 1,2    a library op
  precast check-op my_op --manifest precast.toml     an [[external]] op, in every combination
  precast check-op --manifest precast.toml           every Apply of a manifest
  precast check-op --expr 'sum(exp(-x*x)*y)' --type 'x=f64[?]' --type 'y=f64[?]'
  precast check-op --entry score --store artifacts -i x=x.npy -i y=y.npy -i z=z.npy

Each Apply runs separately, in C, in a child process, with guard pages around its memory. Its inputs
are random values and edge cases, or your files. DEBUGGING.md lists the checks.";

/// Check C ops against their contract and their reference (exit code 5: violation)
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(group(ArgGroup::new("subject").args(["op", "manifest", "expr", "graph", "entry"]).required(true).multiple(true)))]
pub(crate) struct CheckOpArgs {
    /// Built-in op, or a name that the manifest declares
    #[arg(value_name = "OP", conflicts_with_all = ["expr", "graph", "entry"])]
    pub(crate) op: Option<String>,
    /// Dtypes to check a built-in op with
    #[arg(long, value_name = "DTYPE", value_delimiter = ',', default_value = "f64", value_parser = dtype)]
    pub(crate) dtype: Vec<DType>,
    /// Ranks to check a built-in op with
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "1,2")]
    pub(crate) ndim: Vec<usize>,
    /// Manifest that declares the ops and graphs to check, or the ops that the expression calls
    #[arg(long, value_name = "FILE", conflicts_with_all = ["graph", "entry"])]
    pub(crate) manifest: Option<PathBuf>,
    /// Graph as an expression (repeatable, one output each)
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, conflicts_with_all = ["graph", "entry"])]
    pub(crate) expr: Vec<String>,
    /// Type of an input of the expression, e.g. `x=f64[?]`
    #[arg(long = "type", value_name = "NAME=TYPE", requires = "expr")]
    pub(crate) types: Vec<String>,
    /// Graph in its JSON form
    #[arg(long, value_name = "FILE", conflicts_with = "entry")]
    pub(crate) graph: Option<PathBuf>,
    /// Name of a graph that a manifest declares and that was built
    #[arg(long, value_name = "NAME")]
    pub(crate) entry: Option<String>,
    /// Input of the graph and its file: check on these values instead of random ones
    #[arg(short, long = "input", value_name = "NAME=FILE", value_parser = Binding::parser(), conflicts_with = "op")]
    pub(crate) inputs: Vec<Binding>,
    /// Seed for random inputs
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Allow results to differ from the reference by rounding
    #[arg(long)]
    pub(crate) approximate: bool,
    /// Time limit in seconds for one call of an op; a call that takes longer is reported as a hang
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) timeout: u32,
    /// Directory for reproducers of violations: the graph of the Apply, and its inputs
    #[arg(long, value_name = "DIR", default_value = "precast-repro")]
    pub(crate) repro: PathBuf,
    /// How to handle a miss of a module; auto is jit if a compiler is installed, else strict
    #[arg(long, value_name = "auto|strict|interpret|jit|tiered", default_value_t)]
    pub(crate) policy: Policy,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) layers: LayerArgs,
}

fn dtype(text: &str) -> Result<DType, String> {
    text.parse().map_err(|error: precast_graph::ParseDTypeError| error.to_string())
}
