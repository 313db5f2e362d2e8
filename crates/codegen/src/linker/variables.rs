//! The variables of a module: roles, C names, failure IDs.

use crate::cop::COp;
use crate::ctype::CType;
use crate::error::LinkError;
use crate::library::Library;
use crate::library::c_type;
use crate::params::{self, ParamsType};
use crate::sub::Sub;
use crate::template::of_apply;
use precast_abi::module::TaskKind;
use precast_graph::{Apply, Array, FunctionGraph, Origin, Type, VarId};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The role of a variable in the module.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Role {
    /// An argument of a call, with its position.
    Input(usize),
    /// A constant passed at initialization, with its slot.
    Slot(usize),
    /// A constant of a graph of C scalars, with its value.
    Literal(Array),
    /// An intermediate value whose storage is reused by later calls, with its cell.
    Temporary(usize),
    /// An intermediate value that is released with the call: C scalars, views, values written over other variables.
    Local,
    /// A result of a call, with its position.
    Output(usize),
}

impl Role {
    /// Returns the name of the role for comments.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Input(i) => format!("input {i}"),
            Self::Slot(i) => format!("constant {i}"),
            Self::Literal(_) => "literal".to_owned(),
            Self::Temporary(_) | Self::Local => "intermediate".to_owned(),
            Self::Output(i) => format!("output {i}"),
        }
    }
}

/// A variable of the module.
pub(super) struct Var<'a> {
    /// Its number in the graph.
    pub(super) number: usize,
    /// `V3`.
    pub(super) name: String,
    pub(super) role: Role,
    pub(super) ty: &'a Type,
    pub(super) ctype: Arc<dyn CType>,
    pub(super) check_input: bool,
    pub(super) task: u32,
    /// The failure ID of `c_sync`, for outputs and temporaries.
    pub(super) sync_task: u32,
}

impl Var<'_> {
    /// Returns the `sub` for code with the failure ID `task` and this variable's label.
    pub(super) fn sub(&self, task: u32) -> Sub {
        Sub {
            fail: format!("{{ failure = {task}; goto label_{}; }}", self.task),
            id: task,
            failure_var: "failure".to_owned(),
            py_ptr: format!("py_{}", self.name),
            stor_ptr: format!("storage_{}", self.name),
            params: None,
        }
    }

    /// Returns whether the value is stored in an object.
    pub(super) fn is_synced(&self) -> bool {
        matches!(self.role, Role::Output(_) | Role::Temporary(_))
    }
}

/// An Apply of the module.
pub(super) struct Step<'a> {
    pub(super) apply: &'a Apply,
    pub(super) op: &'a dyn COp,
    pub(super) node: crate::cop::Node,
    /// `@M@_n0`; for an Apply that shares the code of an earlier one, the name of the earlier one.
    pub(super) name: String,
    /// Its support code, with this name; empty if it is shared.
    pub(super) support: String,
    /// The fields of its run-time params. Their slots start at `first_param` after the constants.
    pub(super) params: ParamsType,
    pub(super) first_param: usize,
    pub(super) inputs: Vec<String>,
    pub(super) outputs: Vec<String>,
    pub(super) task: u32,
    pub(super) struct_task: u32,
}

impl Step<'_> {
    /// Returns the `sub` for code with the failure ID `task` and the label of the same number.
    pub(super) fn sub(&self, task: u32) -> Sub {
        Sub {
            fail: format!("{{ failure = {task}; goto label_{task}; }}"),
            id: task,
            failure_var: "failure".to_owned(),
            params: (!self.params.is_empty()).then(|| params::pointer(&self.name)),
            ..Sub::default()
        }
    }

    /// Marks a piece of the op's own code as this Apply's, with the constants of its enumerations defined around it.
    pub(super) fn own(&self, code: String) -> String {
        of_apply(self.node.position, &self.shared(code))
    }

    /// Like [`Step::own`], for code that is emitted once for Applies of equal ops.
    pub(super) fn shared(&self, code: String) -> String {
        self.params.with_constants(code)
    }
}

/// A failure ID.
pub(super) struct Task {
    pub(super) kind: TaskKind,
    pub(super) apply: i64,
    pub(super) variable: i64,
}

/// Returns whether an Apply has author-written C.
pub(super) fn is_foreign<'t>(op: &dyn COp, mut types: impl Iterator<Item = &'t Type>) -> bool {
    op.content_id().is_none() || !op.c_files().is_empty() || types.any(|ty| ty.as_user().is_some())
}

