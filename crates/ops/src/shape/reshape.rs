//! Reshape: returns the elements of a tensor, in C order, in another shape.

use crate::call::{Call, Called, called};
use crate::declared::{Declared, integers, of, position, refuse, tensor};
use crate::elements;
use crate::gradient::rules::Pulled;
use precast_codegen::Node;
use precast_core::MAX_NDIM;
use precast_graph::{Array, Extent, MakeNodeError, Op, PerformError, Props, Pullback, Type};
use std::sync::Arc;

const NAME: &str = "reshape";

/// An op that reshapes a tensor to `ndim` dimensions. One extent may be -1 and follows from the rest.
///
/// # Shapes
/// `(tensor, i64[ndim]) -> tensor of ndim dimensions`. The result is a view of the input if its strides allow it,
/// otherwise a copy.
///
/// # Errors
/// At run time: an extent below -1, two extents of -1, or a different number of elements, in NumPy's words.
///
/// # Source
/// NumPy, `numpy.reshape` with order C.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reshape {
    /// The number of dimensions of the result.
    pub ndim: usize,
}

impl Reshape {
    /// Rebuilds a Reshape from its props.
    ///
    /// # Errors
    /// `ndim` is missing or is not a count.
    pub fn from_props(props: &Props) -> Result<Arc<dyn Op>, MakeNodeError> {
        Ok(Arc::new(Self { ndim: Declared::new(NAME, props, &["ndim"])?.count("ndim")? }))
    }
}

impl Op for Reshape {
    fn name(&self) -> &str {
        NAME
    }

    fn props(&self) -> Props {
        Props::from([("ndim".to_owned(), position(self.ndim))])
    }

    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        MakeNodeError::expect_inputs(NAME, 2, inputs)?;
        let tensor = tensor(NAME, 0, inputs)?;
        if !integers(NAME, 1, inputs)?.admits(self.ndim as u64) {
            return Err(refuse(NAME, 1, &inputs[1], format!("a vector of {} extents", self.ndim)));
        }
        if self.ndim > MAX_NDIM {
            return Err(MakeNodeError::prop(NAME, "ndim", format!("is more than {MAX_NDIM}")));
        }
        Ok(vec![of(tensor.dtype, vec![Extent::Unknown; self.ndim])])
    }

    fn pullback(&self, at: &mut Pullback<'_>) -> Pulled {
        Some(crate::gradient::shape::reshape(at))
    }

    fn perform(&self, inputs: &[&Array]) -> Result<Vec<Array>, PerformError> {
        let wanted = elements::integers(NAME, inputs[1])?;
        if wanted.len() != self.ndim {
            let problem = format!("the new shape has {} dimension(s), expected {}", wanted.len(), self.ndim);
            return Err(PerformError::value(NAME, problem));
        }
        let size = inputs[0].shape().iter().product();
        let shape = resolve(&wanted, size).map_err(|problem| PerformError::value(NAME, problem))?;
        let all: Vec<usize> = (0..size).collect();
        Ok(vec![elements::pick(NAME, inputs[0], &shape, &all)?])
    }

    fn view_map(&self) -> Vec<(usize, usize)> {
        vec![(0, 0)]
    }
}

/// Returns the extents with -1 replaced, for `size` elements.
fn resolve(wanted: &[i64], size: usize) -> Result<Vec<usize>, String> {
    for (d, n) in wanted.iter().enumerate() {
        if *n == -1 && wanted[..d].contains(&-1) {
            return Err("can only specify one unknown dimension".to_owned());
        }
        if *n < -1 {
            return Err(format!("negative dimensions are not allowed: extent {n} of dimension {d}"));
        }
    }
    let misfit = || format!("cannot reshape array of size {size} into shape {}", elements::text(wanted));
    // Products of extents may overflow. No existing array has that many elements, so this is a mismatch.
    let zero = wanted.contains(&0);
    let known = wanted.iter().filter_map(|n| usize::try_from(*n).ok());
    let known = if zero { Some(0) } else { known.into_iter().try_fold(1_usize, usize::checked_mul) };
    let known = known.ok_or_else(misfit)?;
    if !wanted.contains(&-1) {
        let fits = known == size;
        return if fits {
            Ok(wanted.iter().map(|n| n.unsigned_abs() as usize).collect())
        } else {
            Err(misfit())
        };
    }
    if known == 0 || !size.is_multiple_of(known) {
        return Err(misfit());
    }
    Ok(wanted.iter().map(|n| usize::try_from(*n).unwrap_or(size / known)).collect())
}

impl Called for Reshape {
    const HEADER: &'static str = "precast/ops/reshape.h";

    fn call(&self, _node: &Node) -> Call {
        Call::of("pc_reshape", vec![self.ndim as i64])
    }
}
called!(Reshape);
