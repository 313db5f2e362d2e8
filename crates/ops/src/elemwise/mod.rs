//! Elemwise: maps a scalar op over tensors with NumPy's broadcasting, or applies it to C scalars.
//!
//! ```text
//! types      make_node: all inputs are tensors (C scalars may be among them), or all are C scalars; known extents broadcast
//! kernel     the kernel in C, shared with the fused map of a Reduce
//! plan       the loops and calls of a kernel that has several
//! loops      their C
//! code       COp: the kernel, its description, and the call of pc_elemwise_run
//! ```
//! Unknown extents (`?`) are broadcast at run time.

pub(crate) mod code;
pub(crate) mod kernel;
mod loops;
pub(crate) mod plan;
pub(crate) mod types;

use crate::elements;
use crate::gradient::rules::Pulled;
use crate::scalar::{self, ScalarOp, Value};
use precast_graph::{Array, MakeNodeError, Op, PerformError, Prop, Props, Pullback, Type};
use std::sync::Arc;

/// The elementwise map of a scalar op over tensors.
#[derive(Debug, Clone)]
pub struct Elemwise {
    /// The op applied to each element.
    pub scalar: Arc<dyn ScalarOp>,
}

impl Elemwise {
    /// Creates the elementwise form of a scalar op.
    #[must_use]
    pub fn new(scalar: Arc<dyn ScalarOp>) -> Self {
        Self { scalar }
    }

    /// Rebuilds an Elemwise from its props.
    ///
    /// # Errors
    /// `scalar` is missing or does not name a scalar op of the library, or the scalar op rejects its props.
    pub fn from_props(props: &Props) -> Result<Arc<dyn Op>, MakeNodeError> {
        Ok(Arc::new(Self::new(scalar_from(props, "elemwise")?)))
    }
}

/// Resolves the scalar op declared by the props `scalar` and `props`; the latter is a list of alternating names and
/// values.
pub(crate) fn scalar_from(props: &Props, op: &str) -> Result<Arc<dyn ScalarOp>, MakeNodeError> {
    let name = match props.get("scalar") {
        Some(Prop::Str(name)) => name,
        Some(other) => {
            return Err(MakeNodeError::prop(op, "scalar", format!("is `{other}`, expected a name")));
        }
        None => return Err(MakeNodeError::prop(op, "scalar", "is missing")),
    };
    let mut inner = Props::new();
    if let Some(Prop::List(items)) = props.get("props") {
        for pair in items.chunks(2) {
            let [Prop::Str(key), value] = pair else {
                return Err(MakeNodeError::prop(op, "props", "must alternate names and values"));
            };
            inner.insert(key.clone(), value.clone());
        }
    }
    let unknown = || {
        Err(MakeNodeError::prop(
            op,
            "scalar",
            format!("is `{name}`, which is not a scalar op of the library"),
        ))
    };
    scalar::from_props(name, &inner).unwrap_or_else(unknown)
}

/// Returns the props that [`scalar_from`] reads.
pub(crate) fn scalar_props(scalar: &dyn ScalarOp) -> Props {
    let mut props = Props::from([("scalar".to_owned(), Prop::Str(scalar.name().to_owned()))]);
    let inner = scalar.props();
    if !inner.is_empty() {
        let items = inner.into_iter().flat_map(|(key, value)| [Prop::Str(key), value]);
        props.insert("props".to_owned(), Prop::List(items.collect()));
    }
    props
}

impl Op for Elemwise {
    fn name(&self) -> &str {
        "elemwise"
    }

    fn label(&self) -> String {
        self.scalar.label()
    }

    fn props(&self) -> Props {
        scalar_props(&*self.scalar)
    }

    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        let shape = types::broadcast(&*self.scalar, inputs)?;
        let dtypes = types::outputs(&*self.scalar, inputs)?;
        Ok(dtypes.into_iter().map(|dtype| types::of(dtype, shape.as_deref())).collect())
    }

    fn pullback(&self, at: &mut Pullback<'_>) -> Pulled {
        crate::gradient::rules::elementwise(&*self.scalar, at)
    }

    fn perform(&self, inputs: &[&Array]) -> Result<Vec<Array>, PerformError> {
        let shape = common_shape(self.scalar.name(), inputs)?;
        map(&*self.scalar, inputs, &shape)
    }
}

/// Returns the shape to which all inputs broadcast, if it fits into memory.
pub(crate) fn common_shape(op: &str, inputs: &[&Array]) -> Result<Vec<usize>, PerformError> {
    let ndim = inputs.iter().map(|a| a.shape().len()).max().unwrap_or(0);
    let mut shape = vec![1; ndim];
    for (k, array) in inputs.iter().enumerate() {
        let own = array.shape();
        for (n, extent) in shape[ndim - own.len()..].iter_mut().zip(own) {
            if *n == 1 {
                *n = *extent;
            } else if *extent != 1 && extent != n {
                // The words of the compiled loop, which prints no comma after a single extent.
                let text = |shape: &[usize]| elements::text(shape).replace(",)", ")");
                let (own, shape) = (text(own), text(&common_shape(op, &inputs[..k])?));
                let problem = format!(
                    "operand {k} of shape {own} cannot be broadcast with the operands before it, of shape {shape}"
                );
                return Err(PerformError::value(op, problem));
            }
        }
    }
    elements::room(op, &shape)?;
    Ok(shape)
}

/// Applies a scalar op to each element of the inputs, broadcast to `shape`.
pub(crate) fn map(
    scalar: &dyn ScalarOp,
    inputs: &[&Array],
    shape: &[usize],
) -> Result<Vec<Array>, PerformError> {
    let mismatch = || PerformError::value(scalar.name(), "inputs do not fit the common shape");
    let dtypes: Vec<_> = inputs.iter().map(|a| a.dtype()).collect();
    let unsupported = || PerformError::value(scalar.name(), format!("does not support {dtypes:?}"));
    let results = scalar.outputs(&dtypes).ok_or_else(unsupported)?;
    let streams = inputs.iter().map(|a| scalar::elements(a, shape).ok_or_else(mismatch));
    let streams = streams.collect::<Result<Vec<Vec<Value>>, _>>()?;
    let size = shape.iter().product();
    let mut columns: Vec<Vec<Value>> = vec![Vec::with_capacity(size); results.len()];
    let mut element = Vec::with_capacity(inputs.len());
    for i in 0..size {
        element.clear();
        element.extend(streams.iter().map(|stream| stream[i]));
        for (column, value) in columns.iter_mut().zip(scalar.perform(&element)?) {
            column.push(value);
        }
    }
    let arrays = results
        .iter()
        .zip(&columns)
        .map(|(d, column)| scalar::collect(*d, shape, column).ok_or_else(mismatch));
    arrays.collect()
}
