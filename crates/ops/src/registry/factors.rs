//! Decompositions by reflections: `qr`, `eigh`, `svd`, and the functions of singular values.

use super::decompositions::{adjoint, matrices, with_columns};
use super::operand::Operands;
use super::parts::list;
use crate::declared::Declared;
use crate::linalg::{Eig, Eigh, Qr, Svd};
use crate::rows::Row;
use precast_graph::{BuildError, DType, MakeNodeError, Operand, Prop, Props, VarId};
use std::sync::Arc;

/// Builds `qr(x, mode, pivoting)`.
pub(super) fn qr(operands: &mut Operands<'_>, _: &Row, props: &Props) -> Result<Operand, BuildError> {
    let [x] = matrices(operands)?;
    let declared = Declared::bound(operands.function, props);
    let pivoting = declared.flag("pivoting")?;
    let (complete, r_only) = match declared.text("mode")? {
        "reduced" => (false, false),
        "complete" => (true, false),
        "r" => (false, true),
        _ => return Err(declared.wrong("mode", "`reduced`, `complete` or `r`").into()),
    };
    let results = operands.results(Arc::new(Qr { complete, r_only, pivoting }), &[x])?;
    Ok(if let [r] = results[..] { r.into() } else { list(results) })
}

/// Returns whether the upper triangle is read.
fn upper(declared: &Declared<'_>) -> Result<bool, MakeNodeError> {
    match declared.text("UPLO")? {
        "L" | "l" => Ok(false),
        "U" | "u" => Ok(true),
        _ => Err(declared.wrong("UPLO", "`L` or `U`")),
    }
}

/// Builds `eigh(x, UPLO)`.
pub(super) fn eigh(operands: &mut Operands<'_>, _: &Row, props: &Props) -> Result<Operand, BuildError> {
    let [x] = matrices(operands)?;
    let upper = upper(&Declared::bound(operands.function, props))?;
    Ok(list(operands.results(Arc::new(Eigh { upper, values_only: false }), &[x])?))
}

/// Builds `eigvalsh(x, UPLO)`.
pub(super) fn eigvalsh(operands: &mut Operands<'_>, _: &Row, props: &Props) -> Result<VarId, BuildError> {
    let [x] = matrices(operands)?;
    let upper = upper(&Declared::bound(operands.function, props))?;
    operands.apply(Eigh { upper, values_only: true }, &[x])
}

/// Builds `eig(x)`.
pub(super) fn eig(operands: &mut Operands<'_>, _: &Row, _: &Props) -> Result<Operand, BuildError> {
    let [x] = matrices(operands)?;
    Ok(list(operands.results(Arc::new(Eig { values_only: false }), &[x])?))
}

/// Builds `eigvals(x)`.
pub(super) fn eigvals(operands: &mut Operands<'_>, _: &Row, _: &Props) -> Result<VarId, BuildError> {
    let [x] = matrices(operands)?;
    operands.apply(Eig { values_only: true }, &[x])
}

/// Returns matrices that must be square.
pub(super) fn square(operands: &mut Operands<'_>, x: VarId) -> Result<VarId, BuildError> {
    let last = operands.ndim(x) - 1;
    let known = [operands.known_extent(x, last - 1), operands.known_extent(x, last)];
    if let [Some(rows), Some(columns)] = known {
        let ty = operands.graph.ty(x);
        let wrong =
            || operands.error(format!("needs square matrices in the last two dimensions, found `{ty}`"));
        return if rows == columns { Ok(x) } else { Err(wrong()) };
    }
    let (rows, columns) = (operands.extent(x, last - 1)?, operands.extent(x, last)?);
    let is_square = operands.call("eq", [rows, columns])?;
    operands.demand(x, is_square, "expected square matrices in the last two dimensions")
}

/// Returns the only argument as matrices. Of `hermitian` matrices, the lower triangle stands for both.
fn whole(operands: &mut Operands<'_>, declared: &Declared<'_>) -> Result<VarId, BuildError> {
    let [x] = matrices(operands)?;
    if !declared.flag("hermitian")? {
        return Ok(x);
    }
    let x = square(operands, x)?;
    if !operands.graph.ty(x).dtype().is_complex() {
        return operands.expression("tril(x) + matrix_transpose(tril(x, -1))", &[("x", x.into())]);
    }
    let whole =
        "where(eye(shape(x)[-1], dtype=bool), real(x), tril(x, -1) + conj(matrix_transpose(tril(x, -1))))";
    operands.expression(whole, &[("x", x.into())])
}

