//! The type rule and the reference implementation shared by both products.
//!
//! For floats and complex numbers (f32, f64, c64, c128), `perform` makes the same calls of [`matmul`] as the host.
//! The operands are the same too, so the bits are equal on one machine. Other dtypes are summed sequentially.

use crate::call::Call;
use crate::declared::{of, refuse, tensor};
use crate::elements;
use crate::scalar::{self, Value, find};
use ndarray::{Array2, ArrayD, ArrayView2, ArrayViewD, Axis, Ix1, Ix2, IxDyn};
use precast_codegen::Node;
use precast_core::{Factor, matmul};
use precast_graph::{Array, DType, Extent, MakeNodeError, PerformError, Type};

/// Returns the dimension of `b` that is summed over, where the first `shared` dimensions are not part of the product.
fn inner(shared: usize, ndim: usize) -> usize {
    if ndim - shared == 1 { shared } else { ndim - 2 }
}

/// Returns the type of the product after `shared` (0 or 1) leading dimensions.
pub(super) fn make_node(op: &str, shared: usize, inputs: &[Type]) -> Result<Type, MakeNodeError> {
    MakeNodeError::expect_inputs(op, 2, inputs)?;
    let ranks = if shared == 0 { 1..=3 } else { 2..=3 };
    for (input, ty) in inputs.iter().enumerate() {
        let dtype = ty.dtype();
        let has = |name| find(name).is_some_and(|op| op.output(&[dtype; 2]) == Some(dtype));
        if !(has("add") && has("mul")) {
            let expected = "a dtype that supports addition and multiplication".to_owned();
            return Err(MakeNodeError::DType { op: op.to_owned(), input, found: dtype, expected });
        }
        if !ranks.contains(&tensor(op, input, inputs)?.shape.len()) {
            let expected = format!("a tensor of {} to 3 dimensions", ranks.start());
            return Err(refuse(op, input, ty, expected));
        }
        if dtype != inputs[0].dtype() {
            return Err(refuse(op, input, ty, format!("the dtype of input 0, `{}`", inputs[0].dtype())));
        }
    }
    let (a, b) = (inputs[0].shape(), inputs[1].shape());
    let (last, inner) = (a.len() - 1, inner(shared, b.len()));
    let pairs = [(last, inner), (0, 0)];
    for (of_a, of_b) in pairs.into_iter().take(1 + shared) {
        if let (Extent::Fixed(m), Extent::Fixed(n)) = (a[of_a], b[of_b])
            && m != n
        {
            let expected = format!("extent {m} in dimension {of_b}, as in dimension {of_a} of input 0");
            return Err(refuse(op, 1, &inputs[1], expected));
        }
    }
    let rest = (shared..b.len()).filter(|d| *d != inner).map(|d| b[d]);
    Ok(of(inputs[0].dtype(), a[..last].iter().copied().chain(rest).collect()))
}

/// Returns the call in C. `shared` is the number of shared dimensions; -1 means all but the last two, broadcast.
pub(super) fn call(shared: i64, node: &Node) -> Call {
    match node.inputs[0].dtype() {
        DType::F32 | DType::F64 | DType::C64 | DType::C128 => Call::of("pc_dot", vec![shared]),
        dtype => Call::stamped("PC_DOT_PLAIN", dtype.name(), vec![shared]),
    }
}

/// Computes the product after `shared` leading dimensions.
pub(super) fn perform(op: &str, shared: usize, inputs: &[&Array]) -> Result<Array, PerformError> {
    let (a, b) = (inputs[0].shape(), inputs[1].shape());
    let (last, inner) = (a.len() - 1, inner(shared, b.len()));
    let whole = shared == 0 || a[0] == b[0];
    let (of_a, of_b) = if whole { (last, inner) } else { (0, 0) };
    if a[of_a] != b[of_b] {
        let (m, n, left, right) = (a[of_a], b[of_b], elements::text(a), elements::text(b));
        let problem = format!("shapes {left} and {right} not aligned: {m} (dim {of_a}) != {n} (dim {of_b})");
        return Err(PerformError::value(op, problem));
    }
    match (inputs[0], inputs[1]) {
        (Array::F32(a), Array::F32(b)) => products(op, shared, a, b).map(Array::F32),
        (Array::F64(a), Array::F64(b)) => products(op, shared, a, b).map(Array::F64),
        (Array::C64(a), Array::C64(b)) => products(op, shared, a, b).map(Array::C64),
        (Array::C128(a), Array::C128(b)) => products(op, shared, a, b).map(Array::C128),
        _ => plain(op, shared, inputs),
    }
}

