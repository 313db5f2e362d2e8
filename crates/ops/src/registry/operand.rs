//! The arguments of a function call: variables and literals, and their common dtype.
//!
//! Variables promote as NumPy's arrays do. Literals are weak: they take the dtype of what they meet, unless that could not
//! hold their kind (a float literal with integers is f64, an integer literal with bools is i64). A number that the dtype cannot
//! hold is an error, as in NumPy: `x + 300` of u8. What overflows in the dtype of a float is one too, where NumPy gives inf.
//! Extents are weak as well: variables that promote as literals do. One that its dtype cannot hold fails when it is run.
//!
//! | arguments | promote to |
//! |---|---|
//! | variables | NumPy's `result_type` of arrays |
//! | and literals or extents | [`Kind::meet`] of that with the widest of their kinds |
//! | none but literals or extents | the dtype of the widest kind: bool, i64, f64, c128 |

use super::cast_op;
use super::elementwise::scalar_apply;
use crate::shape::Assert;
use precast_graph::literal::Kind;
use precast_graph::{Array, BuildError, DType, FunctionGraph, Literal, MakeNodeError, Operand, Type, VarId};

/// A call that is being built.
pub(crate) struct Operands<'a> {
    pub(super) graph: &'a mut FunctionGraph,
    pub(super) function: &'a str,
    pub(super) args: &'a [Operand],
}

/// What an argument brings to a promotion.
enum Strength {
    Array(DType),
    Weak(Kind),
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
    pub(super) fn common(&self) -> DType {
        self.common_of(0..self.args.len())
    }

    /// The dtype that some arguments promote to.
    pub(super) fn common_of(&self, which: std::ops::Range<usize>) -> DType {
        let (arrays, weak) = self.strengths(which);
        let array = arrays.into_iter().reduce(DType::upcast);
        match (array, weak) {
            (Some(dtype), Some(kind)) => kind.meet(dtype),
            (Some(dtype), None) => dtype,
            // An integer that only u64 holds is one, where no array says otherwise.
            (None, Some(Kind::Int))
                if self
                    .args
                    .iter()
                    .any(|arg| matches!(arg, Operand::Literal(n) if n.dtype() == DType::U64)) =>
            {
                DType::U64
            }
            (None, kind) => kind.map_or(DType::F64, Kind::dtype),
        }
    }

    /// The dtype that all arguments promote to where literals are arrays of their own dtype, as in NumPy's functions that are
    /// no ufuncs.
    pub(super) fn common_array(&self) -> DType {
        (0..self.args.len()).map(|position| self.dtype(position)).reduce(DType::upcast).unwrap_or(DType::F64)
    }

    /// The float or complex dtype that a function such as `exp` computes in: NumPy takes the first one that holds every
    /// argument, so i8 with u8 is f16, though their common dtype is i16.
    pub(super) fn inexact(&self) -> DType {
        let (arrays, weak) = self.strengths(0..self.args.len());
        let strong = arrays.iter().copied().reduce(DType::upcast);
        let widest = arrays.into_iter().map(DType::to_inexact).reduce(DType::upcast);
        match (strong, weak) {
            (Some(DType::Bool), Some(Kind::Int)) => DType::F64,
            (Some(strong), Some(kind)) if kind > Kind::Int => kind.meet(strong),
            (Some(strong), _) if strong.is_float() || strong.is_complex() => strong,
            _ => widest.unwrap_or_else(|| weak.map_or(DType::F64, Kind::dtype).to_inexact()),
        }
    }

    /// The dtypes of the variables, and the widest kind of what is weak.
    fn strengths(&self, which: std::ops::Range<usize>) -> (Vec<DType>, Option<Kind>) {
        let (mut arrays, mut weak) = (Vec::new(), None);
        for arg in &self.args[which] {
            match self.strength(arg) {
                Strength::Array(dtype) => arrays.push(dtype),
                Strength::Weak(kind) => weak = weak.max(Some(kind)),
            }
        }
        (arrays, weak)
    }

    fn strength(&self, arg: &Operand) -> Strength {
        match arg {
            Operand::Var(v) => Strength::Array(self.graph.ty(*v).dtype()),
            Operand::Literal(literal) => Strength::Weak(literal.kind()),
            Operand::Weak(v) => Strength::Weak(Kind::of(self.graph.ty(*v).dtype())),
            Operand::List(items) => Strength::Array(self.list_dtype(items)),
            Operand::Setting(_) | Operand::None => Strength::Weak(Kind::Bool),
        }
    }

    /// The dtype of an argument by itself.
    pub(super) fn dtype(&self, position: usize) -> DType {
        match &self.args[position] {
            Operand::Var(v) | Operand::Weak(v) => self.graph.ty(*v).dtype(),
            Operand::Literal(literal) => literal.dtype(),
            Operand::List(items) => self.list_dtype(items),
            Operand::Setting(_) | Operand::None => DType::Bool,
        }
    }

    /// An argument that is a literal.
    pub(super) fn literal(&self, position: usize) -> Option<&Literal> {
        match self.args.get(position) {
            Some(Operand::Literal(literal)) => Some(literal),
            _ => None,
        }
    }

    /// An argument as a variable; a literal becomes a constant of its own dtype.
    pub(super) fn variable(&mut self, position: usize) -> Result<VarId, BuildError> {
        match &self.args[position] {
            Operand::Var(v) | Operand::Weak(v) => Ok(*v),
            _ => self.cast_argument(position, self.dtype(position)),
        }
    }

    /// All arguments in `dtype`, cast where they have another.
    pub(super) fn cast_all(&mut self, dtype: DType) -> Result<Vec<VarId>, BuildError> {
        (0..self.args.len()).map(|i| self.cast_argument(i, dtype)).collect()
    }

    /// One argument in `dtype`, which must hold it if it is weak.
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
            other @ (Operand::Setting(_) | Operand::None) => {
                let (op, found) = (self.function.to_owned(), other.describe());
                let expected = "an array or a number".to_owned();
                Err(MakeNodeError::Input { op, input: position, found, expected }.into())
            }
        }
    }

    /// A variable in `dtype`.
    pub(super) fn cast(&mut self, variable: VarId, dtype: DType) -> Result<VarId, BuildError> {
        if self.graph.ty(variable).dtype() == dtype {
            return Ok(variable);
        }
        super::first(self.graph.apply(cast_op(dtype), &[variable])?, "cast")
    }

    /// A weak integer in a narrower integer dtype; an error when it is run and does not fit.
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
        self.apply(Assert { message }, &[narrowed, fits])
    }

    /// The error of a literal that a dtype does not hold.
    pub(super) fn misfit(&self, position: usize, dtype: DType) -> BuildError {
        let literal = self.literal(position).map(ToString::to_string).unwrap_or_default();
        MakeNodeError::Literal { op: self.function.to_owned(), input: position, literal, dtype }.into()
    }

    /// A value without dimensions as a constant; a C scalar where all variables are C scalars.
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
}
