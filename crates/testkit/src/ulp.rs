//! Compares floats by the number of representable values between them.

use precast_graph::{Array, DType, with_array};

/// Returns the steps between two `f64`: 0 for equal values, for +0 and −0, and for any two NaN; `u64::MAX` for a NaN
/// and a number.
///
/// # Examples
/// ```
/// use precast_testkit::ulp::ulp_distance;
/// assert_eq!(ulp_distance(1.0, 1.0 + f64::EPSILON), 1);
/// assert_eq!(ulp_distance(f64::MAX, f64::INFINITY), 1);
/// ```
#[must_use]
pub fn ulp_distance(a: f64, b: f64) -> u64 {
    match (a.is_nan(), b.is_nan()) {
        (true, true) => 0,
        (false, false) => ordered(a.to_bits(), 1 << 63).abs_diff(ordered(b.to_bits(), 1 << 63)),
        _ => u64::MAX,
    }
}

/// Returns the steps between two `f32`, like [`ulp_distance`].
#[must_use]
pub fn ulp_distance_f32(a: f32, b: f32) -> u64 {
    let ordered = |x: f32| ordered(u64::from(x.to_bits()), 1 << 31);
    match (a.is_nan(), b.is_nan()) {
        (true, true) => 0,
        (false, false) => ordered(a).abs_diff(ordered(b)),
        _ => u64::MAX,
    }
}

/// Returns the bits of a float as an integer that grows with the float; both zeros are 0.
fn ordered(bits: u64, sign: u64) -> i64 {
    let magnitude = (bits & (sign - 1)).cast_signed();
    if bits & sign == 0 { magnitude } else { -magnitude }
}

/// A difference between two arrays above the tolerance.
#[derive(Debug, Clone, PartialEq)]
pub enum Mismatch {
    /// The dtype or the shape differs.
    Type {
        /// The found type, such as `f64[3,1]`.
        found: String,
        /// The expected type.
        expected: String,
    },
    /// An element differs too much.
    Element {
        /// The index of the element.
        index: Vec<usize>,
        /// The found value.
        found: String,
        /// The expected value.
        expected: String,
        /// The distance in ulp; `None` for integers, a zero of the wrong sign, a NaN against a number.
        ulp: Option<u64>,
        /// The number of elements that differ too much.
        count: usize,
    },
}

impl std::fmt::Display for Mismatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Type { found, expected } => write!(f, "found `{found}`, expected `{expected}`"),
            Self::Element { index, found, expected, ulp, count } => {
                write!(f, "at {index:?}: found {found}, expected {expected}")?;
                if let Some(ulp) = ulp {
                    write!(f, ", {ulp} ulp apart")?;
                }
                write!(f, "; {count} element(s) differ")
            }
        }
    }
}

impl std::error::Error for Mismatch {}

/// Compares arrays: same dtype and shape, integers equal, floats within `max_ulp`.
///
/// With `max_ulp` 0 floats must have the same bits, except that any NaN equals any other (payloads differ between
/// CPUs). Otherwise +0 and −0 are equal too.
///
/// # Errors
/// Returns the element with the largest distance, with its index and both values.
pub fn compare(found: &Array, expected: &Array, max_ulp: u64) -> Result<(), Mismatch> {
    if found.dtype() != expected.dtype() || found.shape() != expected.shape() {
        return Err(Mismatch::Type { found: found.ty().to_string(), expected: expected.ty().to_string() });
    }
    let far = distances(found, expected, max_ulp == 0);
    let count = far.iter().filter(|ulp| **ulp > max_ulp).count();
    // The largest distance; the first of several equal ones.
    let worst = far.iter().enumerate().max_by_key(|(position, ulp)| (**ulp, std::cmp::Reverse(*position)));
    let Some((position, ulp)) = worst.filter(|(_, ulp)| **ulp > max_ulp) else { return Ok(()) };
    Err(Mismatch::Element {
        index: unravel(position, found.shape()),
        found: show(found, position),
        expected: show(expected, position),
        ulp: (*ulp != u64::MAX).then_some(*ulp),
        count,
    })
}

/// Returns whether two arrays have the same dtype, shape and bits. Any two NaN are equal, since payloads differ
/// between CPUs.
#[must_use]
pub fn same_bits(found: &Array, want: &Array) -> bool {
    compare(found, want, 0).is_ok()
}

/// Asserts that [`compare`] finds no mismatch.
///
/// # Panics
/// With the context and the element with the largest distance.
#[track_caller]
pub fn assert_ulp(found: &Array, expected: &Array, max_ulp: u64, context: &dyn std::fmt::Display) {
    if let Err(mismatch) = compare(found, expected, max_ulp) {
        panic!("{context}: {mismatch}; allowed {max_ulp} ulp");
    }
}

