//! From a wanted module to verified bytes.
//!
//! ```text
//! module ─▶ key ─▶ find: layers in order ─ hit ─▶ verified bytes
//!                     │ miss
//!                     ├─▶ Engine::make: compile once, publish ─▶ bytes           (feature `compile`)
//!                     └─▶ Inventory::explain ─▶ Miss: the reasons
//! ```
//! | to | read |
//! |---|---|
//! | find what a layer has and this host can run | [`find`], [`outdated`] |
//! | compile what no layer has, once among threads and processes | [`Engine`] |
//! | say why something is missing | [`Inventory`], of a unit in a build [`Reasons`]; [`Miss`], [`Reason`] |
//! | keep state that threads wait for, safely under `fork` | [`PerProcess`] |
//!
//! Build scripts, the command line, the runtime's JIT and Python's extension modules are faces of this crate: they decide what
//! is wanted and what is done with the bytes.

#[cfg(feature = "compile")]
mod engine;
mod inventory;
mod miss;
mod outside;
mod process;
#[cfg(feature = "compile")]
mod publishing;
#[cfg(feature = "compile")]
mod unit;

#[cfg(feature = "compile")]
pub use engine::{Engine, Event, Made, MakeError, Observer, Request};
pub use inventory::Inventory;
pub use miss::{Miss, Reason};
pub use outside::{find, outdated};
pub use process::PerProcess;
#[cfg(feature = "compile")]
pub use unit::Reasons;
