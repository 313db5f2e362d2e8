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

Each kernel is measured in a separate module, which is compiled if no layer has it. The limits of the
machine are measured first: a triad of the kernel's size for bytes, fused multiply-adds for
operations.";

/// Measure how long each kernel of a graph takes, and how close it gets to the limit of this machine
///
/// A kernel is an Apply of the optimised graph together with the Applies fused into it. Inputs without -i are filled
/// with numbers between 0.5 and 1.5.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ProfileArgs {
    #[command(flatten)]
    pub(crate) graph: GraphArgs,
    /// Input and the file to read it from, by name or by position from 0; or a .npz file with inputs by name
    #[arg(short, long = "input", value_name = "NAME=FILE", value_parser = Binding::parser())]
    pub(crate) inputs: Vec<Binding>,
    /// Value of open extents, for inputs without -i
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(crate) extent: usize,
    /// Time to measure each kernel, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 200)]
    pub(crate) time: u32,
    /// How to handle a miss of the graph or of a kernel; auto is jit if a compiler is installed, else strict
    #[arg(long, value_name = "auto|strict|interpret|jit|tiered", default_value_t)]
    pub(crate) policy: Policy,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Write a self-contained HTML page with a chart of each kernel against its limit
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) layers: LayerArgs,
}
