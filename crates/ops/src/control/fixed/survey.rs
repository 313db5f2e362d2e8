//! The Applies of a graph whose values are arrays of known extents.

use super::facts::fixed_extents;
use super::step;
use super::{Facts, Limits, Value};
use precast_graph::{Apply, Array, DType, FunctionGraph, Origin, Type, VarId};
use std::collections::{BTreeMap, BTreeSet};

/// What a graph knows about its values.
pub(crate) struct Survey {
    /// By variable; `None` for a variable of unknown extents.
    values: Vec<Option<Value>>,
    /// By Apply: the number of operations on elements; `None` for an Apply without C for known extents.
    work: Vec<Option<usize>>,
}

impl Survey {
    pub(crate) fn of(graph: &FunctionGraph) -> Self {
        let mut survey = Self { values: vec![None; graph.variables().len()], work: Vec::new() };
        for (variable, value) in graph.variables().iter().zip(&mut survey.values) {
            let known = match &variable.origin {
                Origin::Constant(array) if array.dtype() == DType::I64 => Some(array.clone()),
                _ => None,
            };
            let shape = match &variable.origin {
                Origin::Input(_) => fixed_extents(&variable.ty),
                Origin::Constant(array) => Some(array.shape().to_vec()),
                Origin::Output { .. } => None,
            };
            *value =
                shape.and_then(|shape| array(&variable.ty, Value::new(variable.ty.dtype(), shape, known)));
        }
        for apply in graph.applies() {
            let work = survey.place(graph, apply);
            survey.work.push(work);
        }
        survey
    }

    /// Finds the extents of the results of an Apply, and returns its work.
    fn place(&mut self, graph: &FunctionGraph, apply: &Apply) -> Option<usize> {
        let inputs = apply.inputs.iter().map(|input| self.values[input.index()].as_ref());
        let inputs = inputs.collect::<Option<Vec<_>>>();
        let are_small =
            |inputs: &&Vec<&Value>| inputs.iter().all(|input| input.has_valid_size(Limits::GRAPH));
        let mut is_small = inputs.as_ref().is_some_and(|inputs| are_small(&inputs));
        let usable = inputs.as_ref().filter(|_| is_small || step::is_shape(&*apply.op));
        let found = usable.and_then(|inputs| step::find(&*apply.op, inputs));
        is_small &= found.is_some();
        let work = found.as_ref().map(|found| found.work);
        let results: Vec<_> = match (found, &inputs) {
            (Some(found), _) => found.results.into_iter().map(Some).collect(),
            (None, Some(inputs)) => {
                let shapes = step::extents(&*apply.op, inputs).unwrap_or_default();
                shapes.into_iter().map(|shape| Some((shape, None))).collect()
            }
            (None, None) => Vec::new(),
        };
        let results = results.into_iter().chain(std::iter::repeat(None));
        for (output, result) in apply.outputs.iter().zip(results) {
            let ty = graph.ty(*output);
            // The C of other ops checks the extents of their types.
            let result = result.or_else(|| Some((fixed_extents(ty)?, None)));
            let value = result.and_then(|(shape, known)| array(ty, Value::new(ty.dtype(), shape, known)));
            is_small &=
                value.as_ref().is_some_and(|value| value.size() > 0 && value.has_valid_size(Limits::GRAPH));
            self.values[output.index()] = value;
        }
        work.filter(|_| is_small)
    }

    /// Returns the number of operations on elements of an Apply; `None` if it has no C for known extents.
    pub(crate) fn work(&self, apply: usize) -> Option<usize> {
        self.work[apply]
    }

    /// Returns the facts about variables that become the inputs of a graph.
    pub(crate) fn facts(&self, variables: &[VarId]) -> Option<Facts> {
        let value = |variable: &VarId| self.values[variable.index()].as_ref();
        let extents = variables.iter().map(|variable| Some(value(variable)?.shape.clone()));
        let known = |(k, variable): (usize, &VarId)| {
            let known = value(variable)?.known.clone()?;
            (known.dtype() == DType::I64).then_some((k, known))
        };
        let known: BTreeMap<_, _> = variables.iter().enumerate().filter_map(known).collect();
        Some(Facts { extents: extents.collect::<Option<_>>()?, known })
    }
}

impl Value {
    fn new(dtype: DType, shape: Vec<usize>, known: Option<Array>) -> Self {
        Self { dtype, shape, known, from: BTreeSet::new() }
    }
}

/// Returns a value if C code can have it as an array.
fn array(ty: &Type, value: Value) -> Option<Value> {
    let has_c = matches!(ty, Type::Tensor(_)) && !matches!(ty.dtype(), DType::F16 | DType::Bf16);
    has_c.then_some(value)
}
