//! Tests of the runtime against a real compiler and real stores.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod call;
mod cancel;
mod debug;
mod extents;
mod keyring;
mod names;
mod profile;
mod resolve;
mod tiered;
