//! Storage: the tensors that dead temporaries leave behind, for those that come after them.
//!
//! A program is the same in every call, so a temporary asks for the tensor that it had the last time, and finds it: steady
//! calls allocate nothing, and temporaries whose lives do not meet share memory. The first time it takes any that might fit;
//! the module replaces one that does not. What a call did not need is given back at its end.

use super::executable::Room;
use super::object::{Owned, extents};
use precast_abi::tensor::Object;
use std::ptr;

/// Tensors that nobody uses.
#[derive(Debug, Default)]
pub(super) struct Storage {
    idle: Vec<(Owned, u64)>,
    /// For each temporary, the address of the tensor it had last; compared, never followed.
    last: Vec<usize>,
    /// Number of the call.
    call: u64,
}

impl Storage {
    /// Room for as many temporaries.
    pub(super) fn new(temps: usize) -> Self {
        Self { idle: Vec::with_capacity(temps), last: vec![0; temps], call: 0 }
    }

    /// A tensor for a temporary's cell; NULL if there is none. `shape` is what is known to be needed.
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

    /// Remembers which tensor a temporary has.
    pub(super) fn remember(&mut self, position: usize, tensor: *mut Object) {
        self.last[position] = tensor.addr();
    }

    /// Takes what a temporary leaves behind. Views, and what others still look at, are not kept.
    pub(super) fn give(&mut self, tensor: Owned) {
        if tensor.is_reusable() {
            self.idle.push((tensor, self.call));
        }
    }

    /// Ends a call: what it did not use is freed.
    pub(super) fn settle(&mut self) {
        let call = self.call;
        self.idle.retain(|(_, used)| *used == call);
        self.call += 1;
    }
}
