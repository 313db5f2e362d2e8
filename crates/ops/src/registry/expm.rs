//! The exponential of matrices: `expm`.

use super::decompositions::matrices;
use super::factors::square;
use super::operand::Operands;
use crate::rows::Row;
use precast_graph::{BuildError, Operand, Props, VarId};

/// The largest norm for which the approximation has the precision of f64.
const LARGEST_NORM: f64 = 5.371_920_351_148_152;

/// The coefficients of the numerator of the Padé approximation of order 13, from the lowest power on.
const PADE: [f64; 14] = [
    64_764_752_532_480_000.0,
    32_382_376_266_240_000.0,
    7_771_770_303_897_600.0,
    1_187_353_796_428_800.0,
    129_060_195_264_000.0,
    10_559_470_521_600.0,
    670_442_572_800.0,
    33_522_128_640.0,
    1_323_241_920.0,
    40_840_800.0,
    960_960.0,
    16_380.0,
    182.0,
    1.0,
];

/// Builds `expm(x)`: the Padé approximation of a scaled matrix, squared once for each halving.
///
/// # Source
/// N. J. Higham, The scaling and squaring method for the matrix exponential revisited, 2005.
pub(super) fn expm(operands: &mut Operands<'_>, _: &Row, _: &Props) -> Result<Operand, BuildError> {
    let [x] = matrices(operands)?;
    let x = square(operands, x)?;
    let sums = operands.expression("stop_gradient(sum(abs(x), axis=-2))", &[("x", x.into())])?;
    // A matrix without elements has the norm 0.
    let norm = "max(concatenate([sums, 0 * sum(sums, axis=-1, keepdims=True)], axis=-1), axis=-1)";
    let norm = operands.expression(norm, &[("sums", sums.into())])?;
    let names = [("norm", norm.into()), ("largest", LARGEST_NORM.into())];
    let halvings = operands.expression("clip(ceil(log2(norm / largest)), 0, 1100)", &names)?;
    let names = [("x", x.into()), ("halvings", halvings.into())];
    let scaled = operands.expression("x * exp2(-halvings)[..., None, None]", &names)?;
    let result = approximation(operands, scaled)?;
    let count = "i64(max(concatenate([ravel(halvings), zeros(1, dtype=halvings.dtype)])))";
    let count = operands.expression(count, &names)?;
    let names = [&names[..], &[("result", result.into()), ("count", count.into())]].concat();
    let squared = "fori_loop(0, count, lambda i, r: where(i < halvings[..., None, None], r @ r, r), result)";
    operands.expression(squared, &names).map(Operand::Var)
}

/// Returns the Padé approximation: `(v - u)⁻¹·(v + u)` with the odd terms in `u` and the even ones in `v`.
fn approximation(operands: &mut Operands<'_>, x: VarId) -> Result<VarId, BuildError> {
    let ones = operands.expression("eye(shape(x)[-1], dtype=x.dtype)", &[("x", x.into())])?;
    let x2 = operands.expression("x @ x", &[("x", x.into())])?;
    let x4 = operands.expression("y @ y", &[("y", x2.into())])?;
    let x6 = operands.expression("y @ z", &[("y", x4.into()), ("z", x2.into())])?;
    let mut half = |start: usize| {
        let mut names = vec![("ones", ones.into()), ("x2", x2.into()), ("x4", x4.into()), ("x6", x6.into())];
        let coefficients = ["b0", "b2", "b4", "b6", "b8", "b10", "b12"];
        names.extend(coefficients.iter().enumerate().map(|(i, name)| (*name, PADE[2 * i + start].into())));
        let sum = "x6 @ (b12 * x6 + b10 * x4 + b8 * x2) + b6 * x6 + b4 * x4 + b2 * x2 + b0 * ones";
        operands.expression(sum, &names)
    };
    let (even, odd) = (half(0)?, half(1)?);
    let odd = operands.expression("x @ odd", &[("x", x.into()), ("odd", odd.into())])?;
    let names = [("even", even.into()), ("odd", odd.into())];
    operands.expression("solve(even - odd, even + odd, on_error='nan')", &names)
}
