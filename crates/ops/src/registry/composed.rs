//! Composed functions that return an operand: an array, or a list of several arrays.

use super::banded::{solve_toeplitz, tridiagonal_solve};
use super::control::{cond, fori_loop, while_loop};
use super::decompositions::slogdet;
use super::edit::{delete, insert, pad, select};
use super::expm::expm;
use super::factors::lstsq;
use super::fft::{fft_by_name, fft_frequencies, fft_over_axes, fft_shifted};
use super::gradient::{grad, vjp};
use super::grid::{array_split, column_stack, dstack, meshgrid, unstack};
use super::lu::{lu, lu_solve};
use super::parts::{divmod, frexp, ldexp, modf};
use super::places::take_along_axis;
use super::products::{convolve, cross, kron, matvec, vecdot};
use super::random::{
    bernoulli, beta, binomial, bits, categorical, choice, dirichlet, fold_in, gamma, key, multinomial,
    multivariate_normal, negative_binomial, normal, permutation, poisson, randint, split, student_t,
    transformed, truncated_normal, uniform, von_mises, wishart,
};
use super::samples::{bincount, digitize, gradient, interp, polyval, trapezoid};
use super::sets::{isin, unique_parts};
use super::structured::{block_diag, toeplitz, vander};
use super::sylvester::{solve_continuous_lyapunov, solve_discrete_lyapunov, solve_sylvester};
use super::totals::{cumulative, matrix_norm, vector_norm};
use super::windows::{convolution, pool};
use crate::rows::{Row, composed_rows, row};

macro_rules! library {
    ($(#[doc = $help:literal] $name:ident $arguments:tt $aliases:tt $settings:tt = $apply:ident;)*) => {
        /// The rows of the composed functions.
        pub(crate) const COMPOSED: &[Row] =
            &[$(row!($help $name $arguments $aliases $settings Some($apply), |library| library, None)),*];
    };
}
composed_rows!(library);
