//! From a graph and its modules to a program.

use crate::FunctionError;
use crate::native::{LoadedEntry, Program, Register, Step};
use crate::resolve::{Provenance, Resolver};
use precast_codegen::params::apply_slots;
use precast_codegen::{Module, link, single, slots};
use precast_graph::{FunctionGraph, Origin, VarId, encode};
use precast_ops::Ops;
use precast_store::BuildKey;
use std::collections::btree_map::{BTreeMap, Entry};
use std::sync::Arc;

/// What serves a graph.
pub(crate) struct Plan {
    pub(crate) program: Program,
    pub(crate) provenance: Vec<Provenance>,
}

/// The program of one module that serves all of a lowered graph.
///
/// # Errors
/// A param whose value does not fit its type.
pub(crate) fn whole(
    lowered: &FunctionGraph,
    entry: LoadedEntry,
    provenance: Provenance,
    ops: &Ops,
) -> Result<Plan, FunctionError> {
    let inputs = (0..lowered.inputs().len()).map(Register::Input);
    let outputs = (0..lowered.outputs().len()).map(Register::Output);
    let signatures: Vec<String> = lowered.applies().iter().map(|apply| lowered.signature(apply)).collect();
    let step = Step {
        entry,
        slots: slots(lowered, ops.c())?,
        args: inputs.chain(outputs).collect(),
        signatures: signatures.clone(),
    };
    let program = Program {
        steps: vec![step],
        n_inputs: lowered.inputs().len(),
        constants: Vec::new(),
        temps: Vec::new(),
        n_outputs: lowered.outputs().len(),
    };
    Ok(Plan { program, provenance: vec![Provenance { ops: signatures, ..provenance }] })
}

/// The modules that would serve a graph op by op; Applies of one op on the same types share one.
pub(crate) struct OpModules<'a> {
    plain: &'a FunctionGraph,
    ops: &'a Ops,
    known: BTreeMap<Vec<u8>, Arc<Module>>,
}

impl<'a> OpModules<'a> {
    pub(crate) fn new(plain: &'a FunctionGraph, ops: &'a Ops) -> Self {
        Self { plain, ops, known: BTreeMap::new() }
    }

    /// The module of the Apply at `position`.
    pub(crate) fn module(&mut self, position: usize) -> Result<Arc<Module>, FunctionError> {
        let alone = single(self.plain, position, self.ops.c())?;
        let canonical = encode::canonical(&alone);
        if let Some(module) = self.known.get(&canonical) {
            return Ok(Arc::clone(module));
        }
        let module = Arc::new(link(&alone, self.ops.c())?);
        self.known.insert(canonical, Arc::clone(&module));
        Ok(module)
    }

    /// The modules of all Applies, in order.
    pub(crate) fn all(&mut self) -> Result<Vec<Arc<Module>>, FunctionError> {
        (0..self.plain.applies().len()).map(|position| self.module(position)).collect()
    }
}

/// The program that serves a graph op by op; `None` as soon as an Apply is in no layer.
pub(crate) fn opwise(
    plain: &FunctionGraph,
    modules: &mut OpModules<'_>,
    resolver: &Resolver,
) -> Result<Option<Plan>, FunctionError> {
    let registers = registers(plain);
    let (mut steps, mut provenance) = (Vec::new(), Vec::new());
    let mut resolved: BTreeMap<BuildKey, (LoadedEntry, Provenance)> = BTreeMap::new();
    for (position, apply) in plain.applies().iter().enumerate() {
        let key = modules.module(position)?.key();
        let (entry, from) = match resolved.entry(key) {
            Entry::Occupied(known) => known.get().clone(),
            Entry::Vacant(new) => {
                let Some(found) = resolver.resolve(&key)? else { return Ok(None) };
                new.insert(found).clone()
            }
        };
        let signature = plain.signature(apply);
        let args = apply.inputs.iter().chain(&apply.outputs).map(|v| registers[v.index()]).collect();
        let slots = apply_slots(plain, position, modules.ops.c())?;
        steps.push(Step { entry, slots, args, signatures: vec![signature.clone()] });
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
