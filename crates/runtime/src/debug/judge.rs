//! Derives the violated rules from the observations of two runs.
//!
//! Each trial is run twice, the second time on memory filled with another pattern and guarded on the other side. An
//! element that holds the first pattern after the first run and the second pattern after the second run was never
//! written. Other differences come from reading foreign memory, or from nondeterminism.

use super::cases::{Case, Expected};
use super::contract::Contract;
use super::trial::{Rooms, Trial};
use super::value::Value;
use super::violation::ViolationKind as Kind;
use precast_abi::module::TaskKind;
use precast_core::native::watch::{Fault, Layout, Output, Role, Seen, Side, Touched};
use precast_graph::{Array, DType, Type};

/// The fill patterns of the two runs: NaN in every float type, then another pattern.
pub(super) const FILLS: [u8; 2] = [0xff, 0xa5];

/// The end of the host's message, also used for external ops, if an op fails without setting an error.
const SILENT: &str = "failed without setting an error";

/// A rule and the observation that violates it.
pub(super) type Finding = (Kind, String);

/// The result of the first trial, which later results are compared with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum First {
    Outputs(Vec<Value>),
    Refused(String),
}

impl Contract {
    pub(super) fn destroys(&self, input: usize) -> bool {
        self.destroy_map.iter().any(|(_, destroyed)| *destroyed == input)
    }

    fn may_alias(&self, output: usize, input: usize) -> bool {
        self.view_map.contains(&(output, input)) || self.destroy_map.contains(&(output, input))
    }

    /// Checks how one run treated foreign memory, and whether its outputs have the declared types.
    pub(super) fn conduct(&self, seen: &Seen) -> Vec<Finding> {
        let mut found = Vec::new();
        for (input, touched) in seen.inputs.iter().enumerate() {
            match touched {
                Some(Touched::Element(position)) if !self.destroys(input) => {
                    found.push((Kind::InputChanged, format!("changes element {position} of input {input}")));
                }
                Some(Touched::Outside) => {
                    found.push((Kind::OutOfBounds, format!("writes outside the elements of input {input}")));
                }
                _ => {}
            }
        }
        for (output, touched) in seen.rooms.iter().enumerate() {
            found.extend(touched.map(|touched| match touched {
                Touched::Element(position) => {
                    (Kind::WritesReadOnly, format!("writes element {position} of read-only output {output}"))
                }
                Touched::Outside => (
                    Kind::OutOfBounds,
                    format!("writes outside the elements of preallocated output {output}"),
                ),
            }));
        }
        found.extend(
            seen.overrun.iter().map(|role| (Kind::OutOfBounds, format!("writes outside {}", whose(*role)))),
        );
        found.extend(references(seen));
        found.extend(seen.process.iter().map(|words| (Kind::ChangesProcess, words.clone())));
        match &seen.failure {
            Some((error, told)) if !told || error.message.ends_with(SILENT) => {
                found
                    .push((Kind::FailsWithoutError, "reports a failure without setting an error".to_owned()));
            }
            Some((error, _)) if error.task == Some(TaskKind::Sync) => {
                let detail = "leaves an output cell empty without reporting a failure";
                found.push((Kind::NoOutput, detail.to_owned()));
            }
            _ => {}
        }
        if seen.failure.is_none() {
            for (position, output) in seen.outputs.iter().enumerate() {
                found.extend(self.output(position, output.as_ref()));
            }
        }
        found
    }

    fn output(&self, position: usize, output: Option<&Output>) -> Vec<Finding> {
        let Some(output) = output else {
            return vec![(Kind::NoOutput, format!("output {position} is empty after a successful run"))];
        };
        let mut found = Vec::new();
        let mut wrong = |kind, detail| found.push((kind, detail));
        let ty = &self.outputs[position];
        match value(output, ty) {
            None => wrong(
                Kind::WrongType,
                format!(
                    "output {position} has dtype {} and extents {:?}, expected `{ty}`",
                    DType::from_typenum(output.typenum).map_or("unknown", DType::name),
                    output.shape
                ),
            ),
            Some(_) if output.bytes.is_none() => {
                wrong(Kind::OutOfBounds, format!("the strides of output {position} exceed its memory"));
            }
            Some(value) if value.dtype == DType::Bool => {
                if let Some(at) = value.bytes.iter().position(|byte| *byte > 1 && !FILLS.contains(byte)) {
                    let byte = value.bytes[at];
                    wrong(
                        Kind::WrongType,
                        format!(
                            "element {at} of output {position} is the byte {byte}, which is not a boolean"
                        ),
                    );
                }
            }
            Some(_) => {}
        }
        for input in output.aliases.iter().filter(|input| !self.may_alias(position, **input)) {
            wrong(Kind::OutputAliasesInput, format!("output {position} shares memory with input {input}"));
        }
        for other in &output.shares {
            let of_one_input = output.aliases.iter().any(|input| self.may_alias(*other, *input));
            if !of_one_input {
                wrong(Kind::OutputsAlias, format!("output {position} shares memory with output {other}"));
            }
        }
        found
    }

