//! `precast graph`.

use std::path::PathBuf;

use clap::Args;

use super::LayerArgs;

const EXAMPLES: &str = "\
Examples:
  precast graph model.json --svg > model.svg             a picture
  precast graph --entry score --html -o score.html       a page to look around in, with what serves what
  precast graph model.json --dot | dot -Tpdf > model.pdf laid out by Graphviz
  precast graph --expr 'sum(exp(-x*x)*y + z)' --type 'x=f64[?]' --type 'y=f64[?]' --type 'z=f64[?]' --svg";

/// Draws a graph: Applies, types, what is fused, and which artifact serves what.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct PictureArgs {
    /// The graph in its JSON form.
    #[arg(value_name = "FILE", required_unless_present_any = ["expr", "entry"], conflicts_with_all = ["expr", "entry"])]
    pub(crate) file: Option<PathBuf>,
    /// The graph as an expression; repeated, one output each.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, conflicts_with = "entry")]
    pub(crate) expr: Vec<String>,
    /// The type of an input of the expression, as in `x=f64[?]`.
    #[arg(long = "type", value_name = "NAME=TYPE", requires = "expr")]
    pub(crate) types: Vec<String>,
    /// The manifest whose `[[external]]` ops the expression calls. [default: the ops of entries in the layers]
    #[arg(long, value_name = "FILE", requires = "expr")]
    pub(crate) manifest: Option<PathBuf>,
    /// The name of a graph that a manifest declared and that was built.
    #[arg(long, value_name = "NAME")]
    pub(crate) entry: Option<String>,
    #[command(flatten)]
    pub(crate) form: PictureForm,
    /// Draws the graph as it was declared, without rewrites.
    #[arg(long)]
    pub(crate) plain: bool,
    /// The file to write. [default: the standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) layers: LayerArgs,
}

/// The form of a picture.
#[derive(Debug, Clone, Copy, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct PictureForm {
    /// As SVG.
    #[arg(long)]
    pub(crate) svg: bool,
    /// In the language of Graphviz.
    #[arg(long)]
    pub(crate) dot: bool,
    /// As a page with zoom, search and a table of what serves what.
    #[arg(long)]
    pub(crate) html: bool,
}
