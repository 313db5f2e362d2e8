//! Direct calls against calls in a frame: the same program with and without them, on arrays of all kinds.
//!
//! Kernels are Rust functions of the C type, so that no compiler is needed. Arrays are described in one piece of memory, in
//! which they may overlap: afterwards all of it has to be the same, and so has the error.
#![allow(clippy::multiple_unsafe_ops_per_block, reason = "kernels are C in Rust's clothes")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod typed;

use super::*;
use crate::function::{CallError, Function};
use crate::key::BuildKey;
use crate::native::capture::{Captured, Driven, Kernels, Operand};
use crate::native::{Bound, Chain, Chained, Executable, LoadedModule, RawArray, Value, Work};
use crate::program::{Computes, Port, Program, Register, Step};
use precast_abi::context::{Context, ErrorKind};
use precast_abi::driver::{Kernel, Monoid, REDUCE_ALL, Reduce};
use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::Arc;

/// Elements of the memory that arrays lie in.
const MEMORY: usize = 128;

/// `x + y`; refuses sums beyond 1000.
unsafe extern "C" fn add(ctx: *mut Context, n: i64, data: *const *mut c_char) -> c_int {
    // SAFETY: the driver's contract: as many elements of each operand.
    unsafe {
        for i in 0..n as usize {
            let sum = (*data).cast::<f64>().add(i).read() + (*data.add(1)).cast::<f64>().add(i).read();
            if sum > 1000.0 {
                crate::native::host::set_error(ctx, ErrorKind::Value, "too large a sum");
                return -1;
            }
            (*data.add(2)).cast::<f64>().add(i).write(sum);
        }
    }
    0
}

/// `x - s`, with one element of `s`.
unsafe extern "C" fn sub_scalar(_: *mut Context, n: i64, data: *const *mut c_char) -> c_int {
    // SAFETY: the driver's contract: as many elements of each operand, one of the second.
    unsafe {
        for i in 0..n as usize {
            let x = (*data).cast::<f64>().add(i).read();
            (*data.add(2)).cast::<f64>().add(i).write(x - (*data.add(1)).cast::<f64>().read());
        }
    }
    0
}

unsafe extern "C" fn clear(lanes: *mut c_void, n: i64) {
    // SAFETY: the driver's contract: as many lanes.
    unsafe { (0..n as usize).for_each(|lane| lanes.cast::<f64>().add(lane).write(0.0)) };
}

unsafe extern "C" fn fold(lanes: *mut c_void, x: *const c_void, n: i64, phase: i64) {
    // SAFETY: the driver's contract: as many elements, and two lanes.
    unsafe {
        for i in 0..n as usize {
            *lanes.cast::<f64>().add((phase as usize + i) % 2) += x.cast::<f64>().add(i).read();
        }
    }
}

unsafe extern "C" fn step(lanes: *mut c_void, x: *const c_void, n: i64) {
    // SAFETY: the driver's contract: as many lanes and elements.
    unsafe { (0..n as usize).for_each(|i| *lanes.cast::<f64>().add(i) += x.cast::<f64>().add(i).read()) };
}

unsafe extern "C" fn steps(lanes: *mut c_void, x: *const c_void, n: i64, rows: i64, row_bytes: i64) {
    for row in 0..rows {
        // SAFETY: the driver's contract: as many rows, each behind the one before it.
        unsafe { step(lanes, x.byte_offset((row * row_bytes) as isize), n) };
    }
}

unsafe extern "C" fn close(lanes: *mut c_void, columns: i64, totals: *mut c_void, first: c_int) {
    // SAFETY: the driver's contract: two lanes a column.
    unsafe {
        step(lanes, lanes.cast::<f64>().add(columns as usize).cast(), columns);
        for column in 0..columns as usize {
            let before = if first == 0 { totals.cast::<f64>().add(column).read() } else { 0.0 };
            totals.cast::<f64>().add(column).write(before + lanes.cast::<f64>().add(column).read());
        }
    }
}

unsafe extern "C" fn finish(totals: *const c_void, columns: i64, count: i64, out: *mut c_char, by: i64) {
    // SAFETY: the driver's contract: as many totals and results.
    unsafe {
        for column in 0..columns as usize {
            let total = totals.cast::<f64>().add(column).read();
            out.add(column * by as usize).cast::<f64>().write(total - count as f64);
        }
    }
}

unsafe extern "C" fn few(from: *const c_void, n: i64, out: *mut c_char) {
    let mut lanes = [0.0_f64; 2];
    let mut total = 0.0_f64;
    let (at, sum) = (lanes.as_mut_ptr().cast(), (&raw mut total).cast());
    // SAFETY: the driver's contract: so many elements, and room for a result.
    unsafe {
        fold(at, from, n, 0);
        close(at, 1, sum, 1);
        finish(sum, 1, n, out, 0);
    }
}

