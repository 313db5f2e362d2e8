//! Builds graphs in Rust from variables with operators.
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
//! Dtypes are chosen as in the text form: variables promote like NumPy's arrays, literals take the dtype of the
//! operand they are combined with. Errors do not stop the building; [`Graph::finish`] returns the first one.

mod control;
mod functions;
mod operators;
mod structural;

pub use control::Stepped;
pub use structural::Index;

use crate::registry::Ops;
use precast_graph::{
    BuildError, Complex, DeclaredType, FunctionGraph, Keywords, Literal, OpLibrary as _, Operand,
    ParseTypeError, Prop, Props, keywords,
};
use std::cell::RefCell;
use std::rc::Rc;

/// The first error made while a graph was built.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GraphError {
    /// The type of an input is invalid.
    #[error("input `{name}`")]
    Type {
        /// The input.
        name: String,
        /// Why the type is invalid.
        source: ParseTypeError,
    },
    /// A function cannot be applied.
    #[error("cannot apply `{function}`")]
    Apply {
        /// The function.
        function: String,
        /// The error of the function.
        source: BuildError,
    },
    /// Unknown function.
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
        /// The reason.
        source: BuildError,
    },
    /// An output cannot have its declared type.
    #[error("invalid declaration of output `{name}`")]
    Declared {
        /// Its name.
        name: String,
        /// The reason.
        source: BuildError,
    },
    /// An expression combines variables of different graphs.
    #[error("one expression uses variables of different graphs")]
    Mixed,
    /// A variable of a closure is used outside of it.
    #[error("a variable of a closure is used after the call\nhint: return it from the closure")]
    Escaped,
    /// The graph is invalid, e.g. because it has no outputs.
    #[error("cannot finish the graph")]
    Invalid(#[source] BuildError),
}

precast_core::debug_as_chain!(GraphError);

#[derive(Debug)]
struct State {
    ops: Ops,
    graph: FunctionGraph,
    error: Option<GraphError>,
    /// The calls of closures that are under way, and the number of all calls so far.
    scopes: Vec<usize>,
    calls: usize,
}

/// A graph under construction. Clones share the same graph.
#[derive(Debug, Clone)]
pub struct Graph(Rc<RefCell<State>>);

/// A variable of a [`Graph`].
#[derive(Debug, Clone)]
pub struct Var {
    graph: Graph,
    /// The variable, or a literal before it is combined with a variable. `None` after an error.
    value: Option<Operand>,
    /// The call of a closure that the variable belongs to; 0 outside of closures.
    scope: usize,
}

impl Default for Graph {
    fn default() -> Self {
        Self::new()
    }
}

impl Graph {
    /// Creates an empty graph over the standard library of ops.
    #[must_use]
    pub fn new() -> Self {
        Self::with_ops(Ops::standard())
    }

    /// Creates an empty graph over a custom library of ops.
    #[must_use]
    pub fn with_ops(ops: Ops) -> Self {
        Self(Rc::new(RefCell::new(State {
            ops,
            graph: FunctionGraph::new(),
            error: None,
            scopes: vec![0],
            calls: 0,
        })))
    }

    /// Adds an input; its type is in text form, e.g. `f64[?,?]`. Calls check that extents of one name are equal, as in
    /// `f64[n,k]`.
    #[must_use]
    pub fn input(&self, name: &str, ty: &str) -> Var {
        let id = self.parsed(name, ty).and_then(|ty| {
            let added = self.0.borrow_mut().graph.declare_input(name, ty);
            self.keep(added.map_err(|source| GraphError::Name { name: name.to_owned(), source }))
        });
        self.var(id.map(Operand::Var))
    }

    /// Parses the declared type of an input or output.
    fn parsed(&self, name: &str, ty: &str) -> Option<DeclaredType> {
        self.keep(ty.parse().map_err(|source| GraphError::Type { name: name.to_owned(), source }))
    }

    /// Adds a constant array. Numbers can be used directly.
    #[must_use]
    pub fn constant(&self, value: impl Into<precast_graph::Array>) -> Var {
        let id = self.0.borrow_mut().graph.constant(value.into());
        self.var(Some(Operand::Var(id)))
    }

    /// Makes a variable an output.
    pub fn output(&self, name: &str, variable: &Var) {
        if let Some(value) = self.own(variable) {
            let added = {
                let graph = &mut self.0.borrow_mut().graph;
                let id = value.variable(graph).map_err(BuildError::from);
                id.and_then(|id| graph.output(id, Some(name)))
            };
            self.keep(added.map_err(|source| GraphError::Name { name: name.to_owned(), source }));
        }
    }

    /// Makes a variable an output of a declared type, e.g. `f32[n]`. The dtype, the rank and the known extents of the
    /// variable must agree with it; calls check the other extents.
    pub fn output_as(&self, name: &str, ty: &str, variable: &Var) {
        self.output(name, variable);
        let Some(ty) = self.parsed(name, ty) else { return };
        let declared = {
            let State { graph, error: None, .. } = &mut *self.0.borrow_mut() else { return };
            graph.declare_output(graph.outputs().len() - 1, ty)
        };
        self.keep(declared.map_err(|source| GraphError::Declared { name: name.to_owned(), source }));
    }

