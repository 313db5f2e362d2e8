//! Composite: a small graph of scalar ops that is itself a scalar op. Fusion creates composites.
//!
//! Values are numbered: first the inputs, then one value per step. Every step only uses earlier values, so the graph
//! is acyclic by construction. In C each step is a separate variable, so the compiler sees single assignments.

use crate::elemwise::kernel::WHOLE;
use crate::scalar::{self, Cast, ScalarOp, Value};
use precast_codegen::{LinkError, SourceSet, Sub};
use precast_graph::{DType, MakeNodeError, PerformError, Prop, Props};
use std::fmt::Write as _;
use std::sync::Arc;

/// A scalar op and the values it reads.
type Step = (Arc<dyn ScalarOp>, Vec<usize>);

/// A sequence of scalar ops.
#[derive(Debug, Clone)]
pub struct Composite {
    inputs: usize,
    steps: Vec<Step>,
    outputs: Vec<usize>,
}

impl Composite {
    /// Creates a composite. Steps read the values `0..inputs` and the results of earlier steps; `outputs` are values
    /// too.
    ///
    /// # Panics
    /// If a step or output uses a value that does not exist yet, or a step has the wrong number of inputs.
    #[must_use]
    pub fn new(inputs: usize, steps: Vec<Step>, outputs: Vec<usize>) -> Self {
        match Self::checked(inputs, steps, outputs) {
            Ok(composite) => composite,
            Err(problem) => panic!("invalid composite: {problem}"),
        }
    }

    fn checked(inputs: usize, steps: Vec<Step>, outputs: Vec<usize>) -> Result<Self, MakeNodeError> {
        let wrong = |prop, problem: String| Err(MakeNodeError::prop("composite", prop, problem));
        for (position, (op, arguments)) in steps.iter().enumerate() {
            if op.arity() != arguments.len() || arguments.iter().any(|v| *v >= inputs + position) {
                return wrong(
                    "steps",
                    format!("step {position}, `{}`, has wrong inputs {arguments:?}", op.name()),
                );
            }
        }
        if outputs.is_empty() || outputs.iter().any(|v| *v >= inputs + steps.len()) {
            return wrong("outputs", format!("{outputs:?} are not all values"));
        }
        Ok(Self { inputs, steps, outputs })
    }

    /// Returns the number of inputs.
    #[must_use]
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Returns the steps, each with the values it reads.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Returns the values that are results.
    #[must_use]
    pub fn output_values(&self) -> &[usize] {
        &self.outputs
    }

    /// Rebuilds a composite from its props.
    ///
    /// # Errors
    /// A prop that is missing or malformed, or an op that the library does not have.
    pub fn from_props(props: &Props) -> Result<Arc<dyn ScalarOp>, MakeNodeError> {
        let malformed = |prop: &str| MakeNodeError::prop("composite", prop, "is missing or malformed");
        let inputs = match props.get("inputs") {
            Some(Prop::Int(n)) => usize::try_from(*n).map_err(|_| malformed("inputs"))?,
            _ => return Err(malformed("inputs")),
        };
        let Some(Prop::List(items)) = props.get("steps") else { return Err(malformed("steps")) };
        let steps = items.iter().map(|item| step_from(item).unwrap_or_else(|| Err(malformed("steps"))));
        let steps = steps.collect::<Result<Vec<_>, _>>()?;
        let outputs = props.get("outputs").and_then(positions).ok_or_else(|| malformed("outputs"))?;
        Ok(Arc::new(Self::checked(inputs, steps, outputs)?))
    }