/// A sum of which the count is taken.
const SUM: Monoid = Monoid {
    lanes: 2,
    item: 8,
    no_empty: c"sum".as_ptr(),
    clear,
    fold,
    step,
    close,
    finish,
    steps: Some(steps),
    few,
};

/// A program of one chain: what it takes, what it gives, what it does, and whether the last result is summed.
struct Case {
    inputs: &'static [&'static str],
    output: &'static str,
    /// Kernel, which operands are one element, what they are.
    links: &'static [(Kernel, [bool; 2], [Value; 2])],
    is_summed: bool,
}

const ADD: (Kernel, [bool; 2]) = (add, [false, false]);
const SUB: (Kernel, [bool; 2]) = (sub_scalar, [false, true]);
const X: Value = Value::Input(0);
const Y: Value = Value::Input(1);
const Z: Value = Value::Input(2);
const X_Y: &[(Kernel, [bool; 2], [Value; 2])] = &[(ADD.0, ADD.1, [X, Y])];
const Y_X: &[(Kernel, [bool; 2], [Value; 2])] = &[(SUB.0, SUB.1, [Y, X])];
const CHAIN: &[(Kernel, [bool; 2], [Value; 2])] = &[
    (ADD.0, ADD.1, [X, Y]),
    (SUB.0, SUB.1, [Value::Result(0), Z]),
    (ADD.0, ADD.1, [Value::Result(1), X]),
    (ADD.0, ADD.1, [Value::Result(2), Value::Result(0)]),
];

const CASES: &[Case] = &[
    Case { inputs: &["f64[?]", "f64[?]"], output: "f64[?]", links: X_Y, is_summed: false },
    Case { inputs: &["f64[?,?]", "f64[?,?]"], output: "f64[?,?]", links: X_Y, is_summed: false },
    Case { inputs: &["f64[]", "f64[]"], output: "f64[]", links: X_Y, is_summed: false },
    Case { inputs: &["f64[?,2,?]", "f64[?,?,?]"], output: "f64[?,2,?]", links: X_Y, is_summed: false },
    Case { inputs: &["f64[?]", "f64[?]"], output: "f64[3]", links: X_Y, is_summed: false },
    Case { inputs: &["f64[?]"], output: "f64[?]", links: &[(ADD.0, ADD.1, [X, X])], is_summed: false },
    Case { inputs: &["f64[]", "f64[?,?]"], output: "f64[?,?]", links: Y_X, is_summed: false },
    Case { inputs: &["f64[?]", "f64[]"], output: "f64[?]", links: X_Y, is_summed: false },
    Case { inputs: &["f64[?]", "f64[?]", "f64[]"], output: "f64[?]", links: CHAIN, is_summed: false },
    Case { inputs: &["f64[?]", "f64[?]", "f64[]"], output: "f64[]", links: CHAIN, is_summed: true },
    Case { inputs: &["f64[?,?]", "f64[?,?]"], output: "f64[]", links: X_Y, is_summed: true },
];

impl Case {
    fn ports(&self) -> (Vec<Port>, Vec<Port>) {
        let port = |(at, ty): (usize, &&str)| Port { name: format!("x{at}"), ty: ty.parse().unwrap() };
        (self.inputs.iter().enumerate().map(port).collect(), vec![port((9, &self.output))])
    }

    /// What is run, in order.
    fn links(&self) -> Vec<Chained> {
        let link = |work, operands: &[Value], scalar: &[bool]| {
            let (module, typenum) = (LoadedModule::of_this_program(), DType::F64.typenum());
            let (operands, scalar) = (operands.to_vec(), scalar.to_vec());
            Chained { module, work, operands, scalar, typenum, item_bytes: 8, is_shared: true }
        };
        let maps =
            self.links.iter().map(|(kernel, scalar, operands)| link(Kernels::Map(*kernel), operands, scalar));
        let (dtype, scalar, names) = (DType::F64.typenum(), ptr::null(), ptr::null());
        let sum = Reduce {
            n_in: 1,
            flags: 0,
            axes: REDUCE_ALL,
            dtype,
            scalar,
            names,
            map: None,
            monoid: Box::leak(Box::new(SUM)),
        };
        let sum = link(Kernels::Reduce(sum), &[Value::Result(self.links.len() - 1)], &[false]);
        maps.chain(self.is_summed.then_some(sum)).collect()
    }

