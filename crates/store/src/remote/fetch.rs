//! Decides when a source is queried, and processes the answers. Each answer is checked against its name, its signatures
//! are verified, and it is published.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use super::at_once::at_once;
use super::layer::LISTED;
use super::question::{LEFT_ALONE, Question};
use super::{Item, RecordName, Remote, RemoteError, Wanted};
use crate::event::{Event, chain};
use crate::key::RecordId;
use crate::record::{Entry, Record, check_entry_name};

/// The time limit for a query of several parts, checked before each part.
const QUESTION: Duration = Duration::from_secs(120);

/// The additional time for each further query in the same batch.
const EACH: Duration = Duration::from_secs(1);

impl Remote {
    /// Fetches records and publishes them to the local store.
    pub(super) fn ask(&self, wanted: Wanted) {
        self.questions.once(Question::Records(wanted), || self.tried(|| self.fetch_records(&[wanted])));
    }

    /// Fetches a record again after its archive was lost.
    pub(super) fn ask_again(&self, record: &Record) {
        let (wanted, name) = (Wanted::Action(record.action), RecordName::of(record));
        self.questions.once(Question::Again(name), || {
            self.tried(|| self.fetch_named(&[(name, vec![wanted])], &[wanted], self.until(1)))
        });
    }

    /// Fetches the records for all queries at once, except queries that were answered recently.
    pub(super) fn ask_all(&self, wanted: &[Wanted]) {
        let mut open = wanted.iter().copied().collect::<BTreeSet<_>>();
        open.retain(|wanted| !self.questions.is_answered(&Question::Records(*wanted)));
        let open: Vec<Wanted> = open.into_iter().collect();
        if !open.is_empty() && !self.questions.is_left_alone() && self.tried(|| self.fetch_records(&open)) {
            open.into_iter().for_each(|wanted| self.questions.set_answered(Question::Records(wanted)));
        }
    }

    /// Fetches the entry of a name.
    pub(super) fn ask_entry(&self, name: &str) {
        if check_entry_name(name).is_ok() {
            let question = Question::Entry(name.to_owned());
            self.questions.once(question, || self.tried(|| self.fetch_entry(name)));
        }
    }

    /// Fetches all entries.
    pub(super) fn ask_entries(&self) {
        self.questions.once(Question::Entries, || {
            self.tried(|| {
                let mut names = self.source.entries()?;
                names.truncate(LISTED);
                let until = self.until(names.len());
                at_once(&names, |name| {
                    self.still(until)?;
                    self.ask_entry(name);
                    Ok(())
                })
                .1
            })
        });
    }

    /// Returns the deadline for a batch of this many queries.
    pub(super) fn until(&self, questions: usize) -> Instant {
        Instant::now() + QUESTION + EACH * u32::try_from(questions).unwrap_or(u32::MAX).saturating_sub(1)
    }

    /// Checks that the deadline of a query has not passed. A server that keeps answering slowly, a little at a time,
    /// counts as unreachable.
    pub(super) fn still(&self, until: Instant) -> Result<(), RemoteError> {
        if Instant::now() < until {
            return Ok(());
        }
        let reason = "the query timed out".to_owned();
        Err(RemoteError::Unreachable { place: self.source.name().to_owned(), reason })
    }

    /// Runs a query if the source is a store. A failure is reported as an event, and a source at fault is not queried
    /// for a while. Returns `true` if there was an answer.
    fn tried(&self, ask: impl FnOnce() -> Result<(), RemoteError>) -> bool {
        let mut checked = Ok(());
        let is_store = self.questions.once(Question::Store, || {
            checked = self.source.check();
            checked.is_ok()
        });
        match checked.and_then(|()| if is_store { ask().map(|()| true) } else { Ok(false) }) {
            Ok(answered) => answered,
            Err(error) if error.is_of_item() => {
                self.refuse(self.source.name(), chain(&error));
                true
            }
            Err(error) => {
                if self.questions.leave_alone() {
                    let (remote, seconds) = (self.source.name().to_owned(), LEFT_ALONE.as_secs());
                    self.store.tell(&Event::Unreachable { remote, reason: chain(&error), seconds });
                }
                false
            }
        }
    }

