//! Fetches records by key, fingerprint or action, for one query or a thousand.
//!
//! ```text
//! names ─▶ record, signatures ─▶ documents ─▶ archive of the best record for this host, per query ─▶ published
//! ```
//! Each step fetches everything at once, and the results are published together. An archive is not fetched if the
//! signatures of its record do not suffice. If an archive is damaged, the next best record is tried.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use precast_core::cpu;

use super::at_once::at_once;
use super::{Item, RecordName, Remote, RemoteError, Wanted};
use crate::archive::{Archive, Limits};
use crate::event::{Event, chain};
use crate::record::{Record, set_documents};
use crate::store::generation;

/// The maximum number of records read for one query: variants, and builds with different results.
const MOST: usize = 64;

/// The maximum number of archive bytes in memory before they are published.
const IN_MEMORY: u64 = 256 << 20;

/// A record that matches its name and is signed by enough keys.
struct Believed {
    record: Record,
    signatures: String,
}

/// A fetched archive with its record, and the number of bytes fetched.
struct Arrived<'b> {
    of: &'b Believed,
    archive: Archive,
    bytes: u64,
}

impl Remote {
    /// Fetches the records for these queries and publishes them.
    pub(super) fn fetch_records(&self, wanted: &[Wanted]) -> Result<(), RemoteError> {
        let until = self.until(wanted.len());
        let (named, ended) = at_once(wanted, |wanted| {
            self.still(until)?;
            Ok(self.names(wanted)?.into_iter().map(|name| (name, *wanted)).collect::<Vec<_>>())
        });
        let mut names: BTreeMap<RecordName, Vec<Wanted>> = BTreeMap::new();
        for (name, wanted) in named.into_iter().flatten() {
            names.entry(name).or_default().push(wanted);
        }
        // Fetched data is used even if the rest failed.
        let fetched = self.fetch_named(&names.into_iter().collect::<Vec<_>>(), wanted, until);
        ended.and(fetched)
    }

    /// Fetches the named records, each with the queries that it may answer, and publishes the best record per query.
    pub(super) fn fetch_named(
        &self,
        names: &[(RecordName, Vec<Wanted>)],
        wanted: &[Wanted],
        until: Instant,
    ) -> Result<(), RemoteError> {
        let (believed, ended) = at_once(names, |(name, wanted)| {
            self.still(until)?;
            self.fetch_record(name, wanted)
        });
        let believed: Vec<Believed> = believed.into_iter().flatten().collect();
        let fit: Vec<bool> =
            believed.iter().map(|believed| believed.record.requires.check(cpu::host()).is_ok()).collect();
        let mut choices: Vec<Vec<usize>> = Vec::new();
        for wanted in wanted {
            let mut all: Vec<usize> =
                (0..believed.len()).filter(|at| wanted.is_of(&believed[*at].record)).collect();
            if matches!(wanted, Wanted::Action(_)) {
                choices.extend(all.into_iter().map(|at| vec![at]));
                continue;
            }
            all.retain(|at| fit[*at]);
            all.sort_by_key(|at| std::cmp::Reverse(believed[*at].record.requires.cpu.len()));
            choices.push(all);
        }
        let is_for_a_host = wanted.iter().any(|wanted| !matches!(wanted, Wanted::Action(_)));
        if is_for_a_host {
            let unfit =
                believed.iter().zip(&fit).filter(|(_, fit)| !**fit).map(|(believed, _)| &believed.record);
            self.set_unfit(unfit);
        }
        let chosen = self.fetch_choices(&believed, &choices, until);
        ended.and(chosen)
    }

    /// Returns the names of records that may match; none if the source's list for this query is damaged.
    fn names(&self, wanted: &Wanted) -> Result<Vec<RecordName>, RemoteError> {
        let mut names = match self.source.records(wanted) {
            Ok(names) => names,
            Err(error) => return self.told(error).map(|()| Vec::new()),
        };
        if names.len() > MOST {
            let place = format!("{}/{}", self.source.name(), wanted.directory());
            self.refuse(&place, format!("lists {} records, expected at most {MOST} for a key", names.len()));
            names.truncate(MOST);
        }
        Ok(names)
    }

