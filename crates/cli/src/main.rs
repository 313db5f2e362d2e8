//! The `precast` command.
fn main() {}
