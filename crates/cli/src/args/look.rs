//! `precast ls`, `show`, `check` and `explain`: list and inspect artifacts, and explain misses.

use std::path::PathBuf;

use clap::Args;

use super::{GraphArgs, LayerArgs};
use precast_ops::rewrite::Passes;
use precast_runtime::Policy;

const LS_EXAMPLES: &str = "\
Examples:
  precast ls                                    entries, then modules
  precast ls --signature 'add(*)'               the variants of one op
  precast ls --bundle model.precast --json      the contents of a bundle, for scripts";

/// List the entries of all layers, then the modules with their variants
#[derive(Debug, Args)]
#[command(after_help = LS_EXAMPLES)]
pub(crate) struct LsArgs {
    /// Show only modules with a matching signature; `*` matches anything
    #[arg(long, value_name = "PATTERN")]
    pub(crate) signature: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) layers: LayerArgs,
}

const SHOW_EXAMPLES: &str = "\
Examples:
  precast show score                  an entry: its graph and the modules that compute it
  precast show 1f3a                   a module, by a prefix of its key
  precast show 1f3a --source | less   only the generated C
  precast show --passes               the list of rewrites
  precast show score --passes         the graph of an entry after each rewrite
  precast show --passes=all,-fuse --expr 'exp(x)*2' --type 'x=f64[?]'";

/// Show an entry, or a module with its key document, variants, manifest and generated C; or the rewrites of graphs
#[derive(Debug, Args)]
#[command(after_help = SHOW_EXAMPLES)]
pub(crate) struct ShowArgs {
    /// Name of an entry, or the beginning of a key
    #[arg(value_name = "NAME|KEY", required_unless_present = "passes")]
    pub(crate) what: Option<String>,
    /// Write the generated C and its include files to this directory, for a debugger
    #[arg(long, value_name = "DIR", conflicts_with_all = ["json", "source"])]
    pub(crate) extract: Option<PathBuf>,
    /// Print only the generated C, from a store
    #[arg(long, conflicts_with = "json")]
    pub(crate) source: bool,
    /// Print builder statements about its artifacts (`build --builder`) from a store, one line of JSON each
    #[arg(long, conflicts_with_all = ["json", "source", "extract", "passes"])]
    pub(crate) provenance: bool,
    /// List the rewrites; with an entry, an expression or a file, show the graph after each of them (or after each in
    /// a list: `all,-fuse`)
    #[arg(long, value_name = "LIST", num_args = 0..=1, require_equals = true, default_missing_value = "all", conflicts_with_all = ["extract", "source"])]
    pub(crate) passes: Option<Passes>,
    /// Graph to rewrite, as an expression (repeatable, one output each)
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, requires = "passes", conflicts_with_all = ["what", "graph"])]
    pub(crate) expr: Vec<String>,
    /// Type of an input of the expression, e.g. `x=f64[?]`
    #[arg(long = "type", value_name = "NAME=TYPE", requires = "expr")]
    pub(crate) types: Vec<String>,
    /// Manifest whose `[[external]]` ops the expression calls [default: the ops of entries in the layers]
    #[arg(long, value_name = "FILE", requires = "expr")]
    pub(crate) manifest: Option<PathBuf>,
    /// Graph to rewrite, in its JSON form
    #[arg(long, value_name = "FILE", requires = "passes", conflicts_with = "what")]
    pub(crate) graph: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) layers: LayerArgs,
}

const CHECK_EXAMPLES: &str = "\
Examples:
  precast check --expr 'sum(x*y)' --type 'x=f64[?]' --type 'y=f64[?]' --bundle model.precast
  precast check --entry score --store artifacts || precast build";

/// Check whether a graph is in the layers, without loading code (exit code 0: hit, 3: miss)
#[derive(Debug, Args)]
#[command(after_help = CHECK_EXAMPLES)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) graph: GraphArgs,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) layers: LayerArgs,
}

const EXPLAIN_EXAMPLES: &str = "\
Examples:
  precast explain --expr 'x + y' --type 'x=f32[?]' --type 'y=f32[?]' --store artifacts
  precast explain --graph model.json --json
  precast explain --entry score --bundle model.precast --trace
  precast explain --last                                        why the last build compiled units";

/// Show which modules serve a graph, and the closest match for each miss
#[derive(Debug, Args)]
#[command(after_help = EXPLAIN_EXAMPLES)]
pub(crate) struct ExplainArgs {
    #[command(flatten)]
    pub(crate) graph: GraphArgs,
    /// Explain why the last build into the store compiled each unit, most expensive cause first
    #[arg(long, group = "subject", conflicts_with = "trace")]
    pub(crate) last: bool,
    /// Resolve the function and call it once on zeros, with extent 1 for open extents; print timings of each step
    #[arg(long)]
    pub(crate) trace: bool,
    /// With --trace, how to handle a miss of the graph
    #[arg(long, value_name = "auto|strict|interpret|jit|tiered", default_value_t = Policy::Strict, requires = "trace")]
    pub(crate) policy: Policy,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) layers: LayerArgs,
}
