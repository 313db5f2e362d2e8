//! Pins: the archives of a release, and the builds that they reject.
//!
//! | the build has | the lock file has | result |
//! |---|---|---|
//! | an action with its digest | both, for the same target and ISA level | accepted |
//! | an action | another digest, target, ISA level, compiler or unit for it | rejected |
//! | an action for some target | only other pins for that target | rejected: wrong compiler or ISA level, or a missing line |
//! | a target | pins for other targets only | a warning: the target is not pinned |
//!
//! A build that may not compile looks actions up by their pins if this machine would build some of them differently
//! (`execute/jobs.rs`).
//!
//! Every build that needs a deleted or edited line therefore detects the change. Mismatches in the action are
//! detected before anything is compiled, mismatches only in the digest before anything is published.

use std::collections::BTreeSet;
use std::path::Path;

use precast_compile::{Toolchain, Variant, action};
use precast_store::key::ContentId;
use precast_store::{ActionKey, Digest, Record, ToolchainId};

use super::{Lock, LockError, Pin, unit_id, unit_of};
use crate::plan::Plan;

/// The values that are checked against the pins.
struct Made<'a> {
    signature: &'a str,
    target: &'a str,
    isa: &'a str,
    action: ActionKey,
    toolchain: Option<ToolchainId>,
    unit: ContentId,
    /// The digest of the result, if known.
    digest: Option<Digest>,
}

impl Pin {
    /// Returns whether a record belongs to the pinned archive.
    #[must_use]
    pub fn is_of(&self, record: &Record) -> bool {
        self.action == record.action
            && self.digest == record.digest
            && (&self.target, &self.isa, self.toolchain) == (&record.target, &record.isa, record.toolchain)
            && self.unit.is_none_or(|unit| unit == unit_of(record))
    }

    /// Returns whether the archive matches the target and the ISA level of a variant.
    #[must_use]
    pub fn is_for(&self, variant: &Variant) -> bool {
        self.target == variant.target && self.isa == variant.isa.name()
    }
}

impl Lock {
    /// Returns the pin of an action.
    #[must_use]
    pub fn pin(&self, action: &ActionKey) -> Option<&Pin> {
        self.pins.iter().find(|pin| pin.action == *action)
    }

    /// Returns a warning if archives are pinned, but none for this target: its build is not checked against the
    /// release.
    #[must_use]
    pub fn unpinned(&self, target: &str, path: &Path) -> Option<String> {
        let targets: BTreeSet<&str> = self.pins.iter().map(|pin| pin.target.as_str()).collect();
        if targets.is_empty() || targets.contains(target) {
            return None;
        }
        let targets: Vec<&str> = targets.into_iter().collect();
        Some(format!(
            "`{}` has no archives pinned for `{target}`, only for `{}`; accepting the output of any compiler",
            path.display(),
            targets.join("`, `")
        ))
    }

    /// Returns whether archives are pinned for a target and this machine would not build all of a plan as pinned: its
    /// compiler differs, a language has no compiler, or a library is missing or different.
    #[must_use]
    pub fn is_of_others(
        &self,
        plan: &Plan,
        toolchain: Option<&Toolchain>,
        variants: &[Variant],
        target: &str,
    ) -> bool {
        let pins = |unit, toolchain, variant| {
            action(unit, toolchain, variant).is_ok_and(|inputs| self.pin(&inputs.key()).is_some())
        };
        let mut pairs = plan.units.iter().flat_map(|unit| variants.iter().map(move |v| (unit, v)));
        self.pins.iter().any(|pin| pin.target == target)
            && toolchain.is_none_or(|toolchain| !pairs.all(|(unit, variant)| pins(unit, toolchain, variant)))
    }

    /// Checks, before anything is compiled or written, that a plan's actions match the pins.
    ///
    /// # Errors
    /// Fails if an action does not match.
    pub fn check_actions(
        &self,
        plan: &Plan,
        toolchain: &Toolchain,
        variants: &[Variant],
        path: &Path,
    ) -> Result<(), LockError> {
        let mut lines = Vec::new();
        for (unit, variant) in plan.units.iter().flat_map(|unit| variants.iter().map(move |v| (unit, v))) {
            // A unit without an action cannot be compiled; compiling it reports the error.
            let Ok(inputs) = action(unit, toolchain, variant) else { continue };
            lines.extend(self.refusal(&Made {
                signature: &unit.first().signature,
                target: &inputs.target,
                isa: &inputs.isa,
                action: inputs.key(),
                toolchain: inputs.toolchain,
                unit: unit_id(unit.members().iter().map(|(key, _)| key)),
                digest: None,
            }));
        }
        refuse(lines, path)
    }

    /// Checks that archives match their pins.
    ///
    /// # Errors
    /// Fails if an archive does not match.
    pub fn check_pins<'r>(
        &self,
        records: impl Iterator<Item = &'r Record>,
        path: &Path,
    ) -> Result<(), LockError> {
        let made = |record: &'r Record| Made {
            signature: record.members.first().map_or("", |member| &member.signature),
            target: &record.target,
            isa: &record.isa,
            action: record.action,
            toolchain: record.toolchain,
            unit: unit_of(record),
            digest: Some(record.digest),
        };
        refuse(records.filter_map(|record| self.refusal(&made(record))).collect(), path)
    }

    /// Returns the reason for a rejection, if any.
    fn refusal(&self, made: &Made<'_>) -> Option<String> {
        let Made { signature, target, isa, action, toolchain, unit, digest } = made;
        let why = match self.pin(action) {
            Some(pin) if (&*pin.target, &*pin.isa) != (*target, *isa) => {
                format!("its pin is for `{}` and `{}`", pin.target, pin.isa)
            }
            Some(pin) if pin.toolchain != *toolchain => "its pin has another compiler".to_owned(),
            Some(pin) if pin.unit.is_some_and(|pinned| pinned != *unit) => {
                "its pin has other modules".to_owned()
            }
            Some(pin) => {
                let digest = digest.filter(|digest| *digest != pin.digest)?;
                format!("pinned archive `{}`, found `{}`", pin.digest.short(), digest.short())
            }
            None => {
                let of_target: Vec<&Pin> = self.pins.iter().filter(|pin| pin.target == *target).collect();
                of_target.first()?;
                let of_level = of_target.iter().filter(|pin| pin.isa == *isa);
                let compilers: BTreeSet<_> = of_level.map(|pin| pin.toolchain).collect();
                if compilers.is_empty() {
                    "nothing is pinned for this ISA level".to_owned()
                } else if compilers.contains(toolchain) {
                    match self.other_version() {
                        Some(version) => format!(
                            "its action changed ({version} pinned the archives), or its pin was removed"
                        ),
                        None => "its action changed, or its pin was removed".to_owned(),
                    }
                } else {
                    "built by another compiler".to_owned()
                }
            }
        };
        Some(format!("  `{signature}` for `{isa}`: {why}"))
    }
}

fn refuse(lines: Vec<String>, path: &Path) -> Result<(), LockError> {
    if lines.is_empty() { Ok(()) } else { Err(LockError::Pinned { path: path.to_owned(), lines }) }
}
