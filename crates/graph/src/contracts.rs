//! Checks the memory promises of ops, `view_map` and `destroy_map`, on a whole graph.
//!
//! Every variable lies in one or more *storages*. An input, a constant and the result of an ordinary Apply each have
//! their own storage, named after the variable. A view lies in the storages of all inputs that it may alias. An Apply
//! that overwrites an input creates a new storage for the result: the old content is gone. The new content may be
//! read and overwritten again.
//! ```text
//! t = exp(x)            storages: x {x}  t {t}
//! v = dimshuffle(t)     v {t}                       views of t lie in t
//! w = set(t, y)         w {w}, and t is destroyed   from here on neither t nor v may be used
//! ```
//! An order of Applies is valid if nothing is read after it was destroyed. The checks use the order of the graph's
//! list; [`orders`] returns the constraints that any other order must keep.

use crate::Type;
use crate::graph::{Apply, FunctionGraph, Origin, VarId};
use std::collections::BTreeMap;

/// A violation of the memory rules by an op in a graph.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ContractError {
    /// A map names an output or an input that the Apply does not have.
    #[error(
        "apply {apply}, `{op}`: invalid {map}: output {output} and input {input} of {outputs} output(s) and {inputs} \
         input(s)"
    )]
    Position {
        /// The op's label.
        op: String,
        /// The position of the Apply.
        apply: usize,
        /// `view_map` or `destroy_map`.
        map: &'static str,
        /// The output in the map.
        output: usize,
        /// The input in the map.
        input: usize,
        /// The number of outputs of the Apply.
        outputs: usize,
        /// The number of inputs of the Apply.
        inputs: usize,
    },
    /// An output cannot share memory with the mapped input, because its kind or dtype differs.
    #[error(
        "apply {apply}, `{op}`: invalid {map}: output `{output}` cannot share memory with input `{variable}`"
    )]
    Type {
        /// The op's label.
        op: String,
        /// The position of the Apply.
        apply: usize,
        /// `view_map` or `destroy_map`.
        map: &'static str,
        /// The output and its type, e.g. `v3: f64`.
        output: String,
        /// The input and its type.
        variable: String,
    },
    /// An op would overwrite an input of the graph or a view of one. Graph inputs belong to the caller.
    #[error("apply {apply}, `{op}`, overwrites graph input `{variable}`, which belongs to the caller")]
    DestroysInput {
        /// The op's label.
        op: String,
        /// The position of the Apply.
        apply: usize,
        /// The overwritten variable.
        variable: String,
    },
    /// An op would overwrite a constant or a view of one. All calls share the constants.
    #[error("apply {apply}, `{op}`, overwrites `{variable}`, which shares memory with a constant")]
    DestroysConstant {
        /// The op's label.
        op: String,
        /// The position of the Apply.
        apply: usize,
        /// The overwritten variable.
        variable: String,
    },
    /// Two Applies, or two outputs of one Apply, overwrite the same memory.
    #[error("apply {apply}, `{op}`, overwrites `{variable}`, which apply {before} already overwrote")]
    DestroyedTwice {
        /// The op's label.
        op: String,
        /// The position of the Apply.
        apply: usize,
        /// The overwritten variable.
        variable: String,
        /// The Apply that overwrote it first.
        before: usize,
    },
    /// A variable is read after its memory was overwritten.
    #[error("apply {apply}, `{op}`, reads `{variable}`, which apply {before} overwrote")]
    UsedAfterDestroy {
        /// The op's label.
        op: String,
        /// The position of the Apply.
        apply: usize,
        /// The variable that is read.
        variable: String,
        /// The Apply that overwrote it.
        before: usize,
    },
    /// An Apply overwrites an input and reads the same memory through another input.
    #[error("apply {apply}, `{op}`, overwrites `{variable}` and reads the same memory as input {input}")]
    ReadsWhatItDestroys {
        /// The op's label.
        op: String,
        /// The position of the Apply.
        apply: usize,
        /// The overwritten variable.
        variable: String,
        /// The other input.
        input: usize,
    },
    /// An output of the graph is overwritten before it is returned.
    #[error("output `{output}` of the graph shares memory that apply {before} overwrote")]
    OutputDestroyed {
        /// The output's name.
        output: String,
        /// The Apply that overwrote it.
        before: usize,
    },
}

