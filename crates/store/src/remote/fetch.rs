//! What is done with what a source brings: held against its name, asked for its signatures, and published.
//!
//! Of records first the small parts come, at once; the archive of one whose signatures do not suffice is not asked for.

use super::layer::LISTED;
use super::question::{LEFT_ALONE, Question};
use super::{Item, RecordName, Remote, RemoteError, Wanted};
use crate::archive::{Archive, Limits};
use crate::event::{Event, chain};
use crate::key::RecordId;
use crate::record::{Entry, Record, check_entry_name, set_documents};

use precast_core::cpu;

use std::time::{Duration, Instant};

/// How long a question of several parts may take before its next part.
const QUESTION: Duration = Duration::from_secs(120);

/// Most records that are looked at for one question: variants, and builds that differ.
const MOST: usize = 64;

/// A record that is what its name says and that enough keys have signed, and its signatures.
type Believed = (Record, String);

impl Remote {
    /// Asks for records, and publishes what comes to the store.
    pub(super) fn ask(&self, wanted: Wanted, has: impl Fn(&Record) -> bool) {
        self.questions.once(Question::Records(wanted), || self.tried(|| self.fetch_records(&wanted, &has)));
    }

    /// Asks for the archive of a record that was lost.
    pub(super) fn ask_again(&self, record: &Record) {
        let name = RecordName { action: record.action, id: record.id() };
        self.questions.once(Question::Again(name), || {
            self.tried(|| {
                if let Some((record, signatures)) = self.fetch_record(&name, &|_| true)? {
                    self.fetch_archive(&record, &signatures)?;
                }
                Ok(())
            })
        });
    }

    /// Asks what a name means.
    pub(super) fn ask_entry(&self, name: &str) {
        if check_entry_name(name).is_ok() {
            let question = Question::Entry(name.to_owned());
            self.questions.once(question, || self.tried(|| self.fetch_entry(name)));
        }
    }

    /// Asks for all entries.
    pub(super) fn ask_entries(&self) {
        self.questions.once(Question::Entries, || {
            self.tried(|| {
                let names = self.source.entries()?;
                let begin = Instant::now();
                names.iter().take(LISTED).try_for_each(|name| {
                    self.still(begin)?;
                    self.ask_entry(name);
                    Ok(())
                })
            })
        });
    }

    /// Tells whether what belongs to one question may go on: a server that answers slowly, and each time a little, is as good as none.
    fn still(&self, begin: Instant) -> Result<(), RemoteError> {
        if begin.elapsed() < QUESTION {
            return Ok(());
        }
        let reason = format!("it has not answered within {} s", QUESTION.as_secs());
        Err(RemoteError::Unreachable { place: self.source.name().to_owned(), reason })
    }

    /// Asks something of a store that is one. A failure is told, and what is at fault is left alone; `true` if there was an
    /// answer.
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

    fn fetch_records(&self, wanted: &Wanted, has: &impl Fn(&Record) -> bool) -> Result<(), RemoteError> {
        let mut names = self.source.records(wanted)?;
        if names.len() > MOST {
            let place = format!("{}/{}", self.source.name(), wanted.directory());
            self.refuse(&place, format!("names {} records, and no key has more than {MOST}", names.len()));
            names.truncate(MOST);
        }
        let mut believed = Vec::new();
        let begin = Instant::now();
        for name in &names {
            self.still(begin)?;
            believed.extend(self.fetch_record(name, has)?);
        }
        if matches!(wanted, Wanted::Action(_)) {
            return believed
                .iter()
                .try_for_each(|(record, signatures)| self.fetch_archive(record, signatures).map(drop));
        }
        let (mut fit, unfit): (Vec<Believed>, Vec<Believed>) =
            believed.into_iter().partition(|(record, _)| record.requires.check(cpu::host()).is_ok());
        self.set_unfit(unfit.into_iter().map(|(record, _)| record).collect());
        fit.sort_by_key(|(record, _)| std::cmp::Reverse(record.requires.cpu.len()));
        for (record, signatures) in &fit {
            self.still(begin)?;
            if self.fetch_archive(record, signatures)? {
                break;
            }
        }
        Ok(())
    }

    /// Fetches a record with its documents; none if it is not what its name says, or not signed.
    fn fetch_record(
        &self,
        name: &RecordName,
        has: &impl Fn(&Record) -> bool,
    ) -> Result<Option<Believed>, RemoteError> {
        let items = [Item::Record(*name), Item::RecordSignatures(*name), Item::Documents(*name)];
        let [Some(bytes), signatures, Some(documents)] = self.fetch_all(&items)? else {
            self.refuse(&self.place(&items[0]), "it is named, and it or its documents are missing");
            return Ok(None);
        };
        if Record::id_of(&bytes) != name.id {
            self.refuse(&self.place(&items[0]), "its bytes do not hash to its name");
            return Ok(None);
        }
        let mut record = match Record::parse(&bytes) {
            Ok(record) => record,
            Err(error) => {
                let place = self.place(&items[0]);
                self.store.tell(&Event::Unreadable { place, reason: chain(&error) });
                return Ok(None);
            }
        };
        if record.action != name.action || !has(&record) {
            self.refuse(&self.place(&items[0]), "it is not about what names it");
            return Ok(None);
        }
        let signatures = String::from_utf8_lossy(&signatures.unwrap_or_default()).into_owned();
        if !self.is_signed(&items[0], &bytes, &signatures) {
            return Ok(None);
        }
        match set_documents(&mut record, &documents) {
            Ok(()) => Ok(Some((record, signatures))),
            Err(error) => {
                self.refuse(&self.place(&items[2]), chain(&error));
                Ok(None)
            }
        }
    }

