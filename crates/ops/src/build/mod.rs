//! Graphs in Rust: variables with operators.
//!
//! ```
//! use precast_ops::build::Graph;
//! let g = Graph::new();
//! let (x, y) = (g.input("x", "f64[?]"), g.input("y", "f64[?]"));
//! let z = ((-&x * &x).exp() * &y).sum() + 1.0;
//! g.output("z", &z);
//! let graph = g.finish()?;
//! assert_eq!(graph.inputs().len(), 2);
//! # Ok::<(), precast_ops::build::GraphError>(())
//! ```
//! Dtypes are chosen as in the text form: variables promote as NumPy's arrays, literals take the dtype of what they meet.
//! The first mistake is kept and reported by [`Graph::finish`]; until then building goes on.

mod functions;
mod operators;
mod structural;

pub use structural::Index;

use crate::registry::Ops;
use precast_graph::{
    BuildError, FunctionGraph, OpLibrary as _, Operand, ParseTypeError, Prop, Props, Type, VarId,
};
use std::cell::RefCell;
use std::rc::Rc;

/// Why a graph could not be built: the first mistake.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GraphError {
    /// The type of an input cannot be read.
    #[error("input `{name}`")]
    Type {
        /// The input.
        name: String,
        /// What is wrong with its type.
        source: ParseTypeError,
    },
    /// A function cannot be applied.
    #[error("cannot apply `{function}`")]
    Apply {
        /// The function.
        function: String,
        /// Why not.
        source: BuildError,
    },
    /// A function that the library does not have.
    #[error("unknown function `{function}`")]
    Unknown {
        /// The function.
        function: String,
    },
    /// An input or output that cannot be added.
    #[error("cannot add `{name}`")]
    Name {
        /// Its name.
        name: String,
        /// Why not.
        source: BuildError,
    },
    /// Variables of two graphs in one expression.
    #[error("variables of different graphs in one expression")]
    Mixed,
    /// A graph without outputs.
    #[error("the graph cannot be finished")]
    Invalid(#[source] BuildError),
}

#[derive(Debug)]
struct State {
    ops: Ops,
    graph: FunctionGraph,
    error: Option<GraphError>,
}

/// A graph that is being built. Clones build the same graph.
#[derive(Debug, Clone)]
pub struct Graph(Rc<RefCell<State>>);

/// A variable of a [`Graph`].
#[derive(Debug, Clone)]
pub struct Var {
    graph: Graph,
    /// `None` after a mistake.
    id: Option<VarId>,
}

impl Default for Graph {
    fn default() -> Self {
        Self::new()
    }
}

impl Graph {
    /// An empty graph over the standard library of ops.
    #[must_use]
    pub fn new() -> Self {
        Self::with_ops(Ops::standard())
    }

    /// An empty graph over a library of one's own.
    #[must_use]
    pub fn with_ops(ops: Ops) -> Self {
        Self(Rc::new(RefCell::new(State { ops, graph: FunctionGraph::new(), error: None })))
    }

    /// Adds an input of a type in text form, `f64[?,?]`.
    #[must_use]
    pub fn input(&self, name: &str, ty: &str) -> Var {
        let id = match ty.parse::<Type>() {
            Ok(ty) => {
                let added = self.0.borrow_mut().graph.input(name, ty);
                self.keep(added.map_err(|source| GraphError::Name { name: name.to_owned(), source }))
            }
            Err(source) => self.keep(Err(GraphError::Type { name: name.to_owned(), source })),
        };
        Var { graph: self.clone(), id }
    }

    /// Adds a constant array; numbers can be used as they are.
    #[must_use]
    pub fn constant(&self, value: impl Into<precast_graph::Array>) -> Var {
        let id = self.0.borrow_mut().graph.constant(value.into());
        Var { graph: self.clone(), id: Some(id) }
    }

