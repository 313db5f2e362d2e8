//! Schur decompositions: `schur`, and `qz` and `ordqz` of pairs of matrices.

use super::decompositions::{expect_matrices, matrices};
use super::operand::Operands;
use super::parts::list;
use crate::declared::Declared;
use crate::linalg::{EigenvalueSort, Qz, Schur};
use crate::rows::Row;
use precast_graph::{BuildError, DType, Operand, Props, VarId};
use std::sync::Arc;

/// Returns matrices of the dtype for `output`.
fn of_output(operands: &mut Operands<'_>, declared: &Declared<'_>, x: VarId) -> Result<VarId, BuildError> {
    match declared.text("output")? {
        "real" | "r" => Ok(x),
        "complex" | "c" => {
            let is_single = operands.graph.ty(x).dtype().real() == DType::F32;
            operands.cast(x, if is_single { DType::C64 } else { DType::C128 })
        }
        _ => Err(declared.wrong("output", "`real` or `complex`").into()),
    }
}

/// Builds `schur(x, output, sort)`.
pub(super) fn schur(operands: &mut Operands<'_>, _: &Row, props: &Props) -> Result<Operand, BuildError> {
    let [x] = matrices(operands)?;
    let declared = Declared::bound(operands.function, props);
    let x = of_output(operands, &declared, x)?;
    let sort = EigenvalueSort::declared(&declared)?;
    Ok(list(operands.results(Arc::new(Schur { sort }), &[x])?))
}

/// Returns the six results of a pair of matrices.
fn pair(operands: &mut Operands<'_>, props: &Props) -> Result<Vec<VarId>, BuildError> {
    let [a, b] = matrices(operands)?;
    expect_matrices(operands, 1, b)?;
    let declared = Declared::bound(operands.function, props);
    let [a, b] = [of_output(operands, &declared, a)?, of_output(operands, &declared, b)?];
    operands.results(Arc::new(Qz { sort: EigenvalueSort::declared(&declared)? }), &[a, b])
}

/// Builds `qz(a, b, output, sort)`.
pub(super) fn qz(operands: &mut Operands<'_>, _: &Row, props: &Props) -> Result<Operand, BuildError> {
    let mut made = pair(operands, props)?;
    made.drain(2..4);
    Ok(list(made))
}

/// Builds `ordqz(a, b, sort, output)`.
pub(super) fn ordqz(operands: &mut Operands<'_>, _: &Row, props: &Props) -> Result<Operand, BuildError> {
    Ok(list(pair(operands, props)?))
}