    /// Fetches the archive of a record and publishes both; `false` if it is not what the record states.
    fn fetch_archive(&self, record: &Record, signatures: &str) -> Result<bool, RemoteError> {
        let item = Item::Object(record.digest);
        let limits = Limits::stated(record.size);
        let frame = match self.source.get(&item, item.limit().min(limits.frame())) {
            Ok(Some(frame)) => frame,
            Ok(None) => {
                self.refuse(&self.place(&item), "a record names it, and it is missing");
                return Ok(false);
            }
            Err(error) => return self.told(error).map(|()| false),
        };
        let archive = match Archive::unpack(&frame, &limits) {
            Ok((digest, archive)) if digest == record.digest => archive,
            Ok(_) => {
                self.refuse(&self.place(&item), "its content does not hash to its name");
                return Ok(false);
            }
            Err(error) => {
                self.refuse(&self.place(&item), chain(&error));
                return Ok(false);
            }
        };
        let kept = self.store.publish_signed(&[(&archive, record, signatures)]);
        match kept.map_err(|(_, error)| chain(&error)) {
            Ok(_) => {
                let what = record.members.first().map(|member| member.signature.clone()).unwrap_or_default();
                let what = format!("`{what}` for {}", record.isa);
                let (remote, bytes) = (self.source.name().to_owned(), frame.len() as u64);
                self.store.tell(&Event::Fetched { what, remote, bytes });
                Ok(true)
            }
            Err(error) => {
                self.refuse(&self.place(&item), format!("it could not be kept: {error}"));
                Ok(false)
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
        let items = [Item::Entry(id), Item::EntrySignatures(id)];
        let [Some(bytes), signatures] = self.fetch_all(&items)? else {
            self.refuse(&self.place(&root), "names an entry that is missing");
            return Ok(());
        };
        let signatures = String::from_utf8_lossy(&signatures.unwrap_or_default()).into_owned();
        let problem = match Entry::parse(&bytes) {
            _ if Record::id_of(&bytes) != id => "its bytes do not hash to its name".to_owned(),
            Ok(entry) if entry.name != name => format!("it is an entry called `{}`", entry.name),
            Ok(_) if !self.is_signed(&items[0], &bytes, &signatures) => return Ok(()),
            Ok(entry) => match self.keep_entry(&entry, &signatures) {
                Ok(()) => return Ok(()),
                Err(error) => format!("it could not be kept: {error}"),
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

    fn keep_entry(&self, entry: &Entry, signatures: &str) -> Result<(), String> {
        self.store.put_entries(&[(entry, signatures)]).map_err(|error| chain(&error))
    }

    /// Gets items at once. One that is too long or damaged is told, and as good as missing.
    fn fetch_all<const N: usize>(&self, items: &[Item; N]) -> Result<[Option<Vec<u8>>; N], RemoteError> {
        let mut found = [const { None }; N];
        for (place, got) in found.iter_mut().zip(self.source.get_all(items)) {
            match got {
                Ok(bytes) => *place = bytes,
                Err(error) => self.told(error)?,
            }
        }
        Ok(found)
    }

    /// Tells of an error that is about one item; another is handed on.
    fn told(&self, error: RemoteError) -> Result<(), RemoteError> {
        match error {
            RemoteError::Damaged { place, why } => self.refuse(&place, why),
            RemoteError::TooLong { place, limit } => {
                self.refuse(&place, format!("longer than {limit} bytes"));
            }
            error => return Err(error),
        }
        Ok(())
    }

    /// Tells whether enough keys have signed something, if anybody asks for that.
    fn is_signed(&self, item: &Item, bytes: &[u8], signatures: &str) -> bool {
        let Some(Err(unsigned)) = self.store.keyring().map(|keyring| keyring.check(bytes, signatures)) else {
            return true;
        };
        let (place, reason) = (self.place(item), unsigned.to_string());
        self.store.tell(&Event::Unsigned { place, reason });
        false
    }

    /// Tells of something that came and is not used.
    fn refuse(&self, place: &str, reason: impl Into<String>) {
        let place = place.to_owned();
        self.store.tell(&Event::Damaged { place, reason: reason.into(), quarantined: None });
    }
}
