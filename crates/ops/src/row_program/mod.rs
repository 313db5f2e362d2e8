//! RowProgram: folds of rows, and maps of the rows that use the folded values, as one op. Examples are a softmax, a
//! variance and a normalisation.
//!
//! ```text
//! layout    the full and the single values of a row, and the number of passes over a row
//! code      COp: a kernel for each map, the table of steps, and the call of pc_host.rows
//! ```
//! The steps are the ops of a part of a graph, in order. They are elementwise ops, reductions over the same axes, and
//! dimshuffles that restore a reduced dimension with extent 1. The result equals that of running the steps one after
//! the other, for all extents. Only the driver knows that the steps share passes over the rows
//! (`core/c/driver/rows.h`).

mod code;
mod layout;

use crate::{Composite, DimShuffle, Elemwise, Reduce};
use layout::Layout;
use precast_codegen::COp;
use precast_graph::{Array, MakeNodeError, Op, PerformError, Prop, Props, Type};
use std::any::Any;
use std::sync::Arc;

const NAME: &str = "row_program";

/// An op, and the values that it reads.
pub(crate) type Step = (Arc<dyn Op>, Vec<usize>);

/// A sequence of folds and maps of rows. Values are numbered: first the inputs, then the results of the steps.
#[derive(Debug, Clone)]
pub struct RowProgram {
    inputs: usize,
    steps: Vec<Step>,
    outputs: Vec<usize>,
}

impl RowProgram {
    /// Creates a program of these steps, each an [`Elemwise`], a [`Reduce`] or a [`DimShuffle`]; `outputs` are
    /// values.
    ///
    /// # Errors
    /// A step that is another op or reads a value that does not exist yet, or no outputs.
    pub fn new(inputs: usize, steps: Vec<Step>, outputs: Vec<usize>) -> Result<Self, MakeNodeError> {
        let wrong = |prop, problem: String| Err(MakeNodeError::prop(NAME, prop, problem));
        let mut values = inputs;
        for (position, (op, reads)) in steps.iter().enumerate() {
            if emits(&**op).is_none() || reads.iter().any(|value| *value >= values) {
                return wrong(
                    "steps",
                    format!("step {position}, `{}`, is not supported in a row program", op.label()),
                );
            }
            values += results(&**op);
        }
        if outputs.is_empty() || outputs.iter().any(|value| !(inputs..values).contains(value)) {
            return wrong("outputs", format!("{outputs:?} include values that no step computes"));
        }
        Ok(Self { inputs, steps, outputs })
    }

    /// Rebuilds a program from its props.
    ///
    /// # Errors
    /// A prop that is missing or malformed, or an op that cannot be a step.
    pub fn from_props(props: &Props) -> Result<Arc<dyn Op>, MakeNodeError> {
        let malformed = |prop: &str| MakeNodeError::prop(NAME, prop, "is missing or malformed");
        let inputs = match props.get("inputs") {
            Some(Prop::Int(n)) => usize::try_from(*n).map_err(|_| malformed("inputs"))?,
            _ => return Err(malformed("inputs")),
        };
        let Some(Prop::List(items)) = props.get("steps") else { return Err(malformed("steps")) };
        let steps = items.iter().map(|item| step_from(item).unwrap_or_else(|| Err(malformed("steps"))));
        let steps = steps.collect::<Result<Vec<_>, _>>()?;
        let outputs = props.get("outputs").and_then(positions).ok_or_else(|| malformed("outputs"))?;
        Ok(Arc::new(Self::new(inputs, steps, outputs)?))
    }

    /// Returns the number of inputs.
    #[must_use]
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Returns the ops, each with the values it reads.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Returns the output values.
    #[must_use]
    pub fn output_values(&self) -> &[usize] {
        &self.outputs
    }

    /// Returns the types of all values.
    fn types(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        MakeNodeError::expect_inputs(NAME, self.inputs, inputs)?;
        let mut types = inputs.to_vec();
        for (op, reads) in &self.steps {
            let read: Vec<Type> = reads.iter().map(|value| types[*value].clone()).collect();
            types.extend(op.make_node(&read)?);
        }
        Ok(types)
    }

    fn layout(&self, inputs: &[Type]) -> Result<Layout, MakeNodeError> {
        Layout::of(self, &self.types(inputs)?).map_err(|problem| MakeNodeError::prop(NAME, "steps", problem))
    }
}

