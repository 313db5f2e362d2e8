//! ARange: creates evenly spaced numbers.

use crate::call::{Call, Called, called};
use crate::declared::{Declared, of, refuse};
use crate::elements;
use crate::scalar::{self, Value, collect};
use precast_codegen::Node;
use precast_graph::{Array, DType, Extent, MakeNodeError, Op, PerformError, Prop, Props, Type};
use std::sync::Arc;

const NAME: &str = "arange";

/// An op that returns the numbers from `start` in steps of `step`, up to but not including `stop`.
///
/// # Shapes
/// `(start x[], stop x[], step x[]) -> x[n]`, where n = ⌈(stop − start) / step⌉, or 0 if that is negative. The length
/// n is computed exactly for integers and in f64 for floats. Integers wrap. For floats, number i is `start + i·d`
/// with d = (start + step) − start, as in NumPy.
///
/// # Errors
/// At run time: a step of 0, or a length that is NaN or too large for an array.
///
/// # Source
/// NumPy, `numpy.arange`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ARange {
    /// The dtype of the elements and of the inputs.
    pub dtype: DType,
}

impl ARange {
    /// Returns whether the op supports a dtype.
    #[must_use]
    pub fn supports(dtype: DType) -> bool {
        dtype.is_integer() || matches!(dtype, DType::F32 | DType::F64)
    }

    /// Rebuilds an ARange from its props.
    ///
    /// # Errors
    /// `dtype` is missing or is not supported.
    pub fn from_props(props: &Props) -> Result<Arc<dyn Op>, MakeNodeError> {
        let declared = Declared::new(NAME, props, &["dtype"])?;
        let expected = "an integer dtype, f32 or f64";
        let dtype = declared.dtype("dtype")?.filter(|dtype| Self::supports(*dtype));
        Ok(Arc::new(Self { dtype: dtype.ok_or_else(|| declared.wrong("dtype", expected))? }))
    }
}

impl Op for ARange {
    fn name(&self) -> &str {
        NAME
    }

    fn props(&self) -> Props {
        Props::from([("dtype".to_owned(), Prop::DType(self.dtype))])
    }

    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        MakeNodeError::expect_inputs(NAME, 3, inputs)?;
        for (input, ty) in inputs.iter().enumerate() {
            if ty.ndim() != 0 || ty.dtype() != self.dtype {
                return Err(refuse(NAME, input, ty, format!("a number, `{}[]`", self.dtype)));
            }
        }
        Ok(vec![of(self.dtype, vec![Extent::Unknown])])
    }

    fn perform(&self, inputs: &[&Array]) -> Result<Vec<Array>, PerformError> {
        let refuse = |problem: &str| PerformError::value(NAME, problem);
        let all = match (inputs[0], inputs[1], inputs[2]) {
            (Array::F32(start), Array::F32(stop), Array::F32(step)) => {
                let [start, stop, step] = [start, stop, step].map(|a| a.first().copied().unwrap_or(0.0));
                let n = length(f64::from(start), f64::from(stop), f64::from(step)).map_err(refuse)?;
                elements::room(NAME, &[n])?;
                let second = (f64::from(start) + f64::from(step)) as f32;
                let number =
                    |i: usize| [start, second].get(i).copied().unwrap_or(start + i as f32 * (second - start));
                (0..n).map(|i| Value::F32(number(i))).collect::<Vec<_>>()
            }
            (Array::F64(start), Array::F64(stop), Array::F64(step)) => {
                let [start, stop, step] = [start, stop, step].map(|a| a.first().copied().unwrap_or(0.0));
                let n = length(start, stop, step).map_err(refuse)?;
                elements::room(NAME, &[n])?;
                let second = start + step;
                let number =
                    |i: usize| [start, second].get(i).copied().unwrap_or(start + i as f64 * (second - start));
                (0..n).map(|i| Value::F64(number(i))).collect()
            }
            _ => integers(inputs)?,
        };
        // Integers wrap to their dtype.
        let n = all.len();
        Ok(vec![collect(self.dtype, &[n], &all).ok_or_else(|| elements::mismatch(NAME))?])
    }
}

/// Returns the number of elements.
fn length(start: f64, stop: f64, step: f64) -> Result<usize, &'static str> {
    let exact = ((stop - start) / step).ceil();
    match exact {
        _ if step == 0.0 => Err("arange: the step must not be zero"),
        _ if exact.is_nan() => Err("arange: cannot compute length"),
        _ if exact >= 9_223_372_036_854_775_808.0 => Err("Maximum allowed size exceeded"),
        _ => Ok(exact.max(0.0) as usize),
    }
}

/// Returns the elements for integers of any width.
fn integers(inputs: &[&Array]) -> Result<Vec<Value>, PerformError> {
    let refuse = |problem: &str| Err(PerformError::value(NAME, problem));
    let [Some(start), Some(stop), Some(step)] = [0, 1, 2].map(|k| exact(inputs[k])) else {
        return Err(elements::mismatch(NAME));
    };
    if step == 0 {
        return refuse("arange: the step must not be zero");
    }
    let span = if step > 0 { stop - start } else { start - stop };
    let n = if span <= 0 { 0 } else { (span - 1) / step.abs() + 1 };
    if n > i128::from(i64::MAX) {
        return refuse("Maximum allowed size exceeded");
    }
    elements::room(NAME, &[n as usize])?;
    // Only the first n numbers are computed, so all lie between start and stop and fit the dtype.
    Ok((0..n).map(|i| Value::I64((start + i * step) as i64)).collect())
}

/// Returns the only element of an integer array.
fn exact(array: &Array) -> Option<i128> {
    // The cast keeps the low bits, which are all the bits of a u64.
    let Value::I64(low) = scalar::elements(array, &[])?.first()?.cast(DType::I64) else { return None };
    Some(if array.dtype() == DType::U64 { i128::from(low.cast_unsigned()) } else { i128::from(low) })
}

impl Called for ARange {
    const HEADER: &'static str = "precast/ops/range.h";

    fn call(&self, _node: &Node) -> Call {
        Call::stamped(format!("PC_ARANGE_{}", self.dtype), "", vec![i64::from(self.dtype.typenum())])
    }
}
called!(ARange);
