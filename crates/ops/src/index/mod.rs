//! Ops that select parts of a tensor, and ops that write to such parts.
//!
//! | op | inputs | result |
//! |---|---|---|
//! | [`Subtensor`] | tensor, integers | a view: Python's basic indexing |
//! | [`IncSubtensor`] | tensor, values, integers | the tensor with that part set or added to |
//! | [`AdvancedSubtensor1`] | tensor, i64 vector | the rows with these indices, copied |
//! | [`AdvancedIncSubtensor1`] | tensor, values, i64 vector | the tensor with those rows set or added to |
//! | [`BooleanIndex`] | tensor, mask | the parts where the mask is true, copied |
//! | [`Nonzero`] | mask | the indices of the true elements |
//!
//! [`selector`] defines the notation of a part: which dimensions are indexed and which are sliced. The numbers are
//! inputs, so `x[1:n]` and `x[3:7]` share a module. New axes are a DimShuffle. The C code is in
//! `c/precast/ops/index.h` and `mask.h`.

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
