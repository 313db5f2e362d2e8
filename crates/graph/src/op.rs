//! The op trait: a name, declared props, a type rule and a reference `perform`.
//!
//! An op is immutable. Two ops are equal if their Rust type, name and props are equal, so every difference between
//! ops must be declared in the props. Code generation is a separate trait (`precast_codegen::COp`), implemented by
//! the same Rust type.

use crate::Array;
use crate::DType;
use crate::Type;
use crate::build_error::BuildError;
use crate::graph::FunctionGraph;
use crate::make_node_error::MakeNodeError;
use crate::operand::{Keywords, Operand};
use crate::pullback::{Gradients, Pullback};
use precast_core::native::ErrorKind;
use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// The value of a declared prop.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Prop {
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A float; two floats are equal if their bits are equal.
    Float(f64),
    /// Text.
    Str(String),
    /// A dtype.
    DType(DType),
    /// A value of any dtype.
    Array(Array),
    /// A list of props.
    List(Vec<Self>),
    /// A whole graph, e.g. of a Composite.
    Graph(Arc<FunctionGraph>),
    /// Another op, e.g. the scalar op of an Elemwise.
    Op(Arc<dyn Op>),
}

impl PartialEq for Prop {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::Int(a), Self::Int(b)) => a == b,
            (Self::Float(a), Self::Float(b)) => a.to_bits() == b.to_bits(),
            (Self::Str(a), Self::Str(b)) => a == b,
            (Self::DType(a), Self::DType(b)) => a == b,
            (Self::Array(a), Self::Array(b)) => a == b,
            (Self::List(a), Self::List(b)) => a == b,
            (Self::Graph(a), Self::Graph(b)) => a == b,
            (Self::Op(a), Self::Op(b)) => **a == **b,
            _ => false,
        }
    }
}

/// Declared props by name.
pub type Props = BTreeMap<String, Prop>;

/// An operation on typed variables.
///
/// # Examples
/// `precast-ops` contains the standard library of ops. A minimal op:
/// ```
/// use precast_graph::{Array, MakeNodeError, Op, PerformError, Type};
///
/// /// Doubles a C scalar.
/// #[derive(Debug)]
/// struct Twice;
///
/// impl Op for Twice {
///     fn name(&self) -> &str {
///         "twice"
///     }
///     fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
///         MakeNodeError::expect_inputs(self.name(), 1, inputs)?;
///         Ok(vec![inputs[0].clone()])
///     }
///     fn perform(&self, inputs: &[&Array]) -> Result<Vec<Array>, PerformError> {
///         match inputs[0] {
///             Array::F64(x) => Ok(vec![Array::F64(x * 2.0)]),
///             other => Err(PerformError::value(self.name(), format!("no rule for {}", other.dtype()))),
///         }
///     }
/// }
/// ```
pub trait Op: Any + fmt::Debug + Send + Sync {
    /// Returns the name used in text, JSON and messages: `add`. It is lower case and unique in a library.
    fn name(&self) -> &str;

    /// Returns the label for signatures and the text form: the name, followed by the props in braces except
    /// [`Op::params`]. An Elemwise prints its scalar op.
    fn label(&self) -> String {
        let mut props = self.props();
        let params = self.params();
        props.retain(|name, _| !params.contains(name));
        if props.is_empty() {
            return self.name().to_owned();
        }
        let props: Vec<String> = props.iter().map(|(name, prop)| format!("{name}={prop}")).collect();
        format!("{}{{{}}}", self.name(), props.join(","))
    }

    /// Returns the declared props; together with the name they decide equality.
    fn props(&self) -> Props {
        Props::new()
    }

    /// Returns the names of the props that the code receives at run time. Ops that differ only in these share a
    /// module. Like all props, they count in equality and in the forms of a graph.
    fn params(&self) -> Vec<String> {
        Vec::new()
    }

    /// Checks the input types and returns the output types.
    ///
    /// # Errors
    /// A [`MakeNodeError`] with the op, the input, and the found and expected types.
    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError>;

    /// Computes the outputs in the slow, obvious way; the oracle for the C code.
    ///
    /// # Errors
    /// A value that the op rejects at run time (e.g. mismatched shapes), exactly as the C code does.
    fn perform(&self, inputs: &[&Array]) -> Result<Vec<Array>, PerformError>;

    /// Returns the outputs that may be views of inputs, as pairs (output, input). Empty if no output aliases an
    /// input.
    fn view_map(&self) -> Vec<(usize, usize)> {
        Vec::new()
    }

    /// Returns the inputs that are overwritten by outputs, as pairs (output, input). Empty if no input is modified.
    fn destroy_map(&self) -> Vec<(usize, usize)> {
        Vec::new()
    }

    /// Returns the in-place form of this op, with the same bits in the result; its [`destroy_map`](Op::destroy_map)
    /// names the overwritten input. `None` if the op has no in-place form or already is one. A rewrite uses the
    /// in-place form if the input has no later use.
    fn inplace(&self) -> Option<Arc<dyn Op>> {
        None
    }

