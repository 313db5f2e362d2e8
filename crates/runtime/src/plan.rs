//! From a graph and its modules to a program.

use crate::FunctionError;
use crate::native::{LoadedEntry, Program, Register, Step};
use crate::resolve::{Provenance, Resolver};
use precast_codegen::{Module, link, single};
use precast_graph::{FunctionGraph, Origin, VarId};
use precast_ops::Ops;

/// What serves a graph.
pub(crate) struct Plan {
    pub(crate) program: Program,
    pub(crate) provenance: Vec<Provenance>,
}

/// The program of one module that serves all of a lowered graph.
pub(crate) fn whole(lowered: &FunctionGraph, entry: LoadedEntry, provenance: Provenance) -> Plan {
    let inputs = (0..lowered.inputs().len()).map(Register::Input);
    let outputs = (0..lowered.outputs().len()).map(Register::Output);
    let ops: Vec<String> = lowered.applies().iter().map(|apply| lowered.signature(apply)).collect();
    let step = Step {
        entry,
        slots: lowered.constants().map(|(_, value)| value.clone()).collect(),
        args: inputs.chain(outputs).collect(),
        signatures: ops.clone(),
    };
    let program = Program {
        steps: vec![step],
        n_inputs: lowered.inputs().len(),
        constants: Vec::new(),
        temps: Vec::new(),
        n_outputs: lowered.outputs().len(),
    };
    Plan { program, provenance: vec![Provenance { ops, ..provenance }] }
}

/// The modules that would serve a graph op by op, in the order of its applies.
pub(crate) fn opwise_modules(plain: &FunctionGraph, ops: &Ops) -> Result<Vec<Module>, FunctionError> {
    let module = |position| {
        let alone = single(plain, position, ops.c())?;
        link(&alone, ops.c()).map_err(FunctionError::from)
    };
    (0..plain.applies().len()).map(module).collect()
}

/// The program that serves a graph op by op; `None` when an Apply is in no layer.
pub(crate) fn opwise(
    plain: &FunctionGraph,
    modules: &[Module],
    resolver: &Resolver,
) -> Result<Option<Plan>, FunctionError> {
    let registers = registers(plain);
    let (mut steps, mut provenance) = (Vec::new(), Vec::new());
    for (apply, module) in plain.applies().iter().zip(modules) {
        let Some((entry, from)) = resolver.resolve(&module.key())? else { return Ok(None) };
        let signature = plain.signature(apply);
        let args = apply.inputs.iter().chain(&apply.outputs).map(|v| registers[v.index()]).collect();
        steps.push(Step { entry, slots: Vec::new(), args, signatures: vec![signature.clone()] });
        provenance.push(Provenance { ops: vec![signature], ..from });
    }
    let program = Program {
        steps,
        n_inputs: plain.inputs().len(),
        constants: plain.constants().map(|(_, value)| value.clone()).collect(),
        temps: temps(plain),
        n_outputs: plain.outputs().len(),
    };
    Ok(Some(Plan { program, provenance }))
}

/// The register of each variable.
fn registers(graph: &FunctionGraph) -> Vec<Register> {
    let (mut temps, mut constants) = (0.., 0..);
    let next = |counter: &mut std::ops::RangeFrom<usize>| counter.next().unwrap_or(usize::MAX);
    let variables = graph.variables().iter().enumerate();
    variables
        .map(|(position, variable)| match &variable.origin {
            Origin::Input(i) => Register::Input(*i),
            Origin::Constant(_) => Register::Constant(next(&mut constants)),
            Origin::Output { .. } => match output(graph, position) {
                Some(i) => Register::Output(i),
                None => Register::Temp(next(&mut temps)),
            },
        })
        .collect()
}

/// For each temporary, whether it is a view.
fn temps(graph: &FunctionGraph) -> Vec<bool> {
    let variables = graph.variables().iter().enumerate();
    variables
        .filter_map(|(position, variable)| match &variable.origin {
            Origin::Output { apply, index } if output(graph, position).is_none() => {
                let views = graph.applies()[apply.index()].op.view_map();
                Some(views.iter().any(|(out, _)| out == index))
            }
            _ => None,
        })
        .collect()
}

fn output(graph: &FunctionGraph, position: usize) -> Option<usize> {
    graph.outputs().iter().position(|v: &VarId| v.index() == position)
}
