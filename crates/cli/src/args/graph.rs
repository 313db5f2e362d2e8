//! The options that select a graph: an expression, a file, or a name.

use std::path::PathBuf;

use clap::{ArgGroup, Args};
use precast_ops::Ops;
use precast_ops::rewrite::Passes;
use precast_store::key::Profile;

/// The graph that a command works on.
#[derive(Debug, Clone, Args)]
#[group(skip)]
#[command(group(ArgGroup::new("subject").args(["expr", "graph", "entry"]).required(true)))]
pub(crate) struct GraphArgs {
    /// Graph as an expression in Python and NumPy syntax (repeatable, one output each)
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) expr: Vec<String>,
    /// Type of an input of the expression, e.g. `x=f64[?]`, in the order of inputs
    #[arg(long = "type", value_name = "NAME=TYPE", conflicts_with_all = ["graph", "entry"])]
    pub(crate) types: Vec<String>,
    /// Graph in its JSON form
    #[arg(long, value_name = "FILE")]
    pub(crate) graph: Option<PathBuf>,
    /// Name of a graph that a manifest declares and that was built
    #[arg(long, value_name = "NAME")]
    pub(crate) entry: Option<String>,
    /// Manifest whose `[[external]]` ops the expression calls [default: the ops of entries in the layers]
    #[arg(long, value_name = "FILE", conflicts_with_all = ["graph", "entry"])]
    pub(crate) manifest: Option<PathBuf>,
    /// Use modules compiled for a debugger, without optimisation (`precast build --debug-info`)
    #[arg(long)]
    pub(crate) debug_info: bool,
    /// Rewrites to apply to the graph, e.g. `all,-fuse`, as in `precast build --passes` [default: all]
    #[arg(long, value_name = "LIST", allow_hyphen_values = true)]
    pub(crate) passes: Option<Passes>,
    /// Rewrite numerically unstable formulas, e.g. `log(1 + x)` to `log1p(x)`
    #[arg(long, conflicts_with = "entry")]
    pub(crate) stabilise: bool,
}

impl GraphArgs {
    /// Returns the library of ops for the requested profile and rewrites.
    pub(crate) fn ops(&self) -> Ops {
        let profile = if self.debug_info { Profile::Debug } else { Profile::Release };
        Ops::standard().with_profile(profile).with_passes(self.passes.clone().unwrap_or_default())
    }
}