/// The storages of a graph's variables, as defined in the module documentation.
#[derive(Debug, Clone)]
pub struct Storages(Vec<Vec<VarId>>);

impl Storages {
    /// Finds the storages of every variable. Ignores map entries with positions that the Apply does not have.
    #[must_use]
    pub fn of(graph: &FunctionGraph) -> Self {
        let mut found = Self(vec![Vec::new(); graph.variables().len()]);
        let own = |v: VarId| vec![v];
        graph.inputs().iter().for_each(|v| found.0[v.index()] = own(*v));
        graph.constants().for_each(|(v, _)| found.0[v.index()] = own(v));
        for apply in graph.applies() {
            let views = apply.op.view_map();
            for (index, output) in apply.outputs.iter().enumerate() {
                let viewed = views.iter().filter(|(o, _)| *o == index);
                let viewed = viewed.filter_map(|(_, input)| apply.inputs.get(*input));
                let mut all: Vec<VarId> = viewed.flat_map(|v| found.get(*v)).copied().collect();
                all.sort_unstable();
                all.dedup();
                found.0[output.index()] = if all.is_empty() { own(*output) } else { all };
            }
        }
        found
    }

    /// Returns the storages of one variable. Each storage is named by the variable it was created for.
    #[must_use]
    pub fn get(&self, variable: VarId) -> &[VarId] {
        &self.0[variable.index()]
    }

    /// Returns whether two variables may lie in the same memory.
    #[must_use]
    pub fn share(&self, a: VarId, b: VarId) -> bool {
        self.get(a).iter().any(|storage| self.get(b).contains(storage))
    }
}

/// Returns the constraints, in addition to the graph's edges, that any order of its Applies must keep. Each pair is
/// (reader, Apply that overwrites the memory it reads).
#[must_use]
pub fn orders(graph: &FunctionGraph) -> Vec<(usize, usize)> {
    let destroyers: Vec<usize> = (0..graph.applies().len()).filter(|k| destroys(graph, *k)).collect();
    if destroyers.is_empty() {
        return Vec::new();
    }
    let storages = Storages::of(graph);
    let mut pairs = Vec::new();
    for destroyer in destroyers {
        let gone = destroyed(&graph.applies()[destroyer]);
        let reads = |k: &usize| {
            let inputs = &graph.applies()[*k].inputs;
            inputs.iter().any(|v| gone.iter().any(|g| storages.share(*v, *g)))
        };
        pairs.extend((0..destroyer).filter(reads).map(|reader| (reader, destroyer)));
    }
    pairs
}

fn destroys(graph: &FunctionGraph, apply: usize) -> bool {
    !graph.applies()[apply].op.destroy_map().is_empty()
}

/// Returns the inputs that an Apply overwrites.
fn destroyed(apply: &Apply) -> Vec<VarId> {
    apply.op.destroy_map().iter().filter_map(|(_, input)| apply.inputs.get(*input).copied()).collect()
}

/// The owner of the graph's inputs during a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inputs {
    /// The caller keeps the inputs, and they must be unchanged after the call.
    Preserved,
    /// The caller gives the inputs up to the graph. This also holds for a single Apply of a larger graph.
    GivenUp,
}

/// Checks the view map and the destroy map of every op.
pub(crate) fn check_maps(graph: &FunctionGraph) -> Result<(), ContractError> {
    for (position, apply) in graph.applies().iter().enumerate() {
        check_map(graph, position, apply, "view_map", &apply.op.view_map())?;
        check_map(graph, position, apply, "destroy_map", &apply.op.destroy_map())?;
    }
    Ok(())
}

