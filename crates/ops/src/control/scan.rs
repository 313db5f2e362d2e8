//! Scan: a loop that carries values from step to step, and reads and writes rows.

use super::body::{Body, check_extents, expect_type, meet};
use super::fixed::{self, Facts, Fixed, Limits};
use crate::declared::{Declared, of, position, refuse};
use crate::elements;
use crate::gradient::rules::Pulled;
use ndarray::Axis;
use precast_core::MAX_NDIM;
use precast_core::native::{CANCELLED, ErrorKind, is_cancelled};
use precast_graph::{
    Array, DType, Extent, FunctionGraph, MakeNodeError, Op, PerformError, Prop, Props, Pullback, Type, VarId,
    encode, with_array,
};
use std::collections::BTreeMap;
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
#[derive(Debug, Clone)]
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
    /// What the call that builds the loop knows about the inputs of the body, beyond their types.
    facts: Option<Facts>,
    /// The body without tensors, if the extents of all its values are known.
    fixed: Option<Arc<Fixed>>,
}

impl PartialEq for Scan {
    fn eq(&self, other: &Self) -> bool {
        let Self { body, carries, sequences, reverse, until, facts, fixed: _ } = self;
        (body, carries, sequences, reverse, until, facts)
            == (&other.body, &other.carries, &other.sequences, &other.reverse, &other.until, &other.facts)
    }
}

impl Scan {
    /// Creates a loop over the rows of `sequences` inputs of the body, after `carries` inputs. `reverse` and `until` as the
    /// fields.
    #[must_use]
    pub fn new(body: Body, carries: usize, sequences: usize, reverse: bool, until: bool) -> Self {
        let mut scan = Self { body, carries, sequences, reverse, until, facts: None, fixed: None };
        scan.fixed =
            Facts::of_types(&scan.body.inputs()).and_then(|facts| scan.find_fixed(facts)).map(Arc::new);
        scan
    }

    /// Returns the loop over another body with the same inputs.
    pub(crate) fn with_body(&self, body: Body) -> Self {
        let scan = Self::new(body, self.carries, self.sequences, self.reverse, self.until);
        match &self.facts {
            Some(facts) if scan.fixed.is_none() => scan.with_facts(facts.clone()),
            _ => scan,
        }
    }

    /// Returns the loop with facts about its inputs, if its C can use them.
    fn with_facts(self, facts: Facts) -> Self {
        match self.find_fixed(facts.clone()) {
            Some(fixed) => Self { facts: Some(facts), fixed: Some(Arc::new(fixed)), ..self },
            None => self,
        }
    }

    fn find_fixed(&self, facts: Facts) -> Option<Fixed> {
        let has_known_rows = !self.until || self.rows() == 0;
        let keeps_extents = |fixed: &Fixed| {
            (0..self.carries).all(|carry| fixed.output(carry) == fixed.facts().extents[carry])
        };
        has_known_rows
            .then(|| Fixed::of(self.body.graph(), facts, Limits::LOOP))
            .flatten()
            .filter(keeps_extents)
    }

    /// Returns the loop with what the graph knows about its operands: extents in types, and constants. `like` has types
    /// with the same extents for some of the first operands.
    pub(crate) fn placed(self, graph: &FunctionGraph, operands: &[VarId], like: &[Type]) -> Self {
        if self.fixed.is_some() {
            return self;
        }
        let extents = |(k, operand): (usize, &VarId)| {
            if self.is_sequence(k) {
                let of_row = |ty: &Type| fixed::fixed_extents(&row_type(ty)?);
                return of_row(graph.ty(*operand)).or_else(|| of_row(like.get(k)?));
            }
            fixed::extents(graph, *operand).or_else(|| fixed::fixed_extents(like.get(k)?))
        };
        let Some(extents) = operands[1..].iter().enumerate().map(extents).collect::<Option<Vec<_>>>() else {
            return self;
        };
        let integers = |(k, operand): (usize, &VarId)| Some((k, fixed::integers(graph, *operand)?));
        let known: BTreeMap<usize, Array> = operands[1..]
            .iter()
            .enumerate()
            .skip(self.carries + self.sequences)
            .filter_map(integers)
            .collect();
        let found = self.find_fixed(Facts { extents, known });
        match found.and_then(|fixed| fixed.without_other_integers(self.body.graph(), Limits::LOOP)) {
            Some(fixed) => Self { facts: Some(fixed.facts().clone()), fixed: Some(Arc::new(fixed)), ..self },
            None => self,
        }
    }

    /// Returns whether all values of the body have known, small extents. The C of such a loop has no tensors.
    #[must_use]
    pub fn has_known_extents(&self) -> bool {
        self.fixed.is_some()
    }

    /// Returns the body without tensors, if the extents of all its values are known.
    pub(super) fn fixed(&self) -> Option<&Fixed> {
        self.fixed.as_deref()
    }

    /// Returns the extents of the inputs of the body that the loop relies on; `None` if all are unknown.
    pub(super) fn extents(&self) -> Option<Vec<Vec<Extent>>> {
        self.facts.as_ref().map_or_else(|| self.body.extents(), |facts| Some(facts.typed_extents()))
    }

    /// Returns the facts that the C code relies on beyond the types.
    pub(super) fn facts(&self) -> Option<&Facts> {
        self.facts.as_ref()
    }

