//! Sources that a command line names: layers, a graph, and the other machines of a build.

#[cfg(feature = "remote")]
pub(crate) mod elsewhere;
pub(crate) mod graph;
pub(crate) mod layers;