    /// Fetches a record with its documents; `None` if it does not match its name or is not signed.
    fn fetch_record(&self, name: &RecordName, wanted: &[Wanted]) -> Result<Option<Believed>, RemoteError> {
        let items = [Item::Record(*name), Item::RecordSignatures(*name)];
        let [Some(bytes), signatures] = self.fetch_all(&items)? else {
            self.refuse(&self.place(&items[0]), "listed but missing");
            return Ok(None);
        };
        if Record::id_of(&bytes) != name.id {
            self.refuse(&self.place(&items[0]), "hash mismatch");
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
        if record.action != name.action || !wanted.iter().any(|wanted| wanted.is_of(&record)) {
            self.refuse(&self.place(&items[0]), "does not match the name that refers to it");
            return Ok(None);
        }
        let signatures = String::from_utf8_lossy(&signatures.unwrap_or_default()).into_owned();
        if !self.is_signed(&items[0], &bytes, &signatures) {
            return Ok(None);
        }
        let is_of_action = wanted.iter().any(|wanted| matches!(wanted, Wanted::Action(_)));
        if !is_of_action && self.is_superseded(&record)? {
            return Ok(None);
        }
        // Documents may be long, so they are only fetched for signed records.
        let item = Item::Documents(*name);
        let [Some(documents)] = self.fetch_all(std::array::from_ref(&item))? else {
            self.refuse(&self.place(&item), "missing, although a record refers to them");
            return Ok(None);
        };
        match set_documents(&mut record, &documents) {
            Ok(()) => Ok(Some(Believed { record, signatures })),
            Err(error) => {
                self.refuse(&self.place(&item), chain(&error));
                Ok(None)
            }
        }
    }

    /// Returns whether the source states another generation for each module of a record.
    fn is_superseded(&self, record: &Record) -> Result<bool, RemoteError> {
        if !record.has_outside() {
            return Ok(false);
        }
        let current = record.members.iter().map(|member| Item::Current(member.key, record.target.clone()));
        for item in current {
            let [found] = self.fetch_all(std::array::from_ref(&item))?;
            if found
                .and_then(|found| generation::parse(&found))
                .is_none_or(|current| Some(current) == record.generation)
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// For each choice, fetches the first available archive and publishes it.
    fn fetch_choices(
        &self,
        believed: &[Believed],
        choices: &[Vec<usize>],
        until: Instant,
    ) -> Result<(), RemoteError> {
        // Whether the archive of a record could be fetched; no entry if it was not tried.
        let mut came: BTreeMap<usize, bool> = BTreeMap::new();
        loop {
            let is_open = |choice: &&Vec<usize>| !choice.iter().any(|at| came.get(at) == Some(&true));
            let next = |choice: &Vec<usize>| choice.iter().copied().find(|at| !came.contains_key(at));
            let next: BTreeSet<usize> = choices.iter().filter(is_open).filter_map(next).collect();
            if next.is_empty() {
                return Ok(());
            }
            let mut sum = 0_u64;
            let fits = |at: &usize| {
                sum = sum.saturating_add(believed[*at].record.size);
                sum <= IN_MEMORY || sum == believed[*at].record.size
            };
            let (here, next): (Vec<usize>, Vec<usize>) =
                next.into_iter().partition(|at| self.is_here(&believed[*at].record));
            came.extend(here.into_iter().map(|at| (at, true)));
            let some: Vec<usize> = next.into_iter().take_while(fits).collect();
            let (answers, ended) = at_once(&some, |at| {
                self.still(until)?;
                Ok((*at, self.fetch_archive(&believed[*at])?))
            });
            let mut arrived = Vec::new();
            for (at, archive) in answers {
                came.insert(at, archive.is_some());
                arrived.extend(archive);
            }
            self.publish(&arrived);
            ended?;
        }
    }

    /// Makes a record current whose archive the local store has. Only records with outside files are asked for although
    /// they are here.
    fn is_here(&self, record: &Record) -> bool {
        record.has_outside() && matches!(self.store.reuse(record), Ok(Some(_)))
    }

    /// Fetches the archive of a record; `None` if it does not match the record.
    fn fetch_archive<'b>(&self, believed: &'b Believed) -> Result<Option<Arrived<'b>>, RemoteError> {
        let record = &believed.record;
        let item = Item::Object(record.digest);
        let limits = Limits::stated(record.size);
        let frame = match self.source.get(&item, item.limit().min(limits.frame())) {
            Ok(Some(frame)) => frame,
            Ok(None) => {
                self.refuse(&self.place(&item), "missing, although a record refers to it");
                return Ok(None);
            }
            Err(error) => return self.told(error).map(|()| None),
        };
        match Archive::unpack(&frame, &limits) {
            Ok((digest, archive)) if digest == record.digest => {
                return Ok(Some(Arrived { of: believed, archive, bytes: frame.len() as u64 }));
            }
            Ok(_) => self.refuse(&self.place(&item), "content hash mismatch"),
            Err(error) => self.refuse(&self.place(&item), chain(&error)),
        }
        Ok(None)
    }

    /// Publishes all fetched records at once; if that fails, publishes each one separately.
    fn publish(&self, arrived: &[Arrived<'_>]) {
        let items: Vec<_> = arrived
            .iter()
            .map(|came| (&came.archive, &came.of.record, came.of.signatures.as_str()))
            .collect();
        match (self.store.publish_signed(&items), arrived) {
            (Ok(_), _) => arrived.iter().for_each(|came| self.tell_fetched(came)),
            (Err((_, error)), [came]) => {
                let place = self.place(&Item::Object(came.of.record.digest));
                self.refuse(&place, format!("cannot store it: {}", chain(&error)));
            }
            (Err(_), several) => several.chunks(1).for_each(|one| self.publish(one)),
        }
    }

    fn tell_fetched(&self, Arrived { of, bytes, .. }: &Arrived<'_>) {
        let record = &of.record;
        let what = record.members.first().map(|member| member.signature.clone()).unwrap_or_default();
        let what = format!("`{what}` for {}", record.isa);
        let remote = self.source.name().to_owned();
        self.store.tell(&Event::Fetched { what, remote, bytes: *bytes });
    }
}
