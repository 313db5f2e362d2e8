//! The bytes of a bundle, shared by clones of the bundle.

use std::ops::{Deref, Range};
use std::sync::Arc;

/// All bytes of a bundle. Clones share them.
#[derive(Debug, Clone)]
pub(super) enum Data {
    Static(&'static [u8]),
    Shared(Arc<Vec<u8>>),
}

impl Deref for Data {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match self {
            Self::Static(bytes) => bytes,
            Self::Shared(bytes) => bytes,
        }
    }
}

/// A range of the bytes of a bundle.
#[derive(Debug, Clone)]
pub(crate) struct Piece {
    pub(super) data: Data,
    pub(super) range: Range<usize>,
}

impl Deref for Piece {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.data.get(self.range.clone()).unwrap_or_default()
    }
}
