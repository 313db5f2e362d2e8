//! The C function of a loop whose values are arrays of known extents.

use super::maps::{Group, Map, Readers};
use super::step::{Step, Sums};
use super::text::{Text, copy, elements, ready, steps_of, texts};
use super::{Fixed, moves, sums};
use crate::control::Scan;
use crate::scalar::ScalarOp;
use crate::sources::closure;
use precast_codegen::template::render;
use precast_codegen::{LinkError, SourceSet};
use precast_graph::{Apply, DType, Origin, VarId};

const HEADER: &str = "precast/ops/fixed.h";

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
                _ => format!("t{}", variable.index()),
            },
            Origin::Constant(_) => format!("t{}", variable.index()),
        }
    }

    /// Writes the steps of an iteration.
    fn write(&self, name: &str, text: &mut Text) -> Result<(), LinkError> {
        let readers = self.readers();
        let mut group: Option<Group<'_>> = None;
        for (position, (apply, step)) in self.graph.applies().iter().zip(&self.steps).enumerate() {
            if let Some(map) = self.map(position, apply, step) {
                let shape = &self.value(apply.outputs[0]).shape;
                match &mut group {
                    Some(group) if self.joins(&map, shape, group) => group.maps.push(map),
                    open => {
                        open.take().map_or(Ok(()), |group| self.write_group(&group, &readers, name, text))?;
                        *open = Some(Group { shape: shape.clone(), maps: vec![map] });
                    }
                }
                continue;
            }
            if self.is_silent(apply, step) {
                continue;
            }
            group.take().map_or(Ok(()), |group| self.write_group(&group, &readers, name, text))?;
            self.write_step(apply, step, (&readers, name), text)?;
        }
        group.map_or(Ok(()), |group| self.write_group(&group, &readers, name, text))
    }

    /// Returns whether an Apply has no code.
    pub(super) fn is_silent(&self, apply: &Apply, step: &Step) -> bool {
        matches!(step, Step::Known) || self.name(apply.outputs[0]) == self.name(apply.inputs[0])
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
            Step::Move(places) => {
                for (output, places) in apply.outputs.iter().zip(places) {
                    let (value, array) = (self.value(*output), self.name(*output));
                    if !moves::is_same(places, self.value(apply.inputs[0]).size()) {
                        moves::write(places, &inputs, (&array, value.dtype), &value.shape, text);
                    }
                }
                Ok(())
            }
            Step::Add(places) => sums::write_add((&inputs[0], &inputs[1]), places, to, name, text),
            Step::Sums(of) => self.write_sums(apply, of, to, (readers, name), text),
            Step::Product { m, n, k } if *m == 1 || *n == 1 => {
                let pairs: Vec<Vec<(usize, usize)>> =
                    (0..m * n).map(|i| (0..*k).map(|l| (i / n * k + l, l * n + i % n)).collect()).collect();
                sums::write_product((&inputs[0], &inputs[1]), &pairs, to, name, text)
            }
            Step::Product { m, n, k } => {
                text.array(dtype, &array, m * n);
                let call = format!(
                    "pc_fixed_product_{dtype}(ctx, {m}, {n}, {k}, {}, {}, {array})",
                    inputs[0], inputs[1]
                );
                text.line(&format!("if ({call}) return pc_scan_failed(ctx, step);"));
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

    /// Writes the known values that an iteration reads.
    fn write_known(&self, text: &mut Text) {
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

    fn has(&self, is_wanted: impl Fn(&Step) -> bool) -> bool {
        self.steps.iter().any(is_wanted)
    }
}

/// Returns the headers of the loop.
pub(in crate::control) fn headers(fixed: &Fixed) -> Vec<String> {
    let mut headers = fixed.scalars(|scalar, dtypes| scalar.c_headers(dtypes));
    headers.push(HEADER.to_owned());
    if fixed.has(|step| matches!(step, Step::Add(_) | Step::Sums(_) | Step::Product { .. })) {
        headers.push("precast/ops/scalar.h".to_owned());
    }
    headers
}

/// Returns the sources of the loop.
pub(in crate::control) fn sources(fixed: &Fixed) -> SourceSet {
    let mut sources = closure(&headers(fixed));
    sources.extend(fixed.scalars(|scalar, _| scalar.c_sources().into_iter().collect()));
    sources
}

/// Returns the functions at file scope that the loop calls.
pub(in crate::control) fn support(fixed: &Fixed) -> Vec<String> {
    fixed.scalars(|scalar, _| scalar.c_support_code())
}

/// Returns the compiler arguments of the loop.
pub(in crate::control) fn compile_args(fixed: &Fixed) -> Vec<String> {
    fixed.scalars(|scalar, _| scalar.c_compile_args())
}

/// Generates the function of a loop.
pub(in crate::control) fn function(scan: &Scan, fixed: &Fixed, name: &str) -> Result<String, LinkError> {
    let loops = Loop { scan, fixed };
    let (mut before, mut body, mut after) = (Text::at(1), Text::at(3), Text::at(1));
    loops.read(&mut before, &mut body);
    fixed.write_known(&mut before);
    fixed.write(name, &mut body)?;
    loops.store(&mut before, &mut body, &mut after);
    let values = [
        ("NAME", name),
        ("CARRIES", &scan.carries.to_string()),
        ("SEQUENCES", &scan.sequences.to_string()),
        ("WHERE", if scan.reverse { "steps - 1 - step" } else { "step" }),
        ("READS", &before.text),
        ("BODY", &body.text),
        ("DONE", if scan.until { "done:;\n" } else { "" }),
        ("WRITES", &after.text),
    ];
    Ok(render(include_str!("../../../c/scan_fixed.c.in"), &values))
}

/// The parts of a loop around the steps.
struct Loop<'a> {
    scan: &'a Scan,
    fixed: &'a Fixed,
}

impl Loop<'_> {
    /// Writes the reads of the inputs: rows in each iteration, others before the loop.
    fn read(&self, before: &mut Text, body: &mut Text) {
        for (k, input) in self.fixed.graph.inputs().iter().enumerate() {
            let value = self.fixed.value(*input);
            let (is_row, from) = (self.scan.is_sequence(k), format!("in[{}]", 1 + k));
            if value.size() == 0 {
                continue;
            }
            let text = if is_row { &mut *body } else { &mut *before };
            text.array(value.dtype, &format!("a{k}"), value.size());
            if is_row {
                before.line(&format!("const char *const p{k} = {from}->data;"));
                steps_of(&format!("p{k}"), &from, 1 + value.shape.len(), before);
                copy(
                    value.dtype,
                    &value.shape,
                    (&format!("p{k} + at * p{k}_0"), &format!("p{k}"), 1),
                    &format!("a{k}"),
                    true,
                    body,
                );
            } else {
                steps_of(&format!("p{k}"), &from, value.shape.len(), before);
                copy(
                    value.dtype,
                    &value.shape,
                    (&format!("{from}->data"), &format!("p{k}"), 0),
                    &format!("a{k}"),
                    true,
                    before,
                );
            }
        }
    }

    /// Writes the results: rows and the next carries in each iteration, the last carries after the loop.
    fn store(&self, before: &mut Text, body: &mut Text, after: &mut Text) {
        let (fixed, carries) = (self.fixed, self.scan.carries);
        let outputs = fixed.graph.outputs();
        for (j, output) in outputs.iter().enumerate().skip(carries).take(self.scan.rows()) {
            let value = fixed.value(*output);
            ready(j, value.dtype, &[&["steps".to_owned()], texts(&value.shape).as_slice()].concat(), before);
            before.line(&format!("char *const r{j} = out[{j}]->data;"));
            steps_of(&format!("r{j}"), &format!("out[{j}]"), 1 + value.shape.len(), before);
            copy(
                value.dtype,
                &value.shape,
                (&format!("r{j} + at * r{j}_0"), &format!("r{j}"), 1),
                &fixed.name(*output),
                false,
                body,
            );
        }
        let (mut copies, mut moves) = (Text::at(3), Text::at(3));
        for (j, output) in outputs[..carries].iter().enumerate() {
            let (value, mut from) = (fixed.value(*output), fixed.name(*output));
            let own = format!("a{j}");
            // A carry is assigned once all of them are computed.
            if from != own && (0..carries).any(|other| from == format!("a{other}")) {
                copies.array(value.dtype, &format!("n{j}"), value.size());
                elements(value.size(), &format!("n{j}"), &from, &mut copies);
                from = format!("n{j}");
            }
            if from != own {
                elements(value.size(), &own, &from, &mut moves);
            }
            ready(j, value.dtype, &texts(&value.shape), after);
            steps_of(&format!("r{j}"), &format!("out[{j}]"), value.shape.len(), after);
            copy(
                value.dtype,
                &value.shape,
                (&format!("out[{j}]->data"), &format!("r{j}"), 0),
                &own,
                false,
                after,
            );
        }
        // The flag may be a carry, so it is read before the carries change.
        let stop = outputs.last().filter(|_| self.scan.until);
        if let Some(stop) = stop {
            body.line(&format!("const pc_bool stop = {}[0];", fixed.name(*stop)));
        }
        body.text += &copies.text;
        body.text += &moves.text;
        if stop.is_some() {
            body.line("if (stop) goto done;");
        }
    }
}
