//! The stages of a loop over numbers, whose costly functions are vectorised over blocks of steps.
//!
//! ```text
//! First    step by step: carries that no costly function changes, and what they need
//! Map      all steps of a block in one loop: what depends on the first stage, rows and other inputs
//! Last     step by step: the other carries, and what depends on them
//! ```
//! A stage reads the values of earlier stages from arrays of a block. Each value is computed by the same operations as in
//! a loop without stages.

use super::code::Part;
use super::{Fixed, step::Step};
use crate::control::Scan;
use precast_graph::{Apply, Origin, VarId};
use std::collections::BTreeMap;

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
    /// The arrays of values that later stages read, with the stages where they come from.
    kept: BTreeMap<String, (VarId, Stage)>,
}

impl Stages {
    /// Divides a loop into stages. `None` if no costly function could be vectorised, or if the loop has more than maps of
    /// numbers.
    pub(super) fn of(scan: &Scan, fixed: &Fixed) -> Option<Self> {
        let is_number = |part: &Part<'_>| match part {
            Part::Group(group) => group.shape.iter().all(|n| *n == 1),
            Part::Block(_) | Part::Step(_) => false,
        };
        if scan.until || !fixed.parts().iter().all(is_number) {
            return None;
        }
        let mut stages =
            Self { applies: Vec::new(), carries: vec![Stage::First; scan.carries], kept: BTreeMap::new() };
        while stages.delay(fixed) {}
        let outputs = fixed.graph.outputs();
        let mut is_needed = vec![false; fixed.values.len()];
        for (carry, output) in stages.carries.iter().zip(outputs) {
            is_needed[output.index()] |= *carry == Stage::First;
        }
        for apply in fixed.graph.applies().iter().rev() {
            if apply.outputs.iter().any(|output| is_needed[output.index()]) {
                apply.inputs.iter().for_each(|input| is_needed[input.index()] = true);
            }
        }
        let late =
            fixed.reached(|origin| matches!(origin, Origin::Input(k) if stages.is_late(*k)), |_| false);
        let of = |apply: &Apply| match apply.outputs[0].index() {
            output if is_needed[output] => Stage::First,
            output if late[output] => Stage::Last,
            _ => Stage::Map,
        };
        stages.applies = fixed.graph.applies().iter().map(of).collect();
        stages.keep(fixed);
        let mut mapped = stages.applies.iter().zip(&fixed.steps).filter(|(stage, _)| **stage == Stage::Map);
        (mapped.any(|(_, step)| is_costly(step)) && stages.kept.len() <= MAX_KEPT).then_some(stages)
    }

    /// Delays the carries that depend on a costly function or on a delayed carry. Returns whether there were more.
    fn delay(&mut self, fixed: &Fixed) -> bool {
        let is_late = |origin: &Origin| matches!(origin, Origin::Input(k) if self.is_late(*k));
        let reached = fixed.reached(is_late, is_costly);
        let mut is_changed = false;
        for (carry, output) in self.carries.iter_mut().zip(fixed.graph.outputs()) {
            if *carry == Stage::First && reached[output.index()] {
                (*carry, is_changed) = (Stage::Last, true);
            }
        }
        is_changed
    }

    fn is_late(&self, input: usize) -> bool {
        self.carries.get(input) == Some(&Stage::Last)
    }

    pub(super) fn apply(&self, position: usize) -> Stage {
        self.applies[position]
    }

    pub(super) fn carry(&self, position: usize) -> Stage {
        self.carries[position]
    }

    /// Returns the stage that computes a value; carries are those before the step. `None` for what is known before the
    /// loop, and for rows, which any stage can read.
    pub(super) fn value(&self, fixed: &Fixed, variable: VarId) -> Option<Stage> {
        match &fixed.graph.variable(variable).origin {
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
    fn reached(&self, origin: impl Fn(&Origin) -> bool, step: impl Fn(&Step) -> bool) -> Vec<bool> {
        let mut reached: Vec<bool> =
            self.graph.variables().iter().map(|variable| origin(&variable.origin)).collect();
        for (apply, own) in self.graph.applies().iter().zip(&self.steps) {
            let is_reached = step(own) || apply.inputs.iter().any(|input| reached[input.index()]);
            apply.outputs.iter().for_each(|output| reached[output.index()] |= is_reached);
        }
        reached
    }
}

/// Returns whether a step takes much longer than a few instructions.
fn is_costly(step: &Step) -> bool {
    matches!(step, Step::Map(scalar) if !scalar.is_cheap())
}
