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

/// Something that happened while graphs were resolved.
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
    /// No layer had what was wanted.
    Miss {
        /// The graph's or module's signature.
        signature: String,
    },
    /// A module was compiled.
    Compiled {
        /// The module's signature.
        signature: String,
        /// How long it took.
        took: Duration,
    },
    /// What was compiled behind a function's calls serves them from now on.
    Swapped {
        /// The signatures of the modules that do.
        signature: String,
    },
    /// What should have served a function's calls could not be had: they go on as before.
    NotSwapped {
        /// The signatures of the modules.
        signature: String,
        /// Why.
        reason: String,
    },
    /// A compiled module was published.
    Published {
        /// The module's signature.
        signature: String,
        /// The layer.
        layer: String,
    },
    /// A compiled module is used in memory only.
    NotPublished {
        /// The module's signature.
        signature: String,
        /// Why.
        reason: String,
    },
    /// A compiled module stays in the process, as one of its ops asks for.
    Private {
        /// The module's signature.
        signature: String,
    },
    /// The C of an op changed while its version did not; what layers have of it was not used.
    Stale(StaleVersion),
    /// A miss was written down, or stood in the manifest already.
    Recorded {
        /// The graph's or module's signature.
        signature: String,
        /// The manifest.
        path: PathBuf,
        /// Whether it was written now.
        added: bool,
    },
    /// A miss could not be written down.
    NotRecorded {
        /// The graph's or module's signature.
        signature: String,
        /// Why.
        reason: String,
    },
    /// A verified module could not be loaded, and was passed over.
    NotLoaded {
        /// The module's signature.
        signature: String,
        /// Why.
        reason: String,
    },
    /// A layer met damage, or a build that came out differently.
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
            Self::Swapped { signature } => write!(f, "`{signature}` serves from now on"),
            Self::NotSwapped { signature, reason } => {
                write!(f, "`{signature}` could not be compiled, and is served in parts: {reason}")
            }
            Self::Published { signature, layer } => write!(f, "published `{signature}` to {layer}"),
            Self::NotPublished { signature, reason } => write!(f, "`{signature}` stays in memory: {reason}"),
            Self::Private { signature } => {
                write!(f, "`{signature}` stays in this process: one of its ops gives the empty cache version")
            }
            Self::Stale(stale) => write!(f, "{stale}"),
            Self::Recorded { signature, path, added: true } => {
                write!(f, "recorded `{signature}` in `{}`", path.display())
            }
            Self::Recorded { signature, path, added: false } => {
                write!(f, "`{signature}` is declared in `{}`", path.display())
            }
            Self::NotRecorded { signature, reason } => write!(f, "`{signature}` was not recorded: {reason}"),
            Self::NotLoaded { signature, reason } => write!(f, "`{signature}` was passed over: {reason}"),
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

/// What a runtime did so far.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Stats {
    /// Modules served by a layer.
    pub hits: u64,
    /// Graphs that no layer could serve, whole or op by op.
    pub misses: u64,
    /// Modules compiled.
    pub compiled: u64,
    /// Functions whose calls are served by what was compiled behind them.
    pub swapped: u64,
    /// Functions for which that failed.
    pub not_swapped: u64,
    /// Compiled modules that could not be published: the next process compiles them again.
    pub unpublished: u64,
    /// Declarations written to the manifest that misses are recorded in.
    pub recorded: u64,
    /// Damaged objects met, and never used.
    pub damaged: u64,
    /// The latest events, oldest first; at most 256.
    pub events: Vec<Event>,
}

/// Where a runtime and its layers put their events.
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

    /// Passes the events of the engine that compiles on.
    #[cfg(feature = "jit")]
    pub(crate) fn observer(self: &Arc<Self>) -> Observer {
        let recorder = Arc::clone(self);
        Arc::new(move |event| recorder.tell(event.into()))
    }

    /// The latest event of a kind, in words.
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
