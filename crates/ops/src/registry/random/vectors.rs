//! Vectors and matrices: Dirichlet, multinomial, multivariate normal, Wishart.
//!
//! Products of matrices are written as sums, because those have the same bits on every host.

use super::continuous::standard_normal;
use super::elements::{Elements, demand_equal, extents, parameter, shape_for};
use super::key::{floats, subkey, word};
use super::sampled::{count_dtype, counted, drawn};
use crate::linalg::Cholesky;
use crate::registry::control::{Carries, Loop, Stepped};
use crate::registry::operand::Operands;
use crate::registry::variables::scalar_apply;
use crate::rows::Row;
use precast_graph::{
    Array, BuildError, DType, FunctionGraph, MakeNodeError, OpLibrary, Operand, Prop, Props, VarId,
};

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
    let (p, batch, last) = split(operands, 2, 1)?;
    let own = extents(operands, n)?;
    let elements = shape_for(operands, 3, &[own, batch])?.elements(operands, &[])?;
    let is_some = operands.call("gt", [last[0].clone(), 0_i64.into()])?;
    let p = operands.demand(p, is_some, "random_multinomial: there are no categories")?;
    let zeros = operands.call("zeros_like", [elements.counters.into()])?;
    let zeros = operands.cast(zeros, DType::F64)?;
    let left = operands.call("add", [n.into(), zeros.into()])?;
    // The last category gets the trials that are left.
    let shares = shares(operands, p)?;
    let count = operands.extent(shares, 0)?;
    let numbers = operands.call_with("arange", &[count], &[("dtype", Prop::DType(DType::U64).into())])?;
    let words = scalar_apply(operands, "threefry", &[word, numbers])?;
    let (counts, left) = binomials(operands, left, &elements, &[shares, words])?;
    let ndim = elements.ndim;
    let counts = operands.shuffled(counts, (1..=ndim).chain([0]).map(Some))?;
    let left = with_axis(operands, left, 0)?;
    let both = Operand::List(vec![counts.into(), left.into()]);
    let counts = operands.call_with("concatenate", &[both], &[("axis", (-1_i64).into())])?;
    counted(operands, counts, dtype).map(Operand::Var)
}

/// Returns the share of each category but the last in the probabilities from it on. Categories are the first axis.
fn shares(operands: &mut Operands<'_>, p: VarId) -> Result<VarId, BuildError> {
    let along = [("axis", Operand::from(-1_i64))];
    let reversed = operands.call_with("flip", &[p.into()], &along)?;
    let sums = operands.call_with("cumsum", &[reversed.into()], &along)?;
    let sums = operands.call_with("flip", &[sums.into()], &along)?;
    let is_left = operands.call("gt", [sums.into(), 0.0.into()])?;
    let is_missing = operands.call("isnan", [sums.into()])?;
    let is_left = operands.call("logical_or", [is_left.into(), is_missing.into()])?;
    let shares = operands.call("div", [p.into(), sums.into()])?;
    let shares = operands.call("where", [is_left.into(), shares.into(), 0.0.into()])?;
    let axis = operands.ndim(shares) - 1;
    let shares = operands.slice(shares, axis, "e", &[(-1_i64).into()])?;
    operands.shuffled(shares, [axis].into_iter().chain(0..axis).map(Some))
}

/// Returns binomial numbers of the trials that are left, for each row of shares and its word, and the trials left after them.
fn binomials(
    operands: &mut Operands<'_>,
    left: VarId,
    elements: &Elements,
    rows: &[VarId; 2],
) -> Result<(VarId, VarId), BuildError> {
    let name = operands.function;
    let steps = operands.steps(&Operand::None, rows)?;
    let mut carries = Carries::of(operands, &left.into())?;
    let mut step = |graph: &mut FunctionGraph, library: &dyn OpLibrary, own: &[Operand], row: &[VarId]| {
        let left = own[0].variable(graph)?;
        let mut operands = Operands::none(graph, library, name);
        let drawn = drawn(&mut operands, "binomial_draw", row[1], elements, &[left, row[0]])?;
        let left = operands.call("sub", [left.into(), drawn.into()])?;
        Ok(Stepped { carries: vec![left], rows: vec![drawn], stop: None })
    };
    let made = Loop { steps, sequences: rows, reverse: false }.build(operands, &mut carries, &mut step)?;
    Ok((made[1], made[0]))
}

/// Returns the Cholesky factor of a matrix, which is NaN if the matrix is not positive definite.
fn factor(operands: &mut Operands<'_>, matrix: VarId) -> Result<VarId, BuildError> {
    operands.apply(Cholesky { nan_on_error: true }, &[matrix])
}

/// Builds `random.multivariate_normal(key, mean, cov, shape, dtype)`: the mean, plus the Cholesky factor times normal numbers.
/// The numbers are NaN if the covariance is not positive definite.
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
    let factor = factor(operands, cov)?;
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
    let factor = factor(operands, scale)?;
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
