//! Compiles units of handwritten modules with the real compiler: equal bytes, located errors, requirements read from
//! the object.

mod again;
mod bytes;
mod cc;
mod compat;
mod errors;
mod extension;
mod farm;
mod generations;
mod hosted;
mod identity;
mod inputs;
mod modules;
mod parallel;
mod places;
mod stacks;
mod statically;
mod zig;
