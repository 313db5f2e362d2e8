//! `precast graph`.

use std::path::PathBuf;

use clap::Args;

use super::LayerArgs;

const EXAMPLES: &str = "\
Examples:
  precast graph model.json --svg > model.svg             a picture
  precast graph --entry score --html -o score.html       an interactive page, with the modules
  precast graph model.json --dot | dot -Tpdf > model.pdf layout by Graphviz
  precast graph --expr 'sum(exp(-x*x)*y + z)' --type 'x=f64[?]' --type 'y=f64[?]' --type 'z=f64[?]' --svg";

/// Draw a graph: Applies, types, fusion, and the artifact that serves each part
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct PictureArgs {
    /// Graph in its JSON form
    #[arg(value_name = "FILE", required_unless_present_any = ["expr", "entry"], conflicts_with_all = ["expr", "entry"])]
    pub(crate) file: Option<PathBuf>,
    /// Graph as an expression (repeatable, one output each)
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, conflicts_with = "entry")]
    pub(crate) expr: Vec<String>,
    /// Type of an input of the expression, e.g. `x=f64[?]`
    #[arg(long = "type", value_name = "NAME=TYPE", requires = "expr")]
    pub(crate) types: Vec<String>,
    /// Manifest whose `[[external]]` ops the expression calls [default: the ops of entries in the layers]
    #[arg(long, value_name = "FILE", requires = "expr")]
    pub(crate) manifest: Option<PathBuf>,
    /// Name of a graph that a manifest declares and that was built
    #[arg(long, value_name = "NAME")]
    pub(crate) entry: Option<String>,
    #[command(flatten)]
    pub(crate) form: PictureForm,
    /// Draw the graph as declared, without rewrites
    #[arg(long)]
    pub(crate) plain: bool,
    /// File to write [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) layers: LayerArgs,
}

/// The output format of a picture.
#[derive(Debug, Clone, Copy, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct PictureForm {
    /// Write SVG
    #[arg(long)]
    pub(crate) svg: bool,
    /// Write Graphviz source
    #[arg(long)]
    pub(crate) dot: bool,
    /// Write an HTML page with zoom, search and a table of artifacts
    #[arg(long)]
    pub(crate) html: bool,
}
