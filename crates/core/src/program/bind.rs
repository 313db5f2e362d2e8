//! Converts a program and its loaded modules to the executable form that frames run.
//!
//! ```text
//! steps ─▶ adjacent steps of one group become a chain if possible ─▶ liveness: which temporaries die with a step,
//!                                                                     and which of those lend their memory to its output
//! ```
//! The base of a view lives as long as the view.

use super::{Computes, Program, Register, Step};
use crate::native::{
    Bound, Captured, Chain, Chained, Driven, Executable, LoadedModule, Operand, Room, Value, Work,
};
use crate::value::{Array, DType, Type};
use std::ops::Range;
use std::sync::Arc;

/// Makes a program callable in frames. `modules` are the modules of its steps, in order, and `captured` are the driver
/// calls of these modules.
#[must_use]
pub fn bind(program: &Program, modules: &[LoadedModule], captured: &[Option<Arc<Captured>>]) -> Executable {
    let mut binding = Binding { program, modules, captured, bound: Vec::new() };
    let steps = &program.steps;
    let mut first = 0;
    while first < steps.len() {
        let after = (first..steps.len()).find(|at| steps[*at].group != steps[first].group);
        let after = after.unwrap_or(steps.len());
        if !binding.chain(first..after) {
            (first..after).for_each(|position| binding.call(position));
        }
        first = after;
    }
    let mut bound = binding.bound;
    lives(program, &mut bound);
    let steps: Vec<Bound> = bound.into_iter().map(|(step, _)| step).collect();
    Executable {
        steps,
        n_inputs: program.inputs.len(),
        constants: program.constants.iter().map(|constant| constant.value.clone()).collect(),
        temps: program
            .temps
            .iter()
            .map(|temp| Room { dtype: temp.ty.dtype(), ndim: temp.ty.ndim(), view: temp.view })
            .collect(),
        n_outputs: program.outputs.len(),
    }
}

/// Returns the driver calls of each step's module, if the module only calls drivers and has only tensor inputs.
#[must_use]
pub fn captured(program: &Program, modules: &[LoadedModule]) -> Vec<Option<Arc<Captured>>> {
    let of = |(step, module): (&Step, &LoadedModule)| {
        if step.computes == Computes::Anything {
            return None;
        }
        let inputs = step.args[..step.n_inputs].iter();
        let tensors = inputs.map(|register| program.ty(*register).and_then(tensor));
        module.captured(&step.slots, &tensors.collect::<Option<Vec<_>>>()?)
    };
    program.steps.iter().zip(modules).map(of).collect()
}

/// The bound steps so far, each with the range of program steps that it runs.
struct Binding<'a> {
    program: &'a Program,
    modules: &'a [LoadedModule],
    captured: &'a [Option<Arc<Captured>>],
    bound: Vec<(Bound, Range<usize>)>,
}

