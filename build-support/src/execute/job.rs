//! One unit for one variant, on its way.

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
    /// Whether the store had it, but not all that readers need to find it.
    pub(super) healed: bool,
    /// How it is made. Where no compiler says that, none until something is found that a pin names.
    pub(super) action: Option<ActionKey>,
    /// What compiles it, or has compiled it.
    pub(super) toolchain: Option<ToolchainId>,
    /// The archive that no other may take the place of.
    pub(super) pin: Option<&'p Pin>,
    /// What was found in its place and is not what is pinned, for messages.
    passed_over: Option<String>,
    pub(super) fingerprints: &'p BTreeMap<BuildKey, BTreeSet<Fingerprint>>,
}

impl<'p> Job<'p> {
    /// A job of which nothing is known yet.
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
    /// Takes the artifact from the store, if it is there and intact; what readers would miss of it is put back, if `writes` says
    /// so. A result that is not the pinned one is passed over.
    pub(super) fn look_up(&mut self, store: Option<&Store>, writes: bool) -> Result<(), ExecuteError> {
        let (Some(store), Some(action)) = (store, self.action) else { return Ok(()) };
        for mut record in store.find_action(&action)? {
            // No matter who wrote the record: a slot that is another module's would compute something else.
            if !self.is_subject(&record) || self.passes_over("store", &record) {
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

    /// Whether a record is about the modules of the unit, each in its slot, for the variant.
    pub(super) fn is_subject(&self, record: &Record) -> bool {
        let slots = record.members.iter().map(|member| (member.slot as usize, member.key));
        slots.eq(self.unit.members().iter().enumerate().map(|(slot, (key, _))| (slot, *key)))
            && record.target == self.variant.target
            && record.isa == self.variant.isa.name()
    }

    /// Whether something has another archive than the one that is pinned; then that is noted.
    pub(super) fn passes_over(&mut self, holder: &str, record: &Record) -> bool {
        let Some(pin) = self.pin.filter(|pin| pin.digest != record.digest) else { return false };
        let (found, pinned) = (record.digest.short(), pin.digest.short());
        self.passed_over = Some(format!("the {holder} has `{found}`, the lock file pins `{pinned}`"));
        true
    }

    /// Whether a result is about the unit and the variant; its key alone is what somebody says.
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

    /// Names it for people.
    pub(super) fn title(&self) -> String {
        let more = match self.unit.members().len() {
            1 => String::new(),
            count => format!(" and {} more", count - 1),
        };
        format!("`{}`{more} for `{}`", self.unit.first().signature, self.variant.isa)
    }

    /// Names it where it is lacking, with what was found in its place.
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

    /// States what the plan knows of the modules, whatever the store's record says of it.
    pub(super) fn complete(&self, record: &mut Record) {
        for (member, (key, module)) in record.members.iter_mut().zip(self.unit.members()) {
            let aliases = self.fingerprints.get(key).into_iter().flatten();
            member.fingerprints = aliases.copied().collect();
            member.document = Some(module.document());
        }
    }
}
