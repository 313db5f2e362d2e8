//! Finds leftovers of killed processes, losses and damage: files that nothing names.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use walkdir::WalkDir;

use super::super::access::walk_error;
use super::super::paths::{PROVENANCE_SUFFIX, RecordName, is_stray, object_digest};
use super::super::session::is_held;
use super::super::{FindError, Store};
use super::plan::{Survey, length, modified};
use super::{Guard, Reason, Victim, VictimKind};
use crate::key::Digest;
use crate::keyring::SUFFIX;
use crate::step::step;

/// The time for which damaged files are kept, so that people can examine them.
const EVIDENCE: Duration = Duration::from_secs(7 * 24 * 3600);

impl Survey<'_> {
    /// Adds all unnamed files as victims.
    pub(super) fn leftovers(&mut self, store: &Store) -> Result<(), FindError> {
        self.archives(store)?;
        self.documents(store)?;
        self.pointers(store)?;
        self.graphs_of_no_entry(store)?;
        for path in children(&store.paths.dir("tmp"))? {
            if is_held(&path) {
                continue;
            }
            self.leftover(VictimKind::Temporary, path, None);
        }
        for path in children(&store.paths.dir("quarantine"))? {
            self.leftover(VictimKind::Quarantined, path, None);
        }
        Ok(())
    }

    fn archives(&mut self, store: &Store) -> Result<(), FindError> {
        if self.plan.foreign > 0 {
            return Ok(());
        }
        let objects: BTreeSet<Digest> = self.digests.values().copied().collect();
        for path in grandchildren(&store.paths.dir("objects"))? {
            if let Some(digest) = object_digest(&path).filter(|digest| !objects.contains(digest)) {
                self.leftover(VictimKind::Leftover, path, Some(Guard::Unnamed(digest)));
            }
        }
        Ok(())
    }

    fn documents(&mut self, store: &Store) -> Result<(), FindError> {
        for path in grandchildren(&store.paths.dir("records"))? {
            let name = path.file_name().and_then(|name| name.to_str());
            let endings = [".documents", PROVENANCE_SUFFIX, SUFFIX];
            let name = name.and_then(|name| endings.iter().find_map(|ending| name.strip_suffix(ending)));
            if let Some(record) = name.and_then(RecordName::parse) {
                self.of_a_lost_record(store, &record, path);
            }
        }
        Ok(())
    }

    /// Finds pointers to lost records.
    fn pointers(&mut self, store: &Store) -> Result<(), FindError> {
        for directory in grandchildren(&store.paths.dir("keys"))? {
            for path in children(&directory)? {
                if let Some(record) = path.file_name().and_then(|name| RecordName::parse(name.to_str()?)) {
                    self.of_a_lost_record(store, &record, path);
                }
            }
        }
        Ok(())
    }

    fn of_a_lost_record(&mut self, store: &Store, name: &RecordName, path: PathBuf) {
        let record = store.paths.record(name);
        step();
        if !self.digests.contains_key(name) && !record.exists() {
            self.leftover(VictimKind::Leftover, path, Some(Guard::Absent(record)));
        }
    }

    /// Finds graphs that no root refers to, left by rebuilt entries.
    fn graphs_of_no_entry(&mut self, store: &Store) -> Result<(), FindError> {
        if self.plan.foreign > 0 {
            return Ok(());
        }
        for path in grandchildren(&store.paths.dir("entries"))? {
            if path.file_name().and_then(|name| name.to_str()).is_some_and(is_stray) {
                continue;
            }
            let graph = path.to_str().map(|name| PathBuf::from(name.strip_suffix(SUFFIX).unwrap_or(name)));
            if let Some(graph) = graph.filter(|graph| !self.graphs.contains(graph)) {
                self.leftover(VictimKind::Leftover, path, Some(Guard::Meaningless(graph)));
            }
        }
        Ok(())
    }

    /// Adds a file or a directory as a victim if it is older than the grace.
    fn leftover(&mut self, kind: VictimKind, path: PathBuf, guard: Option<Guard>) {
        let Some(written) = modified(&path) else { return };
        let is_evidence = kind == VictimKind::Quarantined && self.age(written) < EVIDENCE;
        if self.is_young(written) || is_evidence {
            return;
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let bytes = WalkDir::new(&path).into_iter().flatten().map(|entry| length(entry.path())).sum();
        self.plan.victims.push(Victim {
            kind,
            name,
            reason: Reason::Unreachable,
            age: self.age(written),
            bytes,
            guards: [Guard::Same(path.clone(), written)].into_iter().chain(guard).collect(),
            files: vec![path],
            record: None,
        });
    }
}

fn children(directory: &Path) -> Result<Vec<PathBuf>, FindError> {
    below(directory, 1)
}

fn grandchildren(directory: &Path) -> Result<Vec<PathBuf>, FindError> {
    below(directory, 2)
}

fn below(directory: &Path, depth: usize) -> Result<Vec<PathBuf>, FindError> {
    step();
    let mut paths = Vec::new();
    for entry in WalkDir::new(directory).min_depth(depth).max_depth(depth).sort_by_file_name() {
        match entry {
            Ok(entry) => paths.push(entry.into_path()),
            Err(error) => walk_error(directory, error).map_or(Ok(()), Err)?,
        }
    }
    Ok(paths)
}
