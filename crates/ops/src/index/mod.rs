//! Ops that take parts of a tensor, and ops that write to such parts.
//!
//! | op | inputs | result |
//! |---|---|---|
//! | [`Subtensor`] | tensor, integers | a view: Python's basic indexing |
//! | [`IncSubtensor`] | tensor, values, integers | the tensor with that part set or added to |
//! | [`AdvancedSubtensor1`] | tensor, i64 vector | the rows of these indices, copied |
//! | [`AdvancedIncSubtensor1`] | tensor, values, i64 vector | the tensor with those rows set or added to |
//! | [`BooleanIndex`] | tensor, mask | its parts where the mask is true, copied |
//! | [`Nonzero`] | mask | the indices of the places where it is true |
//!
//! [`selector`] says how a part is written down: which dimensions are indexed and which sliced. The numbers are inputs, so
//! `x[1:n]` and `x[3:7]` share a module. New axes are a DimShuffle. The C is in `c/precast/ops/index.h` and
//! `mask.h`.

mod boolean;
mod inc_subtensor;
mod inc_take;
mod nonzero;
pub mod selector;
mod subtensor;
mod take;

pub use boolean::BooleanIndex;
pub use inc_subtensor::IncSubtensor;
pub use inc_take::AdvancedIncSubtensor1;
pub use nonzero::Nonzero;
pub use selector::Selector;
pub use subtensor::Subtensor;
pub use take::AdvancedSubtensor1;