    /// Returns the composite whose steps of 16-bit floats that kernels call by block are steps of f32 between casts, or
    /// `None` if there are none. `dtypes` are those of the inputs.
    pub(crate) fn widened(&self, dtypes: &[DType]) -> Option<Self> {
        let types = self.dtypes(dtypes)?;
        let (mut steps, mut values): (Vec<Step>, Vec<usize>) = (Vec::new(), (0..self.inputs).collect());
        let mut is_changed = false;
        for (position, (op, arguments)) in self.steps.iter().enumerate() {
            let taken: Vec<DType> = arguments.iter().map(|value| types[*value]).collect();
            let mut given: Vec<usize> = arguments.iter().map(|value| values[*value]).collect();
            let widens = scalar::is_block_of_halves(&**op, &taken);
            is_changed |= widens;
            let mut push = |step: Step| {
                steps.push(step);
                self.inputs + steps.len() - 1
            };
            if widens {
                let cast = |to| Arc::new(Cast { to }) as Arc<dyn ScalarOp>;
                given = given.into_iter().map(|value| push((cast(DType::F32), vec![value]))).collect();
                let result = push((Arc::clone(op), given));
                values.push(push((cast(types[self.inputs + position]), vec![result])));
            } else {
                values.push(push((Arc::clone(op), given)));
            }
        }
        let outputs = self.outputs.iter().map(|value| values[*value]).collect();
        is_changed.then_some(Self { inputs: self.inputs, steps, outputs })
    }

    /// Returns this composite with its last step replaced: `replace` gets that step's op and dtypes. `None` if
    /// `replace` returns `None`, or if that step is not the only result.
    pub(crate) fn with_last(
        &self,
        dtypes: &[DType],
        replace: impl FnOnce(&dyn ScalarOp, &[DType]) -> Option<Arc<dyn ScalarOp>>,
    ) -> Option<Self> {
        let (last, arguments) = self.steps.last()?;
        if self.outputs != [self.inputs + self.steps.len() - 1] {
            return None;
        }
        let values = self.dtypes(dtypes)?;
        let taken: Vec<DType> = arguments.iter().map(|value| values[*value]).collect();
        let mut changed = self.clone();
        changed.steps.last_mut()?.0 = replace(&**last, &taken)?;
        Some(changed)
    }

    /// Generates the steps, with truth values of 64 bits if `wide`.
    pub(crate) fn code(
        &self,
        dtypes: &[DType],
        name: &str,
        inputs: &[String],
        outputs: &[String],
        sub: &Sub,
        wide: bool,
    ) -> Result<String, LinkError> {
        let unsupported = || LinkError::Unsupported {
            signature: self.label(),
            problem: format!("a step does not support its operands for inputs {dtypes:?}"),
        };
        let types = self.dtypes(dtypes).ok_or_else(unsupported)?;
        let mut names = inputs.to_vec();
        let mut text = String::from("{\n");
        for (position, (op, arguments)) in self.steps.iter().enumerate() {
            let value = self.inputs + position;
            let result = format!("v{value}");
            let taken: Vec<DType> = arguments.iter().map(|v| types[*v]).collect();
            let given: Vec<String> = arguments.iter().map(|v| names[*v].clone()).collect();
            let own = format!("{name}_{position}");
            let results = std::slice::from_ref(&result);
            let has_truth = taken.contains(&DType::Bool) || types[value] == DType::Bool;
            let widened = if wide && has_truth { op.c_code_wide(&taken, &given, results) } else { None };
            let code = match widened {
                Some(code) => code,
                None => op.c_code(&taken, &own, &given, results, sub)?,
            };
            let ty = c_type(types[value], wide);
            // Writing to a string cannot fail.
            let _ = writeln!(text, "  {ty} {result};\n  {code}");
            names.push(result);
        }
        for (output, value) in outputs.iter().zip(&self.outputs) {
            let _ = writeln!(text, "  {output} = {};", names[*value]);
        }
        text.push('}');
        Ok(text)
    }

    /// Returns whether a loop over the steps is compiled several times as fast if truth values are widened to 64 bits. It
    /// has a transcendental function and no elements but truth values and those of 64 bits.
    pub(crate) fn widens(&self, dtypes: &[DType]) -> bool {
        let Some(types) = self.dtypes(dtypes) else { return false };
        let is_function = |op: &dyn ScalarOp, taken: &[DType]| {
            op.block(taken).is_none() && op.c_headers(taken).iter().any(|header| header.starts_with(MATH))
        };
        let mut has_function = false;
        for (position, (op, arguments)) in self.steps.iter().enumerate() {
            let taken: Vec<DType> = arguments.iter().map(|value| types[*value]).collect();
            let has_truth = taken.contains(&DType::Bool) || types[self.inputs + position] == DType::Bool;
            let names = vec![String::new(); arguments.len()];
            if has_truth && op.c_code_wide(&taken, &names, &[String::new()]).is_none() {
                return false;
            }
            has_function |= is_function(&**op, &taken);
        }
        has_function && types.iter().all(|dtype| scalar::is_wide(*dtype))
    }

