//! Converts the arguments of a call to variables: casts, op applications, and constants from literals.

use super::operand::Operands;
use crate::index::{Selector, Subtensor};
use crate::shape::{Alloc, Assert};
use crate::{Elemwise, scalar};
use precast_core::native::ErrorKind;
use precast_graph::{Array, BuildError, DType, Extent, Literal, MakeNodeError, Op, Operand, Type, VarId};
use std::sync::Arc;

impl Operands<'_> {
    /// Returns an argument as a variable; a literal becomes a constant of its own dtype.
    pub(super) fn variable(&mut self, position: usize) -> Result<VarId, BuildError> {
        match &self.args[position] {
            Operand::Var(v) | Operand::Weak(v) => Ok(*v),
            _ => self.cast_argument(position, self.dtype(position)),
        }
    }

    /// Returns all arguments in `dtype`, with casts where needed.
    pub(super) fn cast_all(&mut self, dtype: DType) -> Result<Vec<VarId>, BuildError> {
        (0..self.args.len()).map(|i| self.cast_argument(i, dtype)).collect()
    }

    /// Returns one argument in `dtype`. A weak argument must fit the dtype.
    pub(super) fn cast_argument(&mut self, position: usize, dtype: DType) -> Result<VarId, BuildError> {
        match &self.args[position] {
            Operand::Var(v) => self.cast(*v, dtype),
            Operand::Weak(v) => self.narrow(*v, dtype),
            Operand::Literal(literal) => {
                let value = literal.value(dtype).ok_or_else(|| self.misfit(position, dtype))?;
                Ok(self.constant(value))
            }
            Operand::List(items) => {
                let array = self.array(items, self.list_dtype(items))?;
                self.cast(array, dtype)
            }
            other @ (Operand::Setting(_) | Operand::Function(_) | Operand::None) => {
                let (op, found) = (self.function.to_owned(), other.describe());
                let expected = "an array or a number".to_owned();
                Err(MakeNodeError::Input { op, input: position, found, expected }.into())
            }
        }
    }

    /// Casts a variable to `dtype`, if necessary.
    pub(super) fn cast(&mut self, variable: VarId, dtype: DType) -> Result<VarId, BuildError> {
        if self.graph.ty(variable).dtype() == dtype {
            return Ok(variable);
        }
        first(self.graph.apply(cast_op(dtype), &[variable])?, "cast")
    }

    /// Casts an operand that is not an argument to `dtype`.
    pub(super) fn cast_operand(&mut self, operand: &Operand, dtype: DType) -> Result<VarId, BuildError> {
        let args = [operand.clone()];
        self.with(&args).cast_argument(0, dtype)
    }

    /// Casts a weak integer to a narrower integer dtype, with a run-time check that the value fits.
    fn narrow(&mut self, variable: VarId, dtype: DType) -> Result<VarId, BuildError> {
        let own = self.graph.ty(variable).dtype();
        let narrowed = self.cast(variable, dtype)?;
        if own == dtype || !own.is_integer() || !dtype.is_integer() {
            return Ok(narrowed);
        }
        let back = self.cast(narrowed, own)?;
        let mut fits = scalar_apply(self, "eq", &[back, variable])?;
        if dtype == DType::U64 {
            let zero = self.constant(Array::zeros(own, &[]));
            fits = scalar_apply(self, "ge", &[variable, zero])?;
        }
        let message = format!("an extent, or what is computed of extents, does not fit `{dtype}`");
        self.apply(Assert { message, kind: ErrorKind::Assert }, &[narrowed, fits])
    }

    /// Creates a constant without dimensions; a C scalar if all variables are C scalars.
    pub(super) fn constant(&mut self, value: Array) -> VarId {
        let types: Vec<&Type> = self
            .args
            .iter()
            .filter_map(|arg| match arg {
                Operand::Var(v) | Operand::Weak(v) => Some(self.graph.ty(*v)),
                _ => None,
            })
            .collect();
        let scalars = !types.is_empty() && types.iter().all(|ty| matches!(ty, Type::Scalar(_)));
        let ty = Type::Scalar(value.dtype());
        if scalars { self.graph.constant_of(value, ty) } else { self.graph.constant(value) }
    }

    /// Applies an op and returns its first result.
    pub(super) fn apply(&mut self, op: impl Op, inputs: &[VarId]) -> Result<VarId, BuildError> {
        first(self.results(Arc::new(op), inputs)?, self.function)
    }

    /// Applies an op. C scalars become tensors if the op's type rule requires tensors.
    pub(super) fn results(&mut self, op: Arc<dyn Op>, inputs: &[VarId]) -> Result<Vec<VarId>, BuildError> {
        let types: Vec<Type> = inputs.iter().map(|input| self.graph.ty(*input).clone()).collect();
        let is_scalar = |ty: &Type| matches!(ty, Type::Scalar(_));
        let tensor = |ty: &Type| if is_scalar(ty) { Type::tensor(ty.dtype(), 0) } else { ty.clone() };
        let tensors: Vec<Type> = types.iter().map(tensor).collect();
        let mut inputs = inputs.to_vec();
        if tensors != types && op.make_node(&types).is_err() && op.make_node(&tensors).is_ok() {
            for (input, _) in inputs.iter_mut().zip(&types).filter(|(_, ty)| is_scalar(ty)) {
                *input = first(self.graph.apply(Arc::new(Alloc), &[*input])?, self.function)?;
            }
        }
        self.graph.apply(op, &inputs).map_err(|error| self.within(error))
    }

    /// Returns an argument as an integer without dimensions.
    pub(super) fn integer(&mut self, position: usize) -> Result<VarId, BuildError> {
        let found = match &self.args[position] {
            Operand::Var(v) | Operand::Weak(v) if is_integer(self.graph.ty(*v)) => {
                return self.cast(*v, DType::I64);
            }
            Operand::Var(v) | Operand::Weak(v) => self.graph.ty(*v).to_string(),
            Operand::Literal(Literal::Int(_)) => return self.cast_argument(position, DType::I64),
            other => other.describe(),
        };
        let (op, expected) = (self.function.to_owned(), "an integer without dimensions".to_owned());
        Err(MakeNodeError::Input { op, input: position, found, expected }.into())
    }

    /// Returns the arguments from `start` on as integers without dimensions.
    pub(super) fn integers(&mut self, start: usize) -> Result<Vec<VarId>, BuildError> {
        (start..self.args.len()).map(|position| self.integer(position)).collect()
    }

    /// Returns the arguments from `start` on as extents: one integer each, or a single vector of known length.
    pub(super) fn extents(&mut self, start: usize) -> Result<Vec<VarId>, BuildError> {
        if let [Operand::Var(vector)] = &self.args[start..]
            && let [Extent::Fixed(count)] = self.graph.ty(*vector).shape()
        {
            let (vector, count) = (*vector, i64::try_from(*count).unwrap_or(i64::MAX));
            return (0..count).map(|position| self.element(vector, position)).collect();
        }
        self.integers(start)
    }

    /// Returns an element of a vector of integers.
    fn element(&mut self, vector: VarId, position: i64) -> Result<VarId, BuildError> {
        let position = self.graph.constant(Array::from(position));
        let element = self.apply(Subtensor { index: vec![Selector::Index] }, &[vector, position])?;
        let args = [Operand::Var(element)];
        self.with(&args).integer(0)
    }

    /// Creates a constant vector of integers.
    pub(super) fn vector(&mut self, list: &[i64]) -> VarId {
        self.graph.constant(Array::from(ndarray::Array1::from(list.to_vec())))
    }
}

/// Returns the first result of an op used as a function.
pub(super) fn first(outputs: Vec<VarId>, function: &str) -> Result<VarId, BuildError> {
    let none =
        || MakeNodeError::prop(function, "outputs", "is empty, so the graph cannot be used as a function");
    outputs.first().copied().ok_or_else(|| none().into())
}

/// Applies a scalar op of the library, mapped over tensors.
pub(super) fn scalar_apply(
    operands: &mut Operands<'_>,
    name: &str,
    inputs: &[VarId],
) -> Result<VarId, BuildError> {
    let missing =
        || MakeNodeError::prop(operands.function, "scalar", format!("`{name}` is not in the library"));
    let scalar = scalar::find(name).ok_or_else(missing)?;
    first(operands.graph.apply(Arc::new(Elemwise::new(scalar)), inputs)?, name)
}

/// Returns the elementwise cast to a dtype.
fn cast_op(to: DType) -> Arc<dyn Op> {
    Arc::new(Elemwise::new(Arc::new(scalar::Cast { to })))
}

/// Returns whether a type is a single integer.
fn is_integer(ty: &Type) -> bool {
    ty.ndim() == 0 && ty.dtype().is_integer()
}
