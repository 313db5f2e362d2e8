//! A program: a graph as a flat list of steps over registers.
//!
//! ```text
//! registers   inputs (borrowed from the caller) │ constants │ temporaries │ outputs (cells)
//! steps       what is called, its arguments, inputs first, and which temporaries nobody reads after it
//! ```
//! A program is immutable and shared; what a call needs besides is in its [`super::Frame`].

use super::chain::Chain;
use super::library::LoadedEntry;
use precast_graph::{Array, DType};

/// Where an argument of a step lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Register {
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
pub(crate) enum Work {
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
pub(crate) struct Step {
    /// What is done.
    pub(crate) work: Work,
    /// Its inputs, then its outputs.
    pub(crate) args: Vec<Register>,
    /// How many of them are inputs.
    pub(crate) n_inputs: usize,
    /// Temporaries that nobody reads after this step, views before what they look at.
    pub(crate) dies: Vec<usize>,
    /// Temporaries that die here and whose memory may become the output's if it has its shape: the step is elementwise, and
    /// they have its dtype.
    pub(crate) lends: Vec<usize>,
    /// Printable signatures of its Applies, for messages.
    pub(crate) signatures: Vec<String>,
}

/// An intermediate value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Temp {
    /// Its dtype.
    pub(crate) dtype: DType,
    /// Its rank.
    pub(crate) ndim: usize,
    /// Whether its memory is another's, or comes from its op, so that it gets none lent.
    pub(crate) view: bool,
}

/// A graph as a flat list of steps.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) steps: Vec<Step>,
    pub(crate) n_inputs: usize,
    pub(crate) constants: Vec<Array>,
    pub(crate) temps: Vec<Temp>,
    pub(crate) n_outputs: usize,
}
