//! Sylvester's equation and Lyapunov's: `solve_sylvester`, `solve_continuous_lyapunov`, `solve_discrete_lyapunov`.

use super::decompositions::{adjoint, expect_matrices, matrices};
use super::factors::square;
use super::operand::Operands;
use crate::rows::Row;
use precast_graph::{BuildError, Operand, Props};

/// Builds `solve_sylvester(a, b, q)`: the solution `x` of `a @ x + x @ b = q`.
///
/// The gradients come from the adjoint equation, which has the same Schur decompositions.
///
/// # Source
/// R. H. Bartels, G. W. Stewart, Solution of the matrix equation AX + XB = C, 1972. T.-C. Kao, G. Hennequin, Automatic
/// differentiation of Sylvester, Lyapunov, and algebraic Riccati equations, 2020.
pub(super) fn solve_sylvester(
    operands: &mut Operands<'_>,
    _: &Row,
    _: &Props,
) -> Result<Operand, BuildError> {
    let [a, b, q] = matrices(operands)?;
    expect_matrices(operands, 1, b)?;
    expect_matrices(operands, 2, q)?;
    let [a, b] = [square(operands, a)?, square(operands, b)?];
    let mut names = vec![("a", Operand::Var(a)), ("b", b.into()), ("q", q.into())];
    let is_complex = operands.graph.ty(q).dtype().is_complex();
    let x = solution("q", ["r", "s", "k", "False"]);
    let x = if is_complex { x } else { format!("real({x})") };
    let texts = [
        ("r", "schur(a, 'complex')[0]"),
        ("u", "schur(a, 'complex')[1]"),
        ("s", "schur(b, 'complex')[0]"),
        ("v", "schur(b, 'complex')[1]"),
        ("n", "shape(b)[-1]"),
        ("x", &x),
    ];
    operands.define(&mut names, &texts)?;
    if is_complex {
        return names.pop().map(|(_, x)| x).ok_or_else(|| operands.error("has no result"));
    }
    operands.define(&mut names, &[("left", "conj(r.mT)"), ("right", "conj(s.mT)")])?;
    let turned = format!("real({})", solution("g", ["left", "right", "n - 1 - k", "True"]));
    let with_gradient = format!(
        "custom_gradient(x, lambda g, a, b, q: [-({turned}) @ x.mT, -x.mT @ ({turned}), {turned}], a, b, q)"
    );
    operands.expression(&with_gradient, &names).map(Operand::Var)
}

/// Returns the text of the solution with the triangles `r` and `s`. Its columns are solved in the order of the
/// positions `at`: each needs only those before it.
fn solution(q: &str, [r, s, at, is_lower]: [&str; 4]) -> String {
    let solved = format!(
        "solve_triangular({r} + {s}[..., {at}, {at}][..., None, None] * eye(shape({r})[-1]), \
         (y[..., {at}] - (y @ where(arange(n) == {at}, 0, {s}[..., {at}])[..., None])[..., 0])[..., None], \
         lower={is_lower})"
    );
    format!(
        "u @ fori_loop(0, n, lambda k, y: where(arange(n) == {at}, {solved}, y), conj(u.mT) @ {q} @ v) @ conj(v.mT)"
    )
}

/// Builds `solve_continuous_lyapunov(a, q)`: the solution `x` of `a @ x + x @ a* = q`.
pub(super) fn solve_continuous_lyapunov(
    operands: &mut Operands<'_>,
    _: &Row,
    _: &Props,
) -> Result<Operand, BuildError> {
    let [a, q] = matrices(operands)?;
    expect_matrices(operands, 1, q)?;
    let turned = adjoint(operands, a)?;
    operands.call("solve_sylvester", [a.into(), turned.into(), q.into()]).map(Operand::Var)
}

/// Builds `solve_discrete_lyapunov(a, q)`: the solution `x` of `a @ x @ a* - x + q = 0`, by a bilinear transformation
/// to the continuous equation.
pub(super) fn solve_discrete_lyapunov(
    operands: &mut Operands<'_>,
    _: &Row,
    _: &Props,
) -> Result<Operand, BuildError> {
    let [a, q] = matrices(operands)?;
    expect_matrices(operands, 1, q)?;
    let a = square(operands, a)?;
    let turned = adjoint(operands, a)?;
    let mut names = vec![("a", Operand::Var(a)), ("h", turned.into()), ("q", q.into())];
    operands.define(&mut names, &[("i", "inv(h + eye(shape(h)[-1]))")])?;
    let b = operands.expression("(h - eye(shape(h)[-1])) @ i", &names)?;
    let c = operands.expression("-2 * conj(matrix_transpose(i)) @ q @ i", &names)?;
    let turned = adjoint(operands, b)?;
    operands.call("solve_continuous_lyapunov", [turned.into(), c.into()]).map(Operand::Var)
}
