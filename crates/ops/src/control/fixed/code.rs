//! The C of the steps of a graph whose values are arrays of known extents.

use super::maps::{Group, Map, Readers};
use super::stages::{Stage, Stages};
use super::step::{Step, Sums};
use super::text::Text;
use super::{Fixed, MAX_ELEMENTS, moves, sums};
use crate::scalar::ScalarOp;
use crate::shape::assert::quote;
use crate::sources::closure;
use precast_codegen::{COp, LinkError, Node, SourceSet};
use precast_graph::{Apply, DType, Origin, VarId};

const HEADER: &str = "precast/ops/fixed.h";

/// A part of the C code.
pub(super) enum Part<'a> {
    /// A loop of maps.
    Group(Group<'a>),
    /// A map that a block function computes.
    Block(Map<'a>),
    /// The step of an Apply.
    Step(usize),
}

impl Part<'_> {
    /// Returns the position of the first Apply. Parts are in the order of their Applies.
    fn first(&self) -> usize {
        match self {
            Self::Group(group) => group.maps.first().and_then(|map| map.apply).unwrap_or(0),
            Self::Block(map) => map.apply.unwrap_or(0),
            Self::Step(position) => *position,
        }
    }
}

impl Fixed {
    /// Returns the C array of a variable. A value that is only reshaped is the same array.
    pub(super) fn name(&self, variable: VarId) -> String {
        match &self.graph.variable(variable).origin {
            Origin::Input(k) => format!("a{k}"),
            Origin::Output { apply, index } => match &self.steps[apply.index()] {
                Step::Move(places) => {
                    let input = self.graph.applies()[apply.index()].inputs[0];
                    match moves::is_same(&places[*index], self.value(input).size()) {
                        true => self.name(input),
                        false => format!("t{}", variable.index()),
                    }
                }
                Step::Check(_) => self.name(self.graph.applies()[apply.index()].inputs[0]),
                _ => format!("t{}", variable.index()),
            },
            Origin::Constant(_) => format!("t{}", variable.index()),
        }
    }

