//! `precast profile`.

use std::path::PathBuf;

use clap::Args;
use precast_runtime::Policy;

use super::{Binding, GraphArgs, LayerArgs};

const EXAMPLES: &str = "\
Examples:
  precast profile --entry score --bundle model.precast -i x=x.npy -i y=y.npy -i z=z.npy
  precast profile --expr 'sum(exp(-x*x)*y)' --type 'x=f64[?]' --type 'y=f64[?]' --extent 1000000
  precast profile --graph model.json --html profile.html
  PRECAST_THREADS=all precast profile --entry score --store artifacts --json

Each kernel is measured by a module of its own, which is compiled where no layer has it. The limit is that of this
machine, measured before: a triad of the kernel's size for bytes, fused multiply-adds for operations.";

/// Says how long each kernel of a graph takes, and how near that is to what the machine can do.
///
/// A kernel is an Apply of the graph as it is served, with the Applies that were fused into it. Inputs that no -i gives are
/// filled with numbers between 0.5 and 1.5.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ProfileArgs {
    #[command(flatten)]
    pub(crate) graph: GraphArgs,
    /// An input and the file that holds it, by name or by position from 0; or a .npz file with inputs by their names.
    #[arg(short, long = "input", value_name = "NAME=FILE", value_parser = Binding::parser())]
    pub(crate) inputs: Vec<Binding>,
    /// The extents that types leave open, of inputs that no -i gives.
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(crate) extent: usize,
    /// How many milliseconds each kernel is measured.
    #[arg(long, value_name = "MS", default_value_t = 200)]
    pub(crate) time: u32,
    /// What to do when no layer has the graph, or a kernel. [default: jit where there is a compiler, else strict]
    #[arg(long, value_name = "strict|interpret|jit|tiered")]
    pub(crate) policy: Option<Policy>,
    /// Prints JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// A page to write, with a picture of how near each kernel is to its limit; loads nothing from outside.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) layers: LayerArgs,
}
