//! The arguments and results of functions in the text form.

use crate::function::Function;
use crate::graph::{FunctionGraph, VarId};
use crate::literal::{Literal, LiteralError};
use crate::make_node_error::MakeNodeError;
use crate::op::{Prop, Props};
use std::collections::BTreeMap;

/// An argument or the result of a function call in the text form.
#[derive(Debug, Clone, PartialEq)]
pub enum Operand {
    /// A variable of the graph, which promotes like a NumPy array.
    Var(VarId),
    /// A variable without dimensions that promotes like a literal of its kind: an extent, or a value computed from
    /// extents.
    Weak(VarId),
    /// A number, which takes the dtype of the operand it is combined with.
    Literal(Literal),
    /// A list or a tuple passed as one argument: several tensors, extents or axes. It also stands for an array if one
    /// is required.
    List(Vec<Self>),
    /// A value other than a number that is known when the graph is built: a text or a dtype. Boxed, because parsers
    /// keep operands on their stack.
    Setting(Box<Prop>),
    /// A function, such as the step of a loop.
    Function(Function),
    /// `None`: the placeholder for an omitted argument.
    None,
}

/// Keyword arguments.
pub type Keywords = BTreeMap<String, Operand>;

/// Converts props to keyword arguments.
#[must_use]
pub fn keywords(props: &Props) -> Keywords {
    props.iter().map(|(name, prop)| (name.clone(), prop.clone().into())).collect()
}

impl Operand {
    /// Returns the variable of an operand; a literal becomes a constant of its own dtype.
    ///
    /// # Errors
    /// An integer that fits no dtype, or an operand that is neither a variable nor a number.
    pub fn variable(&self, graph: &mut FunctionGraph) -> Result<VarId, MakeNodeError> {
        match self {
            Self::Var(variable) | Self::Weak(variable) => Ok(*variable),
            Self::Literal(literal) => {
                let wide = || LiteralError::Wide { literal: literal.to_string() };
                let wide = || MakeNodeError::Arithmetic { op: "constant".to_owned(), source: wide() };
                Ok(graph.constant(literal.value(literal.dtype()).ok_or_else(wide)?))
            }
            Self::List(_) | Self::Setting(_) | Self::Function(_) | Self::None => Err(MakeNodeError::Value {
                op: "output".to_owned(),
                problem: format!("{} is neither an array nor a number", self.describe()),
            }),
        }
    }

    /// Returns the prop of an operand that is known when the graph is built. `None` for variables and for `None`.
    #[must_use]
    pub fn prop(&self) -> Option<Prop> {
        match self {
            Self::Var(_) | Self::Weak(_) | Self::Function(_) | Self::None => None,
            Self::Setting(prop) => Some(prop.as_ref().clone()),
            Self::List(items) => items.iter().map(Self::prop).collect::<Option<_>>().map(Prop::List),
            Self::Literal(Literal::Bool(value)) => Some(Prop::Bool(*value)),
            Self::Literal(Literal::Int(value)) => i64::try_from(value).ok().map(Prop::Int),
            Self::Literal(Literal::Float(value)) => Some(Prop::Float(*value)),
            Self::Literal(Literal::Complex(_)) => None,
        }
    }

    /// Describes the operand in words, for messages.
    #[must_use]
    pub fn describe(&self) -> String {
        match self {
            Self::Var(_) | Self::Weak(_) => "an array".to_owned(),
            Self::Literal(literal) => format!("`{literal}`"),
            Self::List(items) => format!("a list of {}", items.len()),
            Self::Setting(prop) => format!("`{prop}`"),
            Self::Function(_) => "a function".to_owned(),
            Self::None => "`None`".to_owned(),
        }
    }
}

impl From<VarId> for Operand {
    fn from(variable: VarId) -> Self {
        Self::Var(variable)
    }
}

impl<L: Into<Literal>> From<L> for Operand {
    fn from(literal: L) -> Self {
        Self::Literal(literal.into())
    }
}

impl From<Prop> for Operand {
    fn from(prop: Prop) -> Self {
        match prop {
            Prop::Bool(value) => value.into(),
            Prop::Int(value) => value.into(),
            Prop::Float(value) => value.into(),
            Prop::List(items) => Self::List(items.into_iter().map(Self::from).collect()),
            other => Self::Setting(Box::new(other)),
        }
    }
}