    /// The function, with direct calls or without.
    fn function(&self, is_direct: bool) -> Function {
        let (inputs, outputs) = self.ports();
        let links = self.links();
        let kinds: Vec<(usize, bool)> = inputs.iter().map(|port| (8, port.ty.ndim() == 0)).collect();
        let args: Vec<Register> =
            (0..inputs.len()).map(Register::Input).chain([Register::Output(0)]).collect();
        let operand = |value: &Value| match value {
            Value::Input(at) => Operand::Input(*at),
            Value::Result(at) => Operand::Result(*at),
        };
        let calls = links.iter().map(|Chained { work, operands, scalar, typenum, .. }| Driven {
            work: *work,
            operands: operands.iter().map(operand).collect(),
            scalar: scalar.clone(),
            typenums: vec![*typenum],
            is_shared: true,
        });
        let captured = Captured { calls: calls.collect(), outputs: vec![links.len() - 1] };
        let (n_inputs, n_outputs) = (inputs.len(), 1);
        let step = Step {
            key: BuildKey::from_bytes([0; 32]),
            signatures: vec!["chain".to_owned()],
            args: args.clone(),
            n_inputs,
            slots: Vec::new(),
            group: 0,
            computes: Computes::Driven,
            views: Vec::new(),
        };
        let program = Program {
            inputs: inputs.clone(),
            outputs: outputs.clone(),
            steps: vec![step],
            ..Program::default()
        };
        let direct = Direct::new(&program, &[LoadedModule::of_this_program()], &[Some(Arc::new(captured))]);
        assert!(direct.is_some(), "maps and a reduction");
        let work = Work::Chain(Arc::new(Chain::new(&links, &kinds).unwrap()));
        let (dies, lends, signatures) = (Vec::new(), Vec::new(), vec!["chain".to_owned()]);
        let executable = Executable {
            steps: vec![Bound { work, args, n_inputs, dies, lends, signatures }],
            n_inputs,
            constants: Vec::new(),
            temps: Vec::new(),
            n_outputs,
        };
        let bound = (direct.filter(|_| is_direct), Some(executable));
        Function::bound(program, bound)
    }
}

/// Numbers that depend on a seed alone.
struct Choices(u64);

impl Choices {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

/// An array in the memory: where it begins, extents, strides in bytes.
#[derive(Debug, Clone, PartialEq)]
struct Lies {
    start: usize,
    shape: Vec<usize>,
    strides: Vec<isize>,
}

impl Lies {
    /// Anywhere in the memory: contiguous as a rule, else reversed, spread, turned round or stretched.
    fn somewhere(choices: &mut Choices, shape: Vec<usize>, may_stretch: bool) -> Self {
        let mut order: Vec<usize> = (0..shape.len()).rev().collect();
        let is_plain = choices.below(3) > 0;
        if !is_plain && choices.below(2) == 0 {
            order.reverse();
        }
        let (mut strides, mut step, mut low) = (vec![0; shape.len()], 1_isize, 0_isize);
        for axis in order {
            let extent = shape[axis].max(1).cast_signed();
            strides[axis] = 8 * step;
            step *= extent;
            if is_plain {
                continue;
            }
            match choices.below(5) {
                0 => {
                    low -= strides[axis] / 8 * (extent - 1);
                    strides[axis] = -strides[axis];
                }
                1 => {
                    strides[axis] *= 2;
                    step *= 2;
                }
                2 if may_stretch => strides[axis] = 0,
                _ => {}
            }
        }
        let span = step.unsigned_abs();
        let room = MEMORY.saturating_sub(span);
        let start = choices.below(room.max(1)) + low.unsigned_abs();
        Self { start, shape, strides }
    }

    /// Whether all elements are in the memory.
    fn is_inside(&self) -> bool {
        let (mut low, mut high) = (self.start.cast_signed(), self.start.cast_signed());
        for (extent, stride) in self.shape.iter().zip(&self.strides) {
            let reach = stride / 8 * extent.saturating_sub(1).cast_signed();
            if reach < 0 { low += reach } else { high += reach }
        }
        self.shape.len() == self.strides.len() && low >= 0 && high < MEMORY.cast_signed()
    }

    fn raw(&self, memory: *mut f64) -> RawArray<'_> {
        let data = memory.wrapping_add(self.start).cast();
        let (shape, strides_bytes) = (&self.shape[..], &self.strides[..]);
        RawArray { data, dtype: DType::F64, shape, strides_bytes, readonly: false }
    }

    fn read(&self, memory: *mut f64) -> ArrayRef<'_> {
        // SAFETY: `somewhere` keeps arrays in the memory, which nobody else uses during a call.
        unsafe { self.raw(memory).read() }.unwrap()
    }
}

/// Extents for a type: most often those that others have, too.
fn extents(choices: &mut Choices, ndim: usize, common: &[usize]) -> Vec<usize> {
    let ndim = if choices.below(20) == 0 { choices.below(4) } else { ndim };
    let common = |axis: usize| common[common.len() - ndim + axis];
    (0..ndim)
        .map(|axis| match choices.below(8) {
            0 => 1,
            1 => choices.below(4),
            _ => common(axis),
        })
        .collect()
}

