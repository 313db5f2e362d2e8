//! The graph: variables, applies in topological order, inputs and outputs.
//!
//! A graph is built with [`FunctionGraph::input`], [`constant`](FunctionGraph::constant),
//! [`apply`](FunctionGraph::apply) and [`output`](FunctionGraph::output). An Apply can only use existing variables,
//! so every graph is acyclic and its applies are always in topological order. Rewrites build a new graph instead of
//! editing one.

use crate::Array;
use crate::Type;
use crate::build_error::BuildError;
use crate::contracts::{self, Inputs};
use crate::interface::Declared;
use crate::op::Op;
use precast_core::names::check_name;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

/// The id of a variable in one graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VarId(u32);

/// The id of an Apply in one graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ApplyId(u32);

macro_rules! positions {
    ($($id:ident),*) => {$(
        impl $id {
            /// Returns the position in the graph's list.
            #[must_use]
            pub const fn index(self) -> usize {
                self.0 as usize
            }

            fn at(position: usize) -> Self {
                Self(u32::try_from(position).expect("a graph has fewer than 2³² variables"))
            }
        }
    )*};
}
positions!(VarId, ApplyId);

/// The source of a variable's value.
#[derive(Debug, Clone, PartialEq)]
pub enum Origin {
    /// The graph's input at this position.
    Input(usize),
    /// A value known at build time. Modules get it through a slot, so it is not part of the key; graphs that contain
    /// only C scalars are the exception.
    Constant(Array),
    /// An output of an Apply.
    Output {
        /// The Apply.
        apply: ApplyId,
        /// The position among the outputs of the Apply.
        index: usize,
    },
}

/// A typed value of a graph.
#[derive(Debug, Clone, PartialEq)]
pub struct Variable {
    /// The type of the value.
    pub ty: Type,
    /// A name for readers; inputs always have one.
    pub name: Option<String>,
    /// The source of the value.
    pub origin: Origin,
}

/// One use of an op.
#[derive(Debug, Clone)]
pub struct Apply {
    /// The op.
    pub op: Arc<dyn Op>,
    /// The input variables.
    pub inputs: Vec<VarId>,
    /// The output variables.
    pub outputs: Vec<VarId>,
}

impl PartialEq for Apply {
    fn eq(&self, other: &Self) -> bool {
        *self.op == *other.op && self.inputs == other.inputs && self.outputs == other.outputs
    }
}

/// A typed, acyclic graph with named inputs and outputs.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FunctionGraph {
    variables: Vec<Variable>,
    applies: Vec<Apply>,
    inputs: Vec<VarId>,
    outputs: Vec<VarId>,
    output_names: Vec<Option<String>>,
    /// Inputs and named outputs by name. The maps keep lookups fast, because every pass rebuilds graphs with very
    /// many names.
    inputs_by_name: BTreeMap<String, VarId>,
    outputs_by_name: BTreeSet<String>,
    pub(crate) declared: Declared,
}

impl FunctionGraph {
    /// Creates an empty graph.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an input.
    ///
    /// # Errors
    /// [`BuildError::Name`] if the text is not a valid name, [`BuildError::DuplicateName`] if another input has that
    /// name, [`BuildError::ExtentName`] if an extent has it.
    pub fn input(&mut self, name: &str, ty: Type) -> Result<VarId, BuildError> {
        check_name(name)?;
        if self.find_input(name).is_some() {
            return Err(BuildError::DuplicateName { name: name.to_owned(), what: "input" });
        }
        if self.declared.has_extent(name) {
            return Err(BuildError::ExtentName { name: name.to_owned() });
        }
        Ok(self.push_input(name, ty))
    }

    /// Adds an input whose name is already known to be valid and unique.
    pub(crate) fn push_input(&mut self, name: &str, ty: Type) -> VarId {
        let origin = Origin::Input(self.inputs.len());
        let variable = self.push(Variable { ty, name: Some(name.to_owned()), origin });
        self.inputs.push(variable);
        self.inputs_by_name.entry(name.to_owned()).or_insert(variable);
        variable
    }

