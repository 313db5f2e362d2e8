//! DimShuffle: permutes, inserts and drops dimensions. The result is a view of the input.

use crate::gradient::rules::Pulled;
use crate::sources::closure;
use precast_codegen::template::render;
use precast_codegen::{CLinkerObject, COp, LinkError, Node, SourceSet, Sub};
use precast_core::MAX_NDIM;
use precast_graph::{
    Array, Extent, MakeNodeError, Op, PerformError, Prop, Props, Pullback, TensorType, Type, with_array,
};
use std::sync::Arc;

const NAME: &str = "dimshuffle";

/// A rearrangement of dimensions. Dimensions of the input that `order` does not name are dropped; they must have
/// extent 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DimShuffle {
    /// For each dimension of the result, the source dimension of the input; `None` for a new dimension of extent 1.
    pub order: Vec<Option<usize>>,
}

impl DimShuffle {
    /// Creates the rearrangement `order`.
    #[must_use]
    pub fn new(order: Vec<Option<usize>>) -> Self {
        Self { order }
    }

    /// Restores the reduced `axes` of `ndim` dimensions with extent 1; all axes if `axes` is `None`.
    #[must_use]
    pub(crate) fn restoring(ndim: usize, axes: Option<&[usize]>) -> Self {
        let mut left = 0..;
        let is_reduced = |axis: &usize| axes.is_none_or(|axes| axes.contains(axis));
        Self::new((0..ndim).map(|axis| if is_reduced(&axis) { None } else { left.next() }).collect())
    }

    /// Rebuilds a DimShuffle from its props.
    ///
    /// # Errors
    /// `order` is missing, or contains something other than positions and -1.
    pub fn from_props(props: &Props) -> Result<Arc<dyn Op>, MakeNodeError> {
        let wrong = || MakeNodeError::prop(NAME, "order", "must be a list of dimensions, -1 for a new one");
        let Some(Prop::List(items)) = props.get("order") else { return Err(wrong()) };
        let dimension = |item: &Prop| match item {
            Prop::Int(-1) => Ok(None),
            Prop::Int(d) => usize::try_from(*d).map(Some).map_err(|_| wrong()),
            _ => Err(wrong()),
        };
        Ok(Arc::new(Self::new(items.iter().map(dimension).collect::<Result<_, _>>()?)))
    }

    fn check(&self, ndim: usize) -> Result<(), MakeNodeError> {
        let named: Vec<usize> = self.order.iter().flatten().copied().collect();
        for (position, d) in named.iter().enumerate() {
            if *d >= ndim {
                return Err(MakeNodeError::prop(
                    NAME,
                    "order",
                    format!(
                        "has dimension {d}, out of range for {ndim} \
                    dimension(s)"
                    ),
                ));
            }
            if named[..position].contains(d) {
                return Err(MakeNodeError::prop(NAME, "order", format!("has dimension {d} twice")));
            }
        }
        if self.order.len() > MAX_NDIM {
            return Err(MakeNodeError::prop(NAME, "order", format!("has more than {MAX_NDIM} dimensions")));
        }
        Ok(())
    }
}

impl Op for DimShuffle {
    fn name(&self) -> &str {
        NAME
    }

    fn props(&self) -> Props {
        let item = |d: &Option<usize>| Prop::Int(d.map_or(-1, |d| i64::try_from(d).unwrap_or(i64::MAX)));
        Props::from([("order".to_owned(), Prop::List(self.order.iter().map(item).collect()))])
    }

    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        MakeNodeError::expect_inputs(NAME, 1, inputs)?;
        let Type::Tensor(tensor) = &inputs[0] else {
            return Err(MakeNodeError::Input {
                op: NAME.to_owned(),
                input: 0,
                found: inputs[0].to_string(),
                expected: "a tensor".to_owned(),
            });
        };
        self.check(tensor.shape.len())?;
        for (d, extent) in tensor.shape.iter().enumerate() {
            if !self.order.contains(&Some(d)) && !extent.admits(1) {
                return Err(MakeNodeError::Input {
                    op: NAME.to_owned(),
                    input: 0,
                    found: inputs[0].to_string(),
                    expected: format!("extent 1 in the dropped dimension {d}"),
                });
            }
        }
        let shape = self.order.iter().map(|d| d.map_or(Extent::Fixed(1), |d| tensor.shape[d])).collect();
        Ok(vec![Type::Tensor(TensorType { dtype: tensor.dtype, shape })])
    }

    fn pullback(&self, at: &mut Pullback<'_>) -> Pulled {
        Some(crate::gradient::shape::dimshuffle(self, at))
    }

    fn perform(&self, inputs: &[&Array]) -> Result<Vec<Array>, PerformError> {
        let shape = inputs[0].shape();
        let dropped: Vec<usize> = (0..shape.len()).filter(|d| !self.order.contains(&Some(*d))).collect();
        for d in &dropped {
            if shape[*d] != 1 {
                let problem = format!(
                    "cannot drop dimension {d} of extent {}: only dimensions of extent 1 can be dropped",
                    shape[*d]
                );
                return Err(PerformError::value(NAME, problem));
            }
        }
        // The kept dimensions come in their new order, the dropped ones last. The reshape then inserts the new ones.
        let axes: Vec<usize> = self.order.iter().flatten().copied().chain(dropped).collect();
        let result: Vec<usize> = self.order.iter().map(|d| d.map_or(1, |d| shape[d])).collect();
        let mismatch = || PerformError::value(NAME, "the order does not fit the input's rank");
        if axes.len() != shape.len() {
            return Err(mismatch());
        }
        let shuffled = with_array!(inputs[0], a => {
            let view = a.view().permuted_axes(axes);
            let elements: Vec<_> = view.iter().copied().collect();
            ndarray::ArrayD::from_shape_vec(result, elements).map(Array::from)
        });
        shuffled.map(|array| vec![array]).map_err(|_| mismatch())
    }

    fn view_map(&self) -> Vec<(usize, usize)> {
        vec![(0, 0)]
    }
}

impl CLinkerObject for DimShuffle {
    fn c_headers(&self) -> Vec<String> {
        vec!["precast/ops/dimshuffle.h".to_owned()]
    }

    fn c_sources(&self) -> SourceSet {
        closure(&["precast/ops/dimshuffle.h"])
    }
}

impl COp for DimShuffle {
    fn c_code(
        &self,
        _node: &Node,
        _name: &str,
        inputs: &[String],
        outputs: &[String],
        sub: &Sub,
    ) -> Result<String, LinkError> {
        // A final entry, which is never read, keeps the array from being empty.
        let order = self.order.iter().map(|d| d.map_or("-1".to_owned(), |d| d.to_string()));
        let order: Vec<String> = order.chain(["-1".to_owned()]).collect();
        Ok(render(
            include_str!("../c/dimshuffle.c.in"),
            &[
                ("ORDER", &order.join(", ")),
                ("INPUT", &inputs[0]),
                ("NDIM", &self.order.len().to_string()),
                ("OUTPUT", &outputs[0]),
                ("FAIL", &sub.fail),
            ],
        ))
    }

    fn content_id(&self) -> Option<String> {
        Some(NAME.to_owned())
    }
}