    /// Returns the dtype of every value; `None` if a step does not support the dtypes of its arguments.
    pub(crate) fn dtypes(&self, inputs: &[DType]) -> Option<Vec<DType>> {
        let mut values = inputs.to_vec();
        for (op, arguments) in &self.steps {
            let taken: Vec<DType> = arguments.iter().map(|v| values[*v]).collect();
            values.push(op.output(&taken)?);
        }
        Some(values)
    }
}

/// The number of transcendental functions from which a kernel only computes whole vectors, which halves the compile
/// time. With fewer functions, the padding of the last vector would make calls with few elements too slow.
const LONG: usize = 4;

/// The header of truth values of 64 bits.
const WIDE: &str = "precast/ops/scalar/wide.h";

/// The folder with the headers of transcendental functions.
pub(crate) const MATH: &str = "precast/ops/math/";

/// Returns whether steps with these dtypes and headers form a long loop body that compilers vectorise.
fn is_long(types: &[DType], headers: &[String]) -> bool {
    let functions = headers.iter().filter(|header| header.starts_with(MATH));
    are_lanes(types, headers) && functions.count() >= LONG
}

/// Returns the C type of a variable.
pub(crate) fn c_type(dtype: DType, wide: bool) -> String {
    if wide && dtype == DType::Bool { "int64_t".to_owned() } else { format!("pc_{dtype}") }
}

/// Returns whether loops over values of these dtypes are vectorised with the functions of these headers.
pub(crate) fn are_lanes(types: &[DType], headers: &[String]) -> bool {
    let is_lane = |dtype: &DType| matches!(dtype, DType::F32 | DType::F64 | DType::Bool);
    let has_branches = |header: &String| header.ends_with("/modulo.h");
    types.iter().all(is_lane) && !headers.iter().any(has_branches)
}

/// Parses a step of the form `[name, [values], key, value, key, value, …]`.
fn step_from(item: &Prop) -> Option<Result<Step, MakeNodeError>> {
    let Prop::List(parts) = item else { return None };
    let [Prop::Str(name), arguments, rest @ ..] = parts.as_slice() else { return None };
    let mut props = Props::new();
    for pair in rest.chunks(2) {
        let [Prop::Str(key), value] = pair else { return None };
        props.insert(key.clone(), value.clone());
    }
    let arguments = positions(arguments)?;
    let unknown = || {
        Err(MakeNodeError::prop(
            "composite",
            "steps",
            format!(
                "is `{name}`, which is not a scalar op of the \
            library"
            ),
        ))
    };
    Some(scalar::from_props(name, &props).unwrap_or_else(unknown).map(|op| (op, arguments)))
}

fn positions(prop: &Prop) -> Option<Vec<usize>> {
    let Prop::List(items) = prop else { return None };
    let position = |item: &Prop| if let Prop::Int(n) = item { usize::try_from(*n).ok() } else { None };
    items.iter().map(position).collect()
}

fn list(values: &[usize]) -> Prop {
    Prop::List(values.iter().map(|v| Prop::Int(i64::try_from(*v).unwrap_or(i64::MAX))).collect())
}

impl ScalarOp for Composite {
    fn name(&self) -> &str {
        "composite"
    }

    /// Prints the ops in order, because the nested form `composite{(x0 + …)}` would be long.
    fn label(&self) -> String {
        let mut text = String::from("composite{");
        for (position, (op, arguments)) in self.steps.iter().enumerate() {
            let names: Vec<String> = arguments.iter().map(|v| format!("v{v}")).collect();
            let separator = if position == 0 { "" } else { "; " };
            // Writing to a string cannot fail.
            let _ =
                write!(text, "{separator}v{}={}({})", self.inputs + position, op.label(), names.join(","));
        }
        let outputs: Vec<String> = self.outputs.iter().map(|v| format!("v{v}")).collect();
        let _ = write!(text, "; {}}}", outputs.join(","));
        text
    }