    /// Adds a constant. Its type fixes only extents of 1, so that graphs with different constants share modules.
    pub fn constant(&mut self, value: Array) -> VarId {
        use crate::{Extent, TensorType};
        let extent = |n: &usize| if *n == 1 { Extent::Fixed(1) } else { Extent::Unknown };
        let shape = value.shape().iter().map(extent).collect();
        let ty = Type::Tensor(TensorType { dtype: value.dtype(), shape });
        self.push(Variable { ty, name: None, origin: Origin::Constant(value) })
    }

    /// Adds a constant of a given type, which must admit the value. Used for C scalars and for types wider than the
    /// value's.
    pub fn constant_of(&mut self, value: Array, ty: Type) -> VarId {
        debug_assert!(ty.admits(value.dtype(), value.shape()), "the constant does not match type `{ty}`");
        self.push(Variable { ty, name: None, origin: Origin::Constant(value) })
    }

    /// Applies `op` to variables and returns its outputs.
    ///
    /// # Errors
    /// The error of the op's `make_node`, or [`BuildError::ForeignVariable`] if a variable is not in this graph.
    pub fn apply(&mut self, op: Arc<dyn Op>, inputs: &[VarId]) -> Result<Vec<VarId>, BuildError> {
        for variable in inputs {
            self.check(*variable)?;
        }
        let types: Vec<Type> = inputs.iter().map(|v| self.ty(*v).clone()).collect();
        let results = op.make_node(&types)?;
        Ok(self.push_apply(op, inputs, results))
    }

    /// Adds an Apply with known output types: the types from its `make_node`, or types that cover those.
    pub(crate) fn push_apply(&mut self, op: Arc<dyn Op>, inputs: &[VarId], results: Vec<Type>) -> Vec<VarId> {
        let apply = ApplyId::at(self.applies.len());
        let outputs: Vec<VarId> = results
            .into_iter()
            .enumerate()
            .map(|(index, ty)| {
                self.push(Variable { ty, name: None, origin: Origin::Output { apply, index } })
            })
            .collect();
        self.applies.push(Apply { op, inputs: inputs.to_vec(), outputs: outputs.clone() });
        outputs
    }

    /// Makes a variable an output, with an optional name.
    ///
    /// # Errors
    /// An invalid name, the name of another output, or a variable that is not in this graph.
    pub fn output(&mut self, variable: VarId, name: Option<&str>) -> Result<(), BuildError> {
        self.check(variable)?;
        name.map_or(Ok(()), check_name)?;
        if let Some(name) = name
            && self.outputs_by_name.contains(name)
        {
            return Err(BuildError::DuplicateName { name: name.to_owned(), what: "output" });
        }
        self.push_output(variable, name);
        Ok(())
    }

    /// Makes a variable of this graph an output. The name is already known to be valid and unique.
    pub(crate) fn push_output(&mut self, variable: VarId, name: Option<&str>) {
        self.outputs.push(variable);
        self.output_names.push(name.map(str::to_owned));
        self.outputs_by_name.extend(name.map(str::to_owned));
    }

    /// Names a variable for readers, unless it already has a name.
    ///
    /// # Errors
    /// [`BuildError::Name`] if the text is not a valid name.
    pub fn name(&mut self, variable: VarId, name: &str) -> Result<(), BuildError> {
        check_name(name)?;
        self.put_name(variable, name);
        Ok(())
    }

    /// Names a variable, unless it already has a name. The name is already known to be valid.
    pub(crate) fn put_name(&mut self, variable: VarId, name: &str) {
        if let Some(variable) = self.variables.get_mut(variable.index()) {
            variable.name.get_or_insert_with(|| name.to_owned());
        }
    }

    /// Returns all variables; a [`VarId`] is a position in this slice.
    #[must_use]
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// Returns all applies, in topological order.
    #[must_use]
    pub fn applies(&self) -> &[Apply] {
        &self.applies
    }

