//! Programs, with and without direct calls.

use super::kernels::{SUM, add, sub_scalar};
use crate::DType;
use crate::function::Function;
use crate::key::BuildKey;
use crate::native::call::Direct;
use crate::native::kernels::{Captured, Driven, Kernels, Operand};
use crate::native::{Bound, Chain, Chained, Executable, LoadedModule, Value, Work};
use crate::program::{Computes, Port, Program, Register, Step};
use precast_abi::driver::{Kernel, REDUCE_ALL, Reduce};
use std::ptr;
use std::sync::Arc;

/// A program of one chain: its inputs, its output, its kernels, and whether the last result is summed.
pub(super) struct Case {
    pub(super) inputs: &'static [&'static str],
    pub(super) output: &'static str,
    /// Each kernel, which of its operands are one element, and the sources of the operands.
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

pub(super) const CASES: &[Case] = &[
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
    pub(super) fn ports(&self) -> (Vec<Port>, Vec<Port>) {
        let port = |(at, ty): (usize, &&str)| Port { name: format!("x{at}"), ty: ty.parse().unwrap() };
        (self.inputs.iter().enumerate().map(port).collect(), vec![port((9, &self.output))])
    }

    /// Returns the kernels, in order.
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

    /// Creates the function, with or without direct calls.
    pub(super) fn function(&self, is_direct: bool) -> Function {
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