/// Returns the distance of each pair of elements, in C order; `u64::MAX` where no tolerance applies. The distance of
/// complex numbers is the greater one of their parts.
fn distances(found: &Array, expected: &Array, signed_zero: bool) -> Vec<u64> {
    let Some((sign, infinity)) = float_layout(found.dtype()) else {
        let exact = |(a, b): (u64, u64)| if a == b { 0 } else { u64::MAX };
        return found.bits().into_iter().zip(expected.bits()).map(exact).collect();
    };
    let far = |(a, b): (u64, u64)| {
        let nan = |x: u64| x & (sign - 1) > infinity;
        match (nan(a), nan(b)) {
            (true, true) => 0,
            (false, false) if signed_zero && a != b && (a | b) & (sign - 1) == 0 => u64::MAX,
            (false, false) => ordered(a, sign).abs_diff(ordered(b, sign)),
            _ => u64::MAX,
        }
    };
    let parts: Vec<u64> = parts(found).into_iter().zip(parts(expected)).map(far).collect();
    let count = if found.dtype().is_complex() { 2 } else { 1 };
    parts.chunks_exact(count).map(|parts| parts.iter().copied().max().unwrap_or(0)).collect()
}

/// Returns the sign bit and the bits of infinity of a float, or of a complex number's part; `None` for the rest.
fn float_layout(dtype: DType) -> Option<(u64, u64)> {
    match dtype.real() {
        DType::F16 => Some((1 << 15, 0x7c00)),
        DType::Bf16 => Some((1 << 15, 0x7f80)),
        DType::F32 => Some((1 << 31, 0x7f80_0000)),
        DType::F64 => Some((1 << 63, 0x7ff0_0000_0000_0000)),
        _ => None,
    }
}

/// Returns the bits of every part of complex numbers; for other dtypes, of the elements.
fn parts(array: &Array) -> Vec<u64> {
    match array.dtype() {
        DType::C64 => array.bits().into_iter().flat_map(|word| [word & 0xffff_ffff, word >> 32]).collect(),
        _ => array.bits(),
    }
}

/// Returns the index of a position in C order.
fn unravel(mut position: usize, shape: &[usize]) -> Vec<usize> {
    let mut index: Vec<usize> = shape
        .iter()
        .rev()
        .map(|n| {
            let here = position % n;
            position /= n;
            here
        })
        .collect();
    index.reverse();
    index
}

fn show(array: &Array, position: usize) -> String {
    let bits = array.bits().get(position).copied().unwrap_or_default();
    let value = with_array!(array, a => a.iter().nth(position).map(|x| format!("{x:?}")));
    format!("{} (bits 0x{bits:x})", value.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::{Mismatch, compare, ulp_distance, ulp_distance_f32};
    use ndarray::arr2;
    use precast_graph::Array;

    #[test]
    fn distance_counts_the_floats_between() {
        assert_eq!(ulp_distance(0.0, f64::from_bits(3)), 3);
        assert_eq!(ulp_distance(-f64::from_bits(2), f64::from_bits(3)), 5);
        assert_eq!(ulp_distance(0.0, -0.0), 0);
        assert_eq!(ulp_distance(f64::NEG_INFINITY, f64::INFINITY), 2 * 0x7ff0_0000_0000_0000);
        assert_eq!(ulp_distance_f32(1.0, 1.0 - f32::EPSILON), 2);
        assert_eq!(ulp_distance_f32(f32::NAN, -f32::NAN), 0);
        assert_eq!(ulp_distance_f32(f32::NAN, 1.0), u64::MAX);
    }

    #[test]
    fn compare_names_the_worst_element() {
        let a = Array::from(arr2(&[[1.0, 2.0], [3.0, 4.0]]).into_dyn());
        let b = Array::from(arr2(&[[1.0, 2.0], [3.0 + 4e-16, 4.0 + 8e-15]]).into_dyn());
        assert_eq!(compare(&a, &b, 9), Ok(()));
        let Err(Mismatch::Element { index, ulp, count, .. }) = compare(&a, &b, 0) else {
            panic!("they differ")
        };
        assert_eq!((index, ulp, count), (vec![1, 1], Some(9), 2));
    }

    #[test]
    fn signed_zeros_are_equal_only_within_tolerance() {
        assert!(compare(&Array::from(0.0), &Array::from(-0.0), 0).is_err());
        assert!(compare(&Array::from(0.0), &Array::from(-0.0), 1).is_ok());
        assert!(compare(&Array::from(f64::NAN), &Array::from(-f64::NAN), 0).is_ok());
        assert!(compare(&Array::from(f64::NAN), &Array::from(1.0), 1 << 60).is_err());
    }

    #[test]
    fn integers_have_no_tolerance() {
        assert!(compare(&Array::from(3_i64), &Array::from(4_i64), 10).is_err());
        assert!(compare(&Array::from(3_i64), &Array::from(3.0), 10).is_err());
    }
}
