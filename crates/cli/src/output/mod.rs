//! What users see: text, events, errors and spans.

pub(crate) mod error;
pub(crate) mod events;
pub(crate) mod print;
pub(crate) mod secrets;
pub(crate) mod term;
pub(crate) mod trace;
