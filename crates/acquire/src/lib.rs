//! Acquires modules: from a module's key to verified bytes.
//!
//! ```text
//! module ─▶ key ─▶ find: layers in order ─ hit ─▶ verified bytes
//!                     │ miss
//!                     ├─▶ Engine::make: compile once, publish ─▶ bytes           (feature `compile`)
//!                     └─▶ Inventory::explain ─▶ Miss: the reasons
//! ```
//! | task | item |
//! |---|---|
//! | find runnable records in a layer | [`find`], [`outdated`] |
//! | compile a missing module, once among threads and processes | [`Engine`] |
//! | explain a miss | [`Inventory`], for a unit of a build [`Reasons`]; [`Miss`], [`Reason`] |
//! | share state among threads, safely under `fork` | [`PerProcess`] |
//!
//! Build scripts, the command line, the runtime's JIT and Python's extension modules are front ends of this crate:
//! they choose the modules and use the bytes.

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
pub use engine::{Engine, Event, Made, MakeError, Observer, Request, best};
pub use inventory::Inventory;
pub use miss::{Miss, Reason};
pub use outside::{find, outdated};
pub use process::PerProcess;
#[cfg(feature = "compile")]
pub use unit::{Reasons, UnitMiss};
