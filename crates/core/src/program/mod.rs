//! A program: a graph as a flat list of module calls by key. Entries contain programs, and a resolved graph becomes one.
//!
//! ```text
//! registers   inputs │ constants │ temporaries │ outputs
//! steps       the called module, its arguments (inputs first), and the constants of its instance
//! ```
//! A program states which module computes which value, but not where the modules are. [`bind`] takes loaded modules. It
//! decides how long temporaries live, which ones lend their memory, and which steps run block by block.

mod bind;
mod outline;
mod wire;

pub use bind::{bind, captured};
pub(crate) use outline::Outline;

use crate::key::BuildKey;
use crate::names::check_name;
use crate::value::{Array, DeclaredType, Type};
use std::fmt;

/// An input or output, as callers see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Port {
    /// Its name.
    pub name: String,
    /// Its declared type.
    pub ty: DeclaredType,
}

impl Port {
    /// Returns the first axis whose extent has this name.
    #[must_use]
    pub fn axis(&self, name: &str) -> Option<usize> {
        self.ty.names().find_map(|(axis, known)| (known == name).then_some(axis))
    }
}

impl fmt::Display for Port {
    /// Renders the declaration: `x: f64[n,3]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.ty)
    }
}

/// Returns the first input whose name is also the name of an extent of some port, with that name.
#[must_use]
pub fn ambiguous<'p>(inputs: &'p [Port], outputs: &'p [Port]) -> Option<(&'p Port, &'p str)> {
    let mut extents =
        inputs.iter().chain(outputs).flat_map(|port| port.ty.names().map(move |(_, name)| (port, name)));
    extents.find(|(_, name)| inputs.iter().any(|input| input.name == *name))
}

/// A constant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Constant {
    /// Its type.
    pub ty: Type,
    /// Its value.
    pub value: Array,
}

/// An intermediate value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Temp {
    /// Its type.
    pub ty: Type,
    /// Whether its memory belongs to another value or to its op, so that no memory is lent to it.
    pub view: bool,
}

/// The location of a step's argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
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

/// The kind of computation of a module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Computes {
    /// An arbitrary computation.
    #[default]
    Anything,
    /// One output, computed element by element by the host's driver.
    Elementwise,
    /// Any number of element-wise ops and reductions, all computed by the host's drivers.
    Driven,
}

/// A call of a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The module.
    pub key: BuildKey,
    /// Printable signatures of the Applies that it computes, in order.
    pub signatures: Vec<String>,
    /// The inputs, followed by the outputs.
    pub args: Vec<Register>,
    /// The number of inputs in `args`.
    pub n_inputs: usize,
    /// The constants of its instance, in the order of the module's slots.
    pub slots: Vec<Array>,
    /// Adjacent steps of one group may run together, block by block.
    pub group: u32,
    /// The kind of computation of the module.
    pub computes: Computes,
    /// Outputs that are views of inputs: (position of the output, position of the input).
    pub views: Vec<(usize, usize)>,
}

/// A graph as a flat list of calls.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Program {
    /// The inputs.
    pub inputs: Vec<Port>,
    /// The outputs.
    pub outputs: Vec<Port>,
    /// Its constants.
    pub constants: Vec<Constant>,
    /// Its intermediate values.
    pub temps: Vec<Temp>,
    /// Its calls, in order.
    pub steps: Vec<Step>,
}

impl Program {
    /// Returns the keys of the called modules, in call order.
    pub fn keys(&self) -> impl Iterator<Item = BuildKey> + '_ {
        self.steps.iter().map(|step| step.key)
    }

    /// Returns whether an extent of an input or output has a name.
    #[must_use]
    pub fn has_names(&self) -> bool {
        self.inputs.iter().chain(&self.outputs).any(|port| port.ty.has_names())
    }

    /// Returns the type of a register's value, or `None` for a register that the program does not have.
    #[must_use]
    pub fn ty(&self, register: Register) -> Option<&Type> {
        match register {
            Register::Input(i) => self.inputs.get(i).map(|port| &*port.ty),
            Register::Constant(i) => self.constants.get(i).map(|constant| &constant.ty),
            Register::Temp(i) => self.temps.get(i).map(|temp| &temp.ty),
            Register::Output(i) => self.outputs.get(i).map(|port| &*port.ty),
        }
    }

    /// Checks that names are valid, that each step reads only values written before it, that nothing is written twice, and
    /// that every output is written.
    ///
    /// # Errors
    /// The defect.
    pub fn check(&self) -> Result<(), &'static str> {
        if self.inputs.iter().chain(&self.outputs).any(|port| check_name(&port.name).is_err()) {
            return Err("invalid name of an input or output");
        }
        if ambiguous(&self.inputs, &self.outputs).is_some() {
            return Err("an extent has the name of an input");
        }
        let (mut temps, mut outputs) = (vec![false; self.temps.len()], vec![false; self.outputs.len()]);
        for step in &self.steps {
            let Some((inputs, results)) = step.args.split_at_checked(step.n_inputs) else {
                return Err("a step has fewer arguments than inputs");
            };
            for register in inputs {
                let is_there = match *register {
                    Register::Input(i) => i < self.inputs.len(),
                    Register::Constant(i) => i < self.constants.len(),
                    Register::Temp(i) => temps.get(i).copied().unwrap_or(false),
                    Register::Output(i) => outputs.get(i).copied().unwrap_or(false),
                };
                if !is_there {
                    return Err("a step reads a register that no earlier step writes");
                }
            }
            for register in results {
                let place = match *register {
                    Register::Temp(i) => temps.get_mut(i),
                    Register::Output(i) => outputs.get_mut(i),
                    Register::Input(_) | Register::Constant(_) => None,
                };
                let Some(place) = place.filter(|written| !**written) else {
                    return Err("a step writes a register that is missing or already written");
                };
                *place = true;
            }
            let known = |(output, input): &(usize, usize)| *output < results.len() && *input < inputs.len();
            if !step.views.iter().all(known) {
                return Err("a step views a register that is missing");
            }
        }
        if outputs.iter().all(|written| *written) { Ok(()) } else { Err("an output is never written") }
    }
}

impl fmt::Display for Program {
    /// Renders the interface: `(x: f64[?], y: f64[?]) -> out: f64[]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ports = |ports: &[Port]| ports.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        write!(f, "({}) -> {}", ports(&self.inputs), ports(&self.outputs))
    }
}