/// A C function of the module: of the module's graph, or of a graph that an op calls.
pub(super) struct Part<'a> {
    /// The prefix of its C names: `@M@`, or `@M@_n0_body0` for a graph that an op calls.
    pub(super) name: String,
    pub(super) n_inputs: usize,
    pub(super) vars: Vec<Var<'a>>,
    pub(super) steps: Vec<Step<'a>>,
}

/// The input for generating the module's text.
pub(super) struct Outline<'a> {
    /// The module's graph.
    pub(super) main: Part<'a>,
    /// The graphs that ops call ([`COp::bodies`]), callees first.
    pub(super) bodies: Vec<Part<'a>>,
    pub(super) tasks: Vec<Task>,
    pub(super) n_temps: usize,
    /// The number of slots after the constants: one per field of each Apply's params.
    pub(super) n_params: usize,
    /// Whether an op or a type has author-written C.
    pub(super) is_foreign: bool,
}

/// Outlines the variables and steps of `graph`, and of the graphs that its ops call.
pub(super) fn outline<'a>(graph: &'a FunctionGraph, library: &Library) -> Result<Outline<'a>, LinkError> {
    let main = Part { name: "@M@".to_owned(), n_inputs: 0, vars: Vec::new(), steps: Vec::new() };
    let mut outline =
        Outline { main, bodies: Vec::new(), tasks: Vec::new(), n_temps: 0, n_params: 0, is_foreign: false };
    outline.main = outline.part("@M@", graph, library, None)?;
    Ok(outline)
}

impl<'a> Outline<'a> {
    /// Returns the steps of the module's graph, then those of the graphs that ops call.
    pub(super) fn steps(&self) -> impl DoubleEndedIterator<Item = &Step<'a>> {
        self.parts().flat_map(|part| &part.steps)
    }

    /// Returns the variables of the module's graph, then those of the graphs that ops call.
    pub(super) fn vars(&self) -> impl Iterator<Item = &Var<'a>> {
        self.parts().flat_map(|part| &part.vars)
    }

    /// Returns the steps in the order of [`Outline::steps`].
    pub(super) fn steps_mut(&mut self) -> impl Iterator<Item = &mut Step<'a>> {
        self.main.steps.iter_mut().chain(self.bodies.iter_mut().flat_map(|part| &mut part.steps))
    }

    fn parts(&self) -> impl DoubleEndedIterator<Item = &Part<'a>> {
        std::iter::once(&self.main).chain(&self.bodies)
    }

    /// Outlines a graph. Failures of a graph that an op calls are those of the Apply `caller` of the module's graph.
    fn part(
        &mut self,
        name: &str,
        graph: &'a FunctionGraph,
        library: &Library,
        caller: Option<usize>,
    ) -> Result<Part<'a>, LinkError> {
        check_outputs(graph)?;
        let places = Places::of(graph, library);
        let number = |n: usize| i64::try_from(n).unwrap_or(-1);
        let (mut vars, mut steps) = (Vec::new(), Vec::new());
        for id in order(graph) {
            let ctype = c_type(graph.ty(id), library)?;
            let role = places.role(graph, id, &*ctype, &mut self.n_temps);
            let place = caller.map_or((-1, number(id.index())), |caller| (number(caller), -1));
            let task = self.task(TaskKind::Extract, place);
            let synced = matches!(role, Role::Output(_) | Role::Temporary(_));
            let sync_task = if synced { self.task(TaskKind::Sync, place) } else { 0 };
            vars.push(Var {
                number: id.index(),
                name: format!("V{}", id.index()),
                role,
                ty: graph.ty(id),
                ctype,
                check_input: places.is_checked(id),
                task,
                sync_task,
            });
        }
        for (position, apply) in graph.applies().iter().enumerate() {
            let op = library
                .c_op(&*apply.op)
                .ok_or_else(|| LinkError::NoC { apply: position, op: apply.op.label() })?;
            let (caller, name) = (caller.unwrap_or(position), format!("{name}_n{position}"));
            for (i, body) in op.bodies().into_iter().enumerate() {
                let body = self.part(&format!("{name}_body{i}"), body, library, Some(caller))?;
                self.bodies.push(body);
            }
            let task = self.task(TaskKind::Code, (number(caller), -1));
            let struct_task = self.task(TaskKind::Struct, (number(caller), -1));
            let types = apply.inputs.iter().chain(&apply.outputs).map(|v| graph.ty(*v));
            self.is_foreign |= is_foreign(op, types);
            let names = |ids: &[VarId]| ids.iter().map(|v| format!("V{}", v.index())).collect();
            let params = params::of(apply, op)?;
            let first_param = self.n_params;
            self.n_params += params.len();
            steps.push(Step {
                apply,
                op,
                node: crate::cop::Node {
                    inputs: graph.input_types(apply),
                    outputs: graph.output_types(apply),
                    position: caller,
                    types: library.types().clone(),
                },
                name,
                support: String::new(),
                params,
                first_param,
                inputs: names(&apply.inputs),
                outputs: names(&apply.outputs),
                task,
                struct_task,
            });
        }
        Ok(Part { name: name.to_owned(), n_inputs: graph.inputs().len(), vars, steps })
    }

    /// Adds a failure ID of an Apply or a variable.
    fn task(&mut self, kind: TaskKind, (apply, variable): (i64, i64)) -> u32 {
        self.tasks.push(Task { kind, apply, variable });
        // ID 0 means success, so IDs are positions plus one.
        u32::try_from(self.tasks.len()).unwrap_or(u32::MAX)
    }
}

