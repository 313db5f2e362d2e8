//! Vectors and matrices: Dirichlet, multinomial, multivariate normal, Wishart.
//!
//! Products of matrices are written as sums, because those have the same bits on every host.

use super::continuous::standard_normal;
use super::elements::{demand_equal, extents, parameter, shape_for};
use super::key::{floats, subkey, word};
use super::sampled::{count_dtype, counted, drawn};
use crate::registry::operand::Operands;
use crate::rows::Row;
use precast_graph::{Array, BuildError, DType, MakeNodeError, Operand, Props, VarId};

/// Returns a parameter of at least `least` dimensions, the extents before its last `least` axes, and those of the axes.
fn split(
    operands: &mut Operands<'_>,
    input: usize,
    least: usize,
) -> Result<(VarId, Vec<Operand>, Vec<Operand>), BuildError> {
    let own = parameter(operands, input)?;
    let ndim = operands.ndim(own);
    if ndim < least {
        let expected =
            if least == 1 { "a vector, or a stack of vectors" } else { "a matrix, or a stack of matrices" };
        let (op, found) = (operands.function.to_owned(), operands.graph.ty(own).to_string());
        return Err(MakeNodeError::Input { op, input, found, expected: expected.to_owned() }.into());
    }
    let mut batch = extents(operands, own)?;
    let last = batch.split_off(ndim - least);
    Ok((own, batch, last))
}

/// Inserts a new axis before the last `back` axes.
fn with_axis(operands: &mut Operands<'_>, tensor: VarId, back: usize) -> Result<VarId, BuildError> {
    let ndim = operands.ndim(tensor);
    let at = ndim - back;
    operands.shuffled(tensor, (0..at).map(Some).chain([None]).chain((at..ndim).map(Some)))
}

/// Returns the sum of the products of two tensors over an axis that counts from the end.
fn contracted(operands: &mut Operands<'_>, x: VarId, y: VarId, axis: i64) -> Result<VarId, BuildError> {
    let products = operands.call("mul", [x.into(), y.into()])?;
    operands.call_with("sum", &[products.into()], &[("axis", axis.into())])
}

/// Builds `random.dirichlet(key, alpha, shape, dtype)`: shares of gamma numbers, from their logarithms.
pub(in crate::registry) fn dirichlet(
    operands: &mut Operands<'_>,
    _: &Row,
    props: &Props,
) -> Result<Operand, BuildError> {
    let (dtype, word) = floats(operands, 2..=3, props)?;
    let (alpha, batch, last) = split(operands, 1, 1)?;
    let elements = shape_for(operands, 2, &[batch])?.elements(operands, &last)?;
    let logs = drawn(operands, "loggamma_draw", word, &elements, &[alpha])?;
    let shares = operands.call_with("softmax", &[logs.into()], &[("axis", (-1_i64).into())])?;
    operands.cast(shares, dtype).map(Operand::Var)
}

/// Builds `random.multinomial(key, n, p, shape, dtype)`: a binomial number for each category, of the trials that are left.
/// The probabilities need not add up to 1.
pub(in crate::registry) fn multinomial(
    operands: &mut Operands<'_>,
    _: &Row,
    props: &Props,
) -> Result<Operand, BuildError> {
    operands.expect_between(3, 4)?;
    let dtype = count_dtype(operands, props)?;
    let word = word(operands)?;
    let n = parameter(operands, 1)?;
    let (p, batch, _) = split(operands, 2, 1)?;
    let axis = operands.ndim(p) - 1;
    let Some(count) = operands.known_extent(p, axis).filter(|count| *count > 0) else {
        let problem = format!(
            "unknown or zero number of categories in `{}`\nhint: give the probabilities a type with a fixed extent, such as \
             `f64[3]`",
            operands.graph.ty(p)
        );
        return Err(operands.error(problem));
    };
    let own = extents(operands, n)?;
    let elements = shape_for(operands, 3, &[own, batch])?.elements(operands, &[])?;
    let mut parts = Vec::new();
    for at in 0..count {
        parts.push(operands.slice_last(p, at)?);
    }
    // The sum of the probabilities from each category on.
    let mut sums = vec![parts[parts.len() - 1]];
    for part in parts[..parts.len() - 1].iter().rev() {
        let before = operands.call("add", [(*part).into(), sums[sums.len() - 1].into()])?;
        sums.push(before);
    }
    let zeros = operands.call("zeros_like", [elements.counters.into()])?;
    let zeros = operands.cast(zeros, DType::F64)?;
    let mut left = operands.call("add", [n.into(), zeros.into()])?;
    let mut counts = Vec::new();
    for (number, (part, sum)) in (0_u64..).zip(parts.iter().zip(sums.iter().rev())).take(parts.len() - 1) {
        let is_left = operands.call("gt", [(*sum).into(), 0.0.into()])?;
        let share = operands.call("div", [(*part).into(), (*sum).into()])?;
        let is_missing = operands.call("isnan", [(*sum).into()])?;
        let is_left = operands.call("logical_or", [is_left.into(), is_missing.into()])?;
        let share = operands.call("where", [is_left.into(), share.into(), 0.0.into()])?;
        let own = subkey(operands, word, number)?;
        let drawn = drawn(operands, "binomial_draw", own, &elements, &[left, share])?;
        left = operands.call("sub", [left.into(), drawn.into()])?;
        counts.push(Operand::Var(drawn));
    }
    counts.push(left.into());
    let counts = operands.call_with("stack", &[Operand::List(counts)], &[("axis", (-1_i64).into())])?;
    counted(operands, counts, dtype).map(Operand::Var)
}

