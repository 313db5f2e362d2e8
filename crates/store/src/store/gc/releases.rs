//! Releases in a collection: the last ones of each name are kept, the served one, and the one that a rollback would serve.

use std::collections::BTreeSet;

use super::super::deployed::Deployed;
use super::super::{FindError, Store};
use super::plan::{Survey, length, modified};
use super::{Guard, Reason, Victim, VictimKind};
use crate::export::Release;
use crate::key::BuildKey;

impl Survey<'_> {
    /// Keeps the entries of kept releases, and adds other releases as victims. All their graphs are kept: a release is
    /// deleted before its graphs. Returns the keys of the modules that kept releases call.
    pub(super) fn releases(&mut self, store: &Store) -> Result<BTreeSet<BuildKey>, FindError> {
        let mut live = BTreeSet::new();
        for deployed in store.deployed()? {
            // Without its list, the entries of the served release are unknown.
            store.current_entries(&deployed.name)?;
            let kept = [deployed.current, deployed.rollback()];
            let Deployed { name, numbers, .. } = deployed;
            let past = numbers.len().saturating_sub(self.keep.releases);
            for (at, number) in numbers.into_iter().enumerate() {
                let release = Release { name: name.clone(), number };
                let path = store.path_of(&release);
                let Some(served) = store.entries_of(&release)? else { continue };
                self.graphs.extend(served.values().map(|id| store.paths.entry(id)));
                let Some(written) = modified(&path) else { continue };
                if at >= past || kept.contains(&Some(number)) || self.is_young(written) {
                    self.plan.bytes += length(&path);
                    for (name, id) in &served {
                        store.tell_lost(&release, name, id);
                        let (entry, graph) = (store.entry_of(name, id)?, store.paths.entry(id));
                        live.extend(entry.iter().flat_map(|entry| entry.program.keys()));
                        // A graph that a newer precast wrote may call any module.
                        self.plan.foreign += usize::from(entry.is_none() && graph.exists());
                        if entry.is_some() && self.released.insert(graph.clone()) {
                            self.stay_entry(&graph);
                        }
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
        Ok(live)
    }
}