    /// Returns the values of a successful run; `None` if it failed or an output does not have its declared type.
    pub(super) fn values(&self, seen: &Seen) -> Option<Vec<Value>> {
        if seen.failure.is_some() {
            return None;
        }
        let read = |(output, ty): (&Option<Output>, &Type)| {
            value(output.as_ref()?, ty).filter(|_| has_bytes(output))
        };
        seen.outputs.iter().zip(&self.outputs).map(read).collect()
    }

    /// Compares the results of two runs of one trial.
    pub(super) fn twice(&self, trial: Trial, [a, b]: [&Seen; 2]) -> Option<Finding> {
        let differs =
            if trial.rooms == Rooms::Empty { Kind::NotDeterministic } else { Kind::DependsOnOutput };
        let (Some(left), Some(right)) = (self.values(a), self.values(b)) else {
            let failure = [a, b].into_iter().find_map(|seen| seen.failure.as_ref());
            let words = failure.map_or("", |(error, _)| error.message.as_str());
            return (a.failure.is_some() != b.failure.is_some())
                .then(|| (differs, format!("fails in one of two equal runs: {words}")));
        };
        for (output, (left, right)) in left.iter().zip(&right).enumerate() {
            if left.shape != right.shape {
                let (a, b) = (&left.shape, &right.shape);
                return Some((differs, format!("output {output} has extents {a:?}, then {b:?}")));
            }
            let Some(position) = left.first_difference(right) else { continue };
            if let Some(unwritten) = unwritten(left, right) {
                let index = left.index(unwritten);
                return Some((
                    Kind::UnwrittenOutput,
                    format!("element {index} of output {output} is never written"),
                ));
            }
            let (index, a, b) = (left.index(position), left.element(position), right.element(position));
            return Some((differs, format!("element {index} of output {output} is {a}, then {b}")));
        }
        None
    }

    /// Compares the first result with that of `perform`.
    pub(super) fn against_perform(&self, case: &Case, first: &First, used_gemm: bool) -> Option<Finding> {
        let differs = |detail: String| Some((Kind::DiffersFromPerform, detail));
        match (&case.expected, first) {
            (Expected::Unknown, _) | (Expected::Refused(_), First::Refused(_)) => None,
            (Expected::Refused(words), First::Outputs(_)) => {
                differs(format!("returns a result, perform fails: {words}"))
            }
            (Expected::Outputs(_), First::Refused(words)) => {
                differs(format!("fails, perform returns a result: {words}"))
            }
            (Expected::Outputs(expected), First::Outputs(found)) => {
                let expected: Vec<Value> = expected.iter().map(|array: &Array| Value::of(array)).collect();
                self.difference(found, &expected, self.approximate || used_gemm, "perform returns")
                    .and_then(differs)
            }
        }
    }

    /// Compares the result of a later trial with that of the first.
    pub(super) fn against_first(&self, trial: Trial, seen: &Seen, first: &First) -> Option<Finding> {
        let kind = match trial.rooms {
            Rooms::Empty => Kind::DependsOnLayout,
            _ => Kind::DependsOnOutput,
        };
        let now = match (&seen.failure, self.values(seen)) {
            (Some((error, _)), _) => First::Refused(error.message.clone()),
            (None, Some(values)) => First::Outputs(values),
            // The wrong type was reported already.
            (None, None) => return None,
        };
        let found = match (first, &now) {
            (First::Refused(_), First::Refused(_)) => None,
            (First::Outputs(_), First::Refused(words)) => Some(format!("fails: {words}")),
            (First::Refused(words), First::Outputs(_)) => {
                Some(format!("succeeds, but fails with contiguous inputs and empty outputs: {words}"))
            }
            (First::Outputs(then), First::Outputs(now)) => {
                let was = "with contiguous inputs and empty outputs";
                self.difference(now, then, self.approximate || seen.used_gemm, was)
            }
        };
        found.map(|detail| (kind, detail))
    }

    /// Describes the first difference.
    fn difference(
        &self,
        found: &[Value],
        expected: &[Value],
        approximate: bool,
        whose: &str,
    ) -> Option<String> {
        if found.len() != expected.len() {
            return Some(format!("returns {} output(s), {whose} {}", found.len(), expected.len()));
        }
        for (output, (found, expected)) in found.iter().zip(expected).enumerate() {
            if (found.dtype, &found.shape) != (expected.dtype, &expected.shape) {
                let (dtype, shape) = (expected.dtype, &expected.shape);
                return Some(format!(
                    "output {output} is {} of extents {:?}, {whose} {dtype} of extents {shape:?}",
                    found.dtype, found.shape
                ));
            }
            let Some(position) = found.first_difference(expected) else { continue };
            if self.outputs.get(output).is_some_and(|ty| found.is_alike(expected, ty, &self.types)) {
                continue;
            }
            if approximate && found.is_close(expected) {
                continue;
            }
            let (index, is, was) =
                (found.index(position), found.element(position), expected.element(position));
            return Some(format!("element {index} of output {output} is {is}, {whose} {was}"));
        }
        None
    }
}

