//! Converts captured modules to tasks over one table of pointers.
//!
//! ```text
//! task       map           map           fold          the pointers of each kernel are adjacent
//! table    │ x  y  out 0 │ x  y  slot 0 │ slot 0  out 1 │
//! wires          x ────────▲  (a pointer that occurs twice)
//! ```
//! Each value is one element, or has the one shape that all operands share. Other programs have no direct calls.

use super::few::Few;
use super::map::Map;
use super::run::{Fold, Task, UNREAD, Wires, Work, most_in_slots};
use super::{Direct, Fixed, Input, Kind, Output, Reads};
use crate::native::arrays::ArrayRef;
use crate::native::kernels::{Captured, Driven, Kernels, Operand, reduces};
use crate::native::load::LoadedModule;
use crate::program::{Port, Program, Register};
use crate::{Array, DType, Extent, Type};
use precast_abi::driver::{Kernel, REDUCE_BLOCK, Reduce};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Maximum number of elements of a map. The driver runs larger ones (`c/driver/cut.h`), since several threads may share
/// them.
const MOST: usize = 32_768;

/// A value that a kernel reads or writes.
struct Value {
    dtype: DType,
    /// 0 for one element; otherwise the rank that all larger values share.
    ndim: usize,
    origin: Origin,
}

enum Origin {
    Input(usize),
    Constant(usize),
    Result,
}

/// A task without pointer positions: its operands, then its results.
struct Draft {
    work: Work,
    values: Vec<usize>,
    n_in: usize,
    is_full: bool,
}

#[derive(Default)]
struct Assembly {
    values: Vec<Value>,
    drafts: Vec<Draft>,
    constants: Vec<Array>,
}

impl Direct {
    /// Creates the direct calls of a program from the captures of its modules, one for each step. Returns `None` if that is
    /// not possible.
    pub fn new(
        program: &Program,
        modules: &[LoadedModule],
        captured: &[Option<Arc<Captured>>],
    ) -> Option<Self> {
        let mut assembly = Assembly::default();
        let mut registers: BTreeMap<Register, usize> = BTreeMap::new();
        for (position, port) in program.inputs.iter().enumerate() {
            let value = assembly.value(port.ty.dtype(), port.ty.ndim(), Origin::Input(position));
            registers.insert(Register::Input(position), value);
        }
        for (position, constant) in program.constants.iter().enumerate() {
            registers.insert(Register::Constant(position), assembly.constant(&constant.value));
        }
        for (step, captured) in program.steps.iter().zip(captured) {
            let (given, results) = step.args.split_at_checked(step.n_inputs)?;
            let given = given.iter().map(|register| registers.get(register).copied());
            let given = given.collect::<Option<Vec<_>>>()?;
            let slots: Vec<usize> = step.slots.iter().map(|slot| assembly.constant(slot)).collect();
            let made = assembly.module(captured.as_deref()?, &given, &slots)?;
            (results.len() == made.len()).then_some(())?;
            registers.extend(results.iter().copied().zip(made));
        }
        let outputs = (0..program.outputs.len()).map(|at| registers.get(&Register::Output(at)).copied());
        assembly.finish(program, modules, &outputs.collect::<Option<Vec<_>>>()?)
    }
}

impl Assembly {
    fn value(&mut self, dtype: DType, ndim: usize, origin: Origin) -> usize {
        self.values.push(Value { dtype, ndim, origin });
        self.values.len() - 1
    }

    fn constant(&mut self, array: &Array) -> usize {
        self.constants.push(array.clone());
        self.value(array.dtype(), array.shape().len(), Origin::Constant(self.constants.len() - 1))
    }

    /// Adds the driver calls of a module and returns the values of its outputs.
    fn module(&mut self, captured: &Captured, given: &[usize], slots: &[usize]) -> Option<Vec<usize>> {
        let mut results = Vec::new();
        for driven in &captured.calls {
            let value = |operand: &Operand| match operand {
                Operand::Input(at) => given.get(*at).copied(),
                Operand::Slot(at) => slots.get(*at).copied(),
                Operand::Result(at) => results.get(*at).copied(),
            };
            let operands = driven.operands.iter().map(value).collect::<Option<Vec<_>>>()?;
            let dtypes = driven.typenums.iter().map(|typenum| DType::from_typenum(*typenum));
            let dtypes = dtypes.collect::<Option<Vec<_>>>()?;
            match driven.work {
                Kernels::Map(kernel) => results.extend(self.map(kernel, driven, operands, &dtypes)?),
                Kernels::Reduce(reduce) => {
                    let [dtype] = dtypes[..] else { return None };
                    results.push(self.reduce(&reduce, driven, operands, dtype)?);
                }
            }
        }
        captured.outputs.iter().map(|output| results.get(*output).copied()).collect()
    }