/// Returns the singular values of matrices.
fn singular_values(operands: &mut Operands<'_>, x: VarId) -> Result<VarId, BuildError> {
    operands.apply(Svd { full: false, values_only: true }, &[x])
}

/// Returns the reduced decompositions of matrices.
fn reduced(operands: &mut Operands<'_>, x: VarId) -> Result<[VarId; 3], BuildError> {
    let parts = operands.results(Arc::new(Svd { full: false, values_only: false }), &[x])?;
    parts.try_into().map_err(|_| operands.error("lacks the results of `svd`"))
}

/// Builds `svd(x, full_matrices, compute_uv, hermitian)`.
pub(super) fn svd(operands: &mut Operands<'_>, _: &Row, props: &Props) -> Result<Operand, BuildError> {
    let declared = Declared::bound(operands.function, props);
    let x = whole(operands, &declared)?;
    if !declared.flag("compute_uv")? {
        return Ok(singular_values(operands, x)?.into());
    }
    let full = declared.flag("full_matrices")?;
    Ok(list(operands.results(Arc::new(Svd { full, values_only: false }), &[x])?))
}

/// Builds `svdvals(x)`.
pub(super) fn svdvals(operands: &mut Operands<'_>, _: &Row, _: &Props) -> Result<VarId, BuildError> {
    let [x] = matrices(operands)?;
    singular_values(operands, x)
}

/// Returns a setting that is a number, or `None`.
fn number(declared: &Declared<'_>, name: &str) -> Result<Option<f64>, MakeNodeError> {
    if declared.has(name) { declared.float(name).map(Some) } else { Ok(None) }
}

/// Returns the precision of the dtype of matrices times their larger extent.
fn precision(operands: &mut Operands<'_>, x: VarId) -> Result<Operand, BuildError> {
    let dtype = operands.graph.ty(x).dtype().real();
    let epsilon = if dtype == DType::F32 { f64::from(f32::EPSILON) } else { f64::EPSILON };
    let last = operands.ndim(x) - 1;
    let (rows, columns) = (operands.extent(x, last - 1)?, operands.extent(x, last)?);
    let largest = operands.call("maximum", [rows, columns])?;
    let largest = operands.cast(largest, dtype)?;
    Ok(operands.call("mul", [largest.into(), epsilon.into()])?.into())
}

/// Builds `pinv(x, rcond, hermitian, rtol)`.
pub(super) fn pinv(operands: &mut Operands<'_>, _: &Row, props: &Props) -> Result<VarId, BuildError> {
    let declared = Declared::bound(operands.function, props);
    let given = number(&declared, "rcond")?.or(number(&declared, "rtol")?);
    let x = whole(operands, &declared)?;
    let [u, s, vh] = reduced(operands, x)?;
    let counts = operands
        .expression("s > least * s[..., :1]", &[("s", s.into()), ("least", given.unwrap_or(1e-15).into())])?;
    let names = [("u", u.into()), ("s", s.into()), ("vh", vh.into()), ("counts", counts.into())];
    let turned = "(u * where(counts, 1 / where(counts, s, 1), 0)[..., None, :]) @ vh";
    let turned = operands.expression(turned, &names)?;
    adjoint(operands, turned)
}

/// Builds `matrix_rank(x, tol, hermitian, rtol)`.
pub(super) fn matrix_rank(operands: &mut Operands<'_>, _: &Row, props: &Props) -> Result<VarId, BuildError> {
    let declared = Declared::bound(operands.function, props);
    let (tol, rtol) = (number(&declared, "tol")?, number(&declared, "rtol")?);
    operands.expect(1)?;
    let x = operands.variable(0)?;
    if operands.ndim(x) < 2 {
        return operands.expression("i64(any(x != 0))", &[("x", x.into())]);
    }
    let x = whole(operands, &declared)?;
    let s = singular_values(operands, x)?;
    if let Some(tol) = tol {
        return operands
            .expression("count_nonzero(s > tol, axis=-1)", &[("s", s.into()), ("tol", tol.into())]);
    }
    let rtol = if let Some(rtol) = rtol { rtol.into() } else { precision(operands, x)? };
    let names = [("s", s.into()), ("rtol", rtol)];
    operands.expression("count_nonzero(s > s[..., :1] * rtol, axis=-1)", &names)
}