    fn fetch_entry(&self, name: &str) -> Result<(), RemoteError> {
        let root = Item::Root(name.to_owned());
        let meaning = match self.source.get(&root, root.limit()) {
            Ok(Some(meaning)) => meaning,
            Ok(None) => return Ok(()),
            Err(error) => return self.told(error),
        };
        let parsed =
            std::str::from_utf8(&meaning).ok().and_then(|text| text.strip_suffix('\n')?.parse().ok());
        let Some(id): Option<RecordId> = parsed else {
            self.refuse(&self.place(&root), "not the hash of an entry");
            return Ok(());
        };
        if self.store.has_entry(name, &id) {
            return Ok(());
        }
        let items = [Item::Entry(id), Item::EntrySignatures(id)];
        let [Some(bytes), signatures] = self.fetch_all(&items)? else {
            self.refuse(&self.place(&root), "refers to a missing entry");
            return Ok(());
        };
        let signatures = String::from_utf8_lossy(&signatures.unwrap_or_default()).into_owned();
        let problem = match Entry::parse(&bytes) {
            _ if Record::id_of(&bytes) != id => "hash mismatch".to_owned(),
            Ok(entry) if entry.name != name => format!("it is an entry named `{}`", entry.name),
            Ok(_) if !self.is_signed(&items[0], &bytes, &signatures) => return Ok(()),
            Ok(entry) => match self.keep_entry(&entry, &signatures) {
                Ok(()) => return Ok(()),
                Err(error) => format!("cannot store it: {error}"),
            },
            Err(error) => {
                let place = self.place(&items[0]);
                self.store.tell(&Event::Unreadable { place, reason: chain(&error) });
                return Ok(());
            }
        };
        self.refuse(&self.place(&items[0]), problem);
        Ok(())
    }

    /// Stores an entry. Reports an event if the name referred to it before and to another entry since: signatures do
    /// not show which one is newer.
    fn keep_entry(&self, entry: &Entry, signatures: &str) -> Result<(), String> {
        if self.store.meant_before(entry) {
            let (what, remote) = (format!("entry `{}`", entry.name), self.source.name().to_owned());
            self.store.tell(&Event::WentBack { what, remote });
        }
        self.store.put_entries(&[(entry, signatures)]).map_err(|error| chain(&error))
    }

    /// Fetches several items at once. An item that is too long or damaged is reported and counts as missing.
    pub(super) fn fetch_all<const N: usize>(
        &self,
        items: &[Item; N],
    ) -> Result<[Option<Vec<u8>>; N], RemoteError> {
        let mut found = [const { None }; N];
        for (place, got) in found.iter_mut().zip(self.source.get_all(items)) {
            match got {
                Ok(bytes) => *place = bytes,
                Err(error) => self.told(error)?,
            }
        }
        Ok(found)
    }

    /// Reports an error that concerns one item; returns any other error.
    pub(super) fn told(&self, error: RemoteError) -> Result<(), RemoteError> {
        match error {
            RemoteError::Damaged { place, why } => self.refuse(&place, why),
            RemoteError::TooLong { place, limit } => {
                self.refuse(&place, format!("longer than {limit} bytes"));
            }
            error => return Err(error),
        }
        Ok(())
    }

    /// Returns whether enough keys signed the bytes; `true` without a keyring.
    pub(super) fn is_signed(&self, item: &Item, bytes: &[u8], signatures: &str) -> bool {
        let Some(Err(unsigned)) = self.store.keyring().map(|keyring| keyring.check(bytes, signatures)) else {
            return true;
        };
        let (place, reason, cause) = (self.place(item), unsigned.to_string(), unsigned.cause);
        self.store.tell(&Event::Unsigned { place, reason, cause });
        false
    }

    /// Reports fetched data that is not used.
    pub(super) fn refuse(&self, place: &str, reason: impl Into<String>) {
        let place = place.to_owned();
        self.store.tell(&Event::Damaged { place, reason: reason.into(), quarantined: None });
    }
}