impl Operands<'_> {
    /// Returns the elements at one position of the last axis.
    fn slice_last(&mut self, tensor: VarId, at: i64) -> Result<VarId, BuildError> {
        let axis = self.ndim(tensor) - 1;
        self.slice(tensor, axis, "i", &[at.into()])
    }
}

/// Builds `random.multivariate_normal(key, mean, cov, shape, dtype)`: the mean, plus the Cholesky factor times normal numbers.
pub(in crate::registry) fn multivariate_normal(
    operands: &mut Operands<'_>,
    _: &Row,
    props: &Props,
) -> Result<Operand, BuildError> {
    let (dtype, word) = floats(operands, 3..=4, props)?;
    let (mean, of_mean, last) = split(operands, 1, 1)?;
    let (cov, of_cov, of_last) = split(operands, 2, 2)?;
    let cov = demand_equal(operands, cov, [&last[0], &of_last[1]], "the mean and the covariance")?;
    let elements = shape_for(operands, 3, &[of_mean, of_cov])?.elements(operands, &last)?;
    let normal = standard_normal(operands, word, &elements, DType::F64)?;
    let factor = operands.call("cholesky", [cov.into()])?;
    let rows = with_axis(operands, normal, 1)?;
    let moved = contracted(operands, factor, rows, -1)?;
    let draw = operands.call("add", [mean.into(), moved.into()])?;
    operands.cast(draw, dtype).map(Operand::Var)
}

/// Builds `random.wishart(key, df, scale, shape, dtype)` by M. S. Bartlett's decomposition: the Cholesky factor of the scale,
/// times a triangle of normal numbers with roots of chi-squared numbers on its diagonal, times its transpose.
pub(in crate::registry) fn wishart(
    operands: &mut Operands<'_>,
    _: &Row,
    props: &Props,
) -> Result<Operand, BuildError> {
    let (dtype, word) = floats(operands, 3..=4, props)?;
    let df = parameter(operands, 1)?;
    let (scale, batch, last) = split(operands, 2, 2)?;
    let own = extents(operands, df)?;
    let shape = shape_for(operands, 3, &[own, batch])?;
    let triangle = triangle(operands, word, df, &shape, &last)?;
    let factor = operands.call("cholesky", [scale.into()])?;
    let (columns, rows) = (with_axis(operands, factor, 0)?, with_axis(operands, triangle, 2)?);
    let root = contracted(operands, columns, rows, -2)?;
    let (columns, rows) = (with_axis(operands, root, 1)?, with_axis(operands, root, 2)?);
    let draw = contracted(operands, columns, rows, -1)?;
    operands.cast(draw, dtype).map(Operand::Var)
}

/// Returns the triangle of normal and chi numbers, which have `df - i` degrees of freedom in row i.
fn triangle(
    operands: &mut Operands<'_>,
    word: VarId,
    df: VarId,
    shape: &super::elements::Shape,
    last: &[Operand],
) -> Result<VarId, BuildError> {
    let own = subkey(operands, word, 0)?;
    let square = shape.elements(operands, last)?;
    let normal = standard_normal(operands, own, &square, DType::F64)?;
    let below = operands.graph.constant(Array::from(-1_i64));
    let normal = operands.call("tril", [normal.into(), below.into()])?;
    let own = subkey(operands, word, 1)?;
    let line = shape.elements(operands, &last[..1])?;
    let rows = operands.call("arange", [last[0].clone()])?;
    let rows = operands.cast(rows, DType::F64)?;
    let df = with_axis(operands, df, 0)?;
    let df = operands.call("sub", [df.into(), rows.into()])?;
    let half = operands.call("mul", [df.into(), 0.5.into()])?;
    let gamma = drawn(operands, "gamma_draw", own, &line, &[half])?;
    let square = operands.call("mul", [2.0.into(), gamma.into()])?;
    let chi = operands.call("sqrt", [square.into()])?;
    let eye = operands.call("eye", [last[0].clone()])?;
    let is_diagonal = operands.call("ne", [eye.into(), 0.0.into()])?;
    let chi = with_axis(operands, chi, 0)?;
    operands.call("where", [is_diagonal.into(), chi.into(), normal.into()])
}