/// Builds `condition_number(x, p)`. A matrix without NaN whose quotient is not a number has an infinite one.
pub(super) fn cond(operands: &mut Operands<'_>, _: &Row, props: &Props) -> Result<VarId, BuildError> {
    let [x] = matrices(operands)?;
    let order = match props.get("p") {
        Some(Prop::Float(order)) if order.abs() == 2.0 => Some(*order as i64),
        Some(Prop::Int(order @ (2 | -2))) => Some(*order),
        None => Some(2),
        Some(_) => None,
    };
    let quotient = match (order, props.get("p")) {
        (Some(order), _) => {
            let s = singular_values(operands, x)?;
            let quotient = if order > 0 { "s[..., 0] / s[..., -1]" } else { "s[..., -1] / s[..., 0]" };
            operands.expression(quotient, &[("s", s.into())])?
        }
        (None, p) => {
            let p = p.map_or(Operand::None, |p| p.clone().into());
            let inverse = operands.call_with(
                "inv",
                &[x.into()],
                &[("on_error", Prop::Str("nan".to_owned()).into())],
            )?;
            let named = [("axis", Prop::List(vec![Prop::Int(-2), Prop::Int(-1)]).into()), ("ord", p)];
            let own = operands.call_with("norm", &[x.into()], &named)?;
            let other = operands.call_with("norm", &[inverse.into()], &named)?;
            operands.call("mul", [own.into(), other.into()])?
        }
    };
    let names = [("q", quotient.into()), ("x", x.into())];
    operands.expression("where(isnan(q) & ~any(isnan(x), axis=(-2, -1)), inf, q)", &names)
}

/// Builds `lstsq(a, b, rcond)` of two matrices, or a matrix and a vector. The residuals are empty if the rank is below
/// the number of columns, or if there are not more rows than columns.
pub(super) fn lstsq(operands: &mut Operands<'_>, _: &Row, props: &Props) -> Result<Operand, BuildError> {
    let declared = Declared::bound(operands.function, props);
    let given = number(&declared, "rcond")?;
    let [a, b] = matrices(operands)?;
    if operands.ndim(a) != 2 || operands.ndim(b) > 2 {
        return Err(operands.error("needs a matrix, and a vector or a matrix"));
    }
    let dtype = operands.graph.ty(a).dtype();
    let rcond = match given {
        None => precision(operands, a)?,
        Some(rcond) if rcond > 0.0 && rcond < 1.0 => rcond.into(),
        // LAPACK uses its own precision.
        Some(_) => {
            (if dtype.real() == DType::F32 { f64::from(f32::EPSILON) } else { f64::EPSILON } / 2.0).into()
        }
    };
    let [u, s, vh] = reduced(operands, a)?;
    let counts = operands.expression("s > rcond * s[:1]", &[("s", s.into()), ("rcond", rcond)])?;
    let rank = operands.expression("i32(count_nonzero(counts))", &[("counts", counts.into())])?;
    let (turned, back) = (adjoint(operands, u)?, adjoint(operands, vh)?);
    let names = [("a", a), ("turned", turned), ("s", s), ("back", back), ("counts", counts), ("rank", rank)]
        .map(|(name, variable)| (name, Operand::Var(variable)));
    let mut residuals = None;
    let x = with_columns(operands, b, |operands, b| {
        let names = [&names[..], &[("b", b.into())]].concat();
        let scaled = "where(counts[:, None], (turned @ b) / where(counts, s, 1)[:, None], 0)";
        let scaled = operands.expression(scaled, &names)?;
        let x = operands.expression("back @ scaled", &[&names[..], &[("scaled", scaled.into())]].concat())?;
        let rest = operands.expression("b - a @ x", &[&names[..], &[("x", x.into())]].concat())?;
        let names = [&names[..], &[("rest", rest.into())]].concat();
        let count = "where((rank == shape(a)[1]) & (shape(a)[0] > shape(a)[1]), shape(b)[1], 0)";
        let count = operands.expression(count, &names)?;
        let names = [&names[..], &[("count", count.into())]].concat();
        let squares = if dtype.is_complex() { "real(rest * conj(rest))" } else { "rest * rest" };
        residuals = Some(operands.expression(&format!("sum({squares}, axis=0)[:count]"), &names)?);
        Ok(x)
    })?;
    let residuals = residuals.ok_or_else(|| operands.error("lacks the residuals"))?;
    Ok(list([x, residuals, rank, s]))
}
