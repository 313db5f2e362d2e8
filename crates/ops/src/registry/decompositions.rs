//! Decompositions of matrices, systems of linear equations, inverses and determinants.
//!
//! The matrices are f32 or c64, if all arguments are, or else f64 or c128. As in NumPy, f16 is not supported.

use super::operand::Operands;
use super::parts::list;
use crate::declared::Declared;
use crate::linalg::{Cholesky, LuFactor, Solve, SolveTriangular};
use crate::rows::Row;
use precast_graph::{BuildError, DType, MakeNodeError, Operand, Prop, Props, VarId};

/// Returns the arguments as matrices of one dtype. Only the last one may be a vector.
pub(super) fn matrices<const N: usize>(operands: &mut Operands<'_>) -> Result<[VarId; N], BuildError> {
    operands.expect(N)?;
    let found: Vec<DType> = (0..N).map(|input| operands.dtype(input)).collect();
    if let Some(input) = found.iter().position(|dtype| matches!(dtype, DType::F16 | DType::Bf16)) {
        return Err(unsupported(operands, input, "f32, f64, c64, c128 and integers"));
    }
    let is_single = found.iter().all(|dtype| matches!(dtype, DType::F32 | DType::C64));
    let dtype = match (is_single, found.iter().any(|dtype| dtype.is_complex())) {
        (true, false) => DType::F32,
        (false, false) => DType::F64,
        (true, true) => DType::C64,
        (false, true) => DType::C128,
    };
    let all = operands.cast_all(dtype)?;
    for (input, variable) in all.iter().enumerate() {
        if input == 0 {
            expect_matrices(operands, input, *variable)?;
        } else if operands.ndim(*variable) == 0 {
            return Err(other(operands, input, *variable, "a vector or a matrix"));
        }
    }
    all.try_into().map_err(|_| operands.error("has another number of arguments"))
}

/// Checks that an argument has at least two dimensions.
pub(super) fn expect_matrices(
    operands: &Operands<'_>,
    input: usize,
    variable: VarId,
) -> Result<(), BuildError> {
    match operands.ndim(variable) {
        0 | 1 => Err(other(operands, input, variable, "a matrix, or a stack of matrices")),
        _ => Ok(()),
    }
}

/// Returns the error for an argument of another type than expected.
fn other(operands: &Operands<'_>, input: usize, variable: VarId, expected: &str) -> BuildError {
    let (op, found) = (operands.function.to_owned(), operands.graph.ty(variable).to_string());
    MakeNodeError::Input { op, input, found, expected: expected.to_owned() }.into()
}

fn unsupported(operands: &Operands<'_>, input: usize, expected: &str) -> BuildError {
    let (op, expected, found) = (operands.function.to_owned(), expected.to_owned(), operands.dtype(input));
    MakeNodeError::DType { op, input, found, expected }.into()
}

/// Returns whether a matrix without a result gives NaN.
pub(super) fn nan_on_error(declared: &Declared<'_>) -> Result<bool, MakeNodeError> {
    match declared.text("on_error")? {
        "raise" => Ok(false),
        "nan" => Ok(true),
        _ => Err(declared.wrong("on_error", "`raise` or `nan`")),
    }
}

/// Swaps the last two axes.
fn transposed(operands: &mut Operands<'_>, matrices: VarId) -> Result<VarId, BuildError> {
    operands.call("matrix_transpose", [matrices.into()])
}

/// Returns the conjugates of complex elements.
fn conjugate(operands: &mut Operands<'_>, x: VarId) -> Result<VarId, BuildError> {
    if operands.graph.ty(x).dtype().is_complex() { operands.call("conj", [x.into()]) } else { Ok(x) }
}

/// Returns the conjugate transposes of matrices.
pub(super) fn adjoint(operands: &mut Operands<'_>, matrices: VarId) -> Result<VarId, BuildError> {
    let turned = transposed(operands, matrices)?;
    conjugate(operands, turned)
}

/// A matrix that a system is solved with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Own,
    Transpose,
    Adjoint,
}

