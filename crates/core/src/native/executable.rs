//! A program whose modules are loaded: what a [`super::Frame`] runs.
//!
//! It is immutable and shared; what a call needs besides is in its frame.

use super::chain::Chain;
use super::library::LoadedModule;
use crate::program::Register;
use crate::{Array, DType};
use std::sync::Arc;

/// What a step does.
#[derive(Debug)]
pub enum Work {
    /// Calls a module.
    Call {
        /// What is called.
        module: LoadedModule,
        /// The constants of its module, in order of the slots.
        slots: Vec<Array>,
    },
    /// Runs the kernels of several modules block by block.
    Chain(Arc<Chain>),
}

/// One step, with what runs it.
#[derive(Debug)]
pub struct Bound {
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

/// What memory a temporary needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    /// Its dtype.
    pub dtype: DType,
    /// Its rank.
    pub ndim: usize,
    /// Whether its memory is another's, or comes from its op, so that it gets none lent.
    pub view: bool,
}

/// A program whose modules are loaded.
#[derive(Debug)]
pub struct Executable {
    /// Its steps, in order.
    pub steps: Vec<Bound>,
    /// How many inputs it takes.
    pub n_inputs: usize,
    /// Its constants.
    pub constants: Vec<Array>,
    /// Its temporaries.
    pub temps: Vec<Room>,
    /// How many outputs it gives.
    pub n_outputs: usize,
}
