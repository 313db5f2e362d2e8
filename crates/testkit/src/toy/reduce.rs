//! Ops over several elements: `sum`, `dot`, and `minmax`, which has two outputs.

use super::{from_f64, to_f64};
use ndarray::{ArrayD, Axis, Ix1, Ix2, IxDyn};
use precast_graph::{Array, Extent, MakeNodeError, Op, PerformError, Prop, Props, TensorType, Type};

/// Adds elements over some axes, or all.
#[derive(Debug, Clone)]
pub(super) struct Sum {
    axis: Option<Vec<i64>>,
    keepdims: bool,
}

impl Sum {
    /// Creates the op from its props: `axis`, an integer or a list of them, and `keepdims`.
    pub(super) fn new(props: &Props) -> Result<Self, MakeNodeError> {
        let mut sum = Self { axis: None, keepdims: false };
        for (name, prop) in props {
            match (name.as_str(), prop) {
                ("axis", Prop::Int(axis)) => sum.axis = Some(vec![*axis]),
                ("axis", Prop::List(axes)) => {
                    let axis = |prop: &Prop| match prop {
                        Prop::Int(axis) => Ok(*axis),
                        other => {
                            Err(MakeNodeError::prop("sum", "axis", format!("holds `{other}`, not integers")))
                        }
                    };
                    sum.axis = Some(axes.iter().map(axis).collect::<Result<_, _>>()?);
                }
                ("keepdims", Prop::Bool(keepdims)) => sum.keepdims = *keepdims,
                _ => return Err(MakeNodeError::prop("sum", name, format!("cannot be `{prop}`"))),
            }
        }
        Ok(sum)
    }

    /// Returns whether each of `ndim` dimensions is summed; `None` for an axis out of range.
    fn reduced(&self, ndim: usize) -> Option<Vec<bool>> {
        let Some(axes) = &self.axis else { return Some(vec![true; ndim]) };
        let mut reduced = vec![false; ndim];
        for axis in axes {
            let from_end = if *axis < 0 { axis.checked_add_unsigned(ndim as u64)? } else { *axis };
            *reduced.get_mut(usize::try_from(from_end).ok()?)? = true;
        }
        Some(reduced)
    }
}

impl Op for Sum {
    fn name(&self) -> &str {
        "sum"
    }

    fn props(&self) -> Props {
        let list = |axes: &Vec<i64>| Prop::List(axes.iter().copied().map(Prop::Int).collect());
        let axis = self.axis.as_ref().map(|axes| ("axis".to_owned(), list(axes)));
        axis.into_iter().chain([("keepdims".to_owned(), Prop::Bool(self.keepdims))]).collect()
    }

    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        MakeNodeError::expect_inputs(self.name(), 1, inputs)?;
        let reduced = self.reduced(inputs[0].ndim());
        let reduced = reduced.ok_or_else(|| MakeNodeError::prop("sum", "axis", "is out of range"))?;
        let extent = |(extent, reduced): (&Extent, bool)| match (reduced, self.keepdims) {
            (false, _) => Some(*extent),
            (true, true) => Some(Extent::Fixed(1)),
            (true, false) => None,
        };
        let shape = inputs[0].shape().iter().zip(reduced).filter_map(extent).collect();
        Ok(vec![Type::Tensor(TensorType { dtype: inputs[0].dtype(), shape })])
    }

    fn perform(&self, inputs: &[&Array]) -> Result<Vec<Array>, PerformError> {
        let mut values = to_f64(inputs[0]);
        let reduced =
            self.reduced(values.ndim()).ok_or_else(|| PerformError::value("sum", "axis out of range"))?;
        for (axis, _) in reduced.iter().enumerate().rev().filter(|(_, reduced)| **reduced) {
            values = values.sum_axis(Axis(axis));
            if self.keepdims {
                values = values.insert_axis(Axis(axis));
            }
        }
        Ok(vec![from_f64(&values, inputs[0].dtype())])
    }
}

/// Multiplies a matrix by a matrix or a vector.
#[derive(Debug, Clone, Copy)]
pub(super) struct Dot;

impl Op for Dot {
    fn name(&self) -> &str {
        "dot"
    }

    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        MakeNodeError::expect_inputs(self.name(), 2, inputs)?;
        for (input, ranks) in [(0, 2..=2), (1, 1..=2)] {
            if !ranks.contains(&inputs[input].ndim()) {
                let (op, found) = (self.name().to_owned(), inputs[input].to_string());
                return Err(MakeNodeError::Input { op, input, found, expected: format!("rank {ranks:?}") });
            }
        }
        let dtype = inputs[0].dtype().upcast(inputs[1].dtype());
        let shape = inputs[0].shape()[..1].iter().chain(&inputs[1].shape()[1..]).copied().collect();
        Ok(vec![Type::Tensor(TensorType { dtype, shape })])
    }

    fn perform(&self, inputs: &[&Array]) -> Result<Vec<Array>, PerformError> {
        let refused =
            || PerformError::value("dot", format!("{:?} with {:?}", inputs[0].shape(), inputs[1].shape()));
        let (a, b) = (to_f64(inputs[0]), to_f64(inputs[1]));
        let a = a.into_dimensionality::<Ix2>().map_err(|_| refused())?;
        if b.shape().first() != Some(&a.ncols()) {
            return Err(refused());
        }
        let product = match b.clone().into_dimensionality::<Ix1>() {
            Ok(vector) => a.dot(&vector).into_dyn(),
            Err(_) => a.dot(&b.into_dimensionality::<Ix2>().map_err(|_| refused())?).into_dyn(),
        };
        Ok(vec![from_f64(&product, inputs[0].dtype().upcast(inputs[1].dtype()))])
    }
}

/// Returns the least and the greatest element; rejects empty arrays.
#[derive(Debug, Clone, Copy)]
pub(super) struct MinMax;

impl Op for MinMax {
    fn name(&self) -> &str {
        "minmax"
    }

    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        MakeNodeError::expect_inputs(self.name(), 1, inputs)?;
        Ok(vec![Type::tensor(inputs[0].dtype(), 0); 2])
    }

    fn perform(&self, inputs: &[&Array]) -> Result<Vec<Array>, PerformError> {
        let values = to_f64(inputs[0]);
        let pick = |f: fn(f64, f64) -> f64| {
            let found = values.iter().copied().reduce(f);
            let found =
                found.ok_or_else(|| PerformError::value("minmax", "an empty array has no least element"))?;
            Ok(from_f64(&ArrayD::from_elem(IxDyn(&[]), found), inputs[0].dtype()))
        };
        Ok(vec![pick(f64::min)?, pick(f64::max)?])
    }
}
