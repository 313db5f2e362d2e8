//! What ops promise about memory, checked on a whole graph: view_map and destroy_map.
//!
//! Every variable lies in one or more *storages*. An input, a constant and the result of an ordinary Apply have one of their
//! own, named after the variable. A view lies where the inputs that it may be a view of lie. What an Apply writes over an
//! input counts as a storage of its own too: the old content is gone, the new one may be read and overwritten again.
//! ```text
//! t = exp(x)            storages: x {x}  t {t}
//! v = dimshuffle(t)     v {t}                       views of t lie in t
//! w = set(t, y)         w {w}, and t is destroyed   from here on neither t nor v may be used
//! ```
//! An order of Applies is right when nothing destroyed is read later. The order of a graph's list is the one that counts;
//! [`orders`] gives what any other order has to keep.

use crate::Type;
use crate::graph::{Apply, FunctionGraph, Origin, VarId};
use std::collections::BTreeMap;

/// How an op breaks the rules of memory in a graph.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ContractError {
    /// A map names an output or an input that the Apply does not have.
    #[error(
        "apply {apply}, `{op}`: its {map} names output {output} and input {input} of {outputs} output(s) and {inputs} input(s)"
    )]
    Position {
        /// The op's label.
        op: String,
        /// Position of the Apply.
        apply: usize,
        /// `view_map` or `destroy_map`.
        map: &'static str,
        /// The output named.
        output: usize,
        /// The input named.
        input: usize,
        /// How many outputs there are.
        outputs: usize,
        /// How many inputs there are.
        inputs: usize,
    },
    /// An output that cannot lie where an input lies: another kind or dtype.
    #[error(
        "apply {apply}, `{op}`: output `{output}` cannot share memory with input `{variable}`, as its {map} says"
    )]
    Type {
        /// The op's label.
        op: String,
        /// Position of the Apply.
        apply: usize,
        /// `view_map` or `destroy_map`.
        map: &'static str,
        /// The output and its type: `v3: f64`.
        output: String,
        /// The input and its type.
        variable: String,
    },
    /// An input of the graph, or a view of one, would be overwritten: it is the caller's.
    #[error(
        "apply {apply}, `{op}`, overwrites `{variable}`, which is the caller's: it lies in a graph input"
    )]
    DestroysInput {
        /// The op's label.
        op: String,
        /// Position of the Apply.
        apply: usize,
        /// What is overwritten.
        variable: String,
    },
    /// A constant, or a view of one, would be overwritten: all calls share it.
    #[error("apply {apply}, `{op}`, overwrites `{variable}`, which lies in a constant")]
    DestroysConstant {
        /// The op's label.
        op: String,
        /// Position of the Apply.
        apply: usize,
        /// What is overwritten.
        variable: String,
    },
    /// Two Applies, or two outputs of one, overwrite the same memory.
    #[error("apply {apply}, `{op}`, overwrites `{variable}`, which apply {before} has overwritten already")]
    DestroyedTwice {
        /// The op's label.
        op: String,
        /// Position of the Apply.
        apply: usize,
        /// What is overwritten.
        variable: String,
        /// The Apply that did so first.
        before: usize,
    },
    /// A variable is read after its memory was overwritten.
    #[error("apply {apply}, `{op}`, reads `{variable}`, which apply {before} has overwritten")]
    UsedAfterDestroy {
        /// The op's label.
        op: String,
        /// Position of the Apply.
        apply: usize,
        /// What is read.
        variable: String,
        /// The Apply that overwrote it.
        before: usize,
    },
    /// An Apply overwrites an input that it also reads as another input.
    #[error("apply {apply}, `{op}`, overwrites `{variable}` and reads the same memory as input {input}")]
    ReadsWhatItDestroys {
        /// The op's label.
        op: String,
        /// Position of the Apply.
        apply: usize,
        /// What is overwritten.
        variable: String,
        /// The other input.
        input: usize,
    },
    /// A result of the graph is gone before it is returned.
    #[error("output `{output}` of the graph lies in memory that apply {before} has overwritten")]
    OutputDestroyed {
        /// The output's name.
        output: String,
        /// The Apply that overwrote it.
        before: usize,
    },
}

/// The storages of a graph's variables: see the head of the module's file.
#[derive(Debug, Clone)]
pub struct Storages(Vec<Vec<VarId>>);

impl Storages {
    /// Finds the storages of every variable. Positions that a map names and an Apply lacks are passed over.
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

    /// The storages of one variable; each is named by the variable that it was made for.
    #[must_use]
    pub fn get(&self, variable: VarId) -> &[VarId] {
        &self.0[variable.index()]
    }

    /// Whether two variables may lie in the same memory.
    #[must_use]
    pub fn share(&self, a: VarId, b: VarId) -> bool {
        self.get(a).iter().any(|storage| self.get(b).contains(storage))
    }
}

/// What any order of a graph's Applies has to keep beside its edges: pairs (reader, Apply that overwrites what it reads).
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

/// The inputs that an Apply overwrites.
fn destroyed(apply: &Apply) -> Vec<VarId> {
    apply.op.destroy_map().iter().filter_map(|(_, input)| apply.inputs.get(*input).copied()).collect()
}

/// Whose the inputs of a graph are while it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inputs {
    /// The caller's, who finds them as they were.
    Preserved,
    /// The graph's: the caller gives them up. So are those of a single Apply of a larger graph.
    GivenUp,
}

/// Checks the maps of every op.
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

/// Checks that nothing is read after it was overwritten.
pub(crate) fn check_order(graph: &FunctionGraph, inputs: Inputs) -> Result<(), ContractError> {
    if (0..graph.applies().len()).all(|k| !destroys(graph, k)) {
        return Ok(());
    }
    let storages = Storages::of(graph);
    // Which Apply overwrote a storage.
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

/// A variable in messages: its name, or the one it has in the graph's printed form.
fn called(graph: &FunctionGraph, variable: VarId) -> String {
    graph.variable(variable).name.clone().unwrap_or_else(|| format!("v{}", variable.index()))
}
