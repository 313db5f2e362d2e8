//! The runtime: resolves graphs to functions with layers, a policy and a library of ops.

mod alone;
mod builder;
mod combination;
#[cfg(feature = "jit")]
mod compile;
mod entries;
mod explain;
mod function;

pub use builder::Builder;

use crate::cover::KnownCovers;
use crate::filter::Casting;
use crate::policy::Policy;
use crate::resolve::Resolver;
use crate::stats::Stats;
use precast_core::Function;
use precast_ops::Ops;
use precast_store::RecordId;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

/// Resolves graphs to callable functions.
///
/// # Examples
/// ```no_run
/// use precast_runtime::{Policy, Runtime};
/// let runtime = Runtime::builder().store("artifacts").policy(Policy::Strict).build()?;
/// let score = runtime.entry("score")?;
/// let x = ndarray::array![1.0, 2.0];
/// let outputs = score.call(&[x.view().into()])?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Runtime {
    pub(crate) resolver: Arc<Resolver>,
    policy: Policy,
    debug: bool,
    casting: Casting,
    ops: Arc<Ops>,
    /// The covers of segments without a module.
    known_covers: KnownCovers,
    /// Entries whose programs were compared with their graphs.
    checked: Mutex<BTreeSet<RecordId>>,
    /// Entries that modules serve, by name.
    functions: Mutex<BTreeMap<String, Function>>,
    #[cfg(feature = "jit")]
    engine: Arc<precast_acquire::Engine>,
    /// Dropped before the state that its jobs use.
    #[cfg(feature = "jit")]
    background: crate::background::Background,
    #[cfg(feature = "record")]
    recording: Option<crate::recording::Recording>,
}

impl Runtime {
    /// Returns a builder for a runtime.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Returns the library of ops.
    #[must_use]
    pub fn ops(&self) -> &Ops {
        &self.ops
    }

    /// Returns whether functions check their Applies in every call; see [`Builder::debug`].
    #[must_use]
    pub fn is_debug(&self) -> bool {
        self.debug
    }

    /// Waits until all background compiles serve their calls, and all compiled modules are published, or have failed.
    /// The result of [`Runtime::stats`] is final for them. Dropping the runtime waits for running jobs too, but then
    /// no statistics are available.
    pub fn flush(&self) {
        #[cfg(feature = "jit")]
        {
            self.background.flush();
            self.engine.flush();
        }
    }

    /// Returns counters and the latest events. Modules that are still being published are missing; see
    /// [`Runtime::flush`].
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.resolver.recorder.stats()
    }
}

impl std::fmt::Debug for Runtime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let layers: Vec<String> = self.resolver.layers.iter().map(ToString::to_string).collect();
        f.debug_struct("Runtime")
            .field("layers", &layers)
            .field("policy", &self.policy)
            .finish_non_exhaustive()
    }
}
