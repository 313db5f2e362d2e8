//! Argmax: finds the position of the largest or the smallest element.

use crate::call::{Call, Called, called};
use crate::declared::{Declared, axis, of, position, tensor};
use crate::elements;
use crate::scalar::{self, Value};
use precast_codegen::Node;
use precast_graph::{Array, DType, MakeNodeError, Op, PerformError, Props, Type};
use std::sync::Arc;

/// An op that returns the position of the largest or smallest element along an axis, or among all elements in C
/// order. Of equal elements the first wins; the first NaN wins over all numbers.
///
/// # Shapes
/// `x -> i64` with the shape without the axis; `i64[]` without an axis.
///
/// # Errors
/// At run time: an empty sequence, in NumPy's words.
///
/// # Source
/// NumPy, `numpy.argmax` and `numpy.argmin`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Argmax {
    /// Whether to find the smallest element instead of the largest.
    pub least: bool,
    /// The axis; `None` for all elements.
    pub axis: Option<usize>,
}

impl Argmax {
    /// Rebuilds the op from its name and props.
    ///
    /// # Errors
    /// `axis` is not a valid position.
    pub fn from_props(name: &str, props: &Props) -> Result<Arc<dyn Op>, MakeNodeError> {
        let declared = Declared::new(name, props, &["axis"])?;
        let axis = if declared.has("axis") { Some(declared.count("axis")?) } else { None };
        Ok(Arc::new(Self { least: name == "argmin", axis }))
    }

    /// Returns whether elements of this dtype can be compared.
    #[must_use]
    pub fn supports(dtype: DType) -> bool {
        dtype == DType::Bool || dtype.is_integer() || matches!(dtype, DType::F32 | DType::F64)
    }
}

/// Returns the axis as a prop, if one is given.
pub(super) fn axis_props(axis: Option<usize>) -> Props {
    axis.map(|axis| ("axis".to_owned(), position(axis))).into_iter().collect()
}

impl Op for Argmax {
    fn name(&self) -> &str {
        if self.least { "argmin" } else { "argmax" }
    }

    fn props(&self) -> Props {
        axis_props(self.axis)
    }

    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        MakeNodeError::expect_inputs(self.name(), 1, inputs)?;
        let x = tensor(self.name(), 0, inputs)?;
        if !Self::supports(x.dtype) {
            let (op, expected) = (self.name().to_owned(), "bool, integers, f32, f64".to_owned());
            return Err(MakeNodeError::DType { op, input: 0, found: x.dtype, expected });
        }
        let Some(gone) = self.axis else { return Ok(vec![of(DType::I64, Vec::new())]) };
        axis(self.name(), gone, x.shape.len())?;
        let mut shape = x.shape.clone();
        shape.remove(gone);
        Ok(vec![of(DType::I64, shape)])
    }

    fn perform(&self, inputs: &[&Array]) -> Result<Vec<Array>, PerformError> {
        let whole = inputs[0].shape();
        let all = scalar::elements(inputs[0], whole).ok_or_else(|| elements::mismatch(self.name()))?;
        let count = self.axis.map_or(all.len(), |axis| whole[axis]);
        if count == 0 {
            let problem = format!("attempt to get {} of an empty sequence", self.name());
            return Err(PerformError::value(self.name(), problem));
        }
        let step = self.axis.map_or(1, |axis| elements::steps(whole)[axis]);
        let starts = lines(whole, self.axis);
        let found = starts.iter().map(|start| {
            let line = (0..count).map(|i| all[start + i * step]).collect::<Vec<_>>();
            Value::I64(best(&line, self.least) as i64)
        });
        let found: Vec<Value> = found.collect();
        let kept = |d: &usize| self.axis.is_some_and(|axis| axis != *d);
        let shape: Vec<usize> = (0..whole.len()).filter(kept).map(|d| whole[d]).collect();
        let array = scalar::collect(DType::I64, &shape, &found);
        Ok(vec![array.ok_or_else(|| elements::mismatch(self.name()))?])
    }
}

/// Returns the position of the first element of each line along an axis, in C order of the other dimensions; 0
/// without an axis.
pub(crate) fn lines(whole: &[usize], axis: Option<usize>) -> Vec<usize> {
    let Some(axis) = axis else { return vec![0] };
    let mut others = whole.to_vec();
    others.remove(axis);
    let mut steps: Vec<i64> = elements::steps(whole).into_iter().map(|s| s as i64).collect();
    steps.remove(axis);
    elements::positions(&others, 0, &steps)
}

/// Returns the position of the best element: of equal elements the first; the first NaN wins over all numbers.
fn best(line: &[Value], least: bool) -> usize {
    let mut best = 0;
    for (i, x) in line.iter().enumerate().skip(1) {
        if number(line[best]).is_err() {
            break;
        }
        let beats = match (number(*x), number(line[best])) {
            (Ok(x), Ok(known)) => {
                if least {
                    x < known
                } else {
                    x > known
                }
            }
            _ => true,
        };
        if beats {
            best = i;
        }
    }
    best
}

/// Returns the sort key of an element: integers exactly, floats unchanged. A NaN has no key and is an `Err`.
fn number(x: Value) -> Result<(i128, f64), Value> {
    match (x.cast(DType::F64), x.cast(DType::I64)) {
        (Value::F64(float), _) if x.dtype().is_float() => {
            if float.is_nan() {
                Err(x)
            } else {
                Ok((0, float))
            }
        }
        // The cast keeps the low bits, which are all the bits of a u64.
        (_, Value::I64(low)) if x.dtype() == DType::U64 => Ok((i128::from(low.cast_unsigned()), 0.0)),
        (_, Value::I64(low)) => Ok((i128::from(low), 0.0)),
        _ => Err(x),
    }
}

impl Called for Argmax {
    const HEADER: &'static str = "precast/ops/argmax.h";

    fn call(&self, node: &Node) -> Call {
        let dtype = node.inputs[0].dtype();
        let beats = if self.least { "<" } else { ">" };
        let key = if dtype == DType::Bool { "PC_ARGMAX_TRUTH" } else { "PC_ARGMAX_PLAIN" };
        let is_last = match dtype {
            DType::Bool if self.least => "PC_ARGMAX_FALSE",
            DType::Bool => "PC_ARGMAX_TRUTH",
            _ if dtype.is_float() => "PC_ARGMAX_NAN",
            _ => "PC_ARGMAX_NEVER",
        };
        let axis = self.axis.map_or(-1, |axis| axis as i64);
        Call::stamped(
            "PC_ARGMAX",
            format!("{dtype}, {beats}, {key}, {is_last}, \"{}\"", self.name()),
            vec![axis],
        )
    }
}
called!(Argmax);
