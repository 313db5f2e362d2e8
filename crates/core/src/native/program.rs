//! A program: a graph as a flat list of steps over registers.
//!
//! ```text
//! registers   inputs (borrowed from the caller) │ constants │ temporaries │ outputs (cells)
//! steps       what is called, its arguments, inputs first, and which temporaries nobody reads after it
//! ```
//! A program is immutable and shared; what a call needs besides is in its [`super::Frame`].

use super::chain::Chain;
use super::library::LoadedEntry;
use crate::{Array, DType};

/// Where an argument of a step lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Register {
    /// An input of the program.
    Input(usize),
    /// A constant of the program.
    Constant(usize),
    /// An intermediate value.
    Temp(usize),
    /// An output of the program.
    Output(usize),
}

/// What a step does.
#[derive(Debug)]
pub enum Work {
    /// Calls an entry.
    Call {
        /// What is called.
        entry: LoadedEntry,
        /// The constants of its module, in order of the slots.
        slots: Vec<Array>,
    },
    /// Runs the kernels of several modules block by block.
    Chain(Box<Chain>),
}

/// One step.
#[derive(Debug)]
pub struct Step {
    /// What is done.
    pub work: Work,
    /// Its inputs, then its outputs.
    pub args: Vec<Register>,
    /// How many of them are inputs.
    pub n_inputs: usize,
    /// Temporaries that nobody reads after this step, views before what they look at.
    pub dies: Vec<usize>,
    /// Temporaries that die here and whose memory may become the output's if it has its shape: the step is elementwise, and
    /// they have its dtype.
    pub lends: Vec<usize>,
    /// Printable signatures of its Applies, for messages.
    pub signatures: Vec<String>,
}

/// An intermediate value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Temp {
    /// Its dtype.
    pub dtype: DType,
    /// Its rank.
    pub ndim: usize,
    /// Whether its memory is another's, or comes from its op, so that it gets none lent.
    pub view: bool,
}

/// A graph as a flat list of steps.
#[derive(Debug)]
pub struct Program {
    pub steps: Vec<Step>,
    pub n_inputs: usize,
    pub constants: Vec<Array>,
    pub temps: Vec<Temp>,
    pub n_outputs: usize,
}
