//! Reports events of readers, each once: damage is reported immediately, and repeated messages are folded into one
//! line at the end.
//!
//! A process runs one command, so the reported events are process-wide. They also affect the exit code: a miss counts
//! as a missing signature if an unsigned artifact exists.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use precast_core::event;
use precast_core::keyring::Cause;
use precast_store::{Bundle, Event};

use crate::error::{Exit, Failure};
use crate::term;

/// The largest number of events that are listed; further events are only counted.
const LISTED: usize = 8;

/// The events to fold.
static WAITING: Mutex<Vec<Event>> = Mutex::new(Vec::new());

/// The reported events.
static TOLD: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Handles an event of a layer.
pub(crate) fn hear(event: &Event) {
    if event.folds() {
        WAITING.lock().unwrap_or_else(PoisonError::into_inner).push(event.clone());
    } else if matches!(event, Event::Fetched { .. }) {
        term::note(&event.to_string());
    } else {
        let mut told = TOLD.lock().unwrap_or_else(PoisonError::into_inner);
        if told.insert(event.to_string()) && told.len() <= LISTED {
            term::warning(&event.to_string());
        }
    }
}

/// Reports the remaining events and decides the result of the command.
pub(crate) fn tell(ended: Result<Exit, Failure>) -> Result<Exit, Failure> {
    let heard = std::mem::take(&mut *WAITING.lock().unwrap_or_else(PoisonError::into_inner));
    event::lines(&heard).iter().for_each(|line| term::warning(line));
    let told = TOLD.lock().unwrap_or_else(PoisonError::into_inner);
    if told.len() > LISTED {
        let more = told.len() - LISTED;
        term::warning(&format!("and {more} more; list all with `precast verify --json`"));
    }
    // The next build repairs a store, but a reader cannot repair a bundle.
    let hints = ended.as_ref().err().map(|failure| failure.render().hints).unwrap_or_default();
    let has_hint = told.iter().any(|event| event.contains(Bundle::HINT))
        || hints.iter().any(|hint| Bundle::HINT.ends_with(hint));
    if told.iter().any(|event| event.starts_with("bundle `")) && !has_hint {
        term::note(Bundle::HINT);
    }
    drop(told);
    let mut unsigned = heard.iter().filter_map(|event| match event {
        Event::Unsigned { cause, .. } => Some(*cause),
        _ => None,
    });
    let Some(first) = unsigned.next() else { return ended };
    let remedy = match first {
        // A machine that uses a release has no keys.
        Cause::ExpiredSignature => {
            "get the export of the release with newer signatures from its publisher, and import it: `precast \
                 import FILE --older`"
        }
        Cause::ExpiredKeyring => "get a newer keyring from the signers: `precast trust update`",
        _ => "sign the store with as many keys as the keyring requires: `precast sign --store DIR --key KEY`",
    };
    match ended {
        Ok(Exit::Miss) => {
            term::note(&format!("hint: {remedy}"));
            Ok(Exit::Unsigned)
        }
        Err(failure) if failure.exit() == Exit::Miss => Err(failure.unsigned().hint(remedy)),
        other => other,
    }
}
