//! What readers got over, told once: damage when it is met, and what is said alike of many places in one line at the end.
//!
//! A process runs one command, so what was told is remembered for the process. It decides one thing more: a miss beside
//! something that is there and not signed is a missing signature.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use precast_core::event;
use precast_store::{Bundle, Event};

use crate::error::{Exit, Failure};
use crate::term;

/// Most events that are told one by one; others are counted.
const LISTED: usize = 8;

/// What waits to be folded.
static WAITING: Mutex<Vec<Event>> = Mutex::new(Vec::new());

/// What was told.
static TOLD: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Hears an event of a layer.
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

/// Tells the rest, and judges how a command ended.
pub(crate) fn tell(ended: Result<Exit, Failure>) -> Result<Exit, Failure> {
    let heard = std::mem::take(&mut *WAITING.lock().unwrap_or_else(PoisonError::into_inner));
    event::lines(&heard).iter().for_each(|line| term::warning(line));
    let told = TOLD.lock().unwrap_or_else(PoisonError::into_inner);
    if told.len() > LISTED {
        let more = told.len() - LISTED;
        term::warning(&format!("and {more} more; `precast verify --json` lists what is damaged"));
    }
    // A store is mended by the next build, a bundle by nobody who reads it.
    if told.iter().any(|event| event.starts_with("bundle `")) {
        term::note(Bundle::HINT);
    }
    drop(told);
    if !heard.iter().any(|event| matches!(event, Event::Unsigned { .. })) {
        return ended;
    }
    let remedy =
        "`precast sign --store DIR --key KEY` signs what is there, with as many keys as the keyring asks for";
    match ended {
        Ok(Exit::Miss) => {
            term::note(&format!("hint: {remedy}"));
            Ok(Exit::Unsigned)
        }
        Err(failure) if failure.exit() == Exit::Miss => Err(failure.unsigned().hint(remedy)),
        other => other,
    }
}
