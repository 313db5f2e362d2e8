//! One unit for one variant, on its way.

use super::{Artifact, ExecuteError, Execution, Failure};
use crate::lock::Pin;
use crate::plan::Plan;
use precast_codegen::Unit;
use precast_compile::{Compiled, Variant, action};
use precast_store::archive::{OBJECT, SHARED_OBJECT};
use precast_store::key::ActionKind;
use precast_store::{
    ActionKey, Archive, BuildKey, CachedAction, Fingerprint, Record, Reused, Store, ToolchainId,
};
use std::collections::{BTreeMap, BTreeSet};

pub(super) struct Job<'p> {
    pub(super) unit: &'p Unit,
    pub(super) variant: &'p Variant,
    pub(super) is_hermetic: bool,
    pub(super) artifact: Option<Artifact>,
    /// Whether the store had it, but not all that readers need to find it.
    pub(super) healed: bool,
    pub(super) action: ActionKey,
    /// What compiles it, or has compiled it.
    pub(super) toolchain: Option<ToolchainId>,
    /// What was found in its place and is not what is pinned, for messages.
    pub(super) passed_over: Option<String>,
    pub(super) fingerprints: &'p BTreeMap<BuildKey, BTreeSet<Fingerprint>>,
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
                    toolchain: inputs.toolchain,
                    passed_over: None,
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
        store: Option<&Store>,
        pin: Option<&Pin>,
        writes: bool,
    ) -> Result<(), ExecuteError> {
        let Some(store) = store else { return Ok(()) };
        for mut record in store.find_action(&self.action)? {
            // No matter who wrote the record: a slot that is another module's would compute something else.
            if !is_about(&record, self.unit, self.variant) {
                continue;
            }
            if let Some(pin) = pin.filter(|pin| pin.digest != record.digest) {
                self.passed_over = Some(passed_over("store", &record, pin));
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

    /// Whether a result is about the unit and the variant; its key alone is what somebody says.
    pub(super) fn is_made_by(&self, CachedAction { record, archive, .. }: &CachedAction) -> bool {
        record.kind == ActionKind::Compile
            && is_about(record, self.unit, self.variant)
            && record.profile == self.variant.profile
            && record.language == self.unit.language()
            && record.toolchain == self.toolchain
            && record.host_abi == self.unit.first().build_inputs().host_abi
            && record.requires.cpu.iter().eq(self.variant.isa.cpu_features())
            && archive.get(self.unit.file_name()) == Some(self.unit.text().as_bytes())
            && [OBJECT, SHARED_OBJECT].iter().all(|name| archive.get(name).is_some())
    }

    /// States of what was compiled what the plan knows.
    pub(super) fn completed(&self, Compiled { archive, mut record }: Compiled) -> CachedAction {
        self.complete(&mut record);
        CachedAction { record, archive, signatures: String::new() }
    }

    /// What a cache gave, with what leads to its modules: nobody vouches for that, and the plan knows. What is signed stays as it
    /// was signed.
    pub(super) fn vouched(&self, mut found: CachedAction) -> CachedAction {
        if found.signatures.is_empty() {
            self.complete(&mut found.record);
        }
        found
    }

    pub(super) fn title(&self) -> String {
        title(self.unit, self.variant)
    }

    /// Names it where it is lacking, with what was found in its place.
    pub(super) fn lacking(&self) -> String {
        lacking(self.title(), self.passed_over.as_deref())
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

/// Whether a record is about the modules of a unit, each in its slot, for a variant.
pub(super) fn is_about(record: &Record, unit: &Unit, variant: &Variant) -> bool {
    let slots = record.members.iter().map(|member| (member.slot as usize, member.key));
    slots.eq(unit.members().iter().enumerate().map(|(slot, (key, _))| (slot, *key)))
        && record.target == variant.target
        && record.isa == variant.isa.name()
}

/// Says that something has another archive than the one that is pinned.
pub(super) fn passed_over(holder: &str, record: &Record, pin: &Pin) -> String {
    let (found, pinned) = (record.digest.short(), pin.digest.short());
    format!("the {holder} has `{found}`, the lock file pins `{pinned}`")
}

/// A title, with what was found in its place.
pub(super) fn lacking(title: String, passed_over: Option<&str>) -> String {
    match passed_over {
        Some(passed_over) => format!("{title}: {passed_over}"),
        None => title,
    }
}

/// Names a unit for people.
pub(super) fn title(unit: &Unit, variant: &Variant) -> String {
    let more = match unit.members().len() {
        1 => String::new(),
        count => format!(" and {} more", count - 1),
    };
    format!("`{}`{more} for `{}`", unit.first().signature, variant.isa)
}
