//! A host in C.
