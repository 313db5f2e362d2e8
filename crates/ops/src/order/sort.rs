//! Sort: sorts elements along an axis in ascending order, or returns their positions.

use super::{compare, stages};
use crate::call::{Call, Called, called};
use crate::declared::{Declared, axis, of, position, tensor};
use crate::elements::{self, pick};
use crate::gradient::rules::Pulled;
use crate::reduce::lines;
use crate::scalar::{self, Value};
use precast_codegen::Node;
use precast_graph::{Array, DType, MakeNodeError, Op, PerformError, Props, Pullback, Type};
use std::sync::Arc;

/// An op that returns the elements of each line along an axis in ascending order, or their positions in `x`. The sort
/// is stable.
///
/// # Shapes
/// `x -> x`, or for positions `x -> i64` with the same shape.
///
/// # Source
/// NumPy, `numpy.sort` and `numpy.argsort` with `kind="stable"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sort {
    /// Whether the result is positions instead of elements.
    pub positions: bool,
    /// The axis.
    pub axis: usize,
}

impl Sort {
    /// Rebuilds the op from its name and props.
    ///
    /// # Errors
    /// `axis` is missing or is not a valid position.
    pub fn from_props(name: &str, props: &Props) -> Result<Arc<dyn Op>, MakeNodeError> {
        let axis = Declared::new(name, props, &["axis"])?.count("axis")?;
        Ok(Arc::new(Self { positions: name == "argsort", axis }))
    }
}

impl Op for Sort {
    fn name(&self) -> &str {
        if self.positions { "argsort" } else { "sort" }
    }

    fn props(&self) -> Props {
        Props::from([("axis".to_owned(), position(self.axis))])
    }

    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        MakeNodeError::expect_inputs(self.name(), 1, inputs)?;
        let x = tensor(self.name(), 0, inputs)?;
        axis(self.name(), self.axis, x.shape.len())?;
        let dtype = if self.positions { DType::I64 } else { x.dtype };
        Ok(vec![of(dtype, x.shape.clone())])
    }

    fn pullback(&self, at: &mut Pullback<'_>) -> Pulled {
        Some(crate::gradient::reduce::sort(*self, at))
    }

    fn perform(&self, inputs: &[&Array]) -> Result<Vec<Array>, PerformError> {
        let whole = inputs[0].shape();
        let all = scalar::elements(inputs[0], whole).ok_or_else(|| elements::mismatch(self.name()))?;
        let (count, step) = (whole[self.axis], elements::steps(whole)[self.axis]);
        // For each element of the result: the start of its line, and the source index within the line.
        let mut order = vec![(0, 0); all.len()];
        for start in lines(whole, Some(self.axis)).into_iter().take(all.len()) {
            let mut line: Vec<usize> = (0..count).collect();
            line.sort_by(|i, j| compare(all[start + i * step], all[start + j * step]));
            for (i, from) in line.into_iter().enumerate() {
                order[start + i * step] = (start, from);
            }
        }
        if self.positions {
            let places: Vec<Value> = order.iter().map(|(_, from)| Value::I64(*from as i64)).collect();
            let array = scalar::collect(DType::I64, whole, &places);
            return Ok(vec![array.ok_or_else(|| elements::mismatch(self.name()))?]);
        }
        let sources: Vec<usize> = order.iter().map(|(start, from)| start + from * step).collect();
        Ok(vec![pick(self.name(), inputs[0], whole, &sources)?])
    }
}

impl Called for Sort {
    const HEADER: &'static str = "precast/ops/sort.h";

    fn call(&self, node: &Node) -> Call {
        let dtype = node.inputs[0].dtype();
        let props = vec![self.axis as i64, i64::from(self.positions)];
        // 16-bit floats use the keys of f32.
        let bytes = match dtype {
            DType::F16 | DType::Bf16 => 4,
            dtype => dtype.real().itemsize_bytes(),
        };
        let restore = if dtype.is_float() { "PC_SORT_RESTORE" } else { "PC_SORT_KEEP" };
        let fetched = dtype.is_complex() || matches!(dtype, DType::F16 | DType::Bf16);
        if self.positions || fetched {
            return Call::stamped("PC_SORT_FETCHED", format!("{dtype}, {}, {bytes}", stages(dtype)), props);
        }
        match bytes {
            4 | 8 => Call::stamped("PC_SORT_WIDE", format!("{dtype}, uint{}_t, {restore}", 8 * bytes), props),
            _ => Call::stamped("PC_SORT", format!("{dtype}, 1, {bytes}, {restore}"), props),
        }
    }
}
called!(Sort);
