//! A job: one unit for one variant.

use super::{Artifact, ExecuteError};
use crate::lock::Pin;
use precast_codegen::Unit;
use precast_compile::{Compiled, Variant};
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
    /// Whether the store had the artifact, but lacked some of the files that readers need to find it.
    pub(super) healed: bool,
    /// The action key; `None` without a compiler, until a pinned record is found.
    pub(super) action: Option<ActionKey>,
    /// The toolchain that compiles or compiled the unit.
    pub(super) toolchain: Option<ToolchainId>,
    /// The pin; no other archive is accepted.
    pub(super) pin: Option<&'p Pin>,
    /// A description of a result that differs from the pin, for messages.
    passed_over: Option<String>,
    pub(super) fingerprints: &'p BTreeMap<BuildKey, BTreeSet<Fingerprint>>,
}

impl<'p> Job<'p> {
    /// Creates a job without an artifact.
    pub(super) fn new(
        unit: &'p Unit,
        variant: &'p Variant,
        fingerprints: &'p BTreeMap<BuildKey, BTreeSet<Fingerprint>>,
    ) -> Self {
        Self {
            unit,
            variant,
            is_hermetic: true,
            artifact: None,
            healed: false,
            action: None,
            toolchain: None,
            pin: None,
            passed_over: None,
            fingerprints,
        }
    }
}

impl Job<'_> {
    /// Uses the artifact in the store if it exists and is intact. Missing index files are repaired if `writes` is
    /// set. A result that differs from the pin is skipped.
    pub(super) fn look_up(&mut self, store: Option<&Store>, writes: bool) -> Result<(), ExecuteError> {
        let (Some(store), Some(action)) = (store, self.action) else { return Ok(()) };
        for mut record in store.find_action(&action)? {
            // The check applies to every record: a slot with a different module would compute something else.
            if !self.is_subject(&record) || self.passes_over("store", &record) {
                continue;
            }
            let is_whole =
                |archive: &Archive| [OBJECT, SHARED_OBJECT].iter().all(|name| archive.get(name).is_some());
            // Documents may be lost; the plan has them.
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
            // A corrupt archive is in quarantine now; compiling replaces it.
            let reused = store.reuse(&record).map_err(refused)?;
            if let Some(Reused { archive, healed }) = reused.filter(|reused| is_whole(&reused.archive)) {
                self.healed = healed;
                return self.accept(record, archive);
            }
        }
        Ok(())
    }

    /// Returns whether a record is for the variant, with the modules of the unit in their slots.
    pub(super) fn is_subject(&self, record: &Record) -> bool {
        let slots = record.members.iter().map(|member| (member.slot as usize, member.key));
        slots.eq(self.unit.members().iter().enumerate().map(|(slot, (key, _))| (slot, *key)))
            && record.target == self.variant.target
            && record.isa == self.variant.isa.name()
    }

    /// Returns whether a result differs from the pinned archive; if so, the difference is recorded.
    pub(super) fn passes_over(&mut self, holder: &str, record: &Record) -> bool {
        let Some(pin) = self.pin.filter(|pin| pin.digest != record.digest) else { return false };
        let (found, pinned) = (record.digest.short(), pin.digest.short());
        self.passed_over = Some(format!("the {holder} has `{found}`, the lock file pins `{pinned}`"));
        true
    }

    /// Returns whether a result belongs to the unit and the variant; the action key alone is an unverified claim.
    pub(super) fn is_made_by(&self, CachedAction { record, archive, .. }: &CachedAction) -> bool {
        record.kind == ActionKind::Compile
            && self.action == Some(record.action)
            && self.is_subject(record)
            && record.profile == self.variant.profile
            && record.language == self.unit.language()
            && record.toolchain == self.toolchain
            && record.host_abi == self.unit.first().build_inputs().host_abi
            && record.requires.cpu.iter().eq(self.variant.isa.cpu_features())
            && archive.get(self.unit.file_name()) == Some(self.unit.text().as_bytes())
            && [OBJECT, SHARED_OBJECT].iter().all(|name| archive.get(name).is_some())
    }

    /// Completes the record of a compiled unit with data of the plan.
    pub(super) fn completed(&self, Compiled { archive, mut record }: Compiled) -> CachedAction {
        self.complete(&mut record);
        CachedAction { record, archive, signatures: String::new() }
    }

    /// Returns a cache result whose index data comes from the plan, since the cache's index data is not verified. A
    /// signed record stays unchanged.
    pub(super) fn vouched(&self, mut found: CachedAction) -> CachedAction {
        if found.signatures.is_empty() {
            self.complete(&mut found.record);
        }
        found
    }

    /// Returns a title for messages.
    pub(super) fn title(&self) -> String {
        let more = match self.unit.members().len() {
            1 => String::new(),
            count => format!(" and {} more", count - 1),
        };
        format!("`{}`{more} for `{}`", self.unit.first().signature, self.variant.isa)
    }

    /// Returns a title for a missing unit, with the mismatched result, if any.
    pub(super) fn lacking(&self) -> String {
        let title = self.title();
        self.passed_over.as_ref().map_or(title.clone(), |found| format!("{title}: {found}"))
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

    /// Sets the aliases and documents of the modules from the plan, replacing those in the store's record.
    pub(super) fn complete(&self, record: &mut Record) {
        for (member, (key, module)) in record.members.iter_mut().zip(self.unit.members()) {
            let aliases = self.fingerprints.get(key).into_iter().flatten();
            member.fingerprints = aliases.copied().collect();
            member.document = Some(module.document());
        }
    }
}
