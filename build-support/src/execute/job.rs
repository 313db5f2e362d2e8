//! One unit for one variant, on its way.

use super::{Artifact, ExecuteError, Execution, Failure};
use crate::lock::Pin;
use crate::plan::Plan;
use precast_codegen::Unit;
use precast_compile::{Compiled, Variant, action};
use precast_store::archive::{OBJECT, SHARED_OBJECT};
use precast_store::{ActionKey, Archive, BuildKey, CachedAction, Fingerprint, Record, Reused};
use std::collections::{BTreeMap, BTreeSet};

pub(super) struct Job<'p> {
    pub(super) unit: &'p Unit,
    pub(super) variant: &'p Variant,
    pub(super) is_hermetic: bool,
    pub(super) artifact: Option<Artifact>,
    /// Whether the store had it, but not all that readers need to find it.
    pub(super) healed: bool,
    pub(super) action: ActionKey,
    fingerprints: &'p BTreeMap<BuildKey, BTreeSet<Fingerprint>>,
}

/// Lists the jobs of a plan with their keys.
pub(super) fn jobs<'p>(plan: &'p Plan, execution: &Execution<'p>) -> Result<Vec<Job<'p>>, ExecuteError> {
    let (mut jobs, mut failures) = (Vec::new(), Vec::new());
    for unit in &plan.units {
        for variant in execution.variants {
            match action(unit, execution.toolchain, variant) {
                Ok(inputs) => jobs.push(Job {
                    unit,
                    variant,
                    is_hermetic: inputs.linked.is_empty(),
                    artifact: None,
                    healed: false,
                    action: inputs.key(),
                    fingerprints: &plan.fingerprints,
                }),
                Err(error) => failures.push(Failure { title: title(unit, variant), error }),
            }
        }
    }
    if failures.is_empty() { Ok(jobs) } else { Err(ExecuteError::Compile { failures }) }
}

impl Job<'_> {
    /// Takes the artifact from the store, if it is there and intact; what readers would miss of it is put back, if `writes` says
    /// so. A result that is not the pinned one is passed over.
    pub(super) fn look_up(
        &mut self,
        execution: &Execution<'_>,
        pin: Option<&Pin>,
        writes: bool,
    ) -> Result<(), ExecuteError> {
        let Some(store) = execution.store else { return Ok(()) };
        for mut record in store.find_action(&self.action)? {
            if pin.is_some_and(|pin| pin.digest != record.digest) {
                continue;
            }
            // No matter who wrote the record: a slot that is another module's would compute something else.
            let slots = record.members.iter().map(|member| (member.slot as usize, member.key));
            if !slots.eq(self.unit.members().iter().enumerate().map(|(slot, (key, _))| (slot, *key))) {
                continue;
            }
            let is_whole =
                |archive: &Archive| [OBJECT, SHARED_OBJECT].iter().all(|name| archive.get(name).is_some());
            // Documents that are lost: the plan has them.
            for (member, (_, module)) in record.members.iter_mut().zip(self.unit.members()) {
                member.document.get_or_insert_with(|| module.document());
            }
            let refused = |source| ExecuteError::Publish { title: self.title(), source };
            if !writes {
                match store.load_whole(&record)?.filter(is_whole) {
                    Some(archive) => return self.accept(record, archive),
                    None => continue,
                }
            }
            // An archive that is not intact is in quarantine; compiling puts it back.
            let reused = store.reuse(&record).map_err(refused)?;
            if let Some(Reused { archive, healed }) = reused.filter(|reused| is_whole(&reused.archive)) {
                self.healed = healed;
                return self.accept(record, archive);
            }
        }
        Ok(())
    }

    /// States of what was compiled what the plan knows.
    pub(super) fn completed(&self, Compiled { archive, mut record }: Compiled) -> CachedAction {
        self.complete(&mut record);
        CachedAction { record, archive, signatures: String::new() }
    }

    pub(super) fn title(&self) -> String {
        title(self.unit, self.variant)
    }

    pub(super) fn accept(&mut self, mut record: Record, mut archive: Archive) -> Result<(), ExecuteError> {
        self.complete(&mut record);
        let mut file = |file| {
            let none = || ExecuteError::NoFile { key: self.unit.members()[0].0, file };
            archive.members.remove(file).ok_or_else(none)
        };
        let (object, shared_object) = (file(OBJECT)?, file(SHARED_OBJECT)?);
        self.artifact = Some(Artifact { record, variant: self.variant.clone(), object, shared_object });
        Ok(())
    }

    /// States what the plan knows of the modules, whatever the store's record says of it.
    pub(super) fn complete(&self, record: &mut Record) {
        for (member, (key, module)) in record.members.iter_mut().zip(self.unit.members()) {
            let aliases = self.fingerprints.get(key).into_iter().flatten();
            member.fingerprints = aliases.copied().collect();
            member.document = Some(module.document());
        }
    }
}

/// Names a unit for people.
fn title(unit: &Unit, variant: &Variant) -> String {
    let more = match unit.members().len() {
        1 => String::new(),
        count => format!(" and {} more", count - 1),
    };
    format!("`{}`{more} for `{}`", unit.first().signature, variant.isa)
}
