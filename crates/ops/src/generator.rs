//! Which version of the sources generates code.

/// Digest of the sources that generate C: two programs of one digest make the same module of the same graph.
pub const GENERATOR: &str = include!(concat!(env!("OUT_DIR"), "/generator.rs"));
