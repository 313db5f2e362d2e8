//! Systems of linear equations whose matrices have few different elements: `solve_banded`, `tridiagonal_solve`,
//! `solve_toeplitz`.

use super::decompositions::{matrices, nan_on_error, with_columns};
use super::operand::Operands;
use crate::declared::Declared;
use crate::linalg::SolveBanded;
use crate::rows::Row;
use precast_graph::{BuildError, Operand, Prop, Props, VarId};

/// Builds `solve_banded((lower, upper), bands, b)`.
pub(super) fn solve_banded(operands: &mut Operands<'_>, _: &Row, props: &Props) -> Result<VarId, BuildError> {
    operands.expect(3)?;
    let counts = match operands.args[0].prop() {
        Some(Prop::List(counts)) => counts,
        _ => Vec::new(),
    };
    let [Prop::Int(lower @ 0..=0xffff_ffff), Prop::Int(upper @ 0..=0xffff_ffff)] = counts[..] else {
        return Err(
            operands.error("needs the numbers of diagonals below and above the main one, like `(1, 2)`")
        );
    };
    let nan_on_error = nan_on_error(&Declared::bound(operands.function, props))?;
    let args = operands.args[1..].to_vec();
    let mut operands = operands.with(&args);
    let [bands, b] = matrices(&mut operands)?;
    let solve = |operands: &mut Operands<'_>, (lower, upper): (i64, i64), bands: VarId, b: VarId| {
        let op = SolveBanded::from_props(&Props::from([
            ("lower".to_owned(), Prop::Int(lower)),
            ("upper".to_owned(), Prop::Int(upper)),
            ("nan_on_error".to_owned(), Prop::Bool(nan_on_error)),
        ]))?;
        operands.results(op, &[bands, b])?.pop().ok_or_else(|| operands.error("has no result"))
    };
    with_columns(&mut operands, b, |operands, b| {
        if !operands.graph.ty(b).dtype().is_complex() {
            return solve(operands, (lower, upper), bands, b);
        }
        let [bands, b] = [real_bands(operands, bands)?, real_rows(operands, b)?];
        let x = solve(operands, (2 * lower + 1, 2 * upper + 1), bands, b)?;
        operands.expression("complex(x[..., ::2, :], x[..., 1::2, :])", &[("x", x.into())])
    })
}

/// Returns the diagonals of a real matrix for those of a complex one: each element `a + b·i` becomes the matrix
/// `[[a, -b], [b, a]]`.
fn real_bands(operands: &mut Operands<'_>, bands: VarId) -> Result<VarId, BuildError> {
    let even = real_rows(operands, bands)?;
    let odd = operands.expression("1j * bands", &[("bands", bands.into())])?;
    let odd = real_rows(operands, odd)?;
    let names = [("even", even.into()), ("odd", odd.into())];
    let columns = "where(arange(2 * shape(even)[-1]) % 2 == 0, \
        repeat(concatenate([zeros_like(even[..., :1, :]), even], axis=-2), 2, axis=-1), \
        repeat(concatenate([odd, zeros_like(odd[..., :1, :])], axis=-2), 2, axis=-1))";
    operands.expression(columns, &names)
}

/// Returns matrices with two rows for each row: its real parts, then its imaginary parts.
fn real_rows(operands: &mut Operands<'_>, x: VarId) -> Result<VarId, BuildError> {
    let rows = "where(arange(2 * shape(x)[-2])[:, None] % 2 == 0, \
        repeat(real(x), 2, axis=-2), repeat(imag(x), 2, axis=-2))";
    operands.expression(rows, &[("x", x.into())])
}

/// Builds `tridiagonal_solve(dl, d, du, b)`, whose diagonals are as long as the matrix.
pub(super) fn tridiagonal_solve(
    operands: &mut Operands<'_>,
    _: &Row,
    props: &Props,
) -> Result<Operand, BuildError> {
    operands.expect(4)?;
    let [lower, middle, upper] = [0, 1, 2].map(|position| operands.variable(position));
    let names = [("lower", lower?.into()), ("d", middle?.into()), ("upper", upper?.into())];
    // The rows of bands are aligned by column.
    let bands = "stack([roll(upper, 1, axis=-1), d, roll(lower, -1, axis=-1)], axis=-2)";
    let bands = operands.expression(bands, &names)?;
    let counts = Operand::List(vec![1_i64.into(), 1_i64.into()]);
    let b = operands.args[3].clone();
    operands.call_with("solve_banded", &[counts, bands.into(), b], &named(props)).map(Operand::Var)
}

/// Builds `solve_toeplitz(c, b)`, where `c` is the first column, or a pair of the first column and the first row.
pub(super) fn solve_toeplitz(
    operands: &mut Operands<'_>,
    _: &Row,
    props: &Props,
) -> Result<Operand, BuildError> {
    operands.expect(2)?;
    let is_vector = |half: &Operand| match half {
        Operand::Var(half) => operands.ndim(*half) > 0,
        half => matches!(half, Operand::List(_)),
    };
    let matrix = match &operands.args[0] {
        Operand::List(pair) if pair.len() == 2 && pair.iter().all(is_vector) => pair.clone(),
        column => vec![column.clone()],
    };
    let matrix = operands.call_with("toeplitz", &matrix, &[])?;
    let b = operands.args[1].clone();
    operands.call_with("solve", &[matrix.into(), b], &named(props)).map(Operand::Var)
}

/// Returns the keyword arguments of a call, for the call of another function.
fn named(props: &Props) -> Vec<(&str, Operand)> {
    props.iter().map(|(name, prop)| (name.as_str(), prop.clone().into())).collect()
}
