//! Rules for the values of a type: conversion and equality.
//!
//! `filter` converts a caller's value to a value of the type, or returns an error. The caller chooses how far the
//! conversion may go:
//!
//! | `strict` | `allow_downcast` | accepts |
//! |---|---|---|
//! | true | any | values of the type's own dtype |
//! | false | `Some(true)` | any dtype, converted |
//! | false | `Some(false)` | a dtype that promotes to the type's; a single number that the type's dtype holds exactly |
//! | false | `None` | as `Some(false)`, and a single float for any float type, as in `x + 0.1` |
//!
//! Rank and extents must always match the type.

use crate::Array;
use crate::DType;
use crate::Number;
use crate::Type;

/// Why a value does not belong to a type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FilterError {
    /// The dtype differs and must not or cannot be converted without loss.
    #[error("cannot convert dtype `{found}` to type `{ty}`{}", if *strict { "" } else { " without loss" })]
    DType {
        /// The type.
        ty: String,
        /// The dtype of the value.
        found: DType,
        /// Whether all conversions were forbidden.
        strict: bool,
    },
    /// The rank or an extent does not match the type.
    #[error("a value of type `{ty}` cannot have extents {found:?}")]
    Shape {
        /// The type.
        ty: String,
        /// The extents of the value.
        found: Vec<usize>,
    },
    /// The type rejects the value for a reason specific to the type.
    #[error("`{ty}`: {problem}")]
    Value {
        /// The type.
        ty: String,
        /// A description of the problem.
        problem: String,
    },
}

/// The rules of a type for its values. The defaults are the rules of the built-in types and of the carriers of user
/// types.
///
/// # Examples
/// ```
/// use precast_graph::{Array, CarrierRules, DType, Type, TypeRules};
///
/// let ty: Type = "f32[?]".parse().unwrap();
/// let integers = Array::from(ndarray::array![1_i16, 2]);
/// let floats = CarrierRules.filter(&ty, integers.clone(), false, None).unwrap();
/// assert_eq!(floats.dtype(), DType::F32);
/// assert!(CarrierRules.filter(&ty, integers, true, None).is_err());
/// let wide = Array::from(ndarray::array![1.0_f64]);
/// assert!(CarrierRules.filter(&ty, wide.clone(), false, None).is_err());
/// assert!(CarrierRules.filter(&ty, wide, false, Some(true)).is_ok());
/// ```
///
/// # Source
/// `TensorType.filter` and `values_eq_approx` of Theano, Aesara and PyTensor.
pub trait TypeRules {
    /// Converts a value to the type `ty`.
    ///
    /// # Errors
    /// A dtype or extents that the type does not accept; see the table above.
    fn filter(
        &self,
        ty: &Type,
        value: Array,
        strict: bool,
        allow_downcast: Option<bool>,
    ) -> Result<Array, FilterError> {
        let value = convert(ty, value, strict, allow_downcast)?;
        if ty.admits(value.dtype(), value.shape()) {
            return Ok(value);
        }
        Err(FilterError::Shape { ty: ty.to_string(), found: value.shape().to_vec() })
    }

    /// Returns whether two values have equal dtype, shape and numbers. A NaN equals a NaN, and 0 equals −0.
    fn values_eq(&self, a: &Array, b: &Array) -> bool {
        alike(a, b) && a.numbers().into_iter().zip(b.numbers()).all(|(a, b)| a.same(b))
    }

    /// Returns whether two values are equal up to rounding: NumPy's `allclose` with a tolerance that fits the dtype.
    /// Infinities and NaN must be in the same places. Integers must be equal.
    fn values_eq_approx(&self, a: &Array, b: &Array) -> bool {
        let Some((relative, absolute)) = tolerance(a.dtype()) else { return self.values_eq(a, b) };
        let close = |a: f64, b: f64| (a - b).abs() <= absolute + relative * b.abs();
        let near = |(a, b): (Number, Number)| {
            let ((ar, ai), (br, bi)) = (a.parts(), b.parts());
            let finite = [ar, ai, br, bi].into_iter().all(f64::is_finite);
            a.same(b) || (finite && close(ar, br) && close(ai, bi))
        };
        alike(a, b) && a.numbers().into_iter().zip(b.numbers()).all(near)
    }
}

/// The default rules, shared by all built-in types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CarrierRules;

impl TypeRules for CarrierRules {}

fn alike(a: &Array, b: &Array) -> bool {
    a.dtype() == b.dtype() && a.shape() == b.shape()
}

fn convert(
    ty: &Type,
    value: Array,
    strict: bool,
    allow_downcast: Option<bool>,
) -> Result<Array, FilterError> {
    let (from, to) = (value.dtype(), ty.dtype());
    let converted = value.cast(to);
    let single = value.shape().is_empty();
    let exact = || value.numbers().into_iter().zip(converted.numbers()).all(|(a, b)| a.same(b));
    let literal = allow_downcast.is_none() && from.is_float() && to.is_float();
    let allowed = match (strict, allow_downcast) {
        _ if from == to => true,
        (true, _) => false,
        (false, Some(true)) => true,
        (false, _) => from.upcast(to) == to || (single && (literal || exact())),
    };
    if allowed {
        return Ok(converted);
    }
    Err(FilterError::DType { ty: ty.to_string(), found: from, strict })
}

/// Returns the relative and absolute tolerance; `None` if values must be equal.
fn tolerance(dtype: DType) -> Option<(f64, f64)> {
    match dtype.real() {
        DType::F64 => Some((1e-5, 1e-8)),
        DType::F32 => Some((1e-5, 1e-5)),
        DType::F16 => Some((1e-3, 1e-3)),
        // Bf16 has three bits fewer than f16.
        DType::Bf16 => Some((8e-3, 8e-3)),
        _ => None,
    }
}