    /// Returns the parts that the steps are written as, in order.
    pub(super) fn parts(&self) -> Vec<Part<'_>> {
        self.parts_of(|_| true)
    }

    /// Returns the parts of the steps at some positions.
    fn parts_of(&self, is_part: impl Fn(usize) -> bool) -> Vec<Part<'_>> {
        let mut parts: Vec<Part<'_>> = Vec::new();
        let steps = self.graph.applies().iter().zip(&self.steps).enumerate();
        for (position, (apply, step)) in steps.filter(|(position, _)| is_part(*position)) {
            let Some(map) = self.map(position, apply, step) else {
                if !self.is_silent(apply, step) {
                    parts.push(Part::Step(position));
                }
                continue;
            };
            let shape = &self.value(apply.outputs[0]).shape;
            if self.block(&map, shape).is_some() {
                parts.push(Part::Block(map));
                continue;
            }
            match parts.last_mut() {
                Some(Part::Group(group)) if self.joins(&map, shape, group) => group.maps.push(map),
                _ => parts.push(Part::Group(Group { shape: shape.clone(), maps: vec![map] })),
            }
        }
        parts
    }

    /// Writes the steps.
    pub(super) fn write(&self, name: &str, text: &mut Text) -> Result<(), LinkError> {
        self.write_parts(self.parts(), name, text)
    }

    /// Writes the steps of a stage.
    pub(super) fn write_stage(
        &self,
        stages: &Stages,
        stage: Stage,
        name: &str,
        text: &mut Text,
    ) -> Result<(), LinkError> {
        self.write_parts(self.parts_of(|position| stages.apply(position) == stage), name, text)
    }

    fn write_parts(&self, parts: Vec<Part<'_>>, name: &str, text: &mut Text) -> Result<(), LinkError> {
        let readers = self.readers();
        for part in parts {
            if let Some(room) = &mut text.room {
                let first = part.first();
                room.free(|array| readers.has_later(array, first));
            }
            match part {
                Part::Group(group) => self.write_group(&group, &readers, name, text)?,
                Part::Block(map) => self.write_block(&map, text),
                Part::Step(position) => {
                    let (apply, step) = (&self.graph.applies()[position], &self.steps[position]);
                    self.write_step(apply, step, (&readers, name), text)?;
                }
            }
        }
        Ok(())
    }

    /// Returns whether an Apply has no code.
    pub(super) fn is_silent(&self, apply: &Apply, step: &Step) -> bool {
        let is_same = || self.name(apply.outputs[0]) == self.name(apply.inputs[0]);
        matches!(step, Step::Known) || (!matches!(step, Step::Check(_)) && is_same())
    }

    fn write_step(
        &self,
        apply: &Apply,
        step: &Step,
        (readers, name): (&Readers, &str),
        text: &mut Text,
    ) -> Result<(), LinkError> {
        let inputs: Vec<String> = apply.inputs.iter().map(|input| self.name(*input)).collect();
        let value = self.value(apply.outputs[0]);
        let (array, dtype) = (self.name(apply.outputs[0]), value.dtype);
        let to = (array.as_str(), dtype);
        match step {
            Step::Known | Step::Map(_) => Ok(()),
            Step::Call => self.write_call(apply, name, text),
            Step::Check(assert) => {
                for condition in &apply.inputs[1..] {
                    let (array, message, fail) = (self.name(*condition), quote(&assert.message), text.fail);
                    let (kind, size) = (assert.kind.code(), self.value(*condition).size());
                    text.line(&format!(
                        "if (pc_fixed_assert(ctx, {kind}, {message}, {array}, {size})) {fail}"
                    ));
                }
                Ok(())
            }
            Step::Move(places) => {
                for (output, places) in apply.outputs.iter().zip(places) {
                    let (value, array) = (self.value(*output), self.name(*output));
                    if !moves::is_same(places, self.value(apply.inputs[0]).size()) {
                        moves::write(places, &inputs, (&array, value.dtype), &value.shape, text)?;
                    }
                }
                Ok(())
            }
            Step::Add(places) => {
                sums::write_add((&inputs[0], &inputs[1]), places, to, (&value.shape, name), text)
            }
            Step::Sums(of) => self.write_sums(apply, of, to, (readers, name), text),
            Step::Product { m, n, k } if *m == 1 || *n == 1 => {
                sums::write_product((&inputs[0], &inputs[1]), [*m, *n, *k], to, name, text)
            }
            Step::Product { m, n, k } => {
                text.array(dtype, &array, m * n);
                let call = format!(
                    "pc_fixed_product_{dtype}(ctx, {m}, {n}, {k}, {}, {}, {array})",
                    inputs[0], inputs[1]
                );
                let line = format!("if ({call}) {}", text.fail);
                text.line(&line);
                Ok(())
            }
        }
    }

    fn write_sums(
        &self,
        apply: &Apply,
        of: &Sums,
        to: (&str, DType),
        (readers, name): (&Readers, &str),
        text: &mut Text,
    ) -> Result<(), LinkError> {
        let Some(map) = &of.map else {
            return sums::write(of, &self.name(apply.inputs[0]), to, name, text);
        };
        let array = format!("{}_map", to.0);
        let results = vec![(array.clone(), to.1)];
        let map = Map { scalar: &**map, inputs: &apply.inputs, results, apply: None };
        self.write_group(&Group { shape: of.shape.clone(), maps: vec![map] }, readers, name, text)?;
        sums::write(of, &array, to, name, text)
    }

    /// Writes the known values that the steps read.
    pub(super) fn write_known(&self, text: &mut Text) {
        let is_array = |variable: &VarId| !matches!(self.graph.variable(*variable).origin, Origin::Input(_));
        let outputs = self.graph.applies().iter().flat_map(|apply| &apply.outputs).filter(|v| is_array(v));
        for variable in outputs {
            let value = self.value(*variable);
            let Some(known) = value.known.as_ref().filter(|_| value.size() > 0) else { continue };
            let array = format!("t{}", variable.index());
            text.known(&array, known);
        }
    }

    /// Calls a function with the scalar op of each map, and the dtypes it is applied to.
    fn scalars<T>(&self, of: impl Fn(&dyn ScalarOp, &[DType]) -> Vec<T>) -> Vec<T> {
        let applies = self.graph.applies().iter().zip(&self.steps);
        let found = applies.filter_map(|(apply, step)| {
            let dtypes: Vec<DType> = apply.inputs.iter().map(|input| self.value(*input).dtype).collect();
            match step {
                Step::Map(scalar) => Some(of(&**scalar, &dtypes)),
                Step::Sums(sums) => Some(sums.map.iter().flat_map(|map| of(&**map, &dtypes)).collect()),
                _ => None,
            }
        });
        found.flatten().collect()
    }

    /// Calls a function with the C side of each op that is called.
    fn calls<T>(&self, of: impl Fn(&dyn COp, &Node, &Apply) -> Vec<T>) -> Vec<T> {
        let applies = self.graph.applies().iter().zip(&self.steps);
        let applies = applies.filter(|(_, step)| matches!(step, Step::Call));
        let found = applies.filter_map(|(apply, _)| {
            let (c_op, node) = self.called(apply)?;
            Some(of(c_op, &node, apply))
        });
        found.flatten().collect()
    }

    /// Returns the functions of the called ops at file scope.
    pub(super) fn call_functions(&self, name: &str) -> Result<String, LinkError> {
        let functions = self
            .calls(|c_op, node, apply| vec![c_op.c_support_code_apply(node, &self.call_name(apply, name))]);
        functions.into_iter().collect()
    }

    fn has(&self, is_wanted: impl Fn(&Step) -> bool) -> bool {
        self.steps.iter().any(is_wanted)
    }
}