/// Splits an operand into two-dimensional views, indexed by shared dimension and by position in the stack.
fn matrices<'a, T>(shared: usize, left: bool, array: &'a ArrayD<T>) -> Option<Vec<Vec<ArrayView2<'a, T>>>> {
    let stacks: Vec<ArrayViewD<'a, T>> =
        if shared == 0 { vec![array.view()] } else { array.outer_iter().collect() };
    let matrix = |view: ArrayViewD<'a, T>| match view.ndim() {
        1 => view.into_dimensionality::<Ix1>().ok().map(|v| v.insert_axis(Axis(usize::from(!left)))),
        _ => view.into_dimensionality::<Ix2>().ok(),
    };
    let stack = |view: ArrayViewD<'a, T>| match view.ndim() {
        3 => (0..view.shape()[0]).map(|i| matrix(view.clone().index_axis_move(Axis(0), i))).collect(),
        _ => Some(vec![matrix(view)?]),
    };
    stacks.into_iter().map(stack).collect()
}

fn products<T: Factor>(
    op: &str,
    shared: usize,
    a: &ArrayD<T>,
    b: &ArrayD<T>,
) -> Result<ArrayD<T>, PerformError> {
    let mismatch = || elements::mismatch(op);
    let left = matrices(shared, true, a).ok_or_else(mismatch)?;
    let right = matrices(shared, false, b).ok_or_else(mismatch)?;
    let (last, gone) = (a.ndim() - 1, inner(shared, b.ndim()));
    let rest = (shared..b.ndim()).filter(|d| *d != gone).map(|d| b.shape()[d]);
    let shape: Vec<usize> = a.shape()[..last].iter().copied().chain(rest).collect();
    let mut all = Vec::with_capacity(elements::room(op, &shape)?);
    for (left, right) in left.iter().zip(&right) {
        for a in left {
            let mut products = Vec::new();
            for b in right {
                let mut product = Array2::<T>::default((a.nrows(), b.ncols()));
                if !product.is_empty() && a.ncols() > 0 {
                    matmul(a, b, &mut product.view_mut());
                }
                products.push(product);
            }
            // The rows of a come before the matrices of b.
            for i in 0..a.nrows() {
                all.extend(products.iter().flat_map(|product| product.row(i).to_vec()));
            }
        }
    }
    ArrayD::from_shape_vec(IxDyn(&shape), all).map_err(|_| mismatch())
}

/// Computes the product with the scalar ops of the library, in the order of the summed dimension.
fn plain(op: &str, shared: usize, inputs: &[&Array]) -> Result<Array, PerformError> {
    let mismatch = || elements::mismatch(op);
    let (a, b) = (inputs[0].shape(), inputs[1].shape());
    let all = |array: &Array| scalar::elements(array, array.shape()).ok_or_else(mismatch);
    let (x, y) = (all(inputs[0])?, all(inputs[1])?);
    let (add, mul) = (find("add").ok_or_else(mismatch)?, find("mul").ok_or_else(mismatch)?);
    let (last, gone) = (a.len() - 1, inner(shared, b.len()));
    let dtype = inputs[0].dtype();
    let others: Vec<usize> = (shared..b.len()).filter(|d| *d != gone).collect();
    let (steps_a, steps_b) = (elements::steps(a), elements::steps(b));
    let shape: Vec<usize> = a[..last].iter().copied().chain(others.iter().map(|d| b[*d])).collect();
    elements::room(op, &shape)?;
    let place = |of: &dyn Fn(usize) -> usize| (0..shape.len()).map(|d| of(d) as i64).collect::<Vec<_>>();
    let in_a = place(&|d| if d < last { steps_a[d] } else { 0 });
    let in_b = place(&|d| match d {
        _ if d >= last => steps_b[others[d - last]],
        _ if d < shared => steps_b[d],
        _ => 0,
    });
    let starts = elements::positions(&shape, 0, &in_a).into_iter().zip(elements::positions(&shape, 0, &in_b));
    let mut results = Vec::new();
    for (p, q) in starts {
        let mut sum = Value::Bool(false).cast(dtype);
        for l in 0..a[last] {
            let xy =
                mul.perform(&[x[p + l], y[q + l * steps_b[gone]]])?.first().copied().ok_or_else(mismatch)?;
            sum = if l == 0 { xy } else { add.perform(&[sum, xy])?.first().copied().ok_or_else(mismatch)? };
        }
        results.push(sum);
    }
    scalar::collect(dtype, &shape, &results).ok_or_else(mismatch)
}
