//! The derivatives of products, decompositions and systems of linear equations.

use super::rules::{expression, extent, ndim, summed, value};
use crate::linalg::{Cholesky, Solve, SolveBanded, SolveTriangular};
use precast_graph::{BuildError, Gradients, Operand, Prop, Pullback, VarId};

/// Swaps the last two axes.
fn turned(at: &mut Pullback<'_>, x: VarId) -> Result<VarId, BuildError> {
    at.call("matrix_transpose", &[x.into()])
}

/// The gradients by the operands of a Dot.
pub(crate) fn dot(at: &mut Pullback<'_>) -> Result<Gradients, BuildError> {
    let (g, x, y) = (at.gradient()?, at.inputs[0], at.inputs[1]);
    match (ndim(at, x), ndim(at, y)) {
        (1, 1) => both(at, ["mul", "mul"], [g, y, g, x]),
        (2, 1) => {
            let xt = turned(at, x)?;
            both(at, ["outer", "dot"], [g, y, xt, g])
        }
        (1, 2) => both(at, ["dot", "outer"], [y, g, x, g]),
        (2, 2) => {
            let (xt, yt) = (turned(at, x)?, turned(at, y)?);
            both(at, ["dot", "dot"], [g, yt, xt, g])
        }
        (n, m) => {
            // (a, b, k) · (c, k, d) -> (a, b, c, d)
            let (left, right) = (&"ab"[..n - 1], &"cd"[..m.saturating_sub(1)]);
            let (rows, columns) = right.split_at(m.saturating_sub(2).min(right.len()));
            contracted(at, &format!("{left}k"), &format!("{rows}k{columns}"), &format!("{left}{right}"))
        }
    }
}

/// Returns the results of two functions of two arguments each.
fn both(at: &mut Pullback<'_>, functions: [&str; 2], args: [VarId; 4]) -> Result<Gradients, BuildError> {
    let [a, b, c, d] = args.map(Operand::Var);
    Ok(vec![Some(at.call(functions[0], &[a, b])?), Some(at.call(functions[1], &[c, d])?)])
}

/// The gradients by the operands of a BatchedDot.
pub(crate) fn batched_dot(at: &mut Pullback<'_>) -> Result<Gradients, BuildError> {
    let row = if ndim(at, at.inputs[0]) == 3 { "i" } else { "" };
    let column = if ndim(at, at.inputs[1]) == 3 { "j" } else { "" };
    contracted(at, &format!("b{row}k"), &format!("bk{column}"), &format!("b{row}{column}"))
}

/// The gradients by the operands of a sum of products with these labels.
fn contracted(at: &mut Pullback<'_>, x: &str, y: &str, out: &str) -> Result<Gradients, BuildError> {
    let (g, a, b) = (at.gradient()?, at.inputs[0], at.inputs[1]);
    let mut sum = |other: VarId, labels: &str, result: &str| {
        let subscripts: Operand = Prop::Str(format!("{out},{labels}->{result}")).into();
        at.call("einsum", &[subscripts, g.into(), other.into()])
    };
    Ok(vec![Some(sum(b, y, x)?), Some(sum(a, x, y)?)])
}

/// The gradients by the operands of a Matmul, whose stacks are broadcast.
pub(crate) fn matmul(at: &mut Pullback<'_>) -> Result<Gradients, BuildError> {
    let (g, x, y) = (at.gradient()?, at.inputs[0], at.inputs[1]);
    let (xt, yt) = (turned(at, x)?, turned(at, y)?);
    let (of_x, of_y) =
        (at.call("matmul", &[g.into(), yt.into()])?, at.call("matmul", &[xt.into(), g.into()])?);
    Ok(vec![Some(summed(at, of_x, x)?), Some(summed(at, of_y, y)?)])
}

/// Returns the matrix with ones in a triangle of `like`, with or without the diagonal.
fn triangle(at: &mut Pullback<'_>, like: VarId, lower: bool, diagonal: bool) -> Result<VarId, BuildError> {
    let n = extent(at, like, ndim(at, like) - 1)?;
    let dtype = at.graph.ty(like).dtype();
    let offset: i64 = if diagonal { 0 } else { -1 };
    let ones =
        at.call_with("tri", &[n.clone(), n, offset.into()], &[("dtype", Prop::DType(dtype).into())])?;
    if lower { Ok(ones) } else { turned(at, ones) }
}

/// Returns the solutions of `a.T @ x = b` for a triangular matrix.
fn solved(at: &mut Pullback<'_>, op: SolveTriangular, a: VarId, b: VarId) -> Result<VarId, BuildError> {
    let at_turned = turned(at, a)?;
    at.apply(SolveTriangular { lower: !op.lower, ..op }, &[at_turned, b])
}

