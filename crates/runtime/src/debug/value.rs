//! Elements as bytes, compared as in the contract: equal bits, or both NaN.

use precast_codegen::UserTypes;
use precast_graph::{Array, CarrierRules, DType, Type, TypeRules as _};

/// The value of one output: extents, and the elements in C order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Value {
    pub(super) dtype: DType,
    pub(super) shape: Vec<usize>,
    pub(super) bytes: Vec<u8>,
}

impl Value {
    pub(super) fn of(array: &Array) -> Self {
        Self { dtype: array.dtype(), shape: array.shape().to_vec(), bytes: bytes(array) }
    }

    /// Converts the value to an array; a bool other than 0 becomes 1.
    pub(super) fn array(&self) -> Option<Array> {
        let word_bytes = self.dtype.itemsize_bytes() / self.dtype.words();
        let word = |bytes: &[u8]| {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            u64::from_le_bytes(word)
        };
        let bits: Vec<u64> = self.bytes.chunks_exact(word_bytes).map(word).collect();
        Array::from_bits(self.dtype, &self.shape, &bits)
    }

    /// Returns the first element that differs from another value of the same dtype and shape.
    pub(super) fn first_difference(&self, other: &Self) -> Option<usize> {
        if self.bytes == other.bytes {
            return None;
        }
        let item = self.dtype.itemsize_bytes();
        let mut pairs = self.bytes.chunks_exact(item).zip(other.bytes.chunks_exact(item));
        pairs.position(|(a, b)| !same(self.dtype, a, b))
    }

    /// Returns whether the values are equal up to rounding.
    pub(super) fn is_close(&self, other: &Self) -> bool {
        match (self.array(), other.array()) {
            (Some(a), Some(b)) => CarrierRules.values_eq_approx(&a, &b),
            _ => false,
        }
    }

    /// Returns whether the values are equal by the rules of a user type; `false` for a built-in type.
    pub(super) fn is_alike(&self, other: &Self, ty: &Type, types: &UserTypes) -> bool {
        let rules = ty.as_user().and_then(|user| types.find(user.name()));
        match (rules, self.array(), other.array()) {
            (Some(rules), Some(a), Some(b)) => rules.values_eq_approx(&a, &b),
            _ => false,
        }
    }

    /// Renders an element for messages.
    pub(super) fn element(&self, position: usize) -> String {
        let item = self.dtype.itemsize_bytes();
        let one = Self {
            dtype: self.dtype,
            shape: Vec::new(),
            bytes: self.bytes.get(position * item..(position + 1) * item).unwrap_or_default().to_vec(),
        };
        let array = one.array();
        array.map_or_else(String::new, |array| {
            precast_graph::with_array!(&array, a => a.first().map_or_else(String::new, |x| format!("{x:?}")))
        })
    }

    /// Renders the index of an element: `[1, 2]`.
    pub(super) fn index(&self, position: usize) -> String {
        let (mut rest, mut index) = (position, Vec::new());
        for extent in self.shape.iter().rev() {
            index.push(rest % extent.max(&1));
            rest /= extent.max(&1);
        }
        index.reverse();
        format!("{index:?}")
    }
}

/// Returns the elements of an array in C order, as bytes.
pub(super) fn bytes(array: &Array) -> Vec<u8> {
    let word_bytes = array.dtype().itemsize_bytes() / array.dtype().words();
    // All targets of modules are little-endian.
    array.bits().iter().flat_map(|word| word.to_le_bytes().into_iter().take(word_bytes)).collect()
}

fn same(dtype: DType, a: &[u8], b: &[u8]) -> bool {
    let part = dtype.real();
    let size = part.itemsize_bytes();
    a.chunks_exact(size)
        .zip(b.chunks_exact(size))
        .all(|(a, b)| a == b || (is_nan(part, a) && is_nan(part, b)))
}

fn is_nan(dtype: DType, bytes: &[u8]) -> bool {
    let one = Value { dtype, shape: Vec::new(), bytes: bytes.to_vec() };
    let number = one.array().and_then(|array| array.numbers().first().copied());
    number.is_some_and(|number| number.parts().0.is_nan())
}

#[cfg(test)]
mod tests {
    use super::Value;
    use precast_graph::{Array, DType, special_bits};

    #[test]
    fn values_keep_every_bit_and_nan_equals_nan() {
        for dtype in DType::ALL {
            let bits = special_bits(dtype);
            let array = Array::from_bits(dtype, &[bits.len() / dtype.words()], &bits).unwrap();
            assert_eq!(Value::of(&array).array().unwrap().bits(), bits, "{dtype}");
        }
        let of = |values: [f64; 3]| Value::of(&Array::from(ndarray::arr1(&values).into_dyn()));
        assert_eq!(of([f64::NAN, 0.0, 1.0]).first_difference(&of([-f64::NAN, 0.0, 1.0])), None);
        assert_eq!(of([f64::NAN, 0.0, 1.0]).first_difference(&of([f64::NAN, -0.0, 1.0])), Some(1));
        assert_eq!((of([0.0; 3]).index(2), of([0.0, 0.0, 7.5]).element(2)), ("[2]".into(), "7.5".into()));
    }
}
