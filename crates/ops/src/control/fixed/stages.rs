//! The stages of a loop over numbers, whose functions are vectorised over blocks of steps.
//!
//! ```text
//! First    step by step: rows, carries that no function changes, and what they need
//! Map      all steps of a block in one loop: what depends on the first stage only
//! Last     step by step: the other carries, and what depends on them
//! ```
//! A stage reads the values of earlier stages from arrays of a block. Each value is computed by the same operations as in
//! a loop without stages.

use super::code::Part;
use super::{Fixed, step::Step};
use crate::control::Scan;
use precast_graph::{Apply, DType, Origin, VarId};
use std::collections::BTreeMap;
use std::ops::Range;

/// The maximum number of values that later stages read, each of them 8 bytes for each step of a block.
const MAX_KEPT: usize = 32;

/// A stage, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    First,
    Map,
    Last,
}

impl Stage {
    pub(super) const ALL: [Self; 3] = [Self::First, Self::Map, Self::Last];
}

/// The stages of the Applies and carries of a loop.
#[derive(Debug)]
pub(super) struct Stages {
    /// By Apply.
    applies: Vec<Stage>,
    /// By carry.
    carries: Vec<Stage>,
    /// The inputs that are rows.
    rows: Range<usize>,
    /// The arrays of values that later stages read, with the stages where they come from.
    kept: BTreeMap<String, (VarId, Stage)>,
}

impl Stages {
    /// Divides a loop into stages. `None` if no function could be vectorised, or if the loop has more than maps of
    /// numbers.
    pub(super) fn of(scan: &Scan, fixed: &Fixed) -> Option<Self> {
        let is_number = |part: &Part<'_>| match part {
            Part::Group(group) => group.shape.iter().all(|n| *n == 1),
            Part::Block(_) | Part::Step(_) => false,
        };
        if scan.until || !fixed.parts().iter().all(is_number) {
            return None;
        }
        let mut stages = Self {
            applies: Vec::new(),
            carries: vec![Stage::First; scan.carries],
            rows: scan.carries..scan.carries + scan.sequences,
            kept: BTreeMap::new(),
        };
        while stages.delay(fixed) {}
        let outputs = fixed.graph.outputs();
        let mut is_needed = vec![false; fixed.values.len()];
        for (carry, output) in stages.carries.iter().zip(outputs) {
            is_needed[output.index()] |= *carry == Stage::First;
        }
        let has = |apply: &Apply, of: &[bool]| apply.outputs.iter().any(|output| of[output.index()]);
        for apply in fixed.graph.applies().iter().rev() {
            if has(apply, &is_needed) {
                apply.inputs.iter().for_each(|input| is_needed[input.index()] = true);
            }
        }
        let late = fixed.reached(|origin| stages.is_late(origin), |_, _| false);
        let of = |apply: &Apply| match () {
            () if has(apply, &is_needed) => Stage::First,
            () if has(apply, &late) => Stage::Last,
            () => Stage::Map,
        };
        stages.applies = fixed.graph.applies().iter().map(of).collect();
        stages.keep(fixed);
        let steps = fixed.graph.applies().iter().zip(&fixed.steps).zip(&stages.applies);
        let mut mapped = steps.filter(|(_, stage)| **stage == Stage::Map);
        let is_faster = mapped.any(|((apply, step), _)| fixed.is_function(apply, step));
        (is_faster && stages.kept.len() <= MAX_KEPT).then_some(stages)
    }

    /// Delays the carries that depend on a function or on a delayed carry. Returns whether there were more.
    fn delay(&mut self, fixed: &Fixed) -> bool {
        let is_late = |origin: &Origin| self.is_late(origin);
        let reached = fixed.reached(is_late, |apply, step| fixed.is_function(apply, step));
        let mut is_changed = false;
        for (carry, output) in self.carries.iter_mut().zip(fixed.graph.outputs()) {
            if *carry == Stage::First && reached[output.index()] {
                (*carry, is_changed) = (Stage::Last, true);
            }
        }
        is_changed
    }

    /// Returns whether a value is a delayed carry.
    fn is_late(&self, origin: &Origin) -> bool {
        matches!(origin, Origin::Input(k) if self.carries.get(*k) == Some(&Stage::Last))
    }

    pub(super) fn apply(&self, position: usize) -> Stage {
        self.applies[position]
    }

    pub(super) fn carry(&self, position: usize) -> Stage {
        self.carries[position]
    }

    /// Returns the stage that computes or reads a value; carries are those before the step. `None` for what is known
    /// before the loop.
    pub(super) fn value(&self, fixed: &Fixed, variable: VarId) -> Option<Stage> {
        match &fixed.graph.variable(variable).origin {
            Origin::Input(k) if self.rows.contains(k) => Some(Stage::First),
            Origin::Input(k) => self.carries.get(*k).copied(),
            Origin::Output { apply, .. } => match &fixed.steps[apply.index()] {
                Step::Known => None,
                Step::Map(_) => Some(self.applies[apply.index()]),
                // A view of a number.
                _ => self.value(fixed, fixed.graph.applies()[apply.index()].inputs[0]),
            },
            Origin::Constant(_) => None,
        }
    }

    /// Finds the values that later stages read.
    fn keep(&mut self, fixed: &Fixed) {
        let mut kept = BTreeMap::new();
        let mut read = |variable: VarId, reader: Stage| {
            if let Some(stage) = self.value(fixed, variable).filter(|stage| *stage < reader) {
                kept.insert(fixed.name(variable), (variable, stage));
            }
        };
        for (apply, stage) in fixed.graph.applies().iter().zip(&self.applies) {
            apply.inputs.iter().for_each(|input| read(*input, *stage));
        }
        for (carry, output) in self.carries.iter().zip(fixed.graph.outputs()) {
            read(*output, *carry);
        }
        self.kept = kept;
    }

    /// Returns the values that later stages read, with their arrays and the stages where they come from.
    pub(super) fn kept(&self) -> impl Iterator<Item = (&str, VarId, Stage)> {
        self.kept.iter().map(|(array, (variable, stage))| (array.as_str(), *variable, *stage))
    }
}

impl Fixed {
    /// Returns for each variable whether it depends on an origin or on a step of a kind.
    fn reached(&self, origin: impl Fn(&Origin) -> bool, is_one: impl Fn(&Apply, &Step) -> bool) -> Vec<bool> {
        let mut reached: Vec<bool> =
            self.graph.variables().iter().map(|variable| origin(&variable.origin)).collect();
        for (apply, own) in self.graph.applies().iter().zip(&self.steps) {
            let is_reached = is_one(apply, own) || apply.inputs.iter().any(|input| reached[input.index()]);
            apply.outputs.iter().for_each(|output| reached[output.index()] |= is_reached);
        }
        reached
    }

    /// Returns whether a step computes a mathematical function, which takes much longer than a few instructions.
    fn is_function(&self, apply: &Apply, step: &Step) -> bool {
        let Step::Map(scalar) = step else { return false };
        let dtypes: Vec<DType> = apply.inputs.iter().map(|input| self.value(*input).dtype).collect();
        scalar.c_headers(&dtypes).iter().any(|header| header.starts_with("precast/ops/math/"))
    }
}
