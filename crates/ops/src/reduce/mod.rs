//! Reduce: sum, mean, extremes and other reductions over axes, of a tensor or of a map of several tensors. Also
//! contains argmax and cumulative sums.
//!
//! ```text
//! kind      the operations, their dtypes, identity and order (those of monoid.h)
//! perform   the reference: the same blocks, lanes and tree, one element at a time
//! code      COp: the map as a kernel, and the call of pc_reduce_do
//! argmax, cumulative   the position of the extreme; cumulative sums and products
//! ```
//! Only the number of elements determines the order of additions (see `c/precast/ops/monoid.h`). The bits are
//! therefore the same whether the reduction is fused or not, compiled or interpreted, and for any layout. Input
//! dtypes are exact: a sum of bool or a mean of integers needs a cast before it.

mod argmax;
pub(crate) mod code;
mod cumulative;
mod kind;
mod perform;

pub use argmax::Argmax;
pub(crate) use argmax::lines;
pub use cumulative::CumOp;
pub use kind::ReduceKind;

use crate::elemwise::{common_shape, map, scalar_from, scalar_props, types};
use crate::gradient::rules::Pulled;
use crate::scalar::ScalarOp;
use precast_graph::{
    Array, DType, Extent, MakeNodeError, Op, PerformError, Prop, Props, Pullback, TensorType, Type,
};
use std::sync::Arc;

/// A reduction over axes.
#[derive(Debug, Clone)]
pub struct Reduce {
    /// The kind of the reduction.
    pub kind: ReduceKind,
    /// The reduced axes, ascending; `None` for all axes.
    pub axes: Option<Vec<usize>>,
    /// The map of the (broadcast) inputs that is reduced; `None` to reduce the only input itself.
    pub map: Option<Arc<dyn ScalarOp>>,
}

impl Reduce {
    /// Creates the reduction of one tensor.
    #[must_use]
    pub fn new(kind: ReduceKind, axes: Option<Vec<usize>>) -> Self {
        Self { kind, axes, map: None }
    }

    /// Returns the same reduction over a map with one result. The reduction then takes the map's inputs.
    #[must_use]
    pub fn fused(&self, map: Arc<dyn ScalarOp>) -> Self {
        Self { kind: self.kind, axes: self.axes.clone(), map: Some(map) }
    }

    /// Rebuilds a reduction from its name and props.
    ///
    /// # Errors
    /// A name that is not a reduction, or a prop of the wrong kind.
    pub fn from_props(name: &str, props: &Props) -> Result<Arc<dyn Op>, MakeNodeError> {
        let unknown = || MakeNodeError::prop(name, "name", "is not a reduction");
        let kind = ReduceKind::find(name).ok_or_else(unknown)?;
        let wrong = || MakeNodeError::prop(name, "axes", "must be a list of ascending dimensions");
        let axes = match props.get("axes") {
            None => None,
            Some(Prop::List(items)) => {
                let axis = |item: &Prop| match item {
                    Prop::Int(d) => usize::try_from(*d).map_err(|_| wrong()),
                    _ => Err(wrong()),
                };
                Some(items.iter().map(axis).collect::<Result<Vec<_>, _>>()?)
            }
            Some(_) => return Err(wrong()),
        };
        let map = if props.contains_key("scalar") { Some(scalar_from(props, name)?) } else { None };
        Ok(Arc::new(Self { kind, axes, map }))
    }

    /// Returns whether dimension `d` of the operands is reduced.
    pub(crate) fn reduces(&self, d: usize) -> bool {
        self.axes.as_ref().is_none_or(|axes| axes.contains(&d))
    }

    /// Returns the extents and the dtype of the map's result.
    fn mapped(&self, inputs: &[Type]) -> Result<(Vec<Extent>, DType), MakeNodeError> {
        let name = self.kind.name();
        let Some(map) = &self.map else {
            MakeNodeError::expect_inputs(name, 1, inputs)?;
            return Ok((inputs[0].shape().to_vec(), inputs[0].dtype()));
        };
        let extents = types::broadcast(&**map, inputs)?.unwrap_or_default();
        let results = types::outputs(&**map, inputs)?;
        match results.as_slice() {
            [dtype] if !inputs.is_empty() => Ok((extents, *dtype)),
            _ => Err(MakeNodeError::prop(name, "scalar", "must take inputs and have one result")),
        }
    }
}

impl Op for Reduce {
    fn name(&self) -> &str {
        self.kind.name()
    }

    fn label(&self) -> String {
        let axes = self.axes.as_ref().map(|axes| {
            let axes: Vec<String> = axes.iter().map(ToString::to_string).collect();
            format!("axes=[{}]", axes.join(","))
        });
        let map = self.map.as_ref().map(|map| format!("of={}", map.label()));
        let parts: Vec<String> = axes.into_iter().chain(map).collect();
        if parts.is_empty() {
            self.name().to_owned()
        } else {
            format!("{}{{{}}}", self.name(), parts.join(","))
        }
    }

    fn props(&self) -> Props {
        let mut props = self.map.as_ref().map(|map| scalar_props(&**map)).unwrap_or_default();
        if let Some(axes) = &self.axes {
            let axes = axes.iter().map(|d| Prop::Int(i64::try_from(*d).unwrap_or(i64::MAX)));
            props.insert("axes".to_owned(), Prop::List(axes.collect()));
        }
        props
    }

    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        let (op, kind) = (self.name().to_owned(), self.kind);
        if let Some(input) = inputs.iter().position(|ty| !matches!(ty, Type::Tensor(_))) {
            let (found, expected) = (inputs[input].to_string(), "a tensor".to_owned());
            return Err(MakeNodeError::Input { op, input, found, expected });
        }
        let (extents, dtype) = self.mapped(inputs)?;
        if !kind.dtypes().contains(&dtype) {
            let names: Vec<&str> = kind.dtypes().iter().map(|d| d.name()).collect();
            return Err(MakeNodeError::DType { op, input: 0, found: dtype, expected: names.join(", ") });
        }
        if let Some(axes) = &self.axes {
            if axes.windows(2).any(|pair| pair[0] >= pair[1]) {
                return Err(MakeNodeError::prop(&op, "axes", "must be ascending and unique"));
            }
            if let Some(axis) = axes.last().filter(|d| **d >= extents.len()) {
                let problem = format!("has axis {axis}, out of range for {} dimension(s)", extents.len());
                return Err(MakeNodeError::prop(&op, "axes", problem));
            }
        }
        let shape = extents.iter().enumerate().filter(|(d, _)| !self.reduces(*d)).map(|(_, e)| *e).collect();
        Ok(vec![Type::Tensor(TensorType { dtype, shape })])
    }

    fn pullback(&self, at: &mut Pullback<'_>) -> Pulled {
        self.map.is_none().then(|| crate::gradient::reduce::reduce(self, at))
    }

    fn perform(&self, inputs: &[&Array]) -> Result<Vec<Array>, PerformError> {
        let mapped = match &self.map {
            None => inputs[0].clone(),
            Some(scalar) => {
                let shape = common_shape(self.name(), inputs)?;
                let results = map(&**scalar, inputs, &shape)?;
                let none = || PerformError::value(scalar.name(), "gave no result");
                results.into_iter().next().ok_or_else(none)?
            }
        };
        Ok(vec![perform::reduce(self, &mapped)?])
    }
}
