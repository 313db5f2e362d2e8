//! What a function of the text form is called with, and what it gives.

use crate::graph::{FunctionGraph, VarId};
use crate::literal::{Literal, LiteralError};
use crate::make_node_error::MakeNodeError;
use crate::op::{Prop, Props};
use std::collections::BTreeMap;

/// An argument of a function call in text form, and its result.
#[derive(Debug, Clone, PartialEq)]
pub enum Operand {
    /// A variable of the graph, which promotes as NumPy's arrays do.
    Var(VarId),
    /// A variable without dimensions that promotes as a literal of its kind does: an extent, and what is computed of extents.
    Weak(VarId),
    /// A number, which takes the dtype of what it meets.
    Literal(Literal),
    /// A list or a tuple, which is one argument: several tensors, extents, axes; an array where one is asked for.
    List(Vec<Self>),
    /// What is no number and known when the graph is built: a text, a dtype. Boxed, as parsers keep operands on their stack.
    Setting(Box<Prop>),
    /// `None`: what stands in the place of an argument that is not given.
    None,
}

/// Arguments that are given by name.
pub type Keywords = BTreeMap<String, Operand>;

/// Props as arguments by name.
#[must_use]
pub fn keywords(props: &Props) -> Keywords {
    props.iter().map(|(name, prop)| (name.clone(), prop.clone().into())).collect()
}

impl Operand {
    /// The variable of an operand; a literal becomes a constant of its own dtype.
    ///
    /// # Errors
    /// An integer that no dtype holds; what is neither a variable nor a number.
    pub fn variable(&self, graph: &mut FunctionGraph) -> Result<VarId, MakeNodeError> {
        match self {
            Self::Var(variable) | Self::Weak(variable) => Ok(*variable),
            Self::Literal(literal) => {
                let wide = || LiteralError::Wide { literal: literal.to_string() };
                let wide = || MakeNodeError::Arithmetic { op: "constant".to_owned(), source: wide() };
                Ok(graph.constant(literal.value(literal.dtype()).ok_or_else(wide)?))
            }
            Self::List(_) | Self::Setting(_) | Self::None => Err(MakeNodeError::Value {
                op: "output".to_owned(),
                problem: format!("{} is neither an array nor a number", self.describe()),
            }),
        }
    }

    /// The prop of an operand that is known when the graph is built: of a variable none, nor of `None`.
    #[must_use]
    pub fn prop(&self) -> Option<Prop> {
        match self {
            Self::Var(_) | Self::Weak(_) | Self::None => None,
            Self::Setting(prop) => Some(prop.as_ref().clone()),
            Self::List(items) => items.iter().map(Self::prop).collect::<Option<_>>().map(Prop::List),
            Self::Literal(Literal::Bool(value)) => Some(Prop::Bool(*value)),
            Self::Literal(Literal::Int(value)) => i64::try_from(value).ok().map(Prop::Int),
            Self::Literal(Literal::Float(value)) => Some(Prop::Float(*value)),
            Self::Literal(Literal::Complex(_)) => None,
        }
    }

    /// What it is, in words, for messages.
    #[must_use]
    pub fn describe(&self) -> String {
        match self {
            Self::Var(_) | Self::Weak(_) => "an array".to_owned(),
            Self::Literal(literal) => format!("`{literal}`"),
            Self::List(items) => format!("a list of {}", items.len()),
            Self::Setting(prop) => format!("`{prop}`"),
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
