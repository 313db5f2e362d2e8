//! Scan: a loop that carries values from step to step, and reads and writes rows.

use super::body::{Body, expect_type, meet};
use crate::declared::{Declared, of, position, refuse};
use crate::elements;
use crate::gradient::rules::Pulled;
use ndarray::Axis;
use precast_graph::{
    Array, DType, Extent, MakeNodeError, Op, PerformError, Prop, Props, Pullback, Type, encode, with_array,
};
use std::sync::Arc;

pub(super) const NAME: &str = "scan";

/// An op that calls a graph step by step. The graph computes the next values of the carries and a row of each result.
///
/// # Shapes
/// ```text
/// scan   i64[] (steps), carries, sequences[steps, …], others  ->  carries, results[steps, …]
/// body   carries, rows of the sequences, others               ->  carries, rows of the results [, bool[] (stop)]
/// ```
/// The carries may change their extents from step to step, as far as the types of the body allow it; the rows of a
/// result have the same shape in all steps. If the body returns `stop`, the loop ends after the first step that returns
/// true, and the results have as many rows as there were steps.
///
/// Without steps, the carries are the initial ones. The extents of rows are then found by calling the body once, on
/// zeros in place of rows, and its values are discarded.
///
/// # Errors
/// At run time: a negative number of steps, a sequence of another length, rows of different shapes, and errors of the
/// body, which name the step.
///
/// # Source
/// JAX, `jax.lax.scan`; `stop` is that of `until` in PyTensor's `scan`.
#[derive(Debug, Clone, PartialEq)]
pub struct Scan {
    /// The graph of a step.
    pub body: Body,
    /// The number of carries.
    pub carries: usize,
    /// The number of sequences.
    pub sequences: usize,
    /// Whether the rows are visited from the last to the first.
    pub reverse: bool,
    /// Whether the last output of the body ends the loop.
    pub until: bool,
}

impl Scan {
    /// Rebuilds a Scan from its props.
    ///
    /// # Errors
    /// A prop that is missing, unknown or of the wrong kind, or counts that do not fit the body.
    pub fn from_props(props: &Props) -> Result<Arc<dyn Op>, MakeNodeError> {
        let declared = Declared::new(NAME, props, &["body", "carries", "sequences", "reverse", "until"])?;
        let scan = Self {
            body: Body::from_prop(NAME, "body", props.get("body"))?,
            carries: declared.count("carries")?,
            sequences: declared.count("sequences")?,
            reverse: declared.flag("reverse")?,
            until: declared.flag("until")?,
        };
        scan.check()?;
        Ok(Arc::new(scan))
    }

    /// Checks that the counts fit the body.
    fn check(&self) -> Result<(), MakeNodeError> {
        let (inputs, outputs) = (self.body.inputs(), self.body.outputs());
        let wrong = |problem: String| Err(MakeNodeError::prop(NAME, "body", problem));
        let fixed = self.carries + usize::from(self.until);
        if self.carries.saturating_add(self.sequences) > inputs.len() || fixed > outputs.len() {
            let (n, m) = (inputs.len(), outputs.len());
            return wrong(format!(
                "has {n} inputs and {m} outputs, too few for {} carries and {} sequences",
                self.carries, self.sequences
            ));
        }
        if self.until && self.reverse {
            return Err(MakeNodeError::prop(NAME, "reverse", "cannot be combined with `until`"));
        }
        if let Some(ty) = inputs.iter().chain(&outputs).find(|ty| !matches!(ty, Type::Tensor(_))) {
            return wrong(format!("has a value of type `{ty}`, expected tensors"));
        }
        if self.until && outputs.last().is_some_and(|ty| ty.dtype() != DType::Bool || ty.ndim() > 0) {
            return wrong("ends with an output that is not `bool[]`".to_owned());
        }
        for (carry, output) in outputs[..self.carries].iter().enumerate() {
            // The next step takes this value, so it must fit without a check at run time.
            if meet(&inputs[carry], output).as_ref() != Some(&inputs[carry]) {
                return Err(refuse(
                    NAME,
                    1 + carry,
                    output,
                    format!("`{}`, as the carry begins", inputs[carry]),
                ));
            }
        }
        Ok(())
    }

    /// Returns the number of results that have a row for each step.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.body.graph().outputs().len() - self.carries - usize::from(self.until)
    }

    /// Returns the positions of another loop's results among those of this loop; `None` unless this loop has the same
    /// steps, and further results at most.
    pub(crate) fn extends(&self, other: &Self) -> Option<Vec<usize>> {
        let is_like = (self.carries, self.sequences, self.reverse, self.until)
            == (other.carries, other.sequences, other.reverse, other.until);
        if !is_like || self.rows() < other.rows() {
            return None;
        }
        let results = 0..self.carries + other.rows();
        let last = self.body.graph().outputs().len() - 1;
        let part = self.body.graph().with_outputs(results.clone().chain(self.until.then_some(last)));
        (encode::order(&part) == **other.body.graph()).then(|| results.collect())
    }

    /// Returns whether an input of the body is a row of a sequence.
    pub(super) fn is_sequence(&self, input: usize) -> bool {
        (self.carries..self.carries + self.sequences).contains(&input)
    }

    /// Returns the number of inputs of the body.
    pub(super) fn arguments(&self) -> usize {
        self.body.graph().inputs().len()
    }
}

