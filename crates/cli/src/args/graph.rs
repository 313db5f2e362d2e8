//! Which graph: an expression, a file, or a name.

use std::path::PathBuf;

use clap::Args;
use precast_ops::Ops;
use precast_ops::rewrite::Passes;
use precast_store::key::Profile;

/// The graph that a command is about.
#[derive(Debug, Clone, Args)]
#[group(skip)]
pub(crate) struct GraphArgs {
    /// The graph as an expression, as in Python and NumPy; repeated, one output each.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, required_unless_present_any = ["graph", "entry"], conflicts_with_all = ["graph", "entry"])]
    pub(crate) expr: Vec<String>,
    /// The type of an input of the expression, as in `x=f64[?]`, in the order of inputs.
    #[arg(long = "type", value_name = "NAME=TYPE", conflicts_with_all = ["graph", "entry"])]
    pub(crate) types: Vec<String>,
    /// The graph in its JSON form.
    #[arg(long, value_name = "FILE", conflicts_with = "entry")]
    pub(crate) graph: Option<PathBuf>,
    /// The name of a graph that a manifest declared and that was built.
    #[arg(long, value_name = "NAME")]
    pub(crate) entry: Option<String>,
    /// The manifest whose `[[external]]` ops the expression calls. [default: the ops of entries in the layers]
    #[arg(long, value_name = "FILE", conflicts_with_all = ["graph", "entry"])]
    pub(crate) manifest: Option<PathBuf>,
    /// Asks for modules made for a debugger, without optimisation: those of `precast build --debug-info`.
    #[arg(long)]
    pub(crate) debug_info: bool,
    /// The rewrites that the graph goes through, as in `all,-fuse`; those of `precast build --passes`. [default: all]
    #[arg(long, value_name = "LIST", allow_hyphen_values = true)]
    pub(crate) passes: Option<Passes>,
    /// Takes formulas that lose digits or overflow for those that do not: `log(1 + x)` for `log1p(x)`.
    #[arg(long, conflicts_with = "entry")]
    pub(crate) stabilise: bool,
}

impl GraphArgs {
    /// The library of ops, for the profile and the rewrites that are asked for.
    pub(crate) fn ops(&self) -> Ops {
        let profile = if self.debug_info { Profile::Debug } else { Profile::Release };
        Ops::standard().with_profile(profile).with_passes(self.passes.clone().unwrap_or_default())
    }
}
