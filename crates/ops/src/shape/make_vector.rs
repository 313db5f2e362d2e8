//! MakeVector: combines numbers to a vector.

use crate::call::{Call, Called, called};
use crate::declared::{Declared, of, refuse};
use crate::elements;
use crate::gradient::rules::Pulled;
use precast_codegen::Node;
use precast_graph::{Array, DType, Extent, MakeNodeError, Op, PerformError, Prop, Props, Pullback, Type};
use std::sync::Arc;

const NAME: &str = "make_vector";

/// An op that creates a vector of numbers of one dtype. The dtype is a prop, so that an empty vector has one.
///
/// # Shapes
/// `(x[], x[], …) -> x[n]`; C scalars count as numbers.
///
/// # Source
/// NumPy, `numpy.array` of a list of scalars.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MakeVector {
    /// The dtype of the elements.
    pub dtype: DType,
}

impl MakeVector {
    /// Rebuilds a MakeVector from its props.
    ///
    /// # Errors
    /// `dtype` is missing or is not a dtype.
    pub fn from_props(props: &Props) -> Result<Arc<dyn Op>, MakeNodeError> {
        let declared = Declared::new(NAME, props, &["dtype"])?;
        let dtype = declared.dtype("dtype")?.ok_or_else(|| declared.wrong("dtype", "a dtype"))?;
        Ok(Arc::new(Self { dtype }))
    }
}

impl Op for MakeVector {
    fn name(&self) -> &str {
        NAME
    }

    fn props(&self) -> Props {
        Props::from([("dtype".to_owned(), Prop::DType(self.dtype))])
    }

    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        for (input, ty) in inputs.iter().enumerate() {
            if ty.ndim() != 0 || ty.dtype() != self.dtype {
                return Err(refuse(NAME, input, ty, format!("a number, `{}[]`", self.dtype)));
            }
        }
        Ok(vec![of(self.dtype, vec![Extent::Fixed(inputs.len() as u64)])])
    }

    fn pullback(&self, at: &mut Pullback<'_>) -> Pulled {
        Some(crate::gradient::shape::make_vector(at))
    }

    fn perform(&self, inputs: &[&Array]) -> Result<Vec<Array>, PerformError> {
        if inputs.is_empty() {
            return Ok(vec![Array::zeros(self.dtype, &[0])]);
        }
        let order: Vec<(usize, usize)> = (0..inputs.len()).map(|k| (k, 0)).collect();
        Ok(vec![elements::gather(NAME, inputs, &[inputs.len()], &order)?])
    }
}

impl Called for MakeVector {
    const HEADER: &'static str = "precast/ops/fill.h";

    fn call(&self, _node: &Node) -> Call {
        Call::of("pc_make_vector", vec![i64::from(self.dtype.typenum())])
    }
}
called!(MakeVector);