/// Returns the headers of the code.
pub(in crate::control) fn headers(fixed: &Fixed) -> Vec<String> {
    let mut headers = fixed.scalars(|scalar, dtypes| scalar.c_headers(dtypes));
    headers.push(HEADER.to_owned());
    headers.extend(fixed.calls(|c_op, node, _| [c_op.c_headers(), c_op.c_headers_apply(node)].concat()));
    if fixed.has(|step| matches!(step, Step::Add(_) | Step::Sums(_) | Step::Product { .. })) {
        headers.push("precast/ops/scalar.h".to_owned());
    }
    headers
}

/// Returns the sources of the code.
pub(in crate::control) fn sources(fixed: &Fixed) -> SourceSet {
    let mut sources = closure(&headers(fixed));
    sources.extend(fixed.scalars(|scalar, _| scalar.c_sources().into_iter().collect()));
    sources.extend(
        fixed.calls(|c_op, node, _| c_op.c_sources().into_iter().chain(c_op.c_sources_apply(node)).collect()),
    );
    sources
}

/// Returns the functions at file scope that the code calls.
pub(in crate::control) fn support(fixed: &Fixed) -> Vec<String> {
    let mut functions = fixed.scalars(|scalar, _| scalar.c_support_code());
    functions.extend(fixed.calls(|c_op, _, _| c_op.c_support_code()));
    for part in fixed.parts() {
        if let Part::Block(map) = part {
            functions.extend(fixed.block(&map, &[MAX_ELEMENTS]).map(|block| block.c_text()));
        }
    }
    functions
}

/// Returns the functions at file scope that other Applies of a module may share.
pub(in crate::control) fn shared(fixed: &Fixed) -> Vec<String> {
    fixed.calls(|c_op, node, _| c_op.c_shared_code_apply(node))
}

/// Returns the compiler arguments of the code.
pub(in crate::control) fn compile_args(fixed: &Fixed) -> Vec<String> {
    let mut args = fixed.scalars(|scalar, _| scalar.c_compile_args());
    args.extend(fixed.calls(|c_op, _, _| c_op.c_compile_args()));
    args
}