    /// Makes a variable an output.
    pub fn output(&self, name: &str, variable: &Var) {
        if let Some(id) = self.own(variable) {
            let added = self.0.borrow_mut().graph.output(id, Some(name));
            self.keep(added.map_err(|source| GraphError::Name { name: name.to_owned(), source }));
        }
    }

    /// The finished graph.
    ///
    /// # Errors
    /// The first mistake that was made while building; a graph without outputs.
    pub fn finish(self) -> Result<FunctionGraph, GraphError> {
        let state = self.0.borrow();
        match &state.error {
            Some(error) => Err(error.clone()),
            None => state.graph.validate().map(|()| state.graph.clone()).map_err(GraphError::Invalid),
        }
    }

    /// Applies a function of the text form by name: `graph.apply("maximum", &[x.into(), 0.0.into()], props)`.
    #[must_use]
    pub fn apply(&self, function: &str, args: &[Arg], props: &Props) -> Var {
        let operands: Option<Vec<Operand>> = args.iter().map(|arg| self.operand(arg)).collect();
        let id = operands.and_then(|operands| {
            let applied = {
                let state = &mut *self.0.borrow_mut();
                state.ops.call(&mut state.graph, function, &operands, props)
            };
            let function = function.to_owned();
            self.keep(match applied {
                None => Err(GraphError::Unknown { function }),
                Some(result) => result.map_err(|source| GraphError::Apply { function, source }),
            })
        });
        Var { graph: self.clone(), id }
    }

    fn operand(&self, arg: &Arg) -> Option<Operand> {
        Some(match arg {
            Arg::Var(variable) => Operand::Var(self.own(variable)?),
            Arg::Int(n) => Operand::Int(*n),
            Arg::Float(x) => Operand::Float(*x),
            Arg::Bool(b) => Operand::Bool(*b),
        })
    }

    fn own(&self, variable: &Var) -> Option<VarId> {
        if !Rc::ptr_eq(&self.0, &variable.graph.0) {
            return self.keep(Err(GraphError::Mixed));
        }
        variable.id
    }

    /// The value of a step; a mistake is kept unless there is an earlier one.
    fn keep<T>(&self, step: Result<T, GraphError>) -> Option<T> {
        step.map_err(|error| self.0.borrow_mut().error.get_or_insert(error).clone()).ok()
    }
}

/// An argument of a function: a variable or a number.
#[derive(Debug, Clone)]
pub enum Arg {
    /// A variable.
    Var(Var),
    /// An integer, which takes the dtype of what it meets.
    Int(i64),
    /// A float, which takes the dtype of a float it meets.
    Float(f64),
    /// A truth value.
    Bool(bool),
}

macro_rules! args {
    ($($from:ty => $variant:ident),*) => {$(
        impl From<$from> for Arg {
            fn from(value: $from) -> Self {
                Self::$variant(value.into())
            }
        }
    )*};
}
args!(Var => Var, i64 => Int, i32 => Int, f64 => Float, f32 => Float, bool => Bool);

impl From<&Var> for Arg {
    fn from(variable: &Var) -> Self {
        Self::Var(variable.clone())
    }
}

impl Var {
    /// A reduction (`sum`, `mean`, `max`) over some axes, negative ones counted from the end.
    #[must_use]
    pub fn reduce(&self, function: &str, axes: &[i64], keepdims: bool) -> Self {
        let axes = Prop::List(axes.iter().map(|axis| Prop::Int(*axis)).collect());
        let props = Props::from([("axis".to_owned(), axes), ("keepdims".to_owned(), Prop::Bool(keepdims))]);
        self.graph.apply(function, &[self.into()], &props)
    }

    /// Applies a function of the text form with this variable as first argument.
    #[must_use]
    pub fn call(&self, function: &str, others: &[Arg]) -> Self {
        let args: Vec<Arg> = std::iter::once(self.into()).chain(others.iter().cloned()).collect();
        self.graph.apply(function, &args, &Props::new())
    }
}