    /// Returns the Apply that produces a variable, or `None` for an input or a constant.
    #[must_use]
    pub fn producer(&self, variable: VarId) -> Option<&Apply> {
        match self.variable(variable).origin {
            Origin::Output { apply, .. } => self.applies.get(apply.index()),
            _ => None,
        }
    }

    /// Returns the inputs, in the order of arguments.
    #[must_use]
    pub fn inputs(&self) -> &[VarId] {
        &self.inputs
    }

    /// Returns the outputs, in order; a variable may occur twice.
    #[must_use]
    pub fn outputs(&self) -> &[VarId] {
        &self.outputs
    }

    /// Returns whether every value is a C scalar. Such a graph compiles to a plain C function, which has no slots;
    /// its constants are literals in the C code.
    #[must_use]
    pub fn is_of_numbers(&self) -> bool {
        self.variables.iter().all(|variable| matches!(variable.ty, Type::Scalar(_)))
    }

    /// Returns the constants, in order of their variables.
    pub fn constants(&self) -> impl Iterator<Item = (VarId, &Array)> {
        self.variables.iter().enumerate().filter_map(|(position, variable)| match &variable.origin {
            Origin::Constant(value) => Some((VarId::at(position), value)),
            _ => None,
        })
    }

    /// Returns the constants that a module gets through its slots, in this order. A graph [of
    /// numbers](Self::is_of_numbers) has no slots.
    pub fn slots(&self) -> impl Iterator<Item = (VarId, &Array)> {
        let literals = self.is_of_numbers();
        self.constants().filter(move |_| !literals)
    }

    /// Returns the name of the input at a position.
    #[must_use]
    pub fn input_name(&self, position: usize) -> &str {
        let variable = self.inputs.get(position).and_then(|v| self.variables.get(v.index()));
        variable.and_then(|v| v.name.as_deref()).unwrap_or("")
    }

    /// Returns the name of the output at a position, or `out<position>` if it is unnamed.
    #[must_use]
    pub fn output_name(&self, position: usize) -> String {
        let name = self.output_names.get(position).cloned().flatten();
        name.unwrap_or_else(|| format!("out{position}"))
    }

    /// Returns the declared name of the output at a position.
    #[must_use]
    pub fn declared_output_name(&self, position: usize) -> Option<&str> {
        self.output_names.get(position).and_then(Option::as_deref)
    }

    /// Returns the input with this name.
    #[must_use]
    pub fn find_input(&self, name: &str) -> Option<VarId> {
        self.inputs_by_name.get(name).copied()
    }

    /// Returns the variable with an id of this graph.
    #[must_use]
    pub fn variable(&self, id: VarId) -> &Variable {
        &self.variables[id.index()]
    }

    /// Returns the type of a variable.
    #[must_use]
    pub fn ty(&self, id: VarId) -> &Type {
        &self.variables[id.index()].ty
    }

    /// Returns the types of an Apply's inputs.
    #[must_use]
    pub fn input_types(&self, apply: &Apply) -> Vec<Type> {
        apply.inputs.iter().map(|v| self.ty(*v).clone()).collect()
    }

    /// Returns the types of an Apply's outputs.
    #[must_use]
    pub fn output_types(&self, apply: &Apply) -> Vec<Type> {
        apply.outputs.iter().map(|v| self.ty(*v).clone()).collect()
    }

    /// Returns the printable form of an Apply: `add(f32[?], f32[?]) -> f32[?]`.
    #[must_use]
    pub fn signature(&self, apply: &Apply) -> String {
        signature(&apply.op.label(), &self.input_types(apply), &self.output_types(apply))
    }

