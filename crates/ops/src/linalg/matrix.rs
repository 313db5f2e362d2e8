//! The type rules and the reference implementation of decompositions and systems of linear equations.
//!
//! `c/precast/ops/linalg/decompose.h` cuts the loops into blocks; here they are plain. Each element has the same operations
//! in the same order, so the bits are equal.

use crate::declared::{of, refuse, tensor};
use crate::elements;
use crate::scalar::ComplexNumber;
use ndarray::{ArrayD, IxDyn};
use precast_graph::{Array, Complex, DType, Extent, MakeNodeError, PerformError, Type};

/// An element of a matrix.
pub(super) trait Number: Copy {
    const ZERO: Self;
    const NAN: Self;
    /// Returns `self - a·b`.
    fn less_product(self, a: Self, b: Self) -> Self;
    fn quotient(self, other: Self) -> Self;
    fn is_zero(self) -> bool;
    /// Returns the absolute value, or of a complex number `|re| + |im|`.
    fn size(self) -> f64;
    fn conjugate(self) -> Self;
    /// Returns the square root of the real part; `None` if this part is not positive.
    fn root(self) -> Option<Self>;
    /// Divides by the real part of a number.
    fn over_real(self, other: Self) -> Self;
}

macro_rules! numbers {
    ($($float:ident $least:literal $step:literal),*) => {$(
        impl Number for $float {
            const ZERO: Self = 0.0;
            const NAN: Self = $float::NAN;
            fn less_product(self, a: Self, b: Self) -> Self {
                self - a * b
            }
            fn quotient(self, other: Self) -> Self {
                self / other
            }
            fn is_zero(self) -> bool {
                self == 0.0
            }
            fn size(self) -> f64 {
                f64::from(self.abs())
            }
            fn conjugate(self) -> Self {
                self
            }
            fn root(self) -> Option<Self> {
                if self <= 0.0 { None } else { Some(self.sqrt()) }
            }
            fn over_real(self, other: Self) -> Self {
                self / other
            }
        }

        impl Number for Complex<$float> {
            const ZERO: Self = Self::new(0.0, 0.0);
            const NAN: Self = Self::new($float::NAN, $float::NAN);
            fn less_product(self, a: Self, b: Self) -> Self {
                self.minus(a.times(b))
            }
            fn quotient(self, other: Self) -> Self {
                // The inverse in `over` would overflow or lose digits at both ends of the range.
                let (size, least, step) = (other.size(), 2_f64.powi($least), (2.0 as $float).powi($step));
                if size >= least && size <= 1.0 / least {
                    return self.over(other);
                }
                let by = if size < least { step } else { 1.0 / step };
                Self::new(self.re * by, self.im * by).over(Self::new(other.re * by, other.im * by))
            }
            fn is_zero(self) -> bool {
                self.re == 0.0 && self.im == 0.0
            }
            fn size(self) -> f64 {
                f64::from(self.re.abs() + self.im.abs())
            }
            fn conjugate(self) -> Self {
                Self::new(self.re, -self.im)
            }
            fn root(self) -> Option<Self> {
                self.re.root().map(|root| Self::new(root, 0.0))
            }
            fn over_real(self, other: Self) -> Self {
                Self::new(self.re / other.re, self.im / other.re)
            }
        }
    )*};
}
numbers!(f32 -110 40, f64 -1000 100);

/// Calls a generic function with the elements of arrays of floats or complex numbers.
macro_rules! of_numbers {
    ($op:expr, [$($array:expr),+], |$($name:ident),+| $body:expr) => {
        match ($($array,)+) {
            ($(precast_graph::Array::F32($name),)+) => $body.map(precast_graph::Array::F32),
            ($(precast_graph::Array::F64($name),)+) => $body.map(precast_graph::Array::F64),
            ($(precast_graph::Array::C64($name),)+) => $body.map(precast_graph::Array::C64),
            ($(precast_graph::Array::C128($name),)+) => $body.map(precast_graph::Array::C128),
            _ => Err(crate::elements::mismatch($op)),
        }
    };
}
pub(super) use of_numbers;

/// Checks that an input is a stack of square matrices.
pub(super) fn expect_square(op: &str, inputs: &[Type]) -> Result<(), MakeNodeError> {
    expect_matrix(op, 0, inputs)?;
    match inputs[0].shape() {
        [.., Extent::Fixed(n), Extent::Fixed(m)] if n != m => {
            Err(refuse(op, 0, &inputs[0], "square matrices in the last two dimensions"))
        }
        _ => Ok(()),
    }
}

/// Checks that an input has matrices of f32 or f64.
pub(super) fn expect_real(op: &str, input: usize, inputs: &[Type]) -> Result<(), MakeNodeError> {
    expect_dtype(op, input, inputs, (&[DType::F32, DType::F64], "f32 and f64"))?;
    expect_matrix(op, input, inputs)
}