    /// Rebuilds a Scan from its props.
    ///
    /// # Errors
    /// A prop that is missing, unknown or of the wrong kind, or counts that do not fit the body.
    pub fn from_props(props: &Props) -> Result<Arc<dyn Op>, MakeNodeError> {
        let names = ["body", "carries", "sequences", "reverse", "until", "extents", "known"];
        let declared = Declared::new(NAME, props, &names)?;
        let body = Body::from_prop(NAME, "body", props.get("body"))?;
        let (carries, sequences) = (declared.count("carries")?, declared.count("sequences")?);
        check(&body, carries, sequences, declared.flag("reverse")?, declared.flag("until")?)?;
        let scan = Self::new(body, carries, sequences, declared.flag("reverse")?, declared.flag("until")?);
        if !declared.has("extents") && !declared.has("known") {
            return Ok(Arc::new(scan));
        }
        let wrong = || MakeNodeError::prop(NAME, "extents", "and `known` do not fit the body");
        let facts = Facts::from_props(props)
            .filter(|facts| facts.extents.len() == scan.arguments())
            .ok_or_else(wrong)?;
        let scan = Self { fixed: None, ..scan }.with_facts(facts);
        if scan.facts.is_some() { Ok(Arc::new(scan)) } else { Err(wrong()) }
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

/// Checks that the counts fit a body.
fn check(
    body: &Body,
    carries: usize,
    sequences: usize,
    reverse: bool,
    until: bool,
) -> Result<(), MakeNodeError> {
    let (inputs, outputs) = (body.inputs(), body.outputs());
    let wrong = |problem: String| Err(MakeNodeError::prop(NAME, "body", problem));
    let fixed = carries + usize::from(until);
    if carries.saturating_add(sequences) > inputs.len() || fixed > outputs.len() {
        let (n, m) = (inputs.len(), outputs.len());
        return wrong(format!(
            "has {n} inputs and {m} outputs, too few for {} carries and {} sequences",
            carries, sequences
        ));
    }
    if until && reverse {
        return Err(MakeNodeError::prop(NAME, "reverse", "cannot be combined with `until`"));
    }
    if let Some(ty) = inputs.iter().chain(&outputs).find(|ty| !matches!(ty, Type::Tensor(_))) {
        return wrong(format!("has a value of type `{ty}`, expected tensors"));
    }
    if until && outputs.last().is_some_and(|ty| ty.dtype() != DType::Bool || ty.ndim() > 0) {
        return wrong("ends with an output that is not `bool[]`".to_owned());
    }
    for (carry, output) in outputs[..carries].iter().enumerate() {
        // The next step takes this value, so it must fit without a check at run time.
        if meet(&inputs[carry], output).as_ref() != Some(&inputs[carry]) {
            return Err(refuse(NAME, 1 + carry, output, format!("`{}`, as the carry begins", inputs[carry])));
        }
    }
    Ok(())
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

impl Scan {
    /// Returns the dtypes and shapes of the rows of results if all extents are known.
    pub(super) fn known_rows(&self) -> Option<Vec<(DType, Vec<usize>)>> {
        let outputs = self.body.outputs();
        let shape = |ty: &Type| {
            let fixed = ty.shape().iter().map(|extent| match extent {
                Extent::Fixed(n) => usize::try_from(*n).ok(),
                Extent::Unknown => None,
            });
            Some((ty.dtype(), fixed.collect::<Option<Vec<_>>>().filter(|row| row.len() < MAX_NDIM)?))
        };
        outputs[self.carries..][..self.rows()].iter().map(shape).collect()
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
        props.extend(self.facts.iter().flat_map(Facts::props));
        props
    }

    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        check(&self.body, self.carries, self.sequences, self.reverse, self.until)?;
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
        let steps = if self.until { Extent::Unknown } else { steps };
        let (inputs, outputs) = (self.body.inputs(), self.body.outputs());
        let results = inputs[..self.carries].iter().chain(&outputs[self.carries..][..self.rows()]);
        let result = |(j, ty): (usize, &Type)| {
            let own = match &self.fixed {
                Some(fixed) => fixed.output(j).iter().map(|n| Extent::Fixed(*n as u64)).collect(),
                None => ty.shape().to_vec(),
            };
            of(ty.dtype(), if j < self.carries { own } else { [&[steps], own.as_slice()].concat() })
        };
        Ok(results.enumerate().map(result).collect())
    }

    fn pullback(&self, at: &mut Pullback<'_>) -> Pulled {
        Some(crate::gradient::control::scan(self, at))
    }

    fn perform(&self, inputs: &[&Array]) -> Result<Vec<Array>, PerformError> {
        let steps = steps(inputs[0])?;
        if let Some(extents) = self.extents() {
            check_extents(NAME, 1, &inputs[1..], &extents, |input| self.is_sequence(input))?;
        }
        self.facts.as_ref().map_or(Ok(()), |facts| facts.check_known(NAME, 1, &inputs[1..]))?;
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
            if is_cancelled() {
                return Err(PerformError::of_kind(
                    NAME,
                    ErrorKind::Cancelled,
                    CANCELLED.to_owned() + &place(step),
                ));
            }
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
                if step == 0 && !self.until {
                    elements::room(NAME, &[&[steps], row.shape()].concat())?;
                }
                rows.push(row);
            }
            carries = results;
            if stop {
                break;
            }
        }
        if let (0, Some(known)) = (steps, self.known_rows()) {
            let row =
                |(dtype, row): (DType, Vec<usize>)| Array::zeros(dtype, &[&[0], row.as_slice()].concat());
            carries.extend(known.into_iter().map(row));
            return Ok(carries);
        }
        if steps == 0 {
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
const NO_STEPS: &str =
    " (without steps)\nhint: declare the extents of the inputs, so that the shapes of rows are known";

fn place(step: usize) -> String {
    format!(" (step {step})")
}

/// Returns the number of steps.
fn steps(steps: &Array) -> Result<usize, PerformError> {
    let steps = elements::integers(NAME, steps)?.first().copied().unwrap_or_default();
    usize::try_from(steps)
        .map_err(|_| PerformError::value(NAME, format!("scan: the number of steps is {steps}")))
}
