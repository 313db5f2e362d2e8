//! Dot: products of vectors and matrices of f32 or f64, through the host's GEMM.
//!
//! `perform` makes the same call of `ndarray`'s `general_mat_mul` as the host does, on the same operands, so the bits are
//! the same on one machine.

use crate::sources::closure;
use ndarray::{Array2, ArrayD, ArrayView2, Axis, Ix1, Ix2, IxDyn, LinalgScalar};
use precast_codegen::template::render;
use precast_codegen::{CLinkerObject, COp, LinkError, Node, SourceSet, Sub};
use precast_graph::{Array, Extent, MakeNodeError, Op, PerformError, Props, TensorType, Type};
use std::sync::Arc;

const NAME: &str = "dot";

/// `a · b` for ranks 1 and 2, any pair of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Dot;

impl Dot {
    /// Makes a Dot; it has no props.
    ///
    /// # Errors
    /// Any prop.
    pub fn from_props(props: &Props) -> Result<Arc<dyn Op>, MakeNodeError> {
        match props.keys().next() {
            None => Ok(Arc::new(Self)),
            Some(prop) => Err(MakeNodeError::prop(NAME, prop, "is not known; there are none")),
        }
    }
}

impl Op for Dot {
    fn name(&self) -> &str {
        NAME
    }

    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        MakeNodeError::expect_inputs(NAME, 2, inputs)?;
        for (input, ty) in inputs.iter().enumerate() {
            let refuse = |expected: &str| {
                let (op, found, expected) = (NAME.to_owned(), ty.to_string(), expected.to_owned());
                Err(MakeNodeError::Input { op, input, found, expected })
            };
            if !ty.dtype().is_float() {
                let (op, expected) = (NAME.to_owned(), "f32, f64".to_owned());
                return Err(MakeNodeError::DType { op, input, found: ty.dtype(), expected });
            }
            if !matches!(ty, Type::Tensor(_)) || !(1..=2).contains(&ty.ndim()) {
                return refuse("a tensor of 1 or 2 dimensions");
            }
            if ty.dtype() != inputs[0].dtype() {
                return refuse(&format!("the dtype of input 0, `{}`", inputs[0].dtype()));
            }
        }
        let (a, b) = (inputs[0].shape(), inputs[1].shape());
        let (left, right) = (a[a.len() - 1], b[0]);
        if let (Extent::Fixed(m), Extent::Fixed(n)) = (left, right)
            && m != n
        {
            let expected = format!("extent {m} in dimension 0, as in the last dimension of input 0");
            return Err(MakeNodeError::Input {
                op: NAME.to_owned(),
                input: 1,
                found: inputs[1].to_string(),
                expected,
            });
        }
        let shape = a[..a.len() - 1].iter().chain(&b[1..]).copied().collect();
        Ok(vec![Type::Tensor(TensorType { dtype: inputs[0].dtype(), shape })])
    }

    fn perform(&self, inputs: &[&Array]) -> Result<Vec<Array>, PerformError> {
        match (inputs[0], inputs[1]) {
            (Array::F32(a), Array::F32(b)) => Ok(vec![Array::F32(dot(a, b)?)]),
            (Array::F64(a), Array::F64(b)) => Ok(vec![Array::F64(dot(a, b)?)]),
            _ => Err(PerformError::value(NAME, "takes two tensors of f32 or two of f64")),
        }
    }
}

/// The product, vectors taken as matrices of one row or one column.
fn dot<T: LinalgScalar>(a: &ArrayD<T>, b: &ArrayD<T>) -> Result<ArrayD<T>, PerformError> {
    let refuse = || {
        let last = a.ndim().saturating_sub(1);
        let (m, n) = (a.shape().last().copied().unwrap_or(1), b.shape().first().copied().unwrap_or(1));
        let shapes = format!("shapes {} and {} not aligned", shape(a.shape()), shape(b.shape()));
        PerformError::value(NAME, format!("{shapes}: {m} (dim {last}) != {n} (dim 0)"))
    };
    let (left, right) = (matrix(a, 0).ok_or_else(refuse)?, matrix(b, 1).ok_or_else(refuse)?);
    if left.ncols() != right.nrows() {
        return Err(refuse());
    }
    let (m, n, k) = (left.nrows(), right.ncols(), left.ncols());
    let mut product = Array2::<T>::zeros((m, n));
    if m > 0 && n > 0 && k > 0 {
        ndarray::linalg::general_mat_mul(T::one(), &left, &right, T::zero(), &mut product);
    }
    let result: Vec<usize> = a.shape()[..a.ndim() - 1].iter().chain(&b.shape()[1..]).copied().collect();
    product.into_shape_with_order(IxDyn(&result)).map_err(|_| refuse())
}

/// A matrix as it is; a vector with a new dimension at `axis`.
fn matrix<T>(a: &ArrayD<T>, axis: usize) -> Option<ArrayView2<'_, T>> {
    match a.ndim() {
        1 => a.view().into_dimensionality::<Ix1>().ok().map(|v| v.insert_axis(Axis(axis))),
        _ => a.view().into_dimensionality::<Ix2>().ok(),
    }
}

/// A shape as NumPy prints it.
fn shape(extents: &[usize]) -> String {
    let text: Vec<String> = extents.iter().map(ToString::to_string).collect();
    format!("({}{})", text.join(","), if extents.len() == 1 { "," } else { "" })
}

impl CLinkerObject for Dot {
    fn c_headers(&self) -> Vec<String> {
        vec!["precast/ops/dot.h".to_owned()]
    }

    fn c_sources(&self) -> SourceSet {
        closure(&["precast/ops/dot.h"])
    }
}

impl COp for Dot {
    fn c_code(
        &self,
        _node: &Node,
        _name: &str,
        inputs: &[String],
        outputs: &[String],
        sub: &Sub,
    ) -> Result<String, LinkError> {
        let values =
            [("A", inputs[0].as_str()), ("B", &inputs[1]), ("OUTPUT", &outputs[0]), ("FAIL", &sub.fail)];
        Ok(render(include_str!("../c/dot.c.in"), &values))
    }

    fn content_id(&self) -> Option<String> {
        Some(NAME.to_owned())
    }
}
