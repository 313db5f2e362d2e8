//! Reads all current names under the store's lock, before a batch is deleted.
//!
//! A plan is made while publishers run. Files that it found unnamed may have names by now: an archive in a record, a
//! graph in a root. Records known from the plan are not read again, since a record's name is the hash of its bytes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::super::deployed::Deployed;
use super::super::paths::RecordName;
use super::super::{FindError, Store};
use super::GcPlan;
use crate::export::Release;
use crate::key::Digest;

/// The archives and graphs with a name.
#[derive(Debug, Default)]
pub(super) struct Named {
    archives: BTreeMap<Digest, BTreeSet<RecordName>>,
    graphs: BTreeSet<PathBuf>,
    /// The graphs to which releases refer.
    released: BTreeSet<PathBuf>,
    /// The files of releases that are served or that a rollback would serve.
    served: BTreeSet<PathBuf>,
    /// Whether a newer precast wrote one of the records; it may name any archive.
    has_foreign: bool,
}

impl Named {
    /// Returns whether a record names an archive.
    pub(super) fn has_archive(&self, digest: &Digest) -> bool {
        self.has_foreign || self.archives.get(digest).is_some_and(|records| !records.is_empty())
    }

    /// Returns whether a root or a release refers to a graph.
    pub(super) fn has_graph(&self, graph: &Path) -> bool {
        self.graphs.contains(graph) || self.is_released(graph)
    }

    /// Returns whether a release refers to a graph.
    pub(super) fn is_released(&self, graph: &Path) -> bool {
        self.released.contains(graph)
    }

    /// Returns whether a release is served, or a rollback would serve it.
    pub(super) fn is_served(&self, release: &Path) -> bool {
        self.served.contains(release)
    }

    /// Removes a deleted record.
    pub(super) fn forget(&mut self, name: &RecordName, digest: &Digest) {
        if let Some(records) = self.archives.get_mut(digest) {
            records.remove(name);
        }
    }
}

impl Store {
    /// Reads all names: roots, and the records that the plan does not contain.
    pub(super) fn named(&self, plan: &GcPlan) -> Result<Named, FindError> {
        let mut named = Named::default();
        for name in self.all_record_names() {
            let name = name?;
            let digest = match plan.digests.get(&name) {
                Some(digest) => Some(*digest),
                None => self.read_record(&name)?.map(|record| record.digest),
            };
            match digest {
                Some(digest) => drop(named.archives.entry(digest).or_default().insert(name)),
                None => named.has_foreign |= self.paths.record(&name).exists(),
            }
        }
        for name in self.names(&self.paths.entry_roots())? {
            let meaning = self.meaning(&self.paths.entry_roots().join(name))?;
            named.graphs.extend(meaning.map(|id| self.paths.entry(&id)));
        }
        for deployed in self.deployed()? {
            let kept = [deployed.current, deployed.rollback()];
            let Deployed { name, numbers, .. } = deployed;
            for number in numbers {
                let release = Release { name: name.clone(), number };
                let graphs = self.entries_of(&release)?.unwrap_or_default();
                named.released.extend(graphs.values().map(|id| self.paths.entry(id)));
                named.served.extend(kept.contains(&Some(number)).then(|| self.path_of(&release)));
            }
        }
        Ok(named)
    }
}