fn check_map(
    graph: &FunctionGraph,
    position: usize,
    apply: &Apply,
    map: &'static str,
    pairs: &[(usize, usize)],
) -> Result<(), ContractError> {
    for (output, input) in pairs.iter().copied() {
        let op = || apply.op.label();
        let (Some(to), Some(from)) = (apply.outputs.get(output), apply.inputs.get(input)) else {
            let (outputs, inputs) = (apply.outputs.len(), apply.inputs.len());
            return Err(ContractError::Position {
                op: op(),
                apply: position,
                map,
                output,
                input,
                outputs,
                inputs,
            });
        };
        let (found, expected) = (graph.ty(*to), graph.ty(*from));
        let scalar = |ty: &Type| matches!(ty, Type::Scalar(_));
        if scalar(found) != scalar(expected) || found.dtype() != expected.dtype() {
            return Err(ContractError::Type {
                op: op(),
                apply: position,
                map,
                output: format!("{}: {found}", called(graph, *to)),
                variable: format!("{}: {expected}", called(graph, *from)),
            });
        }
    }
    Ok(())
}

/// Checks that no memory is read after it was overwritten.
pub(crate) fn check_order(graph: &FunctionGraph, inputs: Inputs) -> Result<(), ContractError> {
    if (0..graph.applies().len()).all(|k| !destroys(graph, k)) {
        return Ok(());
    }
    let storages = Storages::of(graph);
    // Maps an overwritten storage to the Apply that overwrote it.
    let mut gone: BTreeMap<VarId, usize> = BTreeMap::new();
    let by =
        |gone: &BTreeMap<VarId, usize>, v: VarId| storages.get(v).iter().find_map(|s| gone.get(s)).copied();
    for (apply, node) in graph.applies().iter().enumerate() {
        let (op, overwritten) = (|| node.op.label(), destroyed(node));
        for read in node.inputs.iter().copied() {
            let Some(before) = by(&gone, read) else { continue };
            let variable = called(graph, read);
            return Err(if overwritten.contains(&read) {
                ContractError::DestroyedTwice { op: op(), apply, variable, before }
            } else {
                ContractError::UsedAfterDestroy { op: op(), apply, variable, before }
            });
        }
        for (_, input) in node.op.destroy_map() {
            let Some(target) = node.inputs.get(input).copied() else { continue };
            let variable = called(graph, target);
            if let Some(before) = by(&gone, target) {
                return Err(ContractError::DestroyedTwice { op: op(), apply, variable, before });
            }
            for storage in storages.get(target) {
                match graph.variable(*storage).origin {
                    Origin::Input(_) if inputs == Inputs::Preserved => {
                        return Err(ContractError::DestroysInput { op: op(), apply, variable });
                    }
                    Origin::Constant(_) => {
                        return Err(ContractError::DestroysConstant { op: op(), apply, variable });
                    }
                    _ => {}
                }
            }
            let mut others = node.inputs.iter().enumerate();
            if let Some((input, _)) = others.find(|(i, v)| *i != input && storages.share(**v, target)) {
                return Err(ContractError::ReadsWhatItDestroys { op: op(), apply, variable, input });
            }
            gone.extend(storages.get(target).iter().map(|storage| (*storage, apply)));
        }
    }
    for (position, output) in graph.outputs().iter().enumerate() {
        if let Some(before) = by(&gone, *output) {
            return Err(ContractError::OutputDestroyed { output: graph.output_name(position), before });
        }
    }
    Ok(())
}

/// Returns the name of a variable for messages; falls back to the name in the graph's printed form.
fn called(graph: &FunctionGraph, variable: VarId) -> String {
    graph.variable(variable).name.clone().unwrap_or_else(|| format!("v{}", variable.index()))
}
