//! Units of hand-made modules through the real compiler: equal bytes, located errors, what is read back.

mod again;
mod bytes;
mod compat;
mod errors;
mod extension;
mod farm;
mod hosted;
mod identity;
mod inputs;
mod modules;
mod parallel;
mod places;
mod stacks;
mod statically;