impl Form {
    /// Reads SciPy's setting `trans`.
    pub(super) fn of(props: &Props) -> Option<Self> {
        match props.get("trans") {
            None | Some(Prop::Int(0)) => Some(Self::Own),
            Some(Prop::Int(1)) => Some(Self::Transpose),
            Some(Prop::Int(2)) => Some(Self::Adjoint),
            Some(Prop::Str(text)) => match text.as_str() {
                "N" => Some(Self::Own),
                "T" => Some(Self::Transpose),
                "C" => Some(Self::Adjoint),
                _ => None,
            },
            Some(_) => None,
        }
    }

    /// Returns matrices in this form.
    pub(super) fn matrices(self, operands: &mut Operands<'_>, x: VarId) -> Result<VarId, BuildError> {
        match self {
            Self::Own => Ok(x),
            Self::Transpose => transposed(operands, x),
            Self::Adjoint => adjoint(operands, x),
        }
    }
}

/// Solves systems whose right side is a vector or a stack of matrices. A vector becomes a matrix of one column.
pub(super) fn with_columns(
    operands: &mut Operands<'_>,
    b: VarId,
    solve: impl FnOnce(&mut Operands<'_>, VarId) -> Result<VarId, BuildError>,
) -> Result<VarId, BuildError> {
    if operands.ndim(b) > 1 {
        return solve(operands, b);
    }
    let columns = operands.shuffled(b, [Some(0), None])?;
    let x = solve(operands, columns)?;
    let last = operands.ndim(x) - 1;
    operands.slice(x, last, "i", &[0_i64.into()])
}

/// Builds `cholesky(x)`. The upper factor is the adjoint of the lower factor of the adjoint.
pub(super) fn cholesky(operands: &mut Operands<'_>, _: &Row, props: &Props) -> Result<VarId, BuildError> {
    let [x] = matrices(operands)?;
    let declared = Declared::bound(operands.function, props);
    let (op, upper) = (Cholesky { nan_on_error: nan_on_error(&declared)? }, declared.flag("upper")?);
    if !upper {
        return operands.apply(op, &[x]);
    }
    let x = adjoint(operands, x)?;
    let lower = operands.apply(op, &[x])?;
    adjoint(operands, lower)
}

/// Builds `lu_factor(x)`: both triangles in one matrix, and the pivots.
pub(super) fn lu_factor(operands: &mut Operands<'_>, _: &Row, _: &Props) -> Result<Operand, BuildError> {
    let [x] = matrices(operands)?;
    Ok(list(operands.results(std::sync::Arc::new(LuFactor), &[x])?))
}

/// Builds `solve(a, b)`.
pub(super) fn solve(operands: &mut Operands<'_>, _: &Row, props: &Props) -> Result<VarId, BuildError> {
    let [a, b] = matrices(operands)?;
    let op = Solve { nan_on_error: nan_on_error(&Declared::bound(operands.function, props))? };
    with_columns(operands, b, |operands, b| operands.apply(op, &[a, b]))
}

/// Builds `inv(x)`: the solutions for the columns of the identity matrix.
pub(super) fn inv(operands: &mut Operands<'_>, _: &Row, props: &Props) -> Result<VarId, BuildError> {
    let [x] = matrices(operands)?;
    let op = Solve { nan_on_error: nan_on_error(&Declared::bound(operands.function, props))? };
    let (dtype, ndim) = (operands.graph.ty(x).dtype(), operands.ndim(x));
    let n = operands.extent(x, ndim - 1)?;
    let identity = operands.call_with("eye", &[n], &[("dtype", Prop::DType(dtype).into())])?;
    operands.apply(op, &[x, identity])
}

/// Builds `solve_triangular(a, b)`. A system with the transpose of the matrix uses its other triangle.
pub(super) fn solve_triangular(
    operands: &mut Operands<'_>,
    _: &Row,
    props: &Props,
) -> Result<VarId, BuildError> {
    let [mut a, b] = matrices(operands)?;
    let declared = Declared::bound(operands.function, props);
    let form = Form::of(props).ok_or_else(|| declared.wrong("trans", "0, 1, 2, `N`, `T` or `C`"))?;
    a = form.matrices(operands, a)?;
    let op = SolveTriangular {
        lower: declared.flag("lower")? != (form != Form::Own),
        unit_diagonal: declared.flag("unit_diagonal")?,
        nan_on_error: nan_on_error(&declared)?,
    };
    with_columns(operands, b, |operands, b| operands.apply(op, &[a, b]))
}

/// Builds `cho_solve(c, b)`, also with SciPy's pair `(c, lower)`: two triangular systems.
pub(super) fn cho_solve(operands: &mut Operands<'_>, _: &Row, props: &Props) -> Result<VarId, BuildError> {
    operands.expect(2)?;
    let declared = Declared::bound(operands.function, props);
    let (mut args, mut lower) = (operands.args.to_vec(), declared.flag("lower")?);
    if let Operand::List(pair) = &operands.args[0]
        && let [factor, given] = pair.as_slice()
        && let Some(Prop::Bool(given)) = given.prop()
    {
        args[0] = factor.clone();
        lower = given;
    }
    let nan_on_error = nan_on_error(&declared)?;
    let mut operands = operands.with(&args);
    let [c, b] = matrices(&mut operands)?;
    let other = adjoint(&mut operands, c)?;
    let [down, up] = if lower { [c, other] } else { [other, c] };
    let op = |lower| SolveTriangular { lower, unit_diagonal: false, nan_on_error };
    with_columns(&mut operands, b, |operands, b| {
        let x = operands.apply(op(true), &[down, b])?;
        operands.apply(op(false), &[up, x])
    })
}

/// The pivots of matrices, and the sign of the permutation of their rows.
struct Pivots {
    diagonal: VarId,
    sign: VarId,
}

impl Pivots {
    fn of(operands: &mut Operands<'_>, x: VarId) -> Result<Self, BuildError> {
        let (dtype, last) = (operands.graph.ty(x).dtype(), operands.ndim(x) as i64 - 1);
        let results = operands.results(std::sync::Arc::new(LuFactor), &[x])?;
        let [both, rows] = results[..] else {
            return Err(operands.error("lacks the results of `lu_factor`"));
        };
        let axes = [("axis1", (last - 1).into()), ("axis2", last.into())];
        let diagonal = operands.call_with("diagonal", &[both.into()], &axes)?;
        let n = operands.extent(both, last as usize)?;
        let own = operands.call("arange", [n])?;
        let exchanged = operands.call("ne", [rows.into(), own.into()])?;
        let signs = operands.call("where", [exchanged.into(), (-1.0).into(), 1.0.into()])?;
        let sign = product(operands, signs)?;
        Ok(Self { diagonal, sign: operands.cast(sign, dtype)? })
    }
}

/// Multiplies the elements along the last axis.
fn product(operands: &mut Operands<'_>, x: VarId) -> Result<VarId, BuildError> {
    operands.call_with("prod", &[x.into()], &[("axis", (-1_i64).into())])
}

/// Builds `det(x)`: the product of the pivots.
pub(super) fn det(operands: &mut Operands<'_>, _: &Row, _: &Props) -> Result<VarId, BuildError> {
    let [x] = matrices(operands)?;
    let pivots = Pivots::of(operands, x)?;
    let product = product(operands, pivots.diagonal)?;
    operands.call("mul", [product.into(), pivots.sign.into()])
}

/// Builds `slogdet(x)`: the sign of the determinant, and the logarithm of its absolute value.
pub(super) fn slogdet(operands: &mut Operands<'_>, _: &Row, _: &Props) -> Result<Operand, BuildError> {
    let [x] = matrices(operands)?;
    let pivots = Pivots::of(operands, x)?;
    let signs = operands.call("sign", [pivots.diagonal.into()])?;
    let signs = product(operands, signs)?;
    let sign = operands.call("mul", [signs.into(), pivots.sign.into()])?;
    let sizes = operands.call("abs", [pivots.diagonal.into()])?;
    let logarithms = operands.call("log", [sizes.into()])?;
    let sum = operands.call_with("sum", &[logarithms.into()], &[("axis", (-1_i64).into())])?;
    Ok(list([sign, sum]))
}
