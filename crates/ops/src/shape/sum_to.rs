//! SumTo: sums over the dimensions to which a tensor was broadcast.

use crate::call::{Call, Called, called};
use crate::declared::{Declared, at_least, integer, of, refuse, tensor};
use crate::elements;
use crate::gradient::rules::Pulled;
use crate::reduce::{Reduce, ReduceKind};
use precast_codegen::Node;
use precast_graph::{Array, DType, Extent, MakeNodeError, Op, PerformError, Props, Pullback, Type};
use std::sync::Arc;

const NAME: &str = "sum_to";

/// The dtypes of the sums.
const DTYPES: [DType; 4] = [DType::I64, DType::U64, DType::F32, DType::F64];

/// An op that sums over axes so that the result has the given extents: the opposite of a broadcast. Leading axes that
/// the result lacks are summed, and those whose extent in the result is 1.
///
/// # Shapes
/// `(x, i64[], i64[], …) -> x` with one dimension per integer; a view where nothing is summed.
///
/// # Errors
/// At run time: extents that cannot be broadcast to the shape of `x`.
///
/// # Source
/// The gradient of NumPy's broadcasting; `torch.Tensor.sum_to_size`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SumTo;

impl SumTo {
    /// Creates a SumTo, which has no props.
    ///
    /// # Errors
    /// Any prop is an error.
    pub fn from_props(props: &Props) -> Result<Arc<dyn Op>, MakeNodeError> {
        Declared::new(NAME, props, &[]).map(|_| Arc::new(Self) as Arc<dyn Op>)
    }
}

impl Op for SumTo {
    fn name(&self) -> &str {
        NAME
    }

    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        at_least(NAME, 1, inputs)?;
        let x = tensor(NAME, 0, inputs)?;
        for input in 1..inputs.len() {
            integer(NAME, input, inputs)?;
        }
        let ndim = inputs.len() - 1;
        if x.shape.len() < ndim {
            return Err(refuse(NAME, 0, &inputs[0], format!("{ndim} dimension(s) or more")));
        }
        if !DTYPES.contains(&x.dtype) {
            let (op, expected) = (NAME.to_owned(), DTYPES.map(DType::name).join(", "));
            return Err(MakeNodeError::DType { op, input: 0, found: x.dtype, expected });
        }
        let last = &x.shape[x.shape.len() - ndim..];
        let one = |extent: &Extent| if *extent == Extent::Fixed(1) { *extent } else { Extent::Unknown };
        Ok(vec![of(x.dtype, last.iter().map(one).collect())])
    }

    fn pullback(&self, at: &mut Pullback<'_>) -> Pulled {
        Some(crate::gradient::shape::sum_to(at))
    }

    fn perform(&self, inputs: &[&Array]) -> Result<Vec<Array>, PerformError> {
        let shape = elements::extents(NAME, &inputs[1..])?;
        let whole = inputs[0].shape();
        let extra = whole.len() - shape.len();
        let is_kept = |d: usize| d >= extra && shape[d - extra] == whole[d];
        let axes: Vec<usize> = (0..whole.len()).filter(|d| !is_kept(*d)).collect();
        if axes.iter().any(|d| *d >= extra && shape[d - extra] != 1) {
            let text = |shape: &[usize]| elements::text(&shape.iter().map(|n| *n as i64).collect::<Vec<_>>());
            let problem = format!(
                "cannot sum shape {} to shape {}, which was not broadcast to it",
                text(whole),
                text(&shape)
            );
            return Err(PerformError::value(NAME, problem));
        }
        // A sum of one element would lose the sign of a zero.
        if axes.is_empty() {
            return Ok(vec![inputs[0].clone()]);
        }
        let sum = Reduce::new(ReduceKind::Sum, Some(axes)).perform(&inputs[..1])?.remove(0);
        let all: Vec<usize> = (0..shape.iter().product()).collect();
        Ok(vec![elements::pick(NAME, &sum, &shape, &all)?])
    }

    fn view_map(&self) -> Vec<(usize, usize)> {
        vec![(0, 0)]
    }
}

impl Called for SumTo {
    const HEADER: &'static str = "precast/ops/sum_to.h";

    fn call(&self, node: &Node) -> Call {
        Call::stamped("PC_SUM_TO", node.inputs[0].dtype().name(), Vec::new())
    }
}
called!(SumTo);
