//! The arguments of a function call: variables and literals, and their common dtype.
//!
//! Variables promote as NumPy's arrays do. Literals are weak: they take the dtype of what they meet, unless that could not
//! hold their kind (a float literal with integers is f64, an integer literal with bools is i64).

use super::cast_op;
use crate::scalar::Value;
use precast_graph::{BuildError, DType, FunctionGraph, MakeNodeError, Operand, Type, VarId};

/// A call that is being built.
pub(super) struct Operands<'a> {
    pub(super) graph: &'a mut FunctionGraph,
    pub(super) function: &'a str,
    pub(super) args: &'a [Operand],
}

impl Operands<'_> {
    /// Checks the number of arguments.
    pub(super) fn expect(&self, expected: usize) -> Result<(), MakeNodeError> {
        if self.args.len() == expected {
            return Ok(());
        }
        Err(MakeNodeError::Arity {
            op: self.function.to_owned(),
            expected: expected.to_string(),
            found: self.args.len(),
        })
    }

    /// The dtype that all arguments promote to.
    pub(super) fn common(&self) -> Result<DType, MakeNodeError> {
        self.common_of(0..self.args.len())
    }

    /// The dtype that some arguments promote to.
    pub(super) fn common_of(&self, which: std::ops::Range<usize>) -> Result<DType, MakeNodeError> {
        let args = &self.args[which];
        let strong = args.iter().filter_map(|arg| match arg {
            Operand::Var(v) => Some(self.graph.ty(*v).dtype()),
            Operand::Bool(_) => Some(DType::Bool),
            Operand::Int(_) | Operand::Float(_) => None,
        });
        let strong = strong.reduce(DType::upcast);
        let any_float = args.iter().any(|arg| matches!(arg, Operand::Float(_)));
        let any_int = args.iter().any(|arg| matches!(arg, Operand::Int(_)));
        Ok(match strong {
            Some(dtype) if any_float && !dtype.is_float() && !dtype.is_complex() => DType::F64,
            Some(DType::Bool) if any_int => DType::I64,
            Some(dtype) => dtype,
            None if any_float => DType::F64,
            None => DType::I64,
        })
    }

    /// An argument as a variable; a literal becomes a constant of its own dtype.
    pub(super) fn variable(&mut self, position: usize) -> Result<VarId, BuildError> {
        match &self.args[position] {
            Operand::Var(v) => Ok(*v),
            Operand::Int(_) => Ok(self.literal(position, DType::I64)),
            Operand::Float(_) => Ok(self.literal(position, DType::F64)),
            Operand::Bool(_) => Ok(self.literal(position, DType::Bool)),
        }
    }

    /// All arguments as they are; literals in `dtype`.
    pub(super) fn variables(&mut self, dtype: DType) -> Result<Vec<VarId>, BuildError> {
        (0..self.args.len())
            .map(|i| match &self.args[i] {
                Operand::Var(v) => Ok(*v),
                _ => Ok(self.literal(i, dtype)),
            })
            .collect()
    }

    /// All arguments in `dtype`, cast where they have another.
    pub(super) fn cast_all(&mut self, dtype: DType) -> Result<Vec<VarId>, BuildError> {
        (0..self.args.len()).map(|i| self.cast_argument(i, dtype)).collect()
    }

    /// One argument in `dtype`.
    pub(super) fn cast_argument(&mut self, position: usize, dtype: DType) -> Result<VarId, BuildError> {
        match &self.args[position] {
            Operand::Var(v) => self.cast(*v, dtype),
            _ => Ok(self.literal(position, dtype)),
        }
    }

    /// A variable in `dtype`.
    pub(super) fn cast(&mut self, variable: VarId, dtype: DType) -> Result<VarId, BuildError> {
        if self.graph.ty(variable).dtype() == dtype {
            return Ok(variable);
        }
        super::first(self.graph.apply(cast_op(dtype), &[variable])?, "cast")
    }

    /// A literal as a constant of `dtype`; a C scalar where all variables are C scalars.
    fn literal(&mut self, position: usize, dtype: DType) -> VarId {
        let value = match &self.args[position] {
            Operand::Int(n) => Value::I64(*n),
            Operand::Float(x) => Value::F64(*x),
            Operand::Bool(b) => Value::Bool(*b),
            Operand::Var(v) => return *v,
        };
        let value = value.cast(dtype).into_array();
        let variables = self.args.iter().filter_map(|arg| match arg {
            Operand::Var(v) => Some(self.graph.ty(*v)),
            _ => None,
        });
        let mut variables = variables.peekable();
        let scalars = variables.peek().is_some() && variables.all(|ty| matches!(ty, Type::Scalar(_)));
        if scalars { self.graph.constant_of(value, Type::Scalar(dtype)) } else { self.graph.constant(value) }
    }
}