impl Binding<'_> {
    fn push(&mut self, work: Work, args: Vec<Register>, n_inputs: usize, steps: Range<usize>) {
        let signatures = self.program.steps[steps.clone()].iter().flat_map(|step| step.signatures.clone());
        let (dies, lends, signatures) = (Vec::new(), Vec::new(), signatures.collect());
        self.bound.push((Bound { work, args, n_inputs, dies, lends, signatures }, steps));
    }

    fn call(&mut self, position: usize) {
        let step = &self.program.steps[position];
        let slots: Vec<Array> = step.slots.clone();
        let work = Work::Call { module: self.modules[position].clone(), slots };
        self.push(work, step.args.clone(), step.n_inputs, position..position + 1);
    }

    /// Binds adjacent steps as one chain. Returns `false` if they must be called one by one.
    fn chain(&mut self, range: Range<usize>) -> bool {
        let program = self.program;
        let steps = &program.steps[range.clone()];
        let Some(result) = self.only_result(&range) else { return false };
        let mut inputs: Vec<Register> = Vec::new();
        let mut made: Vec<Register> = Vec::new();
        let mut chained = Vec::new();
        for (step, position) in steps.iter().zip(range.clone()) {
            let Some(captured) = &self.captured[position] else { return false };
            let [Driven { work, operands, scalar, typenums, is_shared }] = &captured.calls[..] else {
                return false;
            };
            // An input that the kernel does not read is not an operand, because its shape may differ from the result's.
            let read = operands.iter().map(|operand| match operand {
                Operand::Input(input) => step.args.get(*input).copied(),
                Operand::Slot(_) | Operand::Result(_) => None,
            });
            let (Some(read), [typenum]) = (read.collect::<Option<Vec<_>>>(), &typenums[..]) else {
                return false;
            };
            let operand = |register: Register| match made.iter().position(|known| *known == register) {
                Some(earlier) => Value::Result(earlier),
                None => Value::Input(position_of(&mut inputs, register)),
            };
            let operands = read.into_iter().map(operand).collect();
            let Some(ty) = program.ty(step.args[step.n_inputs]) else { return false };
            let (module, item_bytes) = (self.modules[position].clone(), ty.dtype().itemsize_bytes());
            let (work, scalar, typenum, is_shared) = (*work, scalar.clone(), *typenum, *is_shared);
            chained.push(Chained { module, work, operands, scalar, typenum, item_bytes, is_shared });
            made.push(step.args[step.n_inputs]);
        }
        let operand = |register: &Register| {
            program.ty(*register).map_or((1, false), |ty| (ty.dtype().itemsize_bytes(), ty.ndim() == 0))
        };
        let Some(chain) = Chain::new(&chained, &inputs.iter().map(operand).collect::<Vec<_>>()) else {
            return false;
        };
        let n_inputs = inputs.len();
        inputs.push(result);
        self.push(Work::Chain(Arc::new(chain)), inputs, n_inputs, range);
        true
    }

    /// Returns the last result of some steps with one result each, if no other step or output uses the earlier results.
    fn only_result(&self, range: &Range<usize>) -> Option<Register> {
        let steps = &self.program.steps[range.clone()];
        let [rest @ .., last] = steps else { return None };
        if steps.iter().any(|step| step.args.len() != step.n_inputs + 1) {
            return None;
        }
        let others = self.program.steps.iter().enumerate().filter(|(at, _)| !range.contains(at));
        let others: Vec<&Step> = others.map(|(_, step)| step).collect();
        let inside = |step: &Step| {
            let result = step.args[step.n_inputs];
            matches!(result, Register::Temp(_))
                && !others.iter().any(|other| other.args[..other.n_inputs].contains(&result))
        };
        rest.iter().all(inside).then(|| last.args[last.n_inputs])
    }
}

/// Returns the position of a register in a list, and appends the register if it is missing.
fn position_of(registers: &mut Vec<Register>, register: Register) -> usize {
    registers.iter().position(|known| *known == register).unwrap_or_else(|| {
        registers.push(register);
        registers.len() - 1
    })
}

fn tensor(ty: &Type) -> Option<(DType, usize)> {
    matches!(ty, Type::Tensor(_)).then(|| (ty.dtype(), ty.ndim()))
}

/// Computes, for each step, which temporaries die with it, and which of those may lend their memory to its output.
fn lives(program: &Program, bound: &mut [(Bound, Range<usize>)]) {
    let temps = &program.temps;
    let mut last: Vec<Option<usize>> = vec![None; temps.len()];
    for (position, (step, _)) in bound.iter().enumerate() {
        for register in &step.args {
            if let Register::Temp(temp) = register {
                last[*temp] = Some(position);
            }
        }
    }
    // Iterate backwards, so that the last use of a view of a view is known before the view is processed.
    for step in program.steps.iter().rev() {
        for (output, input) in &step.views {
            if let (Some(Register::Temp(view)), Some(Register::Temp(base))) =
                (step.args.get(step.n_inputs + output), step.args.get(*input))
            {
                last[*base] = last[*base].max(last[*view]);
            }
        }
    }
    for (position, (step, range)) in bound.iter_mut().enumerate() {
        step.dies = (0..temps.len()).filter(|temp| last[*temp] == Some(position)).collect();
        // Views first: their bases are then unused, and are kept for the next call.
        step.dies.sort_by_key(|temp| !temps[*temp].view);
        let elementwise =
            program.steps[range.clone()].iter().all(|step| step.computes == Computes::Elementwise);
        let result = step.args.get(step.n_inputs).copied().filter(|_| elementwise);
        let Some(Register::Temp(to)) = result else { continue };
        let may_lend = |temp: &usize| {
            let reads = step.args[..step.n_inputs].contains(&Register::Temp(*temp));
            reads && !temps[*temp].view && temps[*temp].ty.dtype() == temps[to].ty.dtype()
        };
        step.lends = step.dies.iter().copied().filter(may_lend).collect();
    }
}