/// Returns inputs, constants, temporaries and outputs: the order of the nested blocks.
pub(super) fn order(graph: &FunctionGraph) -> Vec<VarId> {
    let computed = graph.applies().iter().flat_map(|apply| apply.outputs.iter().copied());
    let outputs: HashSet<VarId> = graph.outputs().iter().copied().collect();
    let is_output = |v: &VarId| outputs.contains(v);
    let mut ids: Vec<VarId> = graph.inputs().to_vec();
    ids.extend(graph.constants().map(|(id, _)| id));
    ids.extend(computed.filter(|v| !is_output(v)));
    ids.extend(graph.outputs());
    ids
}

/// The positions of a graph's variables, so that a long graph is not searched for each of them.
struct Places {
    outputs: HashMap<VarId, usize>,
    slots: HashMap<VarId, usize>,
    /// The variables that ops use, and those that an op requests to validate.
    used: HashSet<VarId>,
    checked: HashSet<VarId>,
}

impl Places {
    fn of(graph: &FunctionGraph, library: &Library) -> Self {
        let (mut used, mut checked) = (HashSet::new(), HashSet::new());
        for apply in graph.applies() {
            let Some(op) = library.c_op(&*apply.op) else { continue };
            let variables = || apply.inputs.iter().chain(&apply.outputs).copied();
            used.extend(variables());
            if op.check_input() {
                checked.extend(variables());
            }
        }
        let outputs = graph.outputs().iter().enumerate().map(|(position, id)| (*id, position)).collect();
        let slots = graph.slots().enumerate().map(|(position, (id, _))| (id, position)).collect();
        Self { outputs, slots, used, checked }
    }

    fn role(&self, graph: &FunctionGraph, id: VarId, ctype: &dyn CType, n_temps: &mut usize) -> Role {
        if let Some(position) = self.outputs.get(&id) {
            return Role::Output(*position);
        }
        match &graph.variable(id).origin {
            Origin::Input(position) => Role::Input(*position),
            Origin::Constant(value) => match self.slots.get(&id) {
                Some(slot) => Role::Slot(*slot),
                None => Role::Literal(value.clone()),
            },
            Origin::Output { apply, index } => {
                let op = &graph.applies()[apply.index()].op;
                // A view, or a value written over an input, uses storage that another variable keeps alive.
                let borrows =
                    op.view_map().into_iter().chain(op.destroy_map()).any(|(output, _)| output == *index);
                if borrows || ctype.c_is_simple() {
                    return Role::Local;
                }
                *n_temps += 1;
                Role::Temporary(*n_temps - 1)
            }
        }
    }

    /// Returns whether a variable is validated: if an op that uses it requests that, or if no op uses it.
    fn is_checked(&self, id: VarId) -> bool {
        !self.used.contains(&id) || self.checked.contains(&id)
    }
}

/// Checks that each output is a distinct computed value.
pub(super) fn check_outputs(graph: &FunctionGraph) -> Result<(), LinkError> {
    let mut known = HashSet::new();
    for (output, id) in graph.outputs().iter().enumerate() {
        if !known.insert(*id) || !matches!(graph.variable(*id).origin, Origin::Output { .. }) {
            return Err(LinkError::AliasedOutput { output, with: format!("V{}", id.index()) });
        }
    }
    Ok(())
}
