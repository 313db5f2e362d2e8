//! `precast run`.

use std::path::PathBuf;

use clap::Args;
use precast_runtime::Policy;

use super::{Binding, GraphArgs, LayerArgs};

const EXAMPLES: &str = "\
Examples:
  precast run --entry score -i x=x.npy -i y=y.npy -i z=z.npy --bundle model.precast
  precast run --expr 'out = sum(x*y)' --type 'x=f64[?]' --type 'y=f64[?]' -i x=x.npy -i y=y.npy
  precast run --expr 'mean(x)' -i x=x.npy -o 0=out.npy --store artifacts --policy strict
  precast run --graph model.json -i 0=x.npy --json -v
  precast run --entry model -i inputs.npz -o outputs.npz

Without --type, an input of an expression has the dtype and rank of its file.";

/// Run a graph on arrays in .npy and .npz files
///
/// Outputs without -o are printed. Arrays of every dtype are read, little-endian, in C or Fortran order.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) graph: GraphArgs,
    /// Input and the file to read it from, by name or by position from 0; or a .npz file with inputs by name
    #[arg(short, long = "input", value_name = "NAME=FILE", value_parser = Binding::parser())]
    pub(crate) inputs: Vec<Binding>,
    /// Output and the file to write it to, by name or by position from 0; or a .npz file for all of them
    #[arg(short, long = "output", value_name = "NAME=FILE", value_parser = Binding::parser())]
    pub(crate) outputs: Vec<Binding>,
    /// How to handle a miss of the graph; auto is jit if a compiler is installed, else strict
    #[arg(long, value_name = "auto|strict|interpret|jit|tiered", default_value_t)]
    pub(crate) policy: Policy,
    /// Store for artifacts compiled on a miss (created if missing) [default: the first --store, if writable]
    #[arg(long, value_name = "DIR", help_heading = "Layers", value_parser = super::local())]
    pub(crate) writable: Option<PathBuf>,
    /// Report on stderr which artifact ran each op, and other events
    #[arg(short = 'v', long, visible_alias = "verbose")]
    pub(crate) explain: bool,
    /// Print outputs and provenance as JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) layers: LayerArgs,
}
