//! A program: a graph as a flat list of calls of modules, by their keys. What an entry holds, and what a resolved graph becomes.
//!
//! ```text
//! registers   inputs │ constants │ temporaries │ outputs
//! steps       the module that is called, its arguments, inputs first, and the constants of its instance
//! ```
//! A program says what is computed by what, and nothing about where the modules are: [`bind`] takes loaded ones and decides
//! how long temporaries live, who lends its memory, and which steps run block by block.

mod bind;
mod outline;
mod wire;

pub use bind::{bind, captured};
pub(crate) use outline::Outline;

use crate::key::BuildKey;
use crate::names::check_name;
use crate::value::{Array, Type};
use std::fmt;

/// An input or output: what callers see of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Port {
    /// Its name.
    pub name: String,
    /// Its declared type.
    pub ty: Type,
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
    /// Whether its memory is another's, or comes from its op, so that it gets none lent.
    pub view: bool,
}

/// Where an argument of a step lives.
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

/// What a module does, as far as a program cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Computes {
    /// Whatever it likes.
    #[default]
    Anything,
    /// One output, element by element, by the host's driver.
    Elementwise,
    /// Any number of elementwise ops and reductions, each by the host's drivers, and nothing else.
    Driven,
}

/// A call of a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The module.
    pub key: BuildKey,
    /// Printable signatures of the Applies that it computes, in order.
    pub signatures: Vec<String>,
    /// Its inputs, then its outputs.
    pub args: Vec<Register>,
    /// How many of them are inputs.
    pub n_inputs: usize,
    /// The constants of its instance, in the order of the module's slots.
    pub slots: Vec<Array>,
    /// Neighbours of one group may run together, block by block.
    pub group: u32,
    /// What its module does.
    pub computes: Computes,
    /// Outputs that are views of inputs: (position of the output, position of the input).
    pub views: Vec<(usize, usize)>,
}

/// A graph as a flat list of calls.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Program {
    /// What it takes.
    pub inputs: Vec<Port>,
    /// What it gives.
    pub outputs: Vec<Port>,
    /// Its constants.
    pub constants: Vec<Constant>,
    /// Its intermediate values.
    pub temps: Vec<Temp>,
    /// Its calls, in order.
    pub steps: Vec<Step>,
}

impl Program {
    /// The keys of the modules that it calls, in the order of the calls.
    pub fn keys(&self) -> impl Iterator<Item = BuildKey> + '_ {
        self.steps.iter().map(|step| step.key)
    }

    /// The type of what a register holds; `None` for a register that the program does not have.
    #[must_use]
    pub fn ty(&self, register: Register) -> Option<&Type> {
        match register {
            Register::Input(i) => self.inputs.get(i).map(|port| &port.ty),
            Register::Constant(i) => self.constants.get(i).map(|constant| &constant.ty),
            Register::Temp(i) => self.temps.get(i).map(|temp| &temp.ty),
            Register::Output(i) => self.outputs.get(i).map(|port| &port.ty),
        }
    }

    /// Checks that inputs and outputs have valid names, that every step only reads what is there before it, that everything is
    /// written once, and that every output is.
    ///
    /// # Errors
    /// What is wrong, in words.
    pub fn check(&self) -> Result<(), &'static str> {
        if self.inputs.iter().chain(&self.outputs).any(|port| check_name(&port.name).is_err()) {
            return Err("the name of an input or output in it is invalid");
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
                    return Err("a step reads what no step before it has written");
                }
            }
            for register in results {
                let place = match *register {
                    Register::Temp(i) => temps.get_mut(i),
                    Register::Output(i) => outputs.get_mut(i),
                    Register::Input(_) | Register::Constant(_) => None,
                };
                let Some(place) = place.filter(|written| !**written) else {
                    return Err("a step writes what is not there to be written, or for the second time");
                };
                *place = true;
            }
            let known = |(output, input): &(usize, usize)| *output < results.len() && *input < inputs.len();
            if !step.views.iter().all(known) {
                return Err("a step has a view of what it does not have");
            }
        }
        if outputs.iter().all(|written| *written) { Ok(()) } else { Err("an output is written by no step") }
    }
}

impl fmt::Display for Program {
    /// The interface: `(x: f64[?], y: f64[?]) -> out: f64[]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ports = |ports: &[Port]| {
            ports.iter().map(|port| format!("{}: {}", port.name, port.ty)).collect::<Vec<_>>().join(", ")
        };
        write!(f, "({}) -> {}", ports(&self.inputs), ports(&self.outputs))
    }
}
