//! Systems of linear equations whose matrices have few different elements: `solve_banded`, `tridiagonal_solve`,
//! `solve_toeplitz`.

use super::decompositions::{nan_on_error, real_matrices, with_columns};
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
    let op = SolveBanded::from_props(&Props::from([
        ("lower".to_owned(), Prop::Int(lower)),
        ("upper".to_owned(), Prop::Int(upper)),
        ("nan_on_error".to_owned(), Prop::Bool(nan_on_error(&Declared::bound(operands.function, props))?)),
    ]))?;
    let args = operands.args[1..].to_vec();
    let mut operands = operands.with(&args);
    let [bands, b] = real_matrices(&mut operands)?;
    with_columns(&mut operands, b, |operands, b| {
        operands.results(op, &[bands, b])?.pop().ok_or_else(|| operands.error("has no result"))
    })
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