/// Checks that an input has matrices of floats or complex numbers.
pub(super) fn expect_matrix(op: &str, input: usize, inputs: &[Type]) -> Result<(), MakeNodeError> {
    let all = [DType::F32, DType::F64, DType::C64, DType::C128];
    expect_dtype(op, input, inputs, (&all, "f32, f64, c64 and c128"))?;
    if tensor(op, input, inputs)?.shape.len() < 2 {
        return Err(refuse(op, input, &inputs[input], "a matrix, or a stack of matrices"));
    }
    Ok(())
}

fn expect_dtype(
    op: &str,
    input: usize,
    inputs: &[Type],
    (all, expected): (&[DType], &str),
) -> Result<(), MakeNodeError> {
    let found = inputs[input].dtype();
    if all.contains(&found) {
        return Ok(());
    }
    Err(MakeNodeError::DType { op: op.to_owned(), input, found, expected: expected.to_owned() })
}

/// Returns the type of the solutions of systems with square matrices.
pub(super) fn system(op: &str, inputs: &[Type]) -> Result<Type, MakeNodeError> {
    MakeNodeError::expect_inputs(op, 2, inputs)?;
    expect_square(op, inputs)?;
    solutions(op, inputs)
}

/// Returns the type of the solutions of systems: the matrices and the right sides have the same stacks, broadcast. The
/// last extent of input 0 is the number of rows of a right side.
pub(super) fn solutions(op: &str, inputs: &[Type]) -> Result<Type, MakeNodeError> {
    expect_matrix(op, 1, inputs)?;
    let [(a, a_ndim), (b, b_ndim)] = [&inputs[0], &inputs[1]].map(|ty| (ty.shape(), ty.ndim()));
    if inputs[1].dtype() != inputs[0].dtype() {
        return Err(refuse(op, 1, &inputs[1], format!("the dtype of input 0, `{}`", inputs[0].dtype())));
    }
    if let (Extent::Fixed(n), Extent::Fixed(m)) = (a[a_ndim - 1], b[b_ndim - 2])
        && n != m
    {
        return Err(refuse(op, 1, &inputs[1], format!("{n} rows, as in input 0")));
    }
    let ndim = a_ndim.max(b_ndim);
    let mut shape = vec![Extent::Fixed(1); ndim - 2];
    for of_one in [a, b] {
        let shift = ndim - of_one.len();
        for (d, extent) in of_one[..of_one.len() - 2].iter().enumerate() {
            let known = shape[shift + d];
            shape[shift + d] = known.broadcast(*extent).ok_or_else(|| MakeNodeError::Broadcast {
                op: op.to_owned(),
                dimension: shift + d,
                extents: format!("{known} and {extent}"),
            })?;
        }
    }
    shape.extend(&b[b_ndim - 2..]);
    Ok(of(inputs[1].dtype(), shape))
}

/// Returns the number of rows of square matrices.
pub(super) fn rows(op: &str, shape: &[usize]) -> Result<usize, PerformError> {
    match shape {
        [.., n, m] if n == m => Ok(*n),
        _ => {
            let found = elements::text(shape);
            let problem =
                format!("expected square matrices in the last two dimensions, found the shape {found}");
            Err(PerformError::value(op, problem))
        }
    }
}

/// Computes each matrix of a stack from its elements in C order.
pub(super) fn each<T: Number>(
    op: &str,
    a: &ArrayD<T>,
    mut one: impl FnMut(usize, Vec<T>) -> Result<Vec<T>, PerformError>,
) -> Result<ArrayD<T>, PerformError> {
    let n = rows(op, a.shape())?;
    let all: Vec<T> = a.iter().copied().collect();
    let mut results = Vec::with_capacity(all.len());
    for matrix in all.chunks((n * n).max(1)) {
        results.extend(one(n, matrix.to_vec())?);
    }
    ArrayD::from_shape_vec(IxDyn(a.shape()), results).map_err(|_| elements::mismatch(op))
}

/// Solves each system of two stacks. `one` gets the number of rows, the square matrix and the right side, in C order.
pub(super) fn each_system<T: Number>(
    op: &str,
    (a, b): (&ArrayD<T>, &ArrayD<T>),
    one: impl Fn(usize, &[T], Vec<T>) -> Result<Vec<T>, PerformError>,
) -> Result<ArrayD<T>, PerformError> {
    rows(op, a.shape())?;
    each_solution(op, (a, b), one)
}

