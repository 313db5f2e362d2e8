//! The arguments of a function call: variables and literals, and their common dtype.
//!
//! Variables promote as NumPy's arrays do. Literals are weak: they take the dtype of what they meet, unless that could not
//! hold their kind (a float literal with integers is f64, an integer literal with bools is i64). A number that the dtype cannot
//! hold is an error, as in NumPy: `x + 300` of u8. What overflows in the dtype of a float is one too, where NumPy gives inf.

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

    /// The float or complex dtype that a function such as `exp` computes in: that of each variable, then their common one.
    /// A float literal with bool or integers makes it f64.
    pub(super) fn inexact(&self) -> Result<DType, MakeNodeError> {
        let common = self.common()?;
        let dtypes = self.args.iter().filter_map(|arg| match arg {
            Operand::Var(v) => Some(self.graph.ty(*v).dtype()),
            Operand::Bool(_) => Some(DType::Bool),
            Operand::Int(_) | Operand::Float(_) => None,
        });
        // NumPy takes the first function that holds every operand: i8 with u8 is f16, though their common dtype is i16.
        let widest = dtypes.map(DType::to_inexact).reduce(DType::upcast).unwrap_or(DType::F64);
        let known = common.is_float() || common.is_complex();
        Ok(if known { common } else { widest })
    }

    /// An argument as a variable; a literal becomes a constant of its own dtype.
    pub(super) fn variable(&mut self, position: usize) -> Result<VarId, BuildError> {
        match &self.args[position] {
            Operand::Var(v) => Ok(*v),
            Operand::Int(_) => self.literal(position, DType::I64),
            Operand::Float(_) => self.literal(position, DType::F64),
            Operand::Bool(_) => self.literal(position, DType::Bool),
        }
    }

    /// All arguments as they are; literals in `dtype`.
    pub(super) fn variables(&mut self, dtype: DType) -> Result<Vec<VarId>, BuildError> {
        (0..self.args.len())
            .map(|i| match &self.args[i] {
                Operand::Var(v) => Ok(*v),
                _ => self.literal(i, dtype),
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
            _ => self.literal(position, dtype),
        }
    }

    /// A variable in `dtype`.
    pub(super) fn cast(&mut self, variable: VarId, dtype: DType) -> Result<VarId, BuildError> {
        if self.graph.ty(variable).dtype() == dtype {
            return Ok(variable);
        }
        super::first(self.graph.apply(cast_op(dtype), &[variable])?, "cast")
    }

    /// Whether `dtype` holds every literal among the arguments.
    pub(super) fn literals_fit(&self, dtype: DType) -> bool {
        self.args.iter().all(|arg| number(arg).is_none_or(|value| fits(value, dtype)))
    }

    /// A literal as a constant of `dtype`; a C scalar where all variables are C scalars.
    fn literal(&mut self, position: usize, dtype: DType) -> Result<VarId, BuildError> {
        let value = match &self.args[position] {
            Operand::Var(v) => return Ok(*v),
            literal => number(literal).unwrap_or(Value::Bool(false)),
        };
        if !fits(value, dtype) {
            return Err(MakeNodeError::Literal {
                op: self.function.to_owned(),
                input: position,
                literal: match &self.args[position] {
                    Operand::Int(n) => n.to_string(),
                    _ => format!("{:?}", value.number().parts().0),
                },
                dtype,
            }
            .into());
        }
        let value = value.cast(dtype).into_array();
        let variables = self.args.iter().filter_map(|arg| match arg {
            Operand::Var(v) => Some(self.graph.ty(*v)),
            _ => None,
        });
        let mut variables = variables.peekable();
        let scalars = variables.peek().is_some() && variables.all(|ty| matches!(ty, Type::Scalar(_)));
        let graph = &mut self.graph;
        Ok(if scalars { graph.constant_of(value, Type::Scalar(dtype)) } else { graph.constant(value) })
    }
}

/// The value of a literal, in the dtype it has by itself.
fn number(literal: &Operand) -> Option<Value> {
    match literal {
        Operand::Int(n) => Some(Value::I64(*n)),
        Operand::Float(x) => Some(Value::F64(*x)),
        Operand::Bool(b) => Some(Value::Bool(*b)),
        Operand::Var(_) => None,
    }
}

/// Whether a literal survives in a dtype: an integer as it is, a finite number finite. Anything has a truth value.
fn fits(value: Value, dtype: DType) -> bool {
    let cast = value.cast(dtype).number();
    match value {
        _ if dtype == DType::Bool => true,
        Value::I64(_) if dtype.is_integer() => cast.same(value.number()),
        _ => !value.number().parts().0.is_finite() || cast.parts().0.is_finite(),
    }
}
