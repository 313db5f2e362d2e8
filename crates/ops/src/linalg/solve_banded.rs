//! SolveBanded: solves systems of linear equations with banded matrices.

use super::matrix::{each_solution, expect_real, or_nan, solutions};
use crate::call::{Call, Called, called};
use crate::declared::{Declared, refuse};
use crate::elements;
use crate::gradient::rules::Pulled;
use precast_codegen::Node;
use precast_graph::{Array, DType, Extent, MakeNodeError, Op, PerformError, Prop, Props, Pullback, Type};
use std::sync::Arc;

const NAME: &str = "solve_banded";

/// The largest number of diagonals on either side of the main one.
const MOST: usize = i32::MAX as usize;

/// An op that solves `a·x = b` by an LU decomposition with partial pivoting, where `a` has nonzero elements only on some
/// diagonals. They are the rows of the first input: `bands[upper + i - j, j]` is `a[i, j]`, and the elements outside of
/// `a` are not read. The stacks of both inputs are broadcast. All computations are in f64.
///
/// # Shapes
/// `(bands[…, lower + 1 + upper, n], b[…, n, m]) -> x[…, n, m]`
///
/// # Errors
/// At run time: extents that do not fit and, unless `nan_on_error`, a singular matrix. NaN propagates.
///
/// # Source
/// SciPy, `scipy.linalg.solve_banded`; LAPACK, `gbsv`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SolveBanded {
    /// The number of diagonals below the main one.
    pub lower: usize,
    /// The number of diagonals above the main one.
    pub upper: usize,
    /// Whether a singular matrix gives NaN instead of an error.
    pub nan_on_error: bool,
}

impl SolveBanded {
    /// Rebuilds the op from its props.
    ///
    /// # Errors
    /// A prop that is unknown, missing or of the wrong kind.
    pub fn from_props(props: &Props) -> Result<Arc<dyn Op>, MakeNodeError> {
        let declared = Declared::new(NAME, props, &["lower", "upper", "nan_on_error"])?;
        let count = |name: &str| match declared.count(name) {
            Ok(count) if count <= MOST => Ok(count),
            _ => Err(declared.wrong(name, "a number of diagonals")),
        };
        Ok(Arc::new(Self {
            lower: count("lower")?,
            upper: count("upper")?,
            nan_on_error: declared.flag("nan_on_error")?,
        }))
    }

    fn height(&self) -> usize {
        self.lower + 1 + self.upper
    }
}

impl Op for SolveBanded {
    fn name(&self) -> &str {
        NAME
    }

    fn props(&self) -> Props {
        let count = |count: usize| Prop::Int(i64::try_from(count).unwrap_or(i64::MAX));
        Props::from([
            ("lower".to_owned(), count(self.lower)),
            ("upper".to_owned(), count(self.upper)),
            ("nan_on_error".to_owned(), Prop::Bool(self.nan_on_error)),
        ])
    }

    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        MakeNodeError::expect_inputs(NAME, 2, inputs)?;
        expect_real(NAME, 0, inputs)?;
        match inputs[0].shape() {
            [.., Extent::Fixed(height), _] if *height != self.height() as u64 => {
                Err(refuse(NAME, 0, &inputs[0], format!("{} rows, one for each diagonal", self.height())))
            }
            _ => Ok(vec![solutions(NAME, inputs)?]),
        }
    }

    fn pullback(&self, at: &mut Pullback<'_>) -> Pulled {
        Some(crate::gradient::linalg::solve_banded(*self, at))
    }

    fn perform(&self, inputs: &[&Array]) -> Result<Vec<Array>, PerformError> {
        let shape = inputs[0].shape();
        if shape[shape.len() - 2] != self.height() {
            let found = elements::text(shape);
            let problem = format!("expected {} rows of diagonals, found the shape {found}", self.height());
            return Err(PerformError::value(NAME, problem));
        }
        let [bands, b] = [inputs[0], inputs[1]].map(|input| input.cast(DType::F64));
        let (Array::F64(bands), Array::F64(b)) = (bands, b) else { return Err(elements::mismatch(NAME)) };
        let x = each_solution(NAME, (&bands, &b), |n, bands, b| {
            let count = b.len();
            or_nan(NAME, solved(*self, n, bands, b).ok_or(count), self.nan_on_error, "singular matrix")
        })?;
        Ok(vec![Array::F64(x).cast(inputs[0].dtype())])
    }
}

/// Solves one system; `None` if a pivot is 0.
fn solved(op: SolveBanded, n: usize, bands: &[f64], mut x: Vec<f64>) -> Option<Vec<f64>> {
    let (reach, m) = (op.lower + op.upper, x.len().checked_div(n)?);
    let width = op.lower + reach + 1;
    // The element of row i and column j. Exchanges of rows add `lower` diagonals above the others.
    let at = |i: usize, j: usize| i * width + j + op.lower - i;
    let mut rows = vec![0.0; n * width];
    for i in 0..n {
        for j in i.saturating_sub(op.lower)..(i + op.upper + 1).min(n) {
            rows[at(i, j)] = bands[(op.upper + i - j) * n + j];
        }
    }
    for k in 0..n {
        let (below, right) = ((k + op.lower + 1).min(n), (k + reach + 1).min(n));
        let mut pivot = k;
        for i in k + 1..below {
            let (size, best) = (rows[at(i, k)].abs(), rows[at(pivot, k)].abs());
            if !best.is_nan() && (size > best || size.is_nan()) {
                pivot = i;
            }
        }
        (k..right).for_each(|j| rows.swap(at(k, j), at(pivot, j)));
        (0..m).for_each(|j| x.swap(k * m + j, pivot * m + j));
        if rows[at(k, k)] == 0.0 {
            return None;
        }
        for i in k + 1..below {
            let factor = rows[at(i, k)] / rows[at(k, k)];
            (k + 1..right).for_each(|j| rows[at(i, j)] -= factor * rows[at(k, j)]);
            (0..m).for_each(|j| x[i * m + j] -= factor * x[k * m + j]);
        }
    }
    for i in (0..n).rev() {
        for k in i + 1..(i + reach + 1).min(n) {
            (0..m).for_each(|j| x[i * m + j] -= rows[at(i, k)] * x[k * m + j]);
        }
        (0..m).for_each(|j| x[i * m + j] /= rows[at(i, i)]);
    }
    Some(x)
}

impl Called for SolveBanded {
    const HEADER: &'static str = "precast/ops/linalg/banded.h";

    fn call(&self, _node: &Node) -> Call {
        let count = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        Call::of("pc_solve_banded", vec![i64::from(self.nan_on_error), count(self.lower), count(self.upper)])
    }
}
called!(SolveBanded);
