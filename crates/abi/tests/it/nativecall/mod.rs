//! CEP 1000 in Rust and in C: signatures, keys, tables, typed functions, the registry.
#![allow(unsafe_code, reason = "tests of an interface to C")]

mod c;
#[cfg(feature = "ffi")]
mod call;
mod encodings;
mod grammar;
mod python;
mod registry;
mod table;
mod texts;
mod threads;
mod typed;

use precast_abi::nativecall::Signature;

fn sig(text: &str) -> Signature {
    Signature::parse(text).unwrap()
}
