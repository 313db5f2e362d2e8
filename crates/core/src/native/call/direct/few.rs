//! A small inline list, which saves every call one pointer indirection.

use std::ops::Deref;

/// Maximum number of values.
pub(super) const MOST: usize = 8;

/// One to eight values.
#[derive(Debug)]
pub(super) struct Few<T> {
    values: [T; MOST],
    len: usize,
}

impl<T: Copy> Few<T> {
    /// Creates the list. Returns `None` if `values` is empty or too long.
    pub(super) fn new(values: &[T]) -> Option<Self> {
        let mut few = Self { values: [*values.first()?; MOST], len: values.len() };
        few.values.get_mut(..values.len())?.copy_from_slice(values);
        Some(few)
    }
}

impl<T> Deref for Few<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        self.values.get(..self.len).unwrap_or_default()
    }
}
