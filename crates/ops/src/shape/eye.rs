//! Eye: creates a matrix with ones on a diagonal.

use crate::call::{Call, Called, called};
use crate::declared::{Declared, integer, of};
use crate::elements;
use crate::scalar::{Value, collect};
use precast_codegen::Node;
use precast_graph::{Array, DType, Extent, MakeNodeError, Op, PerformError, Prop, Props, Type};
use std::sync::Arc;

const NAME: &str = "eye";

/// An op that creates a matrix of zeros with ones on a diagonal: 0 is the main diagonal, positive numbers are above
/// it.
///
/// # Shapes
/// `(rows i64[], columns i64[], diagonal i64[]) -> x[rows, columns]`
///
/// # Errors
/// At run time: a negative extent.
///
/// # Source
/// NumPy, `numpy.eye`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Eye {
    /// The dtype of the elements.
    pub dtype: DType,
}

impl Eye {
    /// Rebuilds an Eye from its props.
    ///
    /// # Errors
    /// `dtype` is missing or is not a dtype.
    pub fn from_props(props: &Props) -> Result<Arc<dyn Op>, MakeNodeError> {
        let declared = Declared::new(NAME, props, &["dtype"])?;
        let dtype = declared.dtype("dtype")?.ok_or_else(|| declared.wrong("dtype", "a dtype"))?;
        Ok(Arc::new(Self { dtype }))
    }
}

impl Op for Eye {
    fn name(&self) -> &str {
        NAME
    }

    fn props(&self) -> Props {
        Props::from([("dtype".to_owned(), Prop::DType(self.dtype))])
    }

    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        MakeNodeError::expect_inputs(NAME, 3, inputs)?;
        (0..3).try_for_each(|input| integer(NAME, input, inputs))?;
        Ok(vec![of(self.dtype, vec![Extent::Unknown; 2])])
    }

    fn perform(&self, inputs: &[&Array]) -> Result<Vec<Array>, PerformError> {
        let shape = elements::extents(NAME, &inputs[..2])?;
        elements::room(NAME, &shape)?;
        let k = i128::from(elements::integer(NAME, inputs[2])?);
        let at = |i: usize, j: usize| Value::Bool(j as i128 - i as i128 == k);
        let all: Vec<Value> = (0..shape[0]).flat_map(|i| (0..shape[1]).map(move |j| at(i, j))).collect();
        Ok(vec![collect(self.dtype, &shape, &all).ok_or_else(|| elements::mismatch(NAME))?])
    }
}

impl Called for Eye {
    const HEADER: &'static str = "precast/ops/range.h";

    fn call(&self, _node: &Node) -> Call {
        // Dtypes that are not C numbers use the bits of a one, or one and no imaginary part.
        let one = match self.dtype {
            DType::F16 => "{0x3c00}",
            DType::Bf16 => "{0x3f80}",
            DType::C64 | DType::C128 => "{1, 0}",
            _ => "1",
        };
        let typenum = i64::from(self.dtype.typenum());
        Call::stamped("PC_EYE", format!("{}, {one}", self.dtype), vec![typenum])
    }
}
called!(Eye);
