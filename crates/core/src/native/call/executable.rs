//! A program with loaded modules, as a [`super::Frame`] runs it.
//!
//! It is immutable and shared. The mutable state of a call is in its frame.

use crate::native::kernels::Chain;
use crate::native::load::LoadedModule;
use crate::program::Register;
use crate::{Array, DType};
use std::sync::Arc;

/// The work of a step.
#[derive(Debug)]
pub enum Work {
    /// Calls a module.
    Call {
        /// The called module.
        module: LoadedModule,
        /// The constants of the module, in slot order.
        slots: Vec<Array>,
    },
    /// Runs the kernels of several modules block by block.
    Chain(Arc<Chain>),
}

/// A step with its work.
#[derive(Debug)]
pub struct Bound {
    /// The work.
    pub work: Work,
    /// The inputs, followed by the outputs.
    pub args: Vec<Register>,
    /// The number of inputs in `args`.
    pub n_inputs: usize,
    /// Temporaries that are not read after this step, views before their bases.
    pub dies: Vec<usize>,
    /// Temporaries that die here and whose memory may become the output's if the shapes match. The step is element-wise,
    /// and they have the output's dtype.
    pub lends: Vec<usize>,
    /// Printable signatures of its Applies, for messages.
    pub signatures: Vec<String>,
}

/// The memory requirements of a temporary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    /// Its dtype.
    pub dtype: DType,
    /// Its rank.
    pub ndim: usize,
    /// Whether its memory belongs to another value or to its op, so that no memory is lent to it.
    pub view: bool,
}

/// A program with loaded modules.
#[derive(Debug)]
pub struct Executable {
    /// Its steps, in order.
    pub steps: Vec<Bound>,
    /// The number of inputs.
    pub n_inputs: usize,
    /// Its constants.
    pub constants: Vec<Array>,
    /// Its temporaries.
    pub temps: Vec<Room>,
    /// The number of outputs.
    pub n_outputs: usize,
}
