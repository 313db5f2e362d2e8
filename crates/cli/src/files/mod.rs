//! Files that a command line names: arrays, keys, and other outputs that are written as a whole.

pub(crate) mod arrays;
pub(crate) mod dsse;
pub(crate) mod handed;
pub(crate) mod kind;
pub(crate) mod npy;
pub(crate) mod npz;
pub(crate) mod secret;
pub(crate) mod turn;
pub(crate) mod whole;
