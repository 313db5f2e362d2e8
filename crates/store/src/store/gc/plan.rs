//! Plans a collection: reads all small files and changes nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::super::paths::{Paths, RecordName};
use super::super::settle::pointer_keys;
use super::super::{FindError, Store};
use super::{GcPlan, Going, Guard, Keep, Reason, Victim, VictimKind};
use crate::key::{BuildKey, Digest};
use crate::record::{Entry, Record};
use crate::stat::TICK;
use crate::step::step;

/// The state of a store, collected while a plan is made.
pub(super) struct Survey<'k> {
    pub(super) keep: &'k Keep,
    pub(super) now: SystemTime,
    /// The start of the oldest running build.
    pub(super) building: Option<SystemTime>,
    pub(super) plan: GcPlan,
    /// All records, kept or not, with the archives that they name.
    pub(super) digests: BTreeMap<RecordName, Digest>,
    /// The graphs that roots and releases refer to, of kept entries and of victims.
    pub(super) graphs: BTreeSet<PathBuf>,
    /// The graphs of kept releases. They and the names that refer to them are always kept.
    pub(super) released: BTreeSet<PathBuf>,
}

/// A record that may be deleted.
struct Candidate {
    name: RecordName,
    record: Record,
    modified: SystemTime,
    /// The size of its archive, if that exists.
    object: Option<u64>,
    bytes: u64,
}

impl Store {
    /// Lists the files that can be deleted. Reads records and entries, but no archives.
    ///
    /// # Errors
    ///
    /// The file system refuses.
    pub fn plan_gc(&self, keep: &Keep) -> Result<GcPlan, FindError> {
        let mut survey = Survey {
            keep,
            now: SystemTime::now(),
            building: self.building_since()?,
            plan: GcPlan::default(),
            digests: BTreeMap::new(),
            graphs: BTreeSet::new(),
            released: BTreeSet::new(),
        };
        let mut live = survey.releases(self)?;
        survey.entries(self, &mut live)?;
        survey.records(self, &live)?;
        survey.leftovers(self)?;
        let mut plan = GcPlan { digests: survey.digests, ..survey.plan };
        plan.victims.sort_by(|a, b| {
            (a.kind, &a.name, &a.files, &a.record).cmp(&(b.kind, &b.name, &b.files, &b.record))
        });
        Ok(plan)
    }
}