/// Returns the C side of an op that can be a step.
pub(crate) fn emits(op: &dyn Op) -> Option<&dyn COp> {
    let any: &dyn Any = op;
    let elemwise = any.downcast_ref::<Elemwise>().map(|op| -> &dyn COp { op });
    elemwise
        .or_else(|| any.downcast_ref::<Reduce>().map(|op| -> &dyn COp { op }))
        .or_else(|| any.downcast_ref::<DimShuffle>().map(|op| -> &dyn COp { op }))
}

/// Returns the number of results of a step.
pub(crate) fn results(op: &dyn Op) -> usize {
    let op: &dyn Any = op;
    let scalar = op.downcast_ref::<Elemwise>().map(|op| -> &dyn Any { &*op.scalar });
    let composite = scalar.and_then(|scalar| scalar.downcast_ref::<Composite>());
    composite.map_or(1, |composite| composite.output_values().len())
}

/// Parses a step of the form `[name, [values], key, value, key, value, …]`.
fn step_from(item: &Prop) -> Option<Result<Step, MakeNodeError>> {
    let Prop::List(parts) = item else { return None };
    let [Prop::Str(name), reads, rest @ ..] = parts.as_slice() else { return None };
    let mut props = Props::new();
    for pair in rest.chunks(2) {
        let [Prop::Str(key), value] = pair else { return None };
        props.insert(key.clone(), value.clone());
    }
    let reads = positions(reads)?;
    let op = match name.as_str() {
        "elemwise" => Elemwise::from_props(&props),
        "dimshuffle" => DimShuffle::from_props(&props),
        _ => Reduce::from_props(name, &props),
    };
    Some(op.map(|op| (op, reads)))
}

fn positions(prop: &Prop) -> Option<Vec<usize>> {
    let Prop::List(items) = prop else { return None };
    let position = |item: &Prop| if let Prop::Int(n) = item { usize::try_from(*n).ok() } else { None };
    items.iter().map(position).collect()
}

fn list(values: &[usize]) -> Prop {
    Prop::List(values.iter().map(|v| Prop::Int(i64::try_from(*v).unwrap_or(i64::MAX))).collect())
}

impl Op for RowProgram {
    fn name(&self) -> &str {
        NAME
    }

    fn label(&self) -> String {
        let mut value = self.inputs;
        let steps = self.steps.iter().map(|(op, reads)| {
            let of: Vec<String> = reads.iter().map(|v| format!("v{v}")).collect();
            let made: Vec<String> = (value..value + results(&**op)).map(|v| format!("v{v}")).collect();
            value += made.len();
            format!("{}={}({})", made.join(","), op.label(), of.join(","))
        });
        let steps: Vec<String> = steps.collect();
        let outputs: Vec<String> = self.outputs.iter().map(|v| format!("v{v}")).collect();
        format!("{NAME}{{{}; {}}}", steps.join("; "), outputs.join(","))
    }

    fn props(&self) -> Props {
        let steps = self.steps.iter().map(|(op, reads)| {
            let mut parts = vec![Prop::Str(op.name().to_owned()), list(reads)];
            parts.extend(op.props().into_iter().flat_map(|(key, value)| [Prop::Str(key), value]));
            Prop::List(parts)
        });
        Props::from([
            ("inputs".to_owned(), Prop::Int(i64::try_from(self.inputs).unwrap_or(i64::MAX))),
            ("steps".to_owned(), Prop::List(steps.collect())),
            ("outputs".to_owned(), list(&self.outputs)),
        ])
    }

    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        self.layout(inputs)?;
        let types = self.types(inputs)?;
        Ok(self.outputs.iter().map(|value| types[*value].clone()).collect())
    }

    fn perform(&self, inputs: &[&Array]) -> Result<Vec<Array>, PerformError> {
        let mut values: Vec<Array> = inputs.iter().map(|array| (*array).clone()).collect();
        for (op, reads) in &self.steps {
            let read: Vec<&Array> = reads.iter().map(|value| &values[*value]).collect();
            let made = op.perform(&read)?;
            values.extend(made);
        }
        Ok(self.outputs.iter().map(|value| values[*value].clone()).collect())
    }
}
