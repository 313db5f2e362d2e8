//! Runs all trials of one Apply on some sets of inputs, in a child process.
//!
//! The child writes each finding to a file at once, one per line, so a crash loses none of them. The results of the
//! first trials go to another file if they are needed by later Applies of a graph.

use super::alone::Alone;
use super::cases::Case;
use super::judge::{self, FILLS, Finding, First, is_apt};
use super::trial::{Rooms, Trial};
use super::value::{self, Value};
use super::violation::ViolationKind as Kind;
use precast_core::native::watch::{Ended, Flush, Input, Layout, Progress, Room, Seen, Watched, in_child};
use precast_graph::{Array, Type};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write};
use std::time::Duration;

/// The limits of an op's call.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// The size limit of one tensor.
    pub(super) bytes: usize,
    /// The time limit of one call.
    pub(super) time: Duration,
}

/// A finding, with the case and the trial in which it occurred.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) case: usize,
    pub(super) trial: Trial,
    pub(super) finding: Finding,
}

/// The results of a series.
#[derive(Debug, Default)]
pub(super) struct Told {
    pub(super) found: Vec<Found>,
    pub(super) accepted: usize,
    pub(super) refused: usize,
    /// The first results of each accepted case.
    pub(super) results: Vec<Vec<Array>>,
}

/// Runs `trials` of an Apply on each case.
pub(super) fn series(alone: &Alone, cases: &[Case], trials: &[Trial], limits: Limits) -> io::Result<Told> {
    let (mut lines, mut results) = (tempfile::tempfile()?, tempfile::tempfile()?);
    let files = (lines.try_clone()?, results.try_clone()?);
    let ended = in_child(limits.time, |progress| {
        let mut child =
            Child { alone, trials, limits, lines: files.0, results: files.1, seen: BTreeSet::new() };
        for (number, case) in cases.iter().enumerate() {
            // The parent notices an incomplete file.
            if child.case(progress, number, case).is_err() {
                break;
            }
        }
    })?;
    let mut text = String::new();
    lines.rewind()?;
    lines.read_to_string(&mut text)?;
    let mut told = Told::default();
    for line in text.lines() {
        told.line(line, trials);
    }
    if let Ended::Fault { case, trial, fault } = ended {
        let trial = trials.get(trial).copied().unwrap_or(Trial::FIRST);
        told.found.push(Found { case, trial, finding: judge::fault(fault) });
    }
    results.rewind()?;
    let mut bytes = Vec::new();
    results.read_to_end(&mut bytes)?;
    told.results = unpack(&bytes, &alone.contract.outputs);
    Ok(told)
}

impl Told {
    /// Parses a line: `accepted`, `refused`, or kind, case, trial and detail of a finding.
    fn line(&mut self, line: &str, trials: &[Trial]) {
        let mut parts = line.splitn(4, '\t');
        let mut next = || parts.next().unwrap_or_default();
        match next() {
            "accepted" => self.accepted += 1,
            "refused" => self.refused += 1,
            name => {
                let (case, trial) = (next().parse(), next().parse::<usize>());
                if let (Some(kind), Ok(case), Ok(trial)) = (Kind::find(name), case, trial) {
                    let trial = trials.get(trial).copied().unwrap_or(Trial::FIRST);
                    self.found.push(Found { case, trial, finding: (kind, next().to_owned()) });
                }
            }
        }
    }
}

/// The state of the child process.
struct Child<'a> {
    alone: &'a Alone,
    trials: &'a [Trial],
    limits: Limits,
    lines: File,
    results: File,
    /// The reported kinds: one finding of each kind is enough.
    seen: BTreeSet<Kind>,
}

/// The size of outputs above which only the first trial is run: smaller cases have covered the remaining
/// trials.
const LARGE_BYTES: usize = 1 << 20;

