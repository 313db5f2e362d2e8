//! The derivatives of decompositions by reflections.
//!
//! Source: M. Seeger, A. Hetzel, Z. Dai, E. Meissner, N. Lawrence, Auto-differentiating linear algebra, arXiv:1710.08717;
//! J. Townsend, Differentiating the singular value decomposition, 2016.

use super::rules::{extent, ndim, value};
use crate::linalg::{Eigh, Qr, SolveTriangular, Svd};
use precast_graph::{BuildError, Extent, Gradients, Op, Operand, Pullback, VarId};
use std::sync::Arc;

/// Adds a term to a sum that may be empty.
fn add(at: &mut Pullback<'_>, sum: Option<VarId>, term: VarId) -> Result<Option<VarId>, BuildError> {
    match sum {
        Some(sum) => Ok(Some(at.call("add", &[sum.into(), term.into()])?)),
        None => Ok(Some(term)),
    }
}

/// Returns all results of an op for the matrices.
fn results(at: &mut Pullback<'_>, op: impl Op) -> Result<Vec<VarId>, BuildError> {
    at.graph.apply(Arc::new(op), at.inputs)
}

/// Returns the extents of the matrices, as their type has them.
fn known(at: &Pullback<'_>) -> [Option<u64>; 2] {
    let shape = at.graph.ty(at.inputs[0]).shape();
    [shape[shape.len() - 2], shape[shape.len() - 1]].map(|extent| match extent {
        Extent::Fixed(n) => Some(n),
        Extent::Unknown => None,
    })
}

/// The gradient by the matrices of a Qr. Columns of a wide matrix beyond its rows are `q` times those of `r`.
pub(crate) fn qr(op: Qr, at: &mut Pullback<'_>) -> Result<Gradients, BuildError> {
    let [m, n] = known(at);
    let is_wide = matches!((m, n), (Some(m), Some(n)) if m < n);
    let is_tall = matches!((m, n), (Some(m), Some(n)) if m >= n);
    if op.complete && !op.r_only && !is_wide && (m.is_none() || m != n) {
        return Err(Pullback::error(
            "the derivative of `qr` with `mode=\"complete\"` needs a matrix that is known to have no more rows than columns",
        ));
    }
    let (gq, gr) = if op.r_only { (None, at.gradients[0]) } else { (at.gradients[0], at.gradients[1]) };
    let both = if op.r_only { results(at, Qr::default())? } else { at.outputs.to_vec() };
    let (a, q, r) = (at.inputs[0], both[0], both[1]);
    if is_tall {
        return Ok(vec![Some(of_columns(at, q, r, gq, gr)?)]);
    }
    // The columns up to the rank of q, and those beyond.
    let k = extent(at, q, ndim(at, q) - 1)?;
    let mut part = |text: &str, x: VarId| value(at, text, &[("x", x.into()), ("k", k.clone())]);
    let (square, beyond) = (part("x[..., :k]", r)?, part("x[..., k:]", a)?);
    let of_square = gr.map(|gr| part("x[..., :k]", gr)).transpose()?;
    let of_beyond = gr.map(|gr| part("x[..., k:]", gr)).transpose()?;
    let mut of_q = gq;
    if let Some(of_beyond) = of_beyond {
        let term = value(at, "y @ matrix_transpose(g)", &[("y", beyond.into()), ("g", of_beyond.into())])?;
        of_q = add(at, of_q, term)?;
    }
    let first = of_columns(at, q, square, of_q, of_square)?;
    let names = [("q", q.into()), ("first", first.into())];
    let all = match of_beyond {
        Some(g) => {
            value(at, "concatenate([first, q @ g], axis=-1)", &[&names[..], &[("g", g.into())]].concat())?
        }
        None => {
            let names = [&names[..], &[("y", beyond.into())]].concat();
            value(at, "concatenate([first, zeros_like(y)], axis=-1)", &names)?
        }
    };
    Ok(vec![Some(all)])
}

/// Returns the gradient by a matrix with at least as many rows as columns, from those by q and the square r.
fn of_columns(
    at: &mut Pullback<'_>,
    q: VarId,
    r: VarId,
    gq: Option<VarId>,
    gr: Option<VarId>,
) -> Result<VarId, BuildError> {
    let mut inner = None;
    if let Some(gr) = gr {
        inner = Some(value(at, "r @ matrix_transpose(g)", &[("r", r.into()), ("g", gr.into())])?);
    }
    if let Some(gq) = gq {
        let term = value(at, "-(matrix_transpose(g) @ q)", &[("g", gq.into()), ("q", q.into())])?;
        inner = add(at, inner, term)?;
    }
    let inner = inner.ok_or_else(|| Pullback::error("no result of `qr` has a gradient"))?;
    let names = [("q", q.into()), ("inner", inner.into())];
    let left = value(at, "q @ (tril(inner) + matrix_transpose(tril(inner, -1)))", &names)?;
    let left = match gq {
        Some(gq) => at.call("add", &[left.into(), gq.into()])?,
        None => left,
    };
    let left = at.call("matrix_transpose", &[left.into()])?;
    let upper = SolveTriangular { lower: false, unit_diagonal: false, nan_on_error: true };
    let solved = at.apply(upper, &[r, left])?;
    at.call("matrix_transpose", &[solved.into()])
}

