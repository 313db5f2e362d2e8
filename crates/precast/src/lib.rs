//! Ahead-of-time compiled numeric graphs: the crate that users add