impl Child<'_> {
    fn case(&mut self, progress: &Progress<'_>, number: usize, case: &Case) -> io::Result<()> {
        let bytes: Vec<Vec<u8>> = case.inputs.iter().map(value::bytes).collect();
        let mut first: Option<First> = None;
        for (position, trial) in self.trials.iter().copied().enumerate() {
            if first.is_some() && !is_apt(trial, case, &self.alone.contract) {
                continue;
            }
            progress.begin(number, position);
            let Some([a, b]) = self.run(case, &bytes, trial, first.as_ref(), (number, position))? else {
                break;
            };
            let contract = &self.alone.contract;
            let mut found: Vec<Finding> =
                [&a, &b].into_iter().flat_map(|seen| contract.conduct(seen)).collect();
            // If such a rule is violated, the results are meaningless.
            let behaves = found.is_empty();
            found.extend(contract.twice(trial, [&a, &b]).filter(|_| behaves));
            match &first {
                Some(first) => found.extend(contract.against_first(trial, &a, first).filter(|_| behaves)),
                None => {
                    let outcome = match (&a.failure, contract.values(&a)) {
                        (Some((error, _)), _) => Some(First::Refused(error.message.clone())),
                        (None, values) => values.map(First::Outputs),
                    };
                    // An unwritten element differs from any expected value; report it only once.
                    let compare = outcome.as_ref().filter(|_| found.is_empty());
                    found.extend(compare.and_then(|o| contract.against_perform(case, o, a.used_gemm)));
                    self.tell_first(outcome.as_ref())?;
                    first = outcome;
                }
            }
            self.tell(number, position, found)?;
            let bytes = a.outputs.iter().flatten().filter_map(|output| output.bytes.as_ref()).map(Vec::len);
            if first.is_none() || bytes.sum::<usize>() > LARGE_BYTES {
                break;
            }
        }
        Ok(())
    }

    /// Runs a trial twice on one instance; `None` if no instance could be created.
    fn run(
        &mut self,
        case: &Case,
        bytes: &[Vec<u8>],
        trial: Trial,
        first: Option<&First>,
        place: (usize, usize),
    ) -> io::Result<Option<[Seen; 2]>> {
        let contract = &self.alone.contract;
        let layout = |input: usize| match trial.layout(input) {
            Layout::Broadcast if !case.broadcasts(input) || contract.destroys(input) => Layout::C,
            layout => layout,
        };
        let inputs = |second: bool| -> Vec<Input<'_>> {
            let pairs = case.inputs.iter().zip(bytes).enumerate();
            let input = pairs.map(|(position, (array, bytes))| Input {
                dtype: array.dtype(),
                shape: array.shape(),
                bytes,
                layout: layout(position),
                readonly: !second && !contract.destroys(position),
            });
            input.collect()
        };
        let rooms: Vec<Room> =
            (0..contract.outputs.len()).map(|i| room(&contract.outputs[i], i, trial, first)).collect();
        let mut watched = match Watched::new(self.alone.module.clone(), &self.alone.slots) {
            Ok(watched) => watched,
            Err(error) => {
                let message = format!("cannot create an instance: {}", error.message);
                self.tell(place.0, place.1, vec![(Kind::DiffersFromPerform, message)])?;
                return Ok(None);
            }
        };
        let a = watched.run(&inputs(false), &rooms, (FILLS[0], Flush::End), self.limits.bytes)?;
        let b = watched.run(&inputs(true), &rooms, (FILLS[1], Flush::Start), self.limits.bytes)?;
        let left = watched.end();
        if left > 0 {
            let detail = format!("{left} tensor(s) or block(s) are never released");
            self.tell(place.0, place.1, vec![(Kind::Leak, detail)])?;
        }
        Ok(Some([a, b]))
    }

    fn tell(&mut self, case: usize, trial: usize, found: Vec<Finding>) -> io::Result<()> {
        for (kind, detail) in found {
            if self.seen.insert(kind) {
                let detail = detail.replace(['\n', '\t'], " ");
                writeln!(self.lines, "{kind}\t{case}\t{trial}\t{detail}")?;
            }
        }
        Ok(())
    }

    fn tell_first(&mut self, first: Option<&First>) -> io::Result<()> {
        match first {
            Some(First::Outputs(values)) => {
                pack(&mut self.results, values)?;
                writeln!(self.lines, "accepted")
            }
            Some(First::Refused(_)) => writeln!(self.lines, "refused"),
            None => Ok(()),
        }
    }
}

/// Returns the content of an output cell for a trial.
fn room(ty: &Type, output: usize, trial: Trial, first: Option<&First>) -> Room {
    let known = match first {
        Some(First::Outputs(values)) => values.get(output).map(|value| value.shape.clone()),
        _ => None,
    };
    // A failing run has no output shapes.
    let mut shape = known.unwrap_or_else(|| vec![1; ty.ndim()]);
    let layout = match trial.rooms {
        Rooms::Empty => return Room::Empty,
        Rooms::Right(layout) => layout,
        Rooms::ReadOnly => Layout::C,
        Rooms::Larger => {
            shape.iter_mut().for_each(|extent| *extent += 1);
            Layout::C
        }
        Rooms::Smaller => {
            shape.iter_mut().for_each(|extent| *extent /= 2);
            Layout::C
        }
    };
    Room::Tensor { dtype: ty.dtype(), shape, layout, readonly: trial.rooms == Rooms::ReadOnly }
}

/// Writes the extents and bytes of each value, lengths first.
fn pack(file: &mut File, values: &[Value]) -> io::Result<()> {
    let mut bytes = Vec::new();
    for value in values {
        let extents = value.shape.iter().map(|n| *n as u64);
        extents.chain([value.bytes.len() as u64]).for_each(|n| bytes.extend(n.to_le_bytes()));
        bytes.extend_from_slice(&value.bytes);
    }
    file.write_all(&bytes)
}

/// Reads the values that `pack` wrote; a truncated value is left out.
fn unpack(mut bytes: &[u8], types: &[Type]) -> Vec<Vec<Array>> {
    let mut all = Vec::new();
    while !bytes.is_empty() && !types.is_empty() {
        let mut values = Vec::new();
        for ty in types {
            let Some(array) = unpack_one(&mut bytes, ty) else { return all };
            values.push(array);
        }
        all.push(values);
    }
    all
}

fn unpack_one(bytes: &mut &[u8], ty: &Type) -> Option<Array> {
    let mut number = || {
        let (head, rest) = bytes.split_first_chunk::<8>()?;
        *bytes = rest;
        usize::try_from(u64::from_le_bytes(*head)).ok()
    };
    let shape: Vec<usize> = (0..ty.ndim()).map(|_| number()).collect::<Option<_>>()?;
    let length = number()?;
    let (elements, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Value { dtype: ty.dtype(), shape, bytes: elements.to_vec() }.array()
}
