//! A small scoring service.
fn main() {}