/// The gradient by the matrices of a LuFactor; NaN for a singular matrix.
///
/// # Source
/// S. F. Walter, L. Lehmann, Algorithmic differentiation of linear algebra functions, arXiv:1009.6112.
pub(crate) fn lu_factor(at: &mut Pullback<'_>) -> Result<Gradients, BuildError> {
    let (g, both, pivots) = (at.gradient()?, at.outputs[0], at.outputs[1]);
    let below = triangle(at, both, true, false)?;
    let upper = triangle(at, both, false, true)?;
    let n = extent(at, both, ndim(at, both) - 1)?;
    let dtype = at.graph.ty(both).dtype();
    let ones = at.call_with("eye", &[n], &[("dtype", Prop::DType(dtype).into())])?;
    let names = [("g", g), ("lu", both), ("below", below), ("upper", upper), ("ones", ones)];
    let inner = "below * (matrix_transpose(lu * below + ones) @ (g * below)) + \
                 upper * ((g * upper) @ matrix_transpose(lu * upper))";
    let inner = expression(at, inner, &names)?;
    // The triangles that are not read hold the other factor.
    let unit = SolveTriangular { lower: true, unit_diagonal: true, nan_on_error: true };
    let left = solved(at, unit, both, inner)?;
    let left = turned(at, left)?;
    let upper = SolveTriangular { lower: false, unit_diagonal: false, nan_on_error: true };
    let right = at.apply(upper, &[both, left])?;
    let right = turned(at, right)?;
    let order = at.call("pivot_to_permutation", &[pivots.into()])?;
    let order = at.call("argsort", &[order.into()])?;
    let order = at.call_with("expand_dims", &[order.into()], &[("axis", (-1_i64).into())])?;
    let along = [("axis", (-2_i64).into())];
    Ok(vec![Some(at.call_with("take_along_axis", &[right.into(), order.into()], &along)?)])
}

/// The gradient by the matrices of a Cholesky, which is symmetric: both triangles share it.
///
/// # Source
/// S. P. Smith, Differentiation of the Cholesky algorithm, 1995; I. Murray, arXiv:1602.07527.
pub(crate) fn cholesky(op: Cholesky, at: &mut Pullback<'_>) -> Result<Gradients, BuildError> {
    let (g, l) = (at.gradient()?, at.outputs[0]);
    let lt = turned(at, l)?;
    let inner = at.call("matmul", &[lt.into(), g.into()])?;
    let (whole, below) = (triangle(at, l, true, true)?, triangle(at, l, true, false)?);
    let names = [("inner", inner), ("whole", whole), ("below", below)];
    let inner = expression(at, "0.5 * inner * (whole + below)", &names)?;
    let solve = SolveTriangular { lower: true, unit_diagonal: false, nan_on_error: op.nan_on_error };
    let left = solved(at, solve, l, inner)?;
    let left = turned(at, left)?;
    let both = solved(at, solve, l, left)?;
    let other = turned(at, both)?;
    Ok(vec![Some(expression(at, "0.5 * (s + t)", &[("s", both), ("t", other)])?)])
}

/// The gradients by the matrix and the right sides of a Solve.
pub(crate) fn solve(op: Solve, at: &mut Pullback<'_>) -> Result<Gradients, BuildError> {
    let (g, a, b, x) = (at.gradient()?, at.inputs[0], at.inputs[1], at.outputs[0]);
    let a_turned = turned(at, a)?;
    let of_b = at.apply(op, &[a_turned, g])?;
    let of_a = outer(at, of_b, x)?;
    Ok(vec![Some(summed(at, of_a, a)?), Some(summed(at, of_b, b)?)])
}

/// The gradients by the matrix and the right sides of a SolveTriangular.
pub(crate) fn solve_triangular(op: SolveTriangular, at: &mut Pullback<'_>) -> Result<Gradients, BuildError> {
    let (g, a, b, x) = (at.gradient()?, at.inputs[0], at.inputs[1], at.outputs[0]);
    let of_b = solved(at, op, a, g)?;
    let of_a = outer(at, of_b, x)?;
    let ones = triangle(at, a, op.lower, !op.unit_diagonal)?;
    let of_a = at.call("mul", &[of_a.into(), ones.into()])?;
    Ok(vec![Some(summed(at, of_a, a)?), Some(summed(at, of_b, b)?)])
}

/// The gradients by the diagonals and the right sides of a SolveBanded.
pub(crate) fn solve_banded(op: SolveBanded, at: &mut Pullback<'_>) -> Result<Gradients, BuildError> {
    let (g, bands, b, x) = (at.gradient()?, at.inputs[0], at.inputs[1], at.outputs[0]);
    let (axis, height) = (ndim(at, bands) - 1, op.lower + 1 + op.upper);
    let n = extent(at, bands, axis)?;
    let count = |count: usize| i64::try_from(count).unwrap_or(i64::MAX).into();
    let (lower, upper, height): (Operand, Operand, Operand) =
        (count(op.lower), count(op.upper), count(height));
    let names = [("bands", bands.into()), ("n", n.clone()), ("h", height.clone()), ("lower", lower)];
    // The diagonals of the transpose: in the opposite order, and aligned by row.
    let places = "(arange(n) + arange(h)[:, None] - lower) % n + i64(zeros_like(bands))";
    let places = value(at, places, &names)?;
    let names = [("bands", bands.into()), ("places", places.into())];
    let turned = value(at, "take_along_axis(bands[..., ::-1, :], places, axis=-1)", &names)?;
    let of_b = at.apply(SolveBanded { lower: op.upper, upper: op.lower, ..op }, &[turned, g])?;
    let row = value(
        at,
        "arange(n) + arange(h)[:, None] - upper",
        &[("n", n.clone()), ("h", height), ("upper", upper)],
    )?;
    let names = [("row", row.into()), ("n", n), ("g", of_b.into()), ("x", x.into())];
    let of_bands =
        "-where((row >= 0) & (row < n), sum(take(g, row % n, axis=-2) * x[..., None, :, :], axis=-1), 0)";
    let of_bands = value(at, of_bands, &names)?;
    Ok(vec![Some(summed(at, of_bands, bands)?), Some(summed(at, of_b, b)?)])
}

/// Returns `-g @ x.T`, the gradient by the matrix of a system.
fn outer(at: &mut Pullback<'_>, g: VarId, x: VarId) -> Result<VarId, BuildError> {
    let xt = turned(at, x)?;
    let product = at.call("matmul", &[g.into(), xt.into()])?;
    at.call("neg", &[product.into()])
}