    fn props(&self) -> Props {
        let steps = self.steps.iter().map(|(op, arguments)| {
            let mut parts = vec![Prop::Str(op.name().to_owned()), list(arguments)];
            parts.extend(op.props().into_iter().flat_map(|(key, value)| [Prop::Str(key), value]));
            Prop::List(parts)
        });
        Props::from([
            ("inputs".to_owned(), Prop::Int(i64::try_from(self.inputs).unwrap_or(i64::MAX))),
            ("steps".to_owned(), Prop::List(steps.collect())),
            ("outputs".to_owned(), list(&self.outputs)),
        ])
    }

    fn arity(&self) -> usize {
        self.inputs
    }

    fn output(&self, inputs: &[DType]) -> Option<DType> {
        self.outputs(inputs)?.first().copied()
    }

    fn outputs(&self, inputs: &[DType]) -> Option<Vec<DType>> {
        let values = self.dtypes(inputs)?;
        Some(self.outputs.iter().map(|v| values[*v]).collect())
    }

    fn perform(&self, inputs: &[Value]) -> Result<Vec<Value>, PerformError> {
        let mut values = inputs.to_vec();
        for (op, arguments) in &self.steps {
            let taken: Vec<Value> = arguments.iter().map(|v| values[*v]).collect();
            values.extend(op.perform(&taken)?.first());
        }
        Ok(self.outputs.iter().map(|v| values[*v]).collect())
    }

    fn c_code(
        &self,
        dtypes: &[DType],
        name: &str,
        inputs: &[String],
        outputs: &[String],
        sub: &Sub,
    ) -> Result<String, LinkError> {
        self.code(dtypes, name, inputs, outputs, sub, false)
    }

    fn c_headers(&self, dtypes: &[DType]) -> Vec<String> {
        let types = self.dtypes(dtypes).unwrap_or_default();
        let taken = |arguments: &[usize]| arguments.iter().map(|v| types[*v]).collect::<Vec<DType>>();
        let steps = || self.steps.iter().filter(|_| !types.is_empty());
        let mut headers: Vec<String> =
            steps().flat_map(|(op, arguments)| op.c_headers(&taken(arguments))).collect();
        // Whether the composite is long is decided here for the whole composite, not for its parts. Functions that are
        // called are not part of the loops.
        headers.retain(|header| header != WHOLE);
        let block = |(op, arguments): &&Step| op.block(&taken(arguments));
        let inline = steps().filter(|step| block(step).is_none());
        let inline: Vec<String> =
            inline.flat_map(|(op, arguments)| op.c_headers(&taken(arguments))).collect();
        let branches = steps().any(|step| block(&step).is_some_and(|function| function.branches));
        let has_truth = types.contains(&DType::Bool) && types.iter().any(|dtype| dtype.itemsize_bytes() == 8);
        if has_truth && inline.iter().any(|header| header.starts_with(MATH)) {
            headers.push(WIDE.to_owned());
        }
        if self.content_id().is_some() && !branches && is_long(&types, &inline) {
            headers.push(WHOLE.to_owned());
        }
        headers
    }

    fn c_support_code(&self) -> Vec<String> {
        self.steps.iter().flat_map(|(op, _)| op.c_support_code()).collect()
    }

    fn c_sources(&self) -> SourceSet {
        self.steps.iter().flat_map(|(op, _)| op.c_sources()).collect()
    }

    fn c_compile_args(&self) -> Vec<String> {
        self.steps.iter().flat_map(|(op, _)| op.c_compile_args()).collect()
    }

    fn content_id(&self) -> Option<String> {
        let steps = self.steps.iter().map(|(op, _)| op.content_id()).collect::<Option<Vec<_>>>()?;
        Some(format!("composite({})", steps.join(",")))
    }
}
