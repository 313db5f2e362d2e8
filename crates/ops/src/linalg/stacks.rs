//! Matmul: multiplies the matrices of two stacks, which are broadcast against each other.

use super::product;
use crate::call::{Call, Called, called};
use crate::declared::{Declared, of, refuse, tensor};
use crate::elements;
use crate::gradient::rules::Pulled;
use ndarray::{Axis, IxDyn};
use precast_codegen::Node;
use precast_graph::{Array, Extent, MakeNodeError, Op, PerformError, Props, Pullback, Type, with_array};
use std::sync::Arc;

const NAME: &str = "matmul";

/// An op that multiplies the last two dimensions and broadcasts the leading ones: `(i, m, k)·(j, 1, k, n) -> (j, i,
/// m, n)`. Each input has at least two dimensions. The text form compiles `a @ b` of vectors and matrices to
/// [`Dot`](super::Dot), which gives the same result.
///
/// # Errors
/// At run time: different inner extents, or leading extents that cannot be broadcast.
///
/// # Source
/// NumPy, `numpy.matmul`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Matmul;

impl Matmul {
    /// Creates a Matmul, which has no props.
    ///
    /// # Errors
    /// Any prop is an error.
    pub fn from_props(props: &Props) -> Result<Arc<dyn Op>, MakeNodeError> {
        Declared::new(NAME, props, &[]).map(|_| Arc::new(Self) as Arc<dyn Op>)
    }
}

impl Op for Matmul {
    fn name(&self) -> &str {
        NAME
    }

    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        MakeNodeError::expect_inputs(NAME, 2, inputs)?;
        for (input, ty) in inputs.iter().enumerate() {
            if tensor(NAME, input, inputs)?.shape.len() < 2 {
                return Err(refuse(NAME, input, ty, "a tensor of 2 dimensions or more"));
            }
        }
        // The rule of Dot checks whether the matrices fit.
        let matrix = |ty: &Type| of(ty.dtype(), ty.shape()[ty.ndim() - 2..].to_vec());
        let product = product::make_node(NAME, 0, &[matrix(&inputs[0]), matrix(&inputs[1])])?;
        let ndim = inputs[0].ndim().max(inputs[1].ndim());
        let mut shape = vec![Extent::Fixed(1); ndim - 2];
        for ty in inputs {
            let shift = ndim - ty.ndim();
            for (d, extent) in ty.shape()[..ty.ndim() - 2].iter().enumerate() {
                let known = shape[shift + d];
                shape[shift + d] = known.broadcast(*extent).ok_or_else(|| MakeNodeError::Broadcast {
                    op: NAME.to_owned(),
                    dimension: shift + d,
                    extents: format!("{known} and {extent}"),
                })?;
            }
        }
        shape.extend(product.shape());
        Ok(vec![of(product.dtype(), shape)])
    }

    fn pullback(&self, at: &mut Pullback<'_>) -> Pulled {
        Some(crate::gradient::linalg::matmul(at))
    }

    fn perform(&self, inputs: &[&Array]) -> Result<Vec<Array>, PerformError> {
        let [a, b] = [inputs[0].shape(), inputs[1].shape()];
        let ndim = a.len().max(b.len());
        let (of_a, of_b) = (&a[..a.len() - 2], &b[..b.len() - 2]);
        let mut shape = vec![1; ndim - 2];
        for of_one in [of_a, of_b] {
            let shift = shape.len() - of_one.len();
            for (all, own) in shape[shift..].iter_mut().zip(of_one) {
                *all = if *all == 1 { *own } else { *all };
            }
        }
        let mismatch = || {
            let (left, right) = (elements::text(a), elements::text(b));
            PerformError::value(NAME, format!("stacks of shapes {left} and {right} cannot be broadcast"))
        };
        let at = |own| elements::broadcast(own, &shape).ok_or_else(mismatch);
        let (at_a, at_b) = (at(of_a)?, at(of_b)?);
        // Mismatched extents must be reported even if the stacks contain no matrix.
        product::perform(NAME, 0, &[&zeros(inputs[0]), &zeros(inputs[1])])?;
        let mut bits = Vec::new();
        for (i, j) in at_a.into_iter().zip(at_b) {
            bits.extend(product::perform(NAME, 0, &[&matrix(inputs[0], i)?, &matrix(inputs[1], j)?])?.bits());
        }
        shape.extend([a[a.len() - 2], b[b.len() - 1]]);
        Array::from_bits(inputs[0].dtype(), &shape, &bits)
            .map(|all| vec![all])
            .ok_or_else(|| elements::mismatch(NAME))
    }
}

/// Returns a matrix of a stack, by its position in C order.
fn matrix(array: &Array, position: usize) -> Result<Array, PerformError> {
    let ndim = array.shape().len();
    let shape = [&[array.shape()[..ndim - 2].iter().product()], &array.shape()[ndim - 2..]].concat();
    with_array!(array, a => {
        let whole: Vec<_> = a.iter().copied().collect();
        let stack = ndarray::ArrayD::from_shape_vec(IxDyn(&shape), whole).map_err(|_| elements::mismatch(NAME))?;
        Ok(Array::from(stack.index_axis(Axis(0), position).to_owned()))
    })
}

/// Returns zeros with the extents of the matrices.
fn zeros(array: &Array) -> Array {
    Array::zeros(array.dtype(), &array.shape()[array.shape().len() - 2..])
}

impl Called for Matmul {
    const HEADER: &'static str = "precast/ops/dot_plain.h";

    fn call(&self, node: &Node) -> Call {
        product::call(-1, node)
    }
}
called!(Matmul);
