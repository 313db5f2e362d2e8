//! The arguments of a function call: variables and literals, and their common dtype.
//!
//! Variables promote like NumPy's arrays. Literals are weak: they take the dtype of the other operands, unless that
//! dtype could not hold their kind. A float literal with integers is f64, an integer literal with bools is i64. A
//! number that the dtype cannot hold is an error, as in NumPy: `x + 300` for u8. A literal that overflows a float
//! dtype is an error as well, while NumPy returns inf. Extents are weak too: they are variables that promote like
//! literals. An extent that does not fit its dtype fails at run time.
//!
//! | arguments | promote to |
//! |---|---|
//! | variables | NumPy's `result_type` of arrays |
//! | variables with literals or extents | [`Kind::meet`] of that dtype with the widest of their kinds |
//! | only literals or extents | the dtype of the widest kind: bool, i64, f64, c128 |

use precast_graph::literal::Kind;
use precast_graph::{BuildError, DType, FunctionGraph, Literal, MakeNodeError, OpLibrary, Operand};

/// A call under construction.
pub(crate) struct Operands<'a> {
    pub(super) graph: &'a mut FunctionGraph,
    /// The library that functions among the arguments use.
    pub(super) library: &'a dyn OpLibrary,
    pub(super) function: &'a str,
    pub(super) args: &'a [Operand],
}

/// The contribution of an argument to the promotion.
enum Strength {
    Array(DType),
    Weak(Kind),
}

impl Operands<'_> {
    /// Returns a call of the same function with other arguments.
    pub(super) fn with<'b>(&'b mut self, args: &'b [Operand]) -> Operands<'b> {
        Operands { graph: self.graph, library: self.library, function: self.function, args }
    }

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

    /// Returns the dtype to which all arguments promote.
    pub(super) fn common(&self) -> DType {
        self.common_of(0..self.args.len())
    }

    /// Returns the dtype to which some arguments promote.
    pub(super) fn common_of(&self, which: std::ops::Range<usize>) -> DType {
        let (arrays, weak) = self.strengths(which);
        let array = DType::upcast_all(arrays);
        match (array, weak) {
            (Some(dtype), Some(kind)) => kind.meet(dtype),
            (Some(dtype), None) => dtype,
            // Without arrays, an integer that only u64 can hold makes the result u64.
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

    /// Returns the dtype to which all arguments promote if literals count as arrays of their own dtype, as in NumPy's
    /// functions that are not ufuncs.
    pub(super) fn common_array(&self) -> DType {
        DType::upcast_all((0..self.args.len()).map(|position| self.dtype(position))).unwrap_or(DType::F64)
    }

    /// Returns the float or complex dtype in which a function such as `exp` is computed. NumPy uses the first dtype
    /// that can hold every argument, so i8 with u8 gives f16, although their common dtype is i16. Boolean literals
    /// count as integers, as in Python.
    pub(super) fn inexact(&self) -> DType {
        let (arrays, weak) = self.strengths(0..self.args.len());
        let strong = DType::upcast_all(arrays.iter().copied());
        let widest = arrays.into_iter().map(DType::to_inexact).reduce(DType::upcast);
        match (strong, weak) {
            (Some(DType::Bool), Some(Kind::Int)) => DType::F64,
            (Some(strong), Some(kind)) if kind > Kind::Int => kind.meet(strong),
            (Some(strong), _) if strong.is_float() || strong.is_complex() => strong,
            _ => widest
                .unwrap_or_else(|| weak.max(Some(Kind::Int)).map_or(DType::F64, Kind::dtype).to_inexact()),
        }
    }

    /// Returns the dtypes of the variables, and the widest kind of the weak arguments.
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
            Operand::Setting(_) | Operand::Function(_) | Operand::None => Strength::Weak(Kind::Bool),
        }
    }

    /// Returns the dtype of a single argument.
    pub(super) fn dtype(&self, position: usize) -> DType {
        match &self.args[position] {
            Operand::Var(v) | Operand::Weak(v) => self.graph.ty(*v).dtype(),
            Operand::Literal(literal) => literal.dtype(),
            Operand::List(items) => self.list_dtype(items),
            Operand::Setting(_) | Operand::Function(_) | Operand::None => DType::Bool,
        }
    }

    /// Returns an argument if it is a literal.
    pub(super) fn literal(&self, position: usize) -> Option<&Literal> {
        match self.args.get(position) {
            Some(Operand::Literal(literal)) => Some(literal),
            _ => None,
        }
    }

    /// Returns the error for a literal that does not fit a dtype.
    pub(super) fn misfit(&self, position: usize, dtype: DType) -> BuildError {
        let literal = self.literal(position).map(ToString::to_string).unwrap_or_default();
        MakeNodeError::Literal { op: self.function.to_owned(), input: position, literal, dtype }.into()
    }

    /// Checks that the number of arguments is in a range.
    pub(super) fn expect_between(&self, least: usize, most: usize) -> Result<(), MakeNodeError> {
        let found = self.args.len();
        if (least..=most).contains(&found) {
            return Ok(());
        }
        let expected =
            if most == usize::MAX { format!("at least {least}") } else { format!("{least} to {most}") };
        Err(MakeNodeError::Arity { op: self.function.to_owned(), expected, found })
    }
}