    /// Builds the gradients of a cost by the inputs of an Apply, given those by its outputs. `None` if the op has no
    /// derivative, so that a gradient through it is an error. Outputs that are not floats have no gradient.
    fn pullback(&self, at: &mut Pullback<'_>) -> Option<Result<Gradients, BuildError>> {
        let _ = at;
        None
    }

    /// Returns whether equal inputs give equal outputs without side effects. Impure ops are neither merged nor
    /// folded.
    fn is_pure(&self) -> bool {
        true
    }
}

impl PartialEq for dyn Op {
    fn eq(&self, other: &Self) -> bool {
        // Compares the type ids of the values, not of the trait objects.
        let (a, b): (&dyn Any, &dyn Any) = (self, other);
        a.type_id() == b.type_id() && self.name() == other.name() && self.props() == other.props()
    }
}

impl fmt::Display for Prop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(value) => write!(f, "{value}"),
            Self::Int(value) => write!(f, "{value}"),
            Self::Str(value) => write!(f, "{value:?}"),
            Self::Float(value) => write!(f, "{value:?}"),
            Self::Array(value) => write!(f, "array({})", value.ty()),
            Self::DType(value) => write!(f, "{value}"),
            Self::Op(op) => f.write_str(&op.label()),
            Self::Graph(graph) => write!(f, "{graph}"),
            Self::List(items) => {
                let items: Vec<String> = items.iter().map(ToString::to_string).collect();
                write!(f, "[{}]", items.join(","))
            }
        }
    }
}

/// Resolves names in a written form to ops.
pub trait OpLibrary {
    /// Applies the function `name` of the text form to positional and keyword arguments. Functions are e.g. `exp`,
    /// `add` and `sum`; operators have names too. The library chooses the ops, inserts casts by NumPy's promotion
    /// rules, and adds constants for literals. A function of literals alone returns a literal. Returns `None` if the
    /// function is unknown.
    ///
    /// # Errors
    /// Arguments that the function rejects.
    fn call(
        &self,
        graph: &mut FunctionGraph,
        name: &str,
        args: &[Operand],
        keywords: &Keywords,
    ) -> Option<Result<Operand, BuildError>>;

    /// Applies a function that a text calls by its bare name, `name(…)`. A custom op may replace a library function
    /// in this case. Operators, methods and `np.name(…)` always call the library function.
    ///
    /// # Errors
    /// As [`OpLibrary::call`].
    fn call_by_name(
        &self,
        graph: &mut FunctionGraph,
        name: &str,
        args: &[Operand],
        keywords: &Keywords,
    ) -> Option<Result<Operand, BuildError>> {
        self.call(graph, name, args, keywords)
    }

    /// Returns the function for the method `x.name(…)`, which gets `x` as its first argument; `None` if arrays have
    /// no such method.
    fn method(&self, name: &str) -> Option<String> {
        let _ = name;
        None
    }

    /// Evaluates the attribute `x.name`; `None` if arrays have no such attribute.
    ///
    /// # Errors
    /// A value that does not support the attribute.
    fn attribute(
        &self,
        graph: &mut FunctionGraph,
        name: &str,
        value: &Operand,
    ) -> Option<Result<Operand, BuildError>> {
        let _ = (graph, name, value);
        None
    }

    /// Returns the names of all methods and attributes, sorted, for messages.
    fn members(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns the call signature of a function, as in `sum(x, axis=None, *, keepdims=False)`, for messages. `None`
    /// if the signature is unknown.
    fn signature(&self, name: &str) -> Option<String> {
        let _ = name;
        None
    }

    /// Returns the call signature of the function that a text calls by its bare name.
    fn signature_by_name(&self, name: &str) -> Option<String> {
        self.signature(name)
    }

    /// Returns the op with this name and these props; `None` if the library has no op of that name.
    ///
    /// # Errors
    /// A prop that is unknown, missing, or of the wrong kind.
    fn op(&self, name: &str, props: &Props) -> Option<Result<Arc<dyn Op>, MakeNodeError>>;

    /// Returns the names of all ops, sorted, for messages.
    fn names(&self) -> Vec<String>;
}

/// Why an op rejected its values at run time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PerformError {
    /// The op rejects a shape or a value.
    #[error("`{op}`: {problem}")]
    Value {
        /// The op.
        op: String,
        /// The kind of error that the C code reports.
        kind: ErrorKind,
        /// A description of the problem.
        problem: String,
    },
    /// The op is declared in C only.
    #[error("`{op}` has no reference implementation: it is declared in C only")]
    NoReference {
        /// The op.
        op: String,
    },
}

impl PerformError {
    /// Creates the error for a shape or value that `op` rejects.
    #[must_use]
    pub fn value(op: &str, problem: impl Into<String>) -> Self {
        Self::of_kind(op, ErrorKind::Value, problem)
    }

    /// Creates an error of `op` with the kind that its C code reports.
    #[must_use]
    pub fn of_kind(op: &str, kind: ErrorKind, problem: impl Into<String>) -> Self {
        Self::Value { op: op.to_owned(), kind, problem: problem.into() }
    }
}
