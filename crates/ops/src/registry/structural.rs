//! Non-elementwise functions of the text form, by name, and shared helpers.

use super::axes::{
    diff, dimshuffle, expand_dims, flip, matrix_transpose, moveaxis, repeat, roll, squeeze, stacked,
    swapaxes, tile, transpose,
};
use super::banded::solve_banded;
use super::cast::cast;
use super::contract::{einsum, inner, outer, tensordot, vdot};
use super::control::{branch, custom_gradient, scan};
use super::decompositions::{cho_solve, cholesky, det, inv, lu_factor, solve, solve_triangular};
use super::diagonal::{diag, diagonal, tri, triangle};
use super::factors::{cond, eig, eigh, eigvals, eigvalsh, matrix_rank, pinv, qr, svd, svdvals};
use super::fft::fft;
use super::fill::{append, at_least, broadcast_to, full, like, linspace};
use super::gradient::{hessian, hvp, jacobian, jvp, sum_to};
use super::index::{subtensor, take, write};
use super::linalg::product;
use super::lu::matrix_power;
use super::mask::{boolean_index, compress, count_nonzero, nonzero};
use super::nan::{either, extreme, mean, nan_to_num, spread as nan_spread, total};
use super::order::{searchsorted, sort, topk, unique};
use super::quantile::{median, quantile};
use super::reduce::{argmax, cumulative, reduce, spread};
use super::schur::{ordqz, qz, schur};
use super::shape::{
    alloc, arange, array, assert, eye, filled, flatten, join, make_vector, reshape, shape_i, split, stack,
};
use super::soft::{heaviside, isclose, log_softmax, logaddexp, logsumexp, norm, ptp, relu, sinc, softmax};
use crate::combinations::Combine;
use crate::index::{
    AdvancedIncSubtensor1, AdvancedSubtensor1, BooleanIndex, IncSubtensor, Nonzero, Subtensor,
};
use crate::rows::{Function, Row, row, structural_rows};
use crate::shape::{
    ARange, Alloc, Assert, DeepCopy, Eye, Join, MakeVector, Reshape, Shape, ShapeI, Split, SumTo, View,
};
use crate::{
    Argmax, BatchedDot, Branch, Cholesky, CumOp, CustomGradient, DimShuffle, Dot, Eig, Eigh, Fft, LuFactor,
    Matmul, PivotToPermutation, Qr, Qz, Reduce, Scan, Schur, SearchSorted, Solve, SolveBanded,
    SolveTriangular, Sort, Svd,
};

macro_rules! library {
    ($(#[doc = $help:literal] $name:ident $arguments:tt $aliases:tt $settings:tt
       = [$($apply:ident)?] [$($op:ident $(by $by:ident)?)?] [$($cases:ident)?] $builder:ident;)*) => {
        /// The rows of functions that are not elementwise.
        pub(crate) const STRUCTURAL: &[Row] = &[$(row!(
            $help $name $arguments $aliases $settings
            only::<Function>(&[
                $(|operands, row, props| $apply(operands, row, props).map(Into::into))?
            ]),
            |library| library$(.with_c::<$op>().with_name(stringify!($name), factory!($name $op $(by $by)?)))?,
            only::<Combine>(&[$(|at| at.$cases())?])
        )),*];
    };
}
macro_rules! factory {
    ($name:ident $op:ident) => {
        $op::from_props
    };
    ($name:ident $op:ident by name) => {
        |props| $op::from_props(stringify!($name), props)
    };
}
structural_rows!(library);

/// Returns the entry of an optional column.
const fn only<T: Copy>(column: &[T]) -> Option<T> {
    match column {
        [said, ..] => Some(*said),
        [] => None,
    }
}
