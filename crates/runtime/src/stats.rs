//! Counters and recent events of a runtime.

#[cfg(feature = "jit")]
use precast_acquire::Observer;
use precast_store::Event as StoreEvent;
use precast_store::key::StaleVersion;
use std::collections::VecDeque;
use std::fmt;
use std::path::PathBuf;
#[cfg(feature = "jit")]
use std::sync::Arc;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// An event during the resolution of graphs.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// A layer served a module.
    Hit {
        /// The module's signature.
        signature: String,
        /// The layer.
        layer: String,
    },
    /// No layer had the module.
    Miss {
        /// The graph's or module's signature.
        signature: String,
    },
    /// A module was compiled.
    Compiled {
        /// The module's signature.
        signature: String,
        /// The compile time.
        took: Duration,
    },
    /// A module compiled in the background now serves a function's calls.
    Swapped {
        /// The signatures of the modules.
        signature: String,
    },
    /// A background compile failed; the function continues to be served by parts.
    NotSwapped {
        /// The signatures of the modules.
        signature: String,
        /// The reason.
        reason: String,
    },
    /// A compiled module was published.
    Published {
        /// The module's signature.
        signature: String,
        /// The layer.
        layer: String,
    },
    /// A compiled module could not be published, and is used from memory only.
    NotPublished {
        /// The module's signature.
        signature: String,
        /// The reason.
        reason: String,
    },
    /// A compiled module is kept in the process, because one of its ops has an empty version.
    Private {
        /// The module's signature.
        signature: String,
    },
    /// The C of an op changed without a new version; its modules in the layers were not used.
    Stale(StaleVersion),
    /// A miss was recorded, or the manifest already contained it.
    Recorded {
        /// The graph's or module's signature.
        signature: String,
        /// The manifest.
        path: PathBuf,
        /// Whether it was added now.
        added: bool,
    },
    /// A miss could not be recorded.
    NotRecorded {
        /// The graph's or module's signature.
        signature: String,
        /// The reason.
        reason: String,
    },
    /// A verified module could not be loaded, and was skipped.
    NotLoaded {
        /// The module's signature.
        signature: String,
        /// The reason.
        reason: String,
    },
    /// A layer found corrupt data, or a build with a different result.
    Layer(StoreEvent),
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hit { signature, layer } => write!(f, "hit: `{signature}` in {layer}"),
            Self::Miss { signature } => write!(f, "miss: `{signature}`"),
            Self::Compiled { signature, took } => {
                write!(f, "compiled `{signature}` in {} ms", took.as_millis())
            }
            Self::Swapped { signature } => write!(f, "switched to `{signature}`"),
            Self::NotSwapped { signature, reason } => {
                write!(f, "cannot compile `{signature}`, using parts instead: {reason}")
            }
            Self::Published { signature, layer } => write!(f, "published `{signature}` to {layer}"),
            Self::NotPublished { signature, reason } => {
                write!(f, "`{signature}` was not published: {reason}")
            }
            Self::Private { signature } => {
                write!(f, "`{signature}` was not published: one of its ops has an empty cache version")
            }
            Self::Stale(stale) => write!(f, "{stale}"),
            Self::Recorded { signature, path, added: true } => {
                write!(f, "recorded `{signature}` in `{}`", path.display())
            }
            Self::Recorded { signature, path, added: false } => {
                write!(f, "`{signature}` is already declared in `{}`", path.display())
            }
            Self::NotRecorded { signature, reason } => write!(f, "`{signature}` was not recorded: {reason}"),
            Self::NotLoaded { signature, reason } => write!(f, "`{signature}` was skipped: {reason}"),
            Self::Layer(event) => write!(f, "{event}"),
        }
    }
}

#[cfg(feature = "jit")]
impl From<precast_acquire::Event> for Event {
    fn from(event: precast_acquire::Event) -> Self {
        use precast_acquire::Event as Engine;
        match event {
            Engine::Stale(stale) => Self::Stale(stale),
            Engine::Compiled { signature, took } => Self::Compiled { signature, took },
            Engine::Private { signature } => Self::Private { signature },
            Engine::Published { signature, layer } => Self::Published { signature, layer },
            Engine::NotPublished { signature, reason } => Self::NotPublished { signature, reason },
        }
    }
}

/// The statistics of a runtime.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Stats {
    /// The number of modules served by a layer.
    pub hits: u64,
    /// The number of graphs that no layer could serve, whole or op by op.
    pub misses: u64,
    /// The number of compiled modules.
    pub compiled: u64,
    /// The number of functions that switched to modules compiled in the background.
    pub swapped: u64,
    /// The number of functions that failed to switch.
    pub not_swapped: u64,
    /// The number of compiled modules that could not be published: the next process compiles them again.
    pub unpublished: u64,
    /// The number of declarations added to the manifest of recorded misses.
    pub recorded: u64,
    /// The number of corrupt objects found; they are never used.
    pub damaged: u64,
    /// The latest events, oldest first; at most 256.
    pub events: Vec<Event>,
}

/// The destination for events of a runtime and its layers.
#[derive(Debug, Default)]
pub(crate) struct Recorder(Mutex<(Stats, VecDeque<Event>)>);

const KEPT: usize = 256;

impl Recorder {
    pub(crate) fn tell(&self, event: Event) {
        let mut guard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (stats, events) = &mut *guard;
        match &event {
            Event::Hit { .. } => stats.hits += 1,
            Event::Miss { .. } => stats.misses += 1,
            Event::Compiled { .. } => stats.compiled += 1,
            Event::Swapped { .. } => stats.swapped += 1,
            Event::NotSwapped { .. } => stats.not_swapped += 1,
            Event::NotPublished { .. } => stats.unpublished += 1,
            Event::Recorded { added: true, .. } => stats.recorded += 1,
            Event::Layer(StoreEvent::Damaged { .. }) => stats.damaged += 1,
            _ => {}
        }
        if events.len() == KEPT {
            events.pop_front();
        }
        events.push_back(event);
    }

    /// Returns an observer that forwards the events of the compiling engine.
    #[cfg(feature = "jit")]
    pub(crate) fn observer(self: &Arc<Self>) -> Observer {
        let recorder = Arc::clone(self);
        Arc::new(move |event| recorder.tell(event.into()))
    }

    /// Returns the latest matching event, in words.
    pub(crate) fn last(&self, is_of_it: impl Fn(&Event) -> bool) -> Option<String> {
        let guard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        guard.1.iter().rev().find(|event| is_of_it(event)).map(ToString::to_string)
    }

    pub(crate) fn stats(&self) -> Stats {
        let guard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (stats, events) = &*guard;
        Stats { events: events.iter().cloned().collect(), ..stats.clone() }
    }
}