    /// Returns the rank that all operands share, except for those of one element.
    fn common_rank<'a>(&self, operands: impl Iterator<Item = &'a usize> + Clone) -> Option<usize> {
        let mut ranks = operands.map(|value| self.values[*value].ndim);
        let rank = ranks.clone().max().unwrap_or(0);
        ranks.all(|ndim| [0, rank].contains(&ndim)).then_some(rank)
    }

    /// Adds a map and returns its results.
    fn map(
        &mut self,
        kernel: Kernel,
        driven: &Driven,
        mut operands: Vec<usize>,
        dtypes: &[DType],
    ) -> Option<Vec<usize>> {
        let ndim = self.common_rank(operands.iter())?;
        for (value, wants_one) in operands.iter_mut().zip(&driven.scalar) {
            match (self.values[*value].ndim, wants_one) {
                (1.., true) => return None,
                (0, false) if ndim > 0 => *value = self.filled(*value, ndim),
                _ => {}
            }
        }
        let n_in = operands.len();
        let results: Vec<usize> =
            dtypes.iter().map(|dtype| self.value(*dtype, ndim, Origin::Result)).collect();
        let values = operands.into_iter().chain(results.iter().copied()).collect();
        self.drafts.push(Draft { work: Work::Map(kernel), values, n_in, is_full: ndim > 0 });
        Some(results)
    }

    /// Adds a task that repeats one element to the shape that a kernel needs.
    fn filled(&mut self, value: usize, ndim: usize) -> usize {
        let dtype = self.values[value].dtype;
        let filled = self.value(dtype, ndim, Origin::Result);
        let (work, values) = (Work::Fill(dtype.itemsize_bytes()), vec![value, filled]);
        self.drafts.push(Draft { work, values, n_in: 1, is_full: true });
        filled
    }

    /// Adds a reduction of a map or of its operand, and returns its result.
    fn reduce(
        &mut self,
        reduce: &Reduce,
        driven: &Driven,
        operands: Vec<usize>,
        dtype: DType,
    ) -> Option<usize> {
        let reduced = match (reduce.map, &operands[..]) {
            (Some(kernel), _) => self.map(kernel, driven, operands, &[dtype])?[0],
            (None, [operand]) => *operand,
            (None, _) => return None,
        };
        let ndim = self.values[reduced].ndim;
        // SAFETY: a module that is alive passed it to a driver.
        let fold = Work::Fold(Box::new(Fold::new(unsafe { *reduce.monoid })?));
        if !(0..ndim).all(|axis| reduces(reduce, axis)) || self.values[reduced].dtype != dtype {
            return None;
        }
        let result = self.value(dtype, 0, Origin::Result);
        let values = vec![reduced, result];
        self.drafts.push(Draft { work: fold, values, n_in: 1, is_full: ndim > 0 });
        Some(result)
    }

    /// Assigns table positions to all pointers, and slots to results that are not outputs.
    fn finish(mut self, program: &Program, modules: &[LoadedModule], outputs: &[usize]) -> Option<Direct> {
        self.common_rank(self.drafts.iter().flat_map(|draft| &draft.values))?;
        // The first position of each value. Further positions are wired to it.
        let mut positions: Vec<Option<u8>> = vec![None; self.values.len()];
        let mut wires = Wires::default();
        let values = self.drafts.iter().flat_map(|draft| &draft.values);
        for (to, value) in values.enumerate() {
            let to = u8::try_from(to).ok().filter(|to| *to != UNREAD)?;
            match positions[*value] {
                None => positions[*value] = Some(to),
                Some(first) => wires.twice.push((first, to)),
            }
        }
        let slots = self.slots(outputs);
        let n_slots = slots.iter().flatten().max().map_or(0, |most| most + 1);
        let unread = |port: &Port| Input {
            kind: Kind::new(port.ty.dtype(), port.ty.ndim()),
            reads: Reads::Nothing,
            at: UNREAD,
        };
        let mut inputs: Vec<Input> = program.inputs.iter().map(unread).collect();
        for (at, (value, first)) in self.values.iter().zip(&positions).enumerate() {
            let Some(first) = *first else { continue };
            match value.origin {
                Origin::Input(position) => {
                    let reads = if value.ndim == 0 { Reads::One } else { Reads::All };
                    inputs[position] = Input { reads, at: first, ..inputs[position] };
                }
                Origin::Constant(position) if value.ndim == 0 => {
                    let constant = ArrayRef::from(&self.constants[position]).view.data();
                    wires.constants.push((constant, first));
                }
                Origin::Constant(_) => return None,
                Origin::Result => wires.slots.extend(slots[at].map(|slot| (slot, first))),
            }
        }
        let mut next = 0;
        let task = |Draft { work, values, is_full, .. }: Draft| {
            let first = next;
            next += values.len();
            // All positions were checked to fit in a byte above.
            Some(Task { work, first: u8::try_from(first).ok()?, is_full })
        };
        let tasks: Vec<Task> =
            std::mem::take(&mut self.drafts).into_iter().map(task).collect::<Option<_>>()?;
        let outputs = self.outputs(program, outputs, &positions)?;
        let fixed = fixed(program, equal(program, &inputs, &outputs)?);
        let is_reduced = tasks.iter().any(|task| matches!(task.work, Work::Fold(_)));
        let widest = self.values.iter().map(|value| value.dtype.itemsize_bytes()).max().unwrap_or(1);
        let most = if is_reduced { REDUCE_BLOCK } else { MOST }.min(most_in_slots(n_slots, widest));
        let is_plain = wires.is_empty() && fixed.is_none();
        Some(Direct {
            map: map(program, &tasks, &inputs, &outputs).filter(|_| is_plain),
            outputs: Few::new(&outputs)?,
            lead: inputs.iter().take_while(|input| input.reads != Reads::All).count(),
            inputs: Few::new(&inputs)?,
            is_plain,
            wires,
            tasks,
            widest,
            most,
            fixed,
            _constants: self.constants,
            _modules: modules.to_vec(),
        })
    }

    /// Returns the outputs. Each must be a different result with the declared dtype and rank.
    fn outputs(&self, program: &Program, outputs: &[usize], positions: &[Option<u8>]) -> Option<Vec<Output>> {
        let output = |(at, (value, port)): (usize, (&usize, &Port))| {
            let Value { dtype, ndim, origin } = &self.values[*value];
            let is_declared = *dtype == port.ty.dtype() && *ndim == port.ty.ndim();
            let is_own = matches!(origin, Origin::Result) && !outputs[..at].contains(value);
            let at = positions[*value]?;
            let kind = Kind::new(*dtype, *ndim);
            (is_declared && is_own).then_some(Output { kind, dtype: *dtype, is_full: *ndim > 0, at })
        };
        outputs.iter().zip(&program.outputs).enumerate().map(output).collect()
    }

    /// Assigns a slot to each value that is neither an input, a constant nor an output. A slot is free again after the last
    /// task that reads it.
    fn slots(&self, outputs: &[usize]) -> Vec<Option<u8>> {
        let mut slots = vec![None; self.values.len()];
        let (mut free, mut made) = (Vec::new(), 0);
        for (at, Draft { values, n_in, .. }) in self.drafts.iter().enumerate() {
            for value in values[*n_in..].iter().filter(|value| !outputs.contains(value)) {
                slots[*value] = Some(free.pop().unwrap_or_else(|| {
                    made += 1;
                    made - 1
                }));
            }
            let later = &self.drafts[at + 1..];
            let mut done: Vec<usize> = values.clone();
            done.sort_unstable();
            done.dedup();
            done.retain(|value| !later.iter().any(|draft| draft.values.contains(value)));
            free.extend(done.iter().filter_map(|value| slots[*value]));
        }
        slots
    }
}