/// Divides element (i, j) of `t` by `w[j] - w[i]`; it becomes 0 if they are equal.
fn quotients(at: &mut Pullback<'_>, w: VarId, t: VarId) -> Result<VarId, BuildError> {
    let d = value(at, "w[..., None, :] - w[..., None]", &[("w", w.into())])?;
    value(at, "where(d == 0, 0, t / where(d == 0, 1, d))", &[("d", d.into()), ("t", t.into())])
}

/// The gradient by the matrices of an Eigh, which is symmetric: both triangles share it. Eigenvectors of equal
/// eigenvalues do not contribute.
pub(crate) fn eigh(op: Eigh, at: &mut Pullback<'_>) -> Result<Gradients, BuildError> {
    let both =
        if op.values_only { results(at, Eigh { values_only: false, ..op })? } else { at.outputs.to_vec() };
    let (w, v) = (both[0], both[1]);
    let mut sum = None;
    if let Some(g) = at.gradients[0] {
        let text = "(v * g[..., None, :]) @ matrix_transpose(v)";
        sum = Some(value(at, text, &[("v", v.into()), ("g", g.into())])?);
    }
    if let Some(g) = at.gradients.get(1).copied().flatten() {
        let t = value(at, "matrix_transpose(v) @ g", &[("v", v.into()), ("g", g.into())])?;
        let t = quotients(at, w, t)?;
        let term = value(at, "v @ t @ matrix_transpose(v)", &[("v", v.into()), ("t", t.into())])?;
        sum = add(at, sum, term)?;
    }
    let sum = sum.ok_or_else(|| Pullback::error("no result of `eigh` has a gradient"))?;
    Ok(vec![Some(value(at, "0.5 * (s + matrix_transpose(s))", &[("s", sum.into())])?)])
}

/// The gradient by the matrices of an Svd. Singular vectors of equal singular values do not contribute.
pub(crate) fn svd(op: Svd, at: &mut Pullback<'_>) -> Result<Gradients, BuildError> {
    let [gu, gs, gvh] = match *at.gradients {
        [gs] => [None, gs, None],
        _ => [0, 1, 2].map(|output| at.gradients.get(output).copied().flatten()),
    };
    let [m, n] = known(at);
    if op.full && (m.is_none() || m != n) && (gu.is_some() || gvh.is_some()) {
        return Err(Pullback::error("the derivative of `svd` needs `full_matrices=False`"));
    }
    let reduced = op.full || op.values_only;
    let parts = if reduced { results(at, Svd::default())? } else { at.outputs.to_vec() };
    let names: [(&str, Operand); 3] =
        [("u", parts[0].into()), ("s", parts[1].into()), ("vh", parts[2].into())];
    let evaluate = |at: &mut Pullback<'_>, text: &str, given: &[(&str, VarId)]| {
        let given = given.iter().map(|(name, g)| (*name, Operand::Var(*g)));
        value(at, text, &names.iter().cloned().chain(given).collect::<Vec<_>>())
    };
    let squares = evaluate(at, "s * s", &[])?;
    let mut inner = Vec::new();
    if let Some(g) = gu {
        let t = evaluate(at, "matrix_transpose(u) @ g", &[("g", g)])?;
        let t = evaluate(at, "t - matrix_transpose(t)", &[("t", t)])?;
        let t = quotients(at, squares, t)?;
        inner.push(evaluate(at, "u @ ((t * s[..., None, :]) @ vh)", &[("t", t)])?);
        if !matches!((m, n), (Some(m), Some(n)) if m <= n) {
            let rest = "(g - u @ (matrix_transpose(u) @ g)) / s[..., None, :] @ vh";
            inner.push(evaluate(at, rest, &[("g", g)])?);
        }
    }
    if let Some(g) = gvh {
        let t = evaluate(at, "vh @ matrix_transpose(g)", &[("g", g)])?;
        let t = evaluate(at, "t - matrix_transpose(t)", &[("t", t)])?;
        let t = quotients(at, squares, t)?;
        inner.push(evaluate(at, "u @ ((s[..., None] * t) @ vh)", &[("t", t)])?);
        if !matches!((m, n), (Some(m), Some(n)) if n <= m) {
            let rest = "u @ ((g - (g @ matrix_transpose(vh)) @ vh) / s[..., None])";
            inner.push(evaluate(at, rest, &[("g", g)])?);
        }
    }
    if let Some(g) = gs {
        inner.push(evaluate(at, "(u * g[..., None, :]) @ vh", &[("g", g)])?);
    }
    let mut sum = None;
    for term in inner {
        sum = add(at, sum, term)?;
    }
    Ok(vec![sum])
}