impl Survey<'_> {
    pub(super) fn age(&self, modified: SystemTime) -> Duration {
        self.now.duration_since(modified).unwrap_or_default()
    }

    pub(super) fn is_young(&self, modified: SystemTime) -> bool {
        // File timestamps are coarser than the time at which a build begins.
        let is_of_a_build = self.building.is_some_and(|began| modified + TICK >= began);
        is_of_a_build || self.age(modified) < self.keep.grace
    }

    fn is_old(&self, modified: SystemTime) -> bool {
        self.keep.max_age.is_some_and(|limit| self.age(modified) > limit)
    }

    /// Classifies the last published entries. Adds the keys of declared modules, and of modules that kept entries call.
    fn entries(&mut self, store: &Store, live: &mut BTreeSet<BuildKey>) -> Result<(), FindError> {
        let declared = self.keep.declared.as_ref();
        live.extend(declared.iter().flat_map(|roots| &roots.modules));
        for name in store.names(&store.paths.entry_roots())? {
            let root = store.paths.entry_roots().join(&name);
            let Some(modified) = modified(&root) else { continue };
            let Some(entry) = store.rooted(&name)? else {
                self.plan.foreign += usize::from(root.exists());
                continue;
            };
            let graph = store.paths.entry(&entry.id());
            let is_declared = declared.is_some_and(|roots| roots.entries.contains(&name));
            let reason = match declared {
                _ if is_declared || self.is_young(modified) || self.released.contains(&graph) => None,
                Some(_) => Some(Reason::Undeclared),
                None => self.is_old(modified).then_some(Reason::Old),
            };
            if let Some(reason) = reason {
                self.drop_entry(&entry, reason, (root, modified), &graph);
            } else {
                live.extend(entry.program.keys());
                self.plan.bytes += length(&root);
                if !self.released.contains(&graph) {
                    self.stay_entry(&graph);
                }
            }
            self.graphs.insert(graph);
        }
        Ok(())
    }

    pub(super) fn stay_entry(&mut self, graph: &Path) {
        self.plan.entries += 1;
        self.plan.bytes += length(graph) + length(&Paths::signatures(graph));
    }

    /// Adds a root as a victim, with its graph unless a release refers to it. No other root can refer to the graph, because
    /// it contains its name.
    fn drop_entry(
        &mut self,
        entry: &Entry,
        reason: Reason,
        (root, modified): (PathBuf, SystemTime),
        graph: &Path,
    ) {
        let mut guards = vec![Guard::Same(root.clone(), modified)];
        let mut files = vec![root];
        if !self.graphs.contains(graph) {
            guards.push(Guard::Unreleased(graph.to_owned()));
            files.extend([graph.to_owned(), Paths::signatures(graph)]);
        }
        self.plan.victims.push(Victim {
            kind: VictimKind::Entry,
            name: entry.name.clone(),
            reason,
            age: self.age(modified),
            bytes: files.iter().map(|file| length(file)).sum(),
            guards,
            files,
            record: None,
        });
    }

    fn records(&mut self, store: &Store, live: &BTreeSet<BuildKey>) -> Result<(), FindError> {
        let candidates = self.candidates(store)?;
        let newest = newest(&candidates);
        let mut loose = Vec::new();
        let mut going = Vec::new();
        for candidate in candidates {
            let Candidate { record, modified, .. } = &candidate;
            let is_superseded = store.is_superseded(record)?;
            let is_live = !is_superseded && record.members.iter().any(|member| live.contains(&member.key));
            let stays = self.keep.pinned.contains(&record.digest) || self.is_young(*modified);
            let reason = if stays {
                None
            } else if is_live {
                let old = self.is_old(*modified);
                (old && newest.stand_for(&candidate)).then_some(Reason::Superseded)
            } else if self.keep.declared.is_some() {
                Some(if is_superseded { Reason::Superseded } else { Reason::Undeclared })
            } else {
                self.is_old(*modified).then_some(Reason::Old)
            };
            match reason {
                Some(reason) => going.push((candidate, reason)),
                None if stays || is_live => self.stay(&candidate),
                None => loose.push(candidate),
            }
        }
        going.extend(self.shrink(loose).into_iter().map(|candidate| (candidate, Reason::Budget)));
        self.go(store, going);
        Ok(())
    }

    /// Reads the records. A record written by a newer precast is kept and counted.
    fn candidates(&mut self, store: &Store) -> Result<Vec<Candidate>, FindError> {
        let mut candidates = Vec::new();
        for name in store.all_record_names() {
            let name = name?;
            let path = store.paths.record(&name);
            let Some((Some(modified), record)) = store.read_dated(&name)? else {
                self.plan.foreign += usize::from(path.exists());
                continue;
            };
            let object = fs_err::metadata(store.paths.object(&record.digest)).ok().map(|found| found.len());
            let beside = store.beside_record(&name, &pointer_keys(&record));
            let bytes =
                length(&path) + beside.iter().map(|file| length(file)).sum::<u64>() + object.unwrap_or(0);
            self.digests.insert(name, record.digest);
            candidates.push(Candidate { name, record, modified, object, bytes });
        }
        Ok(candidates)
    }

    fn stay(&mut self, candidate: &Candidate) {
        self.plan.records += 1;
        self.plan.bytes += candidate.bytes;
    }

    /// Returns the records that must be deleted to meet the size limit, the longest unused first; keeps the rest.
    fn shrink(&mut self, mut loose: Vec<Candidate>) -> Vec<Candidate> {
        loose.sort_by_key(|candidate| (candidate.modified, candidate.name));
        let limit = self.keep.max_size.unwrap_or(u64::MAX);
        let mut total = self.plan.bytes + loose.iter().map(|candidate| candidate.bytes).sum::<u64>();
        let mut count = 0;
        while total > limit && count < loose.len() {
            total -= loose[count].bytes;
            count += 1;
        }
        let staying = loose.split_off(count);
        staying.iter().for_each(|candidate| self.stay(candidate));
        self.plan.over = self.plan.bytes.saturating_sub(limit);
        loose
    }

    /// Adds records as victims with the number of bytes freed. An archive is deleted with the last record that names
    /// it.
    fn go(&mut self, store: &Store, going: Vec<(Candidate, Reason)>) {
        let mut naming: BTreeMap<Digest, usize> = BTreeMap::new();
        for digest in self.digests.values() {
            *naming.entry(*digest).or_default() += 1;
        }
        for (Candidate { name, record, modified, object, bytes }, reason) in going {
            let others = naming.get_mut(&record.digest).map_or(0, |count| {
                *count -= 1;
                *count
            });
            let stays = others > 0 || self.plan.foreign > 0;
            self.plan.victims.push(Victim {
                kind: VictimKind::Record,
                name: describe(&record),
                reason,
                age: self.age(modified),
                bytes: bytes - if stays { object.unwrap_or(0) } else { 0 },
                guards: vec![Guard::Same(store.paths.record(&name), modified)],
                files: Vec::new(),
                record: Some(Going { name, keys: pointer_keys(&record), archive: record.digest }),
            });
        }
    }
}

/// The time of the latest build of each module, per target and ISA level.
struct Newest(BTreeMap<(BuildKey, String, String), SystemTime>);

fn newest(candidates: &[Candidate]) -> Newest {
    let mut newest = BTreeMap::new();
    for Candidate { record, modified, .. } in candidates {
        for member in &record.members {
            let latest =
                newest.entry((member.key, record.target.clone(), record.isa.clone())).or_insert(*modified);
            *latest = (*latest).max(*modified);
        }
    }
    Newest(newest)
}

impl Newest {
    /// Returns whether newer records have all modules of a record.
    fn stand_for(&self, Candidate { record, modified, .. }: &Candidate) -> bool {
        let latest = |key| self.0.get(&(key, record.target.clone(), record.isa.clone()));
        record.members.iter().all(|member| latest(member.key).is_some_and(|latest| latest > modified))
    }
}

/// Describes a record by its first signature, the number of further ones, and the ISA level.
fn describe(record: &Record) -> String {
    let first = record.members.first().map_or("no module", |member| &member.signature);
    match record.members.len() {
        0 | 1 => format!("{first} for {}", record.isa),
        count => format!("{first} and {} more for {}", count - 1, record.isa),
    }
}

pub(super) fn modified(path: &Path) -> Option<SystemTime> {
    step();
    fs_err::symlink_metadata(path).ok()?.modified().ok()
}

pub(super) fn length(path: &Path) -> u64 {
    fs_err::symlink_metadata(path).map_or(0, |found| found.len())
}
