//! The op library: declarations, reference perform, C templates
