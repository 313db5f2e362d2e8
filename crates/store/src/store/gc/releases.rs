//! Releases in a collection: the last ones of each name are kept, and the served one.

use std::collections::BTreeSet;

use super::super::deployed::Deployed;
use super::super::{FindError, Store};
use super::plan::{Survey, length, modified};
use super::{Guard, Reason, Victim, VictimKind};
use crate::export::Release;
use crate::key::BuildKey;

impl Survey<'_> {
    /// Adds the modules of kept releases to `live`, and other releases as victims. All their graphs are kept: a release is
    /// deleted before its graphs.
    pub(super) fn releases(&mut self, store: &Store, live: &mut BTreeSet<BuildKey>) -> Result<(), FindError> {
        for Deployed { name, numbers, current } in store.deployed()? {
            let past = numbers.len().saturating_sub(self.keep.releases);
            for (at, number) in numbers.into_iter().enumerate() {
                let release = Release { name: name.clone(), number };
                let path = store.path_of(&release);
                let Some(served) = store.entries_of(&release)? else { continue };
                self.graphs.extend(served.values().map(|id| store.paths.entry(id)));
                let Some(written) = modified(&path) else { continue };
                if at >= past || current == Some(number) || self.is_young(written) {
                    for (name, id) in &served {
                        live.extend(store.entry_of(name, id)?.iter().flat_map(|entry| entry.program.keys()));
                    }
                    continue;
                }
                self.plan.victims.push(Victim {
                    kind: VictimKind::Release,
                    name: release.to_string(),
                    reason: Reason::Past,
                    age: self.age(written),
                    bytes: length(&path),
                    guards: vec![Guard::Same(path.clone(), written), Guard::NotServed(path.clone())],
                    files: vec![path],
                    record: None,
                });
            }
        }
        Ok(())
    }
}