/// Returns the type of a row of a sequence.
pub(crate) fn row_type(sequence: &Type) -> Option<Type> {
    match sequence {
        Type::Tensor(tensor) if !tensor.shape.is_empty() => {
            Some(of(tensor.dtype, tensor.shape[1..].to_vec()))
        }
        _ => None,
    }
}

impl Op for Scan {
    fn name(&self) -> &str {
        NAME
    }

    fn props(&self) -> Props {
        let mut props = Props::from([
            ("body".to_owned(), Prop::Graph(self.body.graph().clone())),
            ("carries".to_owned(), position(self.carries)),
            ("sequences".to_owned(), position(self.sequences)),
        ]);
        props.extend(self.reverse.then(|| ("reverse".to_owned(), Prop::Bool(true))));
        props.extend(self.until.then(|| ("until".to_owned(), Prop::Bool(true))));
        props
    }

    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        self.check()?;
        MakeNodeError::expect_inputs(NAME, 1 + self.arguments(), inputs)?;
        if inputs[0] != Type::tensor(DType::I64, 0) {
            return Err(refuse(NAME, 0, &inputs[0], "the number of steps, `i64[]`"));
        }
        let mut steps = Extent::Unknown;
        for (position, expected) in self.body.inputs().iter().enumerate() {
            let (input, found) = (1 + position, &inputs[1 + position]);
            if self.is_sequence(position) {
                let row = row_type(found).ok_or_else(|| refuse(NAME, input, found, "a sequence of rows"))?;
                expect_type(NAME, input, &row, expected)?;
                if found.shape()[0] != Extent::Unknown {
                    steps = found.shape()[0];
                }
            } else {
                expect_type(NAME, input, found, expected)?;
            }
        }
        let mut types = self.body.inputs();
        types.truncate(self.carries);
        let steps = if self.until { Extent::Unknown } else { steps };
        let row = |ty: &Type| of(ty.dtype(), [&[steps], ty.shape()].concat());
        types.extend(self.body.outputs()[self.carries..][..self.rows()].iter().map(row));
        Ok(types)
    }

    fn pullback(&self, at: &mut Pullback<'_>) -> Pulled {
        Some(crate::gradient::control::scan(self, at))
    }

    fn perform(&self, inputs: &[&Array]) -> Result<Vec<Array>, PerformError> {
        let steps = steps(inputs[0])?;
        self.body.check(NAME, 1, &inputs[1..], |input| self.is_sequence(input))?;
        let (carries, others) = inputs[1..].split_at(self.carries);
        let (sequences, others) = others.split_at(self.sequences);
        if let Some((k, array)) = sequences.iter().enumerate().find(|(_, array)| array.shape()[0] != steps) {
            let found = array.shape()[0];
            return Err(PerformError::value(
                NAME,
                format!("scan: sequence {k} has {found} rows, expected {steps}"),
            ));
        }
        let mut carries: Vec<Array> = carries.iter().map(|array| (*array).clone()).collect();
        let mut rows: Vec<Vec<Array>> = vec![Vec::new(); self.rows()];
        for step in 0..steps {
            let at = if self.reverse { steps - 1 - step } else { step };
            let mut arguments = carries.clone();
            for sequence in sequences {
                arguments.push(with_array!(sequence, a => Array::from(a.index_axis(Axis(0), at).to_owned())));
            }
            arguments.extend(others.iter().map(|array| (*array).clone()));
            let mut results = self.body.perform(NAME, &arguments, || place(step))?;
            let stop = if self.until { results.pop().is_some_and(|stop| stop.bits() == [1]) } else { false };
            for (rows, row) in rows.iter_mut().zip(results.split_off(self.carries)) {
                if let Some(first) = rows.first().filter(|first| first.shape() != row.shape()) {
                    let (found, expected) = (elements::text(row.shape()), elements::text(first.shape()));
                    let problem =
                        format!("scan: a row has shape {found}, expected {expected}{}", place(step));
                    return Err(PerformError::value(NAME, problem));
                }
                rows.push(row);
            }
            carries = results;
            if stop {
                break;
            }
        }
        if steps == 0 && self.rows() > 0 {
            let mut arguments = carries.clone();
            arguments.extend(sequences.iter().map(|array| Array::zeros(array.dtype(), &array.shape()[1..])));
            arguments.extend(others.iter().map(|array| (*array).clone()));
            let rows = self.body.perform(NAME, &arguments, || NO_STEPS.to_owned())?;
            let rows = rows[self.carries..][..self.rows()].iter();
            carries.extend(rows.map(|row| Array::zeros(row.dtype(), &[&[0], row.shape()].concat())));
            return Ok(carries);
        }
        for mut rows in rows {
            if self.reverse {
                rows.reverse();
            }
            let shape = [&[rows.len()], rows[0].shape()].concat();
            let bits: Vec<u64> = rows.iter().flat_map(Array::bits).collect();
            let whole = Array::from_bits(rows[0].dtype(), &shape, &bits);
            carries.push(whole.ok_or_else(|| elements::mismatch(NAME))?);
        }
        Ok(carries)
    }
}

/// The place of the call that finds the extents of rows.
const NO_STEPS: &str = " (without steps)";

fn place(step: usize) -> String {
    format!(" (step {step})")
}

/// Returns the number of steps.
fn steps(steps: &Array) -> Result<usize, PerformError> {
    let steps = elements::integers(NAME, steps)?.first().copied().unwrap_or_default();
    usize::try_from(steps)
        .map_err(|_| PerformError::value(NAME, format!("scan: the number of steps is {steps}")))
}