    /// Appends the Applies and constants of another graph, whose inputs become variables of this one. Returns the variables
    /// that its outputs become.
    ///
    /// # Errors
    /// As [`FunctionGraph::apply`], or fewer variables than inputs that are used.
    pub fn inline(&mut self, source: &Self, inputs: &[VarId]) -> Result<Vec<VarId>, BuildError> {
        let mut known: Vec<Option<VarId>> = vec![None; source.variables.len()];
        for (input, variable) in source.inputs.iter().zip(inputs) {
            known[input.index()] = Some(*variable);
        }
        for (constant, value) in source.constants() {
            known[constant.index()] = Some(self.constant_of(value.clone(), source.ty(constant).clone()));
        }
        let get = |known: &[Option<VarId>], variables: &[VarId]| -> Result<Vec<VarId>, BuildError> {
            let get = |v: &VarId| known[v.index()].ok_or(BuildError::ForeignVariable { index: v.index() });
            variables.iter().map(get).collect()
        };
        for apply in &source.applies {
            let inputs = get(&known, &apply.inputs)?;
            for (output, variable) in apply.outputs.iter().zip(self.apply(apply.op.clone(), &inputs)?) {
                known[output.index()] = Some(variable);
            }
        }
        get(&known, &source.outputs)
    }

    /// Returns the graph with some of its outputs, without their names.
    #[must_use]
    pub fn with_outputs(&self, positions: impl IntoIterator<Item = usize>) -> Self {
        let mut graph = self.clone();
        let outputs = std::mem::take(&mut graph.outputs);
        graph.output_names.clear();
        graph.outputs_by_name.clear();
        graph.declared.outputs.clear();
        for position in positions {
            graph.push_output(outputs[position], None);
        }
        graph
    }

    /// Checks the properties that building cannot check: the graph has outputs, and the memory maps of ops name
    /// existing inputs and outputs.
    ///
    /// An overwritten value may still have other readers at this stage. A graph describes the computation; a rewrite
    /// adds the necessary copies before the graph is compiled.
    ///
    /// # Errors
    /// [`BuildError::NoOutputs`] or [`BuildError::Contract`].
    pub fn validate(&self) -> Result<(), BuildError> {
        if self.outputs.is_empty() { Err(BuildError::NoOutputs) } else { Ok(contracts::check_maps(self)?) }
    }

    /// Checks a graph that is about to be compiled. In addition to [`validate`](Self::validate), nothing may be read
    /// after it was overwritten. Constants may never be overwritten, inputs of the graph only if the caller gives
    /// them up.
    ///
    /// # Errors
    /// As [`validate`](Self::validate).
    pub fn validate_memory(&self, inputs: Inputs) -> Result<(), BuildError> {
        self.validate()?;
        Ok(contracts::check_order(self, inputs)?)
    }

    fn push(&mut self, variable: Variable) -> VarId {
        self.variables.push(variable);
        VarId::at(self.variables.len() - 1)
    }

    fn check(&self, variable: VarId) -> Result<(), BuildError> {
        if variable.index() < self.variables.len() {
            return Ok(());
        }
        Err(BuildError::ForeignVariable { index: variable.index() })
    }
}

/// Returns the printable form of a use of `label`: `add(f32[?], f32[?]) -> f32[?]`.
#[must_use]
pub(crate) fn signature(label: &str, inputs: &[Type], outputs: &[Type]) -> String {
    let join = |types: &[Type]| types.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    format!("{label}({}) -> {}", join(inputs), join(outputs))
}

impl fmt::Display for FunctionGraph {
    /// Writes one line per Apply, `v3 = exp(v2) : f64[?]`, for messages and tests. The lossless form is
    /// [`crate::json::render`].
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |v: &VarId| match &self.variable(*v).origin {
            Origin::Input(i) => self.input_name(*i).to_owned(),
            Origin::Constant(_) => format!("c{}", v.index()),
            Origin::Output { .. } => format!("v{}", v.index()),
        };
        let names = |vs: &[VarId]| vs.iter().map(name).collect::<Vec<_>>().join(", ");
        let lines = self.applies.iter().map(|apply| {
            let label = apply.op.label();
            format!("{} = {label}({})", names(&apply.outputs), names(&apply.inputs))
        });
        let lines: Vec<String> = lines.chain([format!("return {}", names(&self.outputs))]).collect();
        f.write_str(&lines.join("; "))
    }
}
