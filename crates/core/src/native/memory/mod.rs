//! The memory of values.
//!
//! ```text
//! object  tensors as modules see them: owned, borrowed, views; reference counts
//! header  the headers of tensors, kept for reuse
//! pages   requests large pages
//! keep    an allocator for programs with large arrays, which keeps their memory
//! ```

pub(super) mod header;
mod keep;
pub(super) mod object;
pub(super) mod pages;

pub use keep::KeepLarge;