/// Returns the first element that holds the fill pattern of the run in both runs.
fn unwritten(first: &Value, second: &Value) -> Option<usize> {
    let item = first.dtype.itemsize_bytes();
    let mut pairs = first.bytes.chunks_exact(item).zip(second.bytes.chunks_exact(item));
    let is = |bytes: &[u8], fill: u8| bytes.iter().all(|byte| *byte == fill);
    pairs.position(|(a, b)| is(a, FILLS[0]) && is(b, FILLS[1]))
}

/// Converts an output to a value if it has its declared type. Without bytes, the value is empty.
fn value(output: &Output, ty: &Type) -> Option<Value> {
    let dtype = DType::from_typenum(output.typenum)?;
    let shape: Option<Vec<usize>> = output.shape.iter().map(|n| usize::try_from(*n).ok()).collect();
    let shape = shape.filter(|shape| ty.admits(dtype, shape))?;
    Some(Value { dtype, shape, bytes: output.bytes.clone().unwrap_or_default() })
}

fn has_bytes(output: &Option<Output>) -> bool {
    output.as_ref().is_some_and(|output| output.bytes.is_some())
}

fn references(seen: &Seen) -> impl Iterator<Item = Finding> {
    let count = |what: &str, position: usize, more: i64| {
        let words =
            if more > 0 { "reference(s) are not released" } else { "reference(s) too many are released" };
        (Kind::ReferenceCount, format!("{} {words} of {what} {position}", more.abs()))
    };
    let inputs = seen.references.iter().enumerate().filter(|(_, count)| **count != 1);
    let rooms = seen.room_references.iter().enumerate();
    let rooms =
        rooms.filter_map(|(position, count)| Some((position, (*count)?))).filter(|(_, count)| *count != 0);
    let inputs = inputs.map(move |(position, n)| count("input", position, n - 1));
    inputs.chain(rooms.map(move |(position, n)| count("preallocated output", position, n)))
}

/// Converts the abnormal end of a child, by a signal, a timeout or an exit, to a finding.
pub(super) fn fault(fault: Fault) -> Finding {
    match fault {
        Fault::Outside(role, Side::Before(bytes)) => {
            (Kind::OutOfBounds, format!("touches memory {bytes} byte(s) before {}", whose(role)))
        }
        Fault::Outside(role, Side::After(bytes)) => {
            (Kind::OutOfBounds, format!("touches memory {bytes} byte(s) after the end of {}", whose(role)))
        }
        Fault::Freed(role) => (Kind::UseAfterFree, format!("uses {} after its release", whose(role))),
        Fault::Signal(name) => (Kind::Crashed, format!("was terminated by {name}")),
        Fault::TimeOut => (Kind::Hangs, "exceeds the time limit".to_owned()),
        Fault::Stuck => {
            let why =
                "the child process was stopped or ignores signals; it was killed with all its descendants";
            (Kind::Hangs, format!("exceeds the time limit: {why}"))
        }
        Fault::Exit(status) => (Kind::Crashed, format!("exits the process with status {status}")),
    }
}

fn whose(role: Role) -> String {
    match role {
        Role::Input(position) => format!("input {position}"),
        Role::Room(position) => format!("preallocated output {position}"),
        Role::New(number) => format!("tensor {number} created by the op"),
        Role::Block(number) => format!("block {number} allocated by the op"),
    }
}

/// Returns whether a trial can find more about an Apply than the trials before it.
pub(super) fn is_apt(trial: Trial, case: &Case, contract: &Contract) -> bool {
    let flat = case.inputs.iter().all(|input| input.shape().is_empty());
    let inputs = match trial.inputs {
        super::trial::Inputs::All(Layout::C) => true,
        super::trial::Inputs::All(Layout::Broadcast) => {
            (0..case.inputs.len()).any(|input| case.broadcasts(input) && !contract.destroys(input))
        }
        super::trial::Inputs::All(_) => !flat,
        super::trial::Inputs::Mixed => !flat && case.inputs.len() > 1,
    };
    let ranked = contract.outputs.iter().any(|ty| ty.ndim() > 0);
    let rooms = match trial.rooms {
        Rooms::Empty | Rooms::Right(Layout::C) => true,
        Rooms::ReadOnly => contract.knows_readonly,
        Rooms::Right(_) | Rooms::Larger | Rooms::Smaller => ranked,
    };
    inputs && rooms
}
