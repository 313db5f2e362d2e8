//! Tests of the ABI crate: the mirror against the headers, signatures, tables.
mod layout;
mod table;