/// Does the same for matrices of any form with as many columns as a right side has rows.
pub(super) fn each_solution<T: Number>(
    op: &str,
    (a, b): (&ArrayD<T>, &ArrayD<T>),
    one: impl Fn(usize, &[T], Vec<T>) -> Result<Vec<T>, PerformError>,
) -> Result<ArrayD<T>, PerformError> {
    let [rows, n] = [a.shape()[a.ndim() - 2], a.shape()[a.ndim() - 1]];
    let (of_a, of_b) = (&a.shape()[..a.ndim() - 2], &b.shape()[..b.ndim() - 2]);
    let mut shape = vec![1; of_a.len().max(of_b.len())];
    for own in [of_a, of_b] {
        let shift = shape.len() - own.len();
        for (all, own) in shape[shift..].iter_mut().zip(own) {
            *all = if *all == 1 { *own } else { *all };
        }
    }
    let [height, width] = [b.shape()[b.ndim() - 2], b.shape()[b.ndim() - 1]];
    let stacks = elements::broadcast(of_a, &shape).zip(elements::broadcast(of_b, &shape));
    let (at_a, at_b) = stacks.filter(|_| n == height).ok_or_else(|| {
        let (left, right) = (elements::text(a.shape()), elements::text(b.shape()));
        let problem =
            format!("matrices of shape {left} and right sides of shape {right} do not fit each other");
        PerformError::value(op, problem)
    })?;
    shape.extend([height, width]);
    let (a, b): (Vec<T>, Vec<T>) = (a.iter().copied().collect(), b.iter().copied().collect());
    let mut results = Vec::with_capacity(elements::room(op, &shape)?);
    for (i, j) in at_a.into_iter().zip(at_b).take_while(|_| height * width > 0) {
        let (size, right) = (rows * n, height * width);
        results.extend(one(n, &a[i * size..(i + 1) * size], b[j * right..(j + 1) * right].to_vec())?);
    }
    ArrayD::from_shape_vec(IxDyn(&shape), results).map_err(|_| elements::mismatch(op))
}

/// Returns the result of a matrix. Without one, returns NaN, or an error with this problem.
pub(super) fn or_nan<T: Number>(
    op: &str,
    result: Result<Vec<T>, usize>,
    nan_on_error: bool,
    problem: &str,
) -> Result<Vec<T>, PerformError> {
    match result {
        Ok(result) => Ok(result),
        Err(count) if nan_on_error => Ok(vec![T::NAN; count]),
        Err(_) => Err(PerformError::value(op, problem)),
    }
}

/// Solves a system with a triangular matrix, of which the other triangle is not read. Fails with the number of
/// elements if a number on the diagonal is 0.
pub(super) fn solve_triangular<T: Number>(
    (lower, unit): (bool, bool),
    n: usize,
    a: &[T],
    mut x: Vec<T>,
) -> Result<Vec<T>, usize> {
    let m = x.len().checked_div(n).unwrap_or(0);
    if !unit && (0..n).any(|i| a[i * n + i].is_zero()) {
        return Err(x.len());
    }
    let order: Vec<usize> = if lower { (0..n).collect() } else { (0..n).rev().collect() };
    for (position, i) in order.iter().enumerate() {
        for k in &order[..position] {
            for j in 0..m {
                x[i * m + j] = x[i * m + j].less_product(a[i * n + k], x[k * m + j]);
            }
        }
        let diagonal = a[i * n + i];
        for x in x[i * m..(i + 1) * m].iter_mut().filter(|_| !unit) {
            *x = x.quotient(diagonal);
        }
    }
    Ok(x)
}

/// Decomposes a matrix in place into L, whose diagonal of ones is not stored, and U. Returns the row that each row was
/// exchanged with before its column was eliminated: that of the first NaN, or else of the first of the largest
/// absolute values.
pub(super) fn lu<T: Number>(n: usize, u: &mut [T]) -> Vec<usize> {
    let mut pivots = Vec::with_capacity(n);
    for k in 0..n {
        let mut pivot = k;
        for i in k + 1..n {
            let (size, best) = (u[i * n + k].size(), u[pivot * n + k].size());
            if !best.is_nan() && (size > best || size.is_nan()) {
                pivot = i;
            }
        }
        pivots.push(pivot);
        for j in 0..n {
            u.swap(k * n + j, pivot * n + j);
        }
        let diagonal = u[k * n + k];
        for i in (k + 1..n).filter(|_| !diagonal.is_zero()) {
            u[i * n + k] = u[i * n + k].quotient(diagonal);
            for j in k + 1..n {
                u[i * n + j] = u[i * n + j].less_product(u[i * n + k], u[k * n + j]);
            }
        }
    }
    pivots
}

/// Returns the type of an array of i64 for the pivots of matrices.
pub(super) fn pivots(matrices: &Type) -> Type {
    of(DType::I64, matrices.shape()[..matrices.ndim() - 1].to_vec())
}

/// Returns pivots as an array.
pub(super) fn pivots_array(op: &str, matrices: &Array, pivots: &[usize]) -> Result<Array, PerformError> {
    let shape = matrices.shape();
    let all = pivots.iter().map(|pivot| *pivot as i64).collect();
    let all = ArrayD::from_shape_vec(IxDyn(&shape[..shape.len() - 1]), all);
    all.map(Array::I64).map_err(|_| elements::mismatch(op))
}

/// Returns the name of the C function for a dtype.
pub(super) fn c_function(dtype: DType, [f32, f64, c64, c128]: [&'static str; 4]) -> &'static str {
    match dtype {
        DType::F32 => f32,
        DType::C64 => c64,
        DType::C128 => c128,
        _ => f64,
    }
}
