//! What was asked of a source, so that nobody asks the same again at once, and nobody waits twice for one that is down.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::{RecordName, Wanted};

/// How long an answer stands, whatever it was.
const ANSWERED: Duration = Duration::from_secs(60);

/// How long a source that failed is left alone.
pub(super) const LEFT_ALONE: Duration = Duration::from_secs(30);

/// What is asked of a source.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Question {
    /// Whether it is a store.
    Store,
    /// Records, by what they have.
    Records(Wanted),
    /// A record whose archive is lost here.
    Again(RecordName),
    /// What a name means.
    Entry(String),
    /// The names of entries.
    Entries,
}

/// When a question was answered; locked while somebody asks it.
type Answer = Arc<Mutex<Option<Instant>>>;

/// The questions of one source.
#[derive(Debug, Default)]
pub(super) struct Questions {
    answers: Mutex<BTreeMap<Question, Answer>>,
    /// When the source failed.
    failed: Mutex<Option<Instant>>,
}

impl Questions {
    /// Asks, unless this was answered a moment ago or the source is left alone; `ask` tells whether there was an answer. Who
    /// asks what another is asking waits for that one. Tells whether there is an answer.
    pub(super) fn once(&self, question: Question, ask: impl FnOnce() -> bool) -> bool {
        let answer = Arc::clone(lock(&self.answers).entry(question).or_default());
        let mut answered = lock(&answer);
        if answered.is_some_and(|at| at.elapsed() < ANSWERED) {
            return true;
        }
        if self.is_left_alone() || !ask() {
            return false;
        }
        *answered = Some(Instant::now());
        true
    }

    /// Tells whether this was answered a moment ago.
    pub(super) fn is_answered(&self, question: &Question) -> bool {
        let answer = lock(&self.answers).get(question).cloned();
        answer.is_some_and(|answer| lock(&answer).is_some_and(|at| at.elapsed() < ANSWERED))
    }

    /// Notes that this was answered.
    pub(super) fn set_answered(&self, question: Question) {
        let answer = Arc::clone(lock(&self.answers).entry(question).or_default());
        *lock(&answer) = Some(Instant::now());
    }

    /// Tells whether the source failed a moment ago.
    pub(super) fn is_left_alone(&self) -> bool {
        lock(&self.failed).is_some_and(|at| at.elapsed() < LEFT_ALONE)
    }

    /// Leaves the source alone from now on. Tells whether it was not already.
    pub(super) fn leave_alone(&self) -> bool {
        let was = self.is_left_alone();
        *lock(&self.failed) = Some(Instant::now());
        !was
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