/// Returns the program as one map of arrays of one shape, if its operands are the inputs and outputs in order.
fn map(program: &Program, tasks: &[Task], inputs: &[Input], outputs: &[Output]) -> Option<Map> {
    let [Task { work: Work::Map(kernel), is_full: true, .. }] = tasks else { return None };
    let is_in_order = inputs.iter().map(|input| (input.at, matches!(input.reads, Reads::All)));
    let is_in_order = is_in_order.chain(outputs.iter().map(|output| (output.at, output.is_full)));
    let is_in_order =
        is_in_order.enumerate().all(|(at, (place, is_full))| usize::from(place) == at && is_full);
    is_in_order.then(|| Map::new(*kernel, &program.inputs, &program.outputs, MOST))?
}

/// Returns the requirements on extents, if there are any.
fn fixed(Program { inputs, outputs, .. }: &Program, equal: Vec<(usize, usize)>) -> Option<Box<Fixed>> {
    let is_fixed = |port: &Port| port.ty.shape().iter().any(|extent| *extent != Extent::Unknown);
    let types = |ports: &[Port]| ports.iter().map(|port| Type::clone(&port.ty)).collect();
    let is_any = !equal.is_empty() || inputs.iter().chain(outputs).any(is_fixed);
    is_any.then(|| Box::new(Fixed { inputs: types(inputs), outputs: types(outputs), equal }))
}

/// Returns the pairs of axes of the common shape whose extents have one name. Operands of the common shape agree on each
/// axis anyway. Returns `None` if an input that is not read has names: it has its own shape.
fn equal(program: &Program, inputs: &[Input], outputs: &[Output]) -> Option<Vec<(usize, usize)>> {
    let inputs = program.inputs.iter().zip(inputs.iter().map(|input| input.reads == Reads::All));
    let outputs = program.outputs.iter().zip(outputs.iter().map(|output| output.is_full));
    let (mut first, mut pairs) = (BTreeMap::new(), Vec::new());
    for (port, is_full) in inputs.chain(outputs) {
        for (axis, name) in port.ty.names() {
            is_full.then_some(())?;
            match *first.entry(name).or_insert(axis) {
                known if known != axis => pairs.push((known, axis)),
                _ => {}
            }
        }
    }
    Some(pairs)
}
