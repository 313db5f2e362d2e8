//! Integration tests of the ABI crate: the mirror against the headers, signatures, tables.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod compat;
mod mirror;
mod nativecall;
