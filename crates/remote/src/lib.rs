//! Artifacts elsewhere.
#![forbid(unsafe_code)]

#[cfg(feature = "reapi")]
pub mod reapi;