#[derive(Debug, Clone, Copy)]
enum How {
    New,
    Reuse,
    Into,
}

/// All that can be seen of a call: the error, results, and the memory.
type Seen = (Option<String>, Vec<Array>, Vec<u64>);

fn call(function: &Function, how: How, inputs: &[Lies], output: &Lies) -> Seen {
    let mut memory: Vec<f64> = (0..MEMORY).map(|i| (i * i % 89) as f64).collect();
    if inputs[0].start.is_multiple_of(11) {
        memory[inputs[0].start] = 990.0;
    }
    let base = memory.as_mut_ptr();
    let refs: Vec<ArrayRef<'_>> = inputs.iter().map(|lies| lies.read(base)).collect();
    let mut results = Vec::new();
    let outcome: Result<(), CallError> = match how {
        How::New => function.call(&refs).map(|arrays| results = arrays),
        How::Reuse => {
            results.push(Array::zeros(DType::F64, &output.shape));
            function.call_into(&refs, &mut results)
        }
        How::Into => {
            // SAFETY: as above; where it overlaps inputs, they are inputs of this call.
            unsafe { output.raw(base).write() }.map_or(Ok(()), |out| function.call_views(&refs, &mut [out]))
        }
    };
    let failed = outcome.as_ref().err().map(ToString::to_string);
    // After an error outputs hold arrays, but not results.
    if failed.is_some() {
        results.clear();
    }
    // SAFETY: the memory is alive; it is read as it is now, after writes through `base`.
    let bits = (0..MEMORY).map(|i| unsafe { base.add(i).read() }.to_bits()).collect();
    let wrote_on_error = failed.is_some() && matches!(how, How::Into);
    (failed, results, if wrote_on_error { Vec::new() } else { bits })
}

#[test]
fn direct_calls_are_calls_in_a_frame() {
    let mut choices = Choices(11);
    let (mut direct, mut failed) = (0, 0);
    for case in CASES {
        let (fast, slow) = (case.function(true), case.function(false));
        for _ in 0..3000 {
            let common = [choices.below(4), choices.below(4) + 1, choices.below(5) + 1];
            let common = if choices.below(12) == 0 { common } else { [2, 2, common[2]] };
            let (ports, outputs) = case.ports();
            let mut lie = |ty: &Type, may_stretch: bool| {
                let shape = extents(&mut choices, ty.ndim(), &common);
                Lies::somewhere(&mut choices, shape, may_stretch)
            };
            let mut inputs: Vec<Lies> = ports.iter().map(|port| lie(&port.ty, true)).collect();
            let mut output = lie(&outputs[0].ty, false);
            match choices.below(8) {
                0 => output.clone_from(&inputs[0]),
                1 => inputs[0].start = output.start.min(inputs[0].start),
                2 => _ = inputs.pop(),
                3 => output.shape.clone_from(&inputs[inputs.len() - 1].shape),
                _ => {}
            }
            if inputs.is_empty() || !inputs.iter().chain([&output]).all(Lies::is_inside) {
                continue;
            }
            let how = [How::New, How::Reuse, How::Into][choices.below(3)];
            let (got, want) = (call(&fast, how, &inputs, &output), call(&slow, how, &inputs, &output));
            assert_eq!(got, want, "{:?} -> {}: {how:?} {inputs:?} {output:?}", case.inputs, case.output);
            failed += usize::from(got.0.is_some());
            direct += usize::from(is_direct(&fast, &inputs));
        }
    }
    assert!(direct > 3000, "{direct} direct calls");
    assert!(failed > 1000, "{failed} calls that failed");
}

/// Whether a call with a new result is a direct one.
fn is_direct(function: &Function, inputs: &[Lies]) -> bool {
    let mut memory = vec![0.0; MEMORY];
    let base = memory.as_mut_ptr();
    let refs: Vec<ArrayRef<'_>> = inputs.iter().map(|lies| lies.read(base)).collect();
    function.is_direct(&refs)
}

#[test]
fn results_are_written_over_inputs_as_if_these_had_been_read_before() {
    let function = CASES[0].function(true);
    let mut memory: Vec<f64> = (0..10).map(f64::from).collect();
    let base = memory.as_mut_ptr();
    let lies = |start| Lies { start, shape: vec![8], strides: vec![8] };
    let (x, out) = (lies(0), lies(1));
    // SAFETY: within the memory, which nobody else uses.
    let (x, mut out) = unsafe { (x.raw(base).read().unwrap(), out.raw(base).write().unwrap()) };
    function.call_views(&[x.clone(), x], std::slice::from_mut(&mut out)).unwrap();
    assert_eq!(memory, [0.0, 0.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0, 9.0]);
}
