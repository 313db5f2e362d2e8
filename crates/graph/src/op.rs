//! What an operation is: a name, declared props, a type rule and a reference `perform`.
//!
//! An op is immutable. Two ops are equal when their Rust type, name and props are equal; nothing else counts, so
//! whatever distinguishes an op must be declared in its props. Code generation is another trait (`precast_codegen::COp`),
//! implemented by the same Rust type.

use crate::Array;
use crate::DType;
use crate::Type;
use crate::build_error::BuildError;
use crate::graph::FunctionGraph;
use crate::make_node_error::MakeNodeError;
use crate::operand::{Keywords, Operand};
use precast_core::native::ErrorKind;
use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// The value of a declared prop.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Prop {
    /// Yes or no.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A float; equal when the bits are.
    Float(f64),
    /// Text.
    Str(String),
    /// A dtype.
    DType(DType),
    /// A value of any dtype.
    Array(Array),
    /// Several props, in order.
    List(Vec<Self>),
    /// A whole graph, as in a Composite.
    Graph(Arc<FunctionGraph>),
    /// Another op, as the scalar op of an Elemwise.
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
/// The op library of `precast-ops` has many; a minimal one:
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
    /// The name in text, JSON and messages: `add`. Lower case; unique in a library.
    fn name(&self) -> &str;

    /// What signatures and the text form print: the name, and the props in braces, but for [`Op::params`]. An Elemwise
    /// prints its scalar op.
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

    /// The declared props; with the name they decide equality.
    fn props(&self) -> Props {
        Props::new()
    }

    /// The props that are given to the code at run time, not written into it: ops that differ only in these share a
    /// module. Like all props they count in equality and in the forms of a graph.
    fn params(&self) -> Vec<String> {
        Vec::new()
    }

    /// Checks the types of the inputs and gives those of the outputs.
    ///
    /// # Errors
    /// A [`MakeNodeError`] that names the op, the input, what was found and what was expected.
    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError>;

    /// Computes the outputs the slow, obvious way: the oracle of the C code.
    ///
    /// # Errors
    /// Values that the op refuses at run time (shapes that do not match), as the C code does.
    fn perform(&self, inputs: &[&Array]) -> Result<Vec<Array>, PerformError>;

    /// Which outputs may be views of which inputs: pairs (output, input). Empty: no output aliases an input.
    fn view_map(&self) -> Vec<(usize, usize)> {
        Vec::new()
    }

    /// Which inputs are overwritten by which outputs: pairs (output, input). Empty: no input is modified.
    fn destroy_map(&self) -> Vec<(usize, usize)> {
        Vec::new()
    }

    /// The same op, with the same bits, writing an output over an input: its [`destroy_map`](Op::destroy_map) says which.
    /// `None`: there is no such form, or this is it. A rewrite uses it where nobody needs the input any more.
    fn inplace(&self) -> Option<Arc<dyn Op>> {
        None
    }

    /// Whether equal inputs give equal outputs, and nothing else happens. Other ops are neither merged nor folded.
    fn is_pure(&self) -> bool {
        true
    }
}

impl PartialEq for dyn Op {
    fn eq(&self, other: &Self) -> bool {
        // `Any::type_id` of the values, not of the trait objects.
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

/// Turns the names of a written form into ops.
pub trait OpLibrary {
    /// Applies the function `name` of the text form (`exp`, `add`, `sum`, …; operators have names too) to `args`, and to
    /// those that are given by name: chooses the ops, inserts casts by NumPy's promotion, adds constants for literals.
    /// What a function makes of literals alone is a literal. `None` if there is no such function.
    ///
    /// # Errors
    /// Arguments that the function refuses.
    fn call(
        &self,
        graph: &mut FunctionGraph,
        name: &str,
        args: &[Operand],
        keywords: &Keywords,
    ) -> Option<Result<Operand, BuildError>>;

    /// Applies what a text calls by its bare name, `name(…)`: an op of one's own may stand for a function of the library then.
    /// Operators, methods and `np.name(…)` mean the library's.
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

    /// The function that the method `x.name(…)` calls, with `x` as its first argument; `None` if arrays have no such method.
    fn method(&self, name: &str) -> Option<String> {
        let _ = name;
        None
    }

    /// The attribute `x.name`; `None` if arrays have no such attribute.
    ///
    /// # Errors
    /// A value that does not have it.
    fn attribute(
        &self,
        graph: &mut FunctionGraph,
        name: &str,
        value: &Operand,
    ) -> Option<Result<Operand, BuildError>> {
        let _ = (graph, name, value);
        None
    }

    /// The names of all methods and attributes, sorted; for messages.
    fn members(&self) -> Vec<String> {
        Vec::new()
    }

    /// How a function is called, as in `sum(x, axis=None, *, keepdims=False)`; for messages. `None` where that is not known.
    fn signature(&self, name: &str) -> Option<String> {
        let _ = name;
        None
    }

    /// How the function is called that a text means by its bare name.
    fn signature_by_name(&self, name: &str) -> Option<String> {
        self.signature(name)
    }

    /// The op of this name with these props; `None` if the library has no op of that name.
    ///
    /// # Errors
    /// Props that the op does not have, lacks, or of the wrong kind.
    fn op(&self, name: &str, props: &Props) -> Option<Result<Arc<dyn Op>, MakeNodeError>>;

    /// The names of all ops, sorted; for messages.
    fn names(&self) -> Vec<String>;
}

/// Why an op refused its values at run time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PerformError {
    /// A shape or value that the op refuses.
    #[error("`{op}`: {problem}")]
    Value {
        /// The op.
        op: String,
        /// What kind of error its C reports.
        kind: ErrorKind,
        /// What is wrong, in words.
        problem: String,
    },
    /// An op that is declared in C only.
    #[error("`{op}` has no reference: it is declared in C only")]
    NoReference {
        /// The op.
        op: String,
    },
}

impl PerformError {
    /// A shape or value that `op` refuses.
    #[must_use]
    pub fn value(op: &str, problem: impl Into<String>) -> Self {
        Self::of_kind(op, ErrorKind::Value, problem)
    }

    /// What `op` refuses, by the kind that its C reports.
    #[must_use]
    pub fn of_kind(op: &str, kind: ErrorKind, problem: impl Into<String>) -> Self {
        Self::Value { op: op.to_owned(), kind, problem: problem.into() }
    }
}
