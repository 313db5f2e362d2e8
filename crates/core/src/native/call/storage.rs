//! Storage: the tensors of dead temporaries, for reuse by later ones.
//!
//! A program has the same steps in every call, so a temporary usually gets the tensor that it had the last time. So
//! repeated calls allocate nothing, and temporaries that are not alive at the same time share memory. At first a temporary
//! takes any suitable tensor, and the module replaces one that does not fit. Tensors that a call did not use are freed at
//! its end.

use super::executable::Room;
use crate::native::memory::object::{Owned, extents};
use precast_abi::tensor::Object;
use std::ptr;

/// Unused tensors.
#[derive(Debug, Default)]
pub(super) struct Storage {
    idle: Vec<(Owned, u64)>,
    /// For each temporary, the address of its last tensor; compared, never dereferenced.
    last: Vec<usize>,
    /// Number of the call.
    call: u64,
}

impl Storage {
    /// Creates storage for `temps` temporaries.
    pub(super) fn new(temps: usize) -> Self {
        Self { idle: Vec::with_capacity(temps), last: vec![0; temps], call: 0 }
    }

    /// Takes a tensor for a temporary, or NULL if none is suitable. `shape` is the required shape, if known.
    pub(super) fn take(&mut self, position: usize, temp: Room, shape: Option<&[i64]>) -> *mut Object {
        let fits = |owned: &Owned| {
            owned.tensor().is_some_and(|tensor| {
                let same = tensor.dtype == temp.dtype.typenum() && tensor.ndim as usize == temp.ndim;
                same && shape.is_none_or(|shape| extents(tensor) == shape)
            })
        };
        let last = self.last[position];
        let mut found = None;
        for (at, (tensor, _)) in self.idle.iter().enumerate() {
            let known = tensor.as_raw().addr() == last;
            if (known || (last == 0 && found.is_none())) && fits(tensor) {
                found = Some(at);
            }
        }
        found.map_or(ptr::null_mut(), |at| self.idle.swap_remove(at).0.into_raw())
    }

    /// Records the tensor of a temporary.
    pub(super) fn remember(&mut self, position: usize, tensor: *mut Object) {
        self.last[position] = tensor.addr();
    }

    /// Stores the tensor of a dead temporary. Views and shared tensors are dropped.
    pub(super) fn give(&mut self, tensor: Owned) {
        if tensor.is_reusable() {
            self.idle.push((tensor, self.call));
        }
    }

    /// Ends a call: frees the tensors that it did not use.
    pub(super) fn settle(&mut self) {
        let call = self.call;
        self.idle.retain(|(_, used)| *used == call);
        self.call += 1;
    }
}