    /// Returns the finished graph.
    ///
    /// # Errors
    /// The first error made while building, or a graph without outputs.
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
        self.apply_named(function, args, &[], props)
    }

    /// Applies a function with keyword arguments: `graph.apply_named("quantile", &[x, q], &[("weights", w)], props)`.
    #[must_use]
    pub fn apply_named(&self, function: &str, args: &[Arg], named: &[(&str, Arg)], props: &Props) -> Var {
        let operands: Option<Vec<Operand>> = args.iter().map(|arg| self.operand(arg)).collect();
        let named: Option<Vec<(String, Operand)>> =
            named.iter().map(|(name, arg)| Some(((*name).to_owned(), self.operand(arg)?))).collect();
        let value = operands.zip(named).and_then(|(operands, named)| {
            let mut keywords = keywords(props);
            keywords.extend(named);
            self.called(function, &operands, &keywords)
        });
        self.var(value)
    }

    /// Returns the gradients of a cost without dimensions by some variables.
    ///
    /// ```
    /// use precast_ops::build::Graph;
    /// let g = Graph::new();
    /// let (x, w) = (g.input("x", "f64[?,?]"), g.input("w", "f64[?]"));
    /// let cost = x.dot(&w).softplus().sum();
    /// let gradients = g.grad(&cost, &[&w]);
    /// g.output("cost", &cost);
    /// g.output("gradient", &gradients[0]);
    /// assert_eq!(g.finish()?.outputs().len(), 2);
    /// # Ok::<(), precast_ops::build::GraphError>(())
    /// ```
    #[must_use]
    pub fn grad(&self, cost: &Var, variables: &[&Var]) -> Vec<Var> {
        let by: Option<Vec<Operand>> = variables.iter().map(|variable| self.own(variable)).collect();
        let args = self.own(cost).zip(by).map(|(cost, by)| [cost, Operand::List(by)]);
        let results = match args.and_then(|args| self.called("grad", &args, &Keywords::new())) {
            Some(Operand::List(results)) => results.into_iter().map(Some).collect(),
            _ => vec![None; variables.len()],
        };
        results.into_iter().map(|value| self.var(value)).collect()
    }

    /// Calls a function of the library; stores its error.
    fn called(&self, function: &str, args: &[Operand], keywords: &Keywords) -> Option<Operand> {
        let called = {
            let state = &mut *self.0.borrow_mut();
            state.ops.call(&mut state.graph, function, args, keywords)
        };
        let function = function.to_owned();
        self.keep(match called {
            None => Err(GraphError::Unknown { function }),
            Some(result) => result.map_err(|source| GraphError::Apply { function, source }),
        })
    }

    fn operand(&self, arg: &Arg) -> Option<Operand> {
        match arg {
            Arg::Var(variable) => self.own(variable),
            Arg::Literal(literal) => Some(Operand::Literal(literal.clone())),
            Arg::Text(text) => Some(Prop::Str(text.clone()).into()),
        }
    }

    /// Returns a variable of the closure that is being called.
    fn var(&self, value: Option<Operand>) -> Var {
        let scope = self.0.borrow().scopes.last().copied().unwrap_or_default();
        Var { graph: self.clone(), value, scope }
    }

    fn own(&self, variable: &Var) -> Option<Operand> {
        if !Rc::ptr_eq(&self.0, &variable.graph.0) {
            return self.keep(Err(GraphError::Mixed));
        }
        if !self.0.borrow().scopes.contains(&variable.scope) {
            return self.keep(Err(GraphError::Escaped));
        }
        variable.value.clone()
    }

    /// Returns the value of a step. An error is stored, unless an earlier one is already stored.
    fn keep<T>(&self, step: Result<T, GraphError>) -> Option<T> {
        step.map_err(|error| self.0.borrow_mut().error.get_or_insert(error).clone()).ok()
    }
}

/// An argument of a function: a variable, a number or a text.
#[derive(Debug, Clone)]
pub enum Arg {
    /// A variable.
    Var(Var),
    /// A number, which takes the dtype of the operand it is combined with.
    Literal(Literal),
    /// A string, e.g. for `einsum`.
    Text(String),
}

impl From<&str> for Arg {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<Var> for Arg {
    fn from(variable: Var) -> Self {
        Self::Var(variable)
    }
}

macro_rules! args {
    ($($from:ty),*) => {$(
        impl From<$from> for Arg {
            fn from(value: $from) -> Self {
                Self::Literal(value.into())
            }
        }
    )*};
}
args!(i32, i64, u64, f32, f64, bool, Complex<f64>, Literal);

impl From<&Var> for Arg {
    fn from(variable: &Var) -> Self {
        Self::Var(variable.clone())
    }
}

impl Var {
    /// Applies a reduction (`sum`, `mean`, `max`) over some axes; negative axes count from the end.
    #[must_use]
    pub fn reduce(&self, function: &str, axes: &[i64], keepdims: bool) -> Self {
        let axes = Prop::List(axes.iter().map(|axis| Prop::Int(*axis)).collect());
        let props = Props::from([("axis".to_owned(), axes), ("keepdims".to_owned(), Prop::Bool(keepdims))]);
        self.graph.apply(function, &[self.into()], &props)
    }

    /// Applies a function of the text form with this variable as the first argument.
    #[must_use]
    pub fn call(&self, function: &str, others: &[Arg]) -> Self {
        let args: Vec<Arg> = std::iter::once(self.into()).chain(others.iter().cloned()).collect();
        self.graph.apply(function, &args, &Props::new())
    }
}
