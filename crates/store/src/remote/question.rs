//! Remembers the queries sent to a source. Concurrent callers do not repeat a query, and no caller waits twice for a
//! source that is down.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::{RecordName, Wanted};

/// The time for which an answer stays valid.
const ANSWERED: Duration = Duration::from_secs(60);

/// The time for which a failed source is not queried.
pub(super) const LEFT_ALONE: Duration = Duration::from_secs(30);

/// A query to a source.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Question {
    /// Whether the source is a store.
    Store,
    /// The matching records.
    Records(Wanted),
    /// A record whose local archive is lost.
    Again(RecordName),
    /// The entry of a name.
    Entry(String),
    /// The names of all entries.
    Entries,
}

/// The time of the last answer; locked while a query runs.
type Answer = Arc<Mutex<Option<Instant>>>;

/// The queries to one source.
#[derive(Debug, Default)]
pub(super) struct Questions {
    answers: Mutex<BTreeMap<Question, Answer>>,
    /// The time of the last failure.
    failed: Mutex<Option<Instant>>,
}

impl Questions {
    /// Runs `ask`, unless the query was answered recently or the source failed recently. `ask` returns whether it got
    /// an answer. Concurrent callers with the same query wait for the first one. Returns whether there is a valid
    /// answer.
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

    /// Returns whether the query was answered recently.
    pub(super) fn is_answered(&self, question: &Question) -> bool {
        let answer = lock(&self.answers).get(question).cloned();
        answer.is_some_and(|answer| lock(&answer).is_some_and(|at| at.elapsed() < ANSWERED))
    }

    /// Notes that the query was answered.
    pub(super) fn set_answered(&self, question: Question) {
        let answer = Arc::clone(lock(&self.answers).entry(question).or_default());
        *lock(&answer) = Some(Instant::now());
    }

    /// Returns whether the source failed recently.
    pub(super) fn is_left_alone(&self) -> bool {
        lock(&self.failed).is_some_and(|at| at.elapsed() < LEFT_ALONE)
    }

    /// Notes a failure of the source, which is then not queried for a while. Returns whether this is a new failure.
    pub(super) fn leave_alone(&self) -> bool {
        let was = self.is_left_alone();
        *lock(&self.failed) = Some(Instant::now());
        !was
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
