//! The jobs of a plan, and the actions that are looked up in a store and a cache.
//!
//! Actions are derived from a toolchain. Without a toolchain, the pins of a lock file provide the actions. A pin does
//! not identify its unit; a record of its action does.

use super::job::Job;
use super::{ExecuteError, Execution, Failure, Results};
use crate::lock::{Lock, Pin};
use crate::plan::Plan;
use precast_compile::{Toolchain, Variant, action};
use precast_store::{ActionKey, BuildKey, Record, Store};
use std::collections::{BTreeMap, BTreeSet};

/// The jobs of a plan, ordered by unit, then by variant.
pub(super) struct Jobs<'a> {
    pub(super) list: Vec<Job<'a>>,
    variants: &'a [Variant],
    source: Source<'a>,
}

/// The source of the jobs' actions.
enum Source<'a> {
    /// A toolchain; if the lock file pins archives, only pinned actions are looked up in a cache.
    Toolchain { is_pinned: bool, jobs: BTreeMap<ActionKey, usize> },
    /// The pins of a lock file, without a toolchain.
    Pins { pins: Vec<&'a Pin>, units: BTreeMap<BuildKey, usize> },
}

impl<'a> Jobs<'a> {
    /// Lists the jobs of a plan, each with its action if known.
    pub(super) fn new(plan: &'a Plan, execution: &Execution<'a>) -> Result<Self, ExecuteError> {
        let (variants, lock) = (execution.variants, execution.pinned().map(|locked| locked.lock));
        let pairs = plan.units.iter().flat_map(|unit| variants.iter().map(move |variant| (unit, variant)));
        let list: Vec<Job<'a>> =
            pairs.map(|(unit, variant)| Job::new(unit, variant, &plan.fingerprints)).collect();
        if let Some(toolchain) = execution.toolchain {
            let list = derive_actions(list, toolchain, lock)?;
            let jobs = list.iter().enumerate().filter_map(|(at, job)| Some((job.action?, at))).collect();
            let source = Source::Toolchain { is_pinned: lock.is_some(), jobs };
            return Ok(Self { list, variants, source });
        }
        let units = plan.units.iter().enumerate().map(|(at, unit)| (unit.members()[0].0, at)).collect();
        let is_wanted = |pin: &&Pin| variants.iter().any(|variant| pin.is_for(variant));
        let pins = lock.into_iter().flat_map(|lock| &lock.pins).filter(is_wanted).collect();
        let mut jobs = Self { list, variants, source: Source::Pins { pins, units } };
        jobs.adopt_pins(execution.store)?;
        Ok(jobs)
    }

    /// Sets the actions of jobs from pins for which the store has a record.
    fn adopt_pins(&mut self, store: Option<&Store>) -> Result<(), ExecuteError> {
        let (Source::Pins { pins, .. }, Some(store)) = (&self.source, store) else { return Ok(()) };
        for pin in pins.clone() {
            let mut records = store.find_action(&pin.action)?;
            records.sort_by_key(|record| record.digest != pin.digest);
            let _ = records.iter().find_map(|record| self.subject_of(record));
        }
        Ok(())
    }

    /// Returns the actions without an artifact. A build with pins looks up only pinned actions.
    pub(super) fn lacking(&self) -> Vec<ActionKey> {
        let actions: BTreeSet<ActionKey> = match &self.source {
            Source::Toolchain { is_pinned, .. } => {
                let lacking = self.list.iter().filter(|job| job.artifact.is_none());
                lacking.filter(|job| !is_pinned || job.pin.is_some()).filter_map(|job| job.action).collect()
            }
            Source::Pins { pins, .. } => {
                let has = |job: &&Job<'_>| job.artifact.is_some();
                let found: BTreeSet<_> = self.list.iter().filter(has).filter_map(|job| job.action).collect();
                pins.iter().map(|pin| pin.action).filter(|action| !found.contains(action)).collect()
            }
        };
        actions.into_iter().collect()
    }

    /// Returns the job that a record belongs to. If a pin led to the record, the job gets the pin's action.
    pub(super) fn subject_of(&mut self, record: &Record) -> Option<usize> {
        let (pins, units) = match &self.source {
            Source::Pins { pins, units } => (pins, units),
            Source::Toolchain { jobs, .. } => {
                let at = *jobs.get(&record.action)?;
                return self.list[at].artifact.is_none().then_some(at);
            }
        };
        let pin = *pins.iter().find(|pin| pin.action == record.action)?;
        let variant = self.variants.iter().position(|variant| pin.is_for(variant))?;
        let at = units.get(&record.members.first()?.key)? * self.variants.len() + variant;
        let is_known = |action: Option<_>| action.is_none_or(|known| known == pin.action);
        let job = self.list.get_mut(at).filter(|job| job.is_subject(record) && is_known(job.action))?;
        (job.action, job.toolchain, job.pin) = (Some(pin.action), pin.toolchain, Some(pin));
        job.is_hermetic = !record.has_outside();
        Some(at)
    }

    /// Returns whether pins are the only source of actions and each pin led to an artifact or a result. In that case
    /// the missing units are not pinned.
    pub(super) fn are_all_found(&self, results: &Results) -> bool {
        matches!(self.source, Source::Pins { .. }) && self.lacking().len() <= results.len()
    }
}

/// Derives the action of each job from a toolchain.
fn derive_actions<'a>(
    mut list: Vec<Job<'a>>,
    toolchain: &Toolchain,
    lock: Option<&'a Lock>,
) -> Result<Vec<Job<'a>>, ExecuteError> {
    let mut failures = Vec::new();
    for job in &mut list {
        match action(job.unit, toolchain, job.variant) {
            Ok(inputs) => {
                let key = inputs.key();
                job.is_hermetic = inputs.linked.is_empty();
                job.pin = lock.and_then(|lock| lock.pin(&key));
                (job.action, job.toolchain) = (Some(key), inputs.toolchain);
            }
            Err(error) => failures.push(Failure { title: job.title(), error }),
        }
    }
    if failures.is_empty() { Ok(list) } else { Err(ExecuteError::Compile { failures }) }
}
