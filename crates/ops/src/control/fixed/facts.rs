//! Facts about the inputs of a body.

use super::step::common;
use crate::declared::position;
use crate::elements;
use crate::elemwise::Elemwise;
use crate::shape::{Alloc, Join, MakeVector, ShapeI};
use precast_graph::{Array, DType, Extent, FunctionGraph, Origin, PerformError, Prop, Props, Type, VarId};
use std::any::Any;
use std::collections::BTreeMap;

/// Facts about the inputs of a body.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Facts {
    /// The extents of each input; of a sequence, those of a row.
    pub(in crate::control) extents: Vec<Vec<usize>>,
    /// The integers that extents and indices depend on, by input.
    pub(in crate::control) known: BTreeMap<usize, Array>,
}

impl Facts {
    /// Returns the extents of types, if all are fixed.
    pub(in crate::control) fn of_types(types: &[Type]) -> Option<Self> {
        let extents = types.iter().map(fixed_extents).collect::<Option<Vec<_>>>()?;
        Some(Self { extents, known: BTreeMap::new() })
    }

    /// Returns the facts as props of a loop.
    pub(in crate::control) fn props(&self) -> Props {
        let list = |extents: &Vec<usize>| Prop::List(extents.iter().map(|n| position(*n)).collect());
        let known = |(k, value): (&usize, &Array)| Prop::List(vec![position(*k), Prop::Array(value.clone())]);
        let mut props =
            Props::from([("extents".to_owned(), Prop::List(self.extents.iter().map(list).collect()))]);
        if !self.known.is_empty() {
            props.insert("known".to_owned(), Prop::List(self.known.iter().map(known).collect()));
        }
        props
    }

    /// Reads the facts of the props of a loop; `None` if they are malformed.
    pub(in crate::control) fn from_props(props: &Props) -> Option<Self> {
        let natural = |item: &Prop| match item {
            Prop::Int(n) => usize::try_from(*n).ok(),
            _ => None,
        };
        let items = |prop: Option<&Prop>| match prop {
            Some(Prop::List(items)) => Some(items.clone()),
            _ => None,
        };
        let list = |item: &Prop| items(Some(item))?.iter().map(natural).collect::<Option<Vec<_>>>();
        let extents = items(props.get("extents"))?.iter().map(list).collect::<Option<Vec<_>>>()?;
        let pair = |item: &Prop| match items(Some(item))?.as_slice() {
            [k, Prop::Array(value @ Array::I64(_))] => Some((natural(k)?, value.clone())),
            _ => None,
        };
        let known = props.get("known").map_or(Some(Vec::new()), |known| items(Some(known)))?;
        let known: BTreeMap<usize, Array> = known.iter().map(pair).collect::<Option<_>>()?;
        let fits = |(k, value): (&usize, &Array)| extents.get(*k).is_some_and(|own| own == value.shape());
        known.iter().all(fits).then_some(Self { extents, known })
    }

    /// Returns the extents as those of types.
    pub(in crate::control) fn typed_extents(&self) -> Vec<Vec<Extent>> {
        let extents = |own: &Vec<usize>| own.iter().map(|n| Extent::Fixed(*n as u64)).collect();
        self.extents.iter().map(extents).collect()
    }

    /// Checks the known integers, as the C code does.
    pub(in crate::control) fn check_known(
        &self,
        op: &str,
        first: usize,
        inputs: &[&Array],
    ) -> Result<(), PerformError> {
        for (k, known) in &self.known {
            let (expected, found) = (elements::integers(op, known)?, elements::integers(op, inputs[*k])?);
            if let Some(i) = (0..expected.len()).find(|i| expected[*i] != found[*i]) {
                let (input, found, expected) = (first + k, found[i], expected[i]);
                let problem = format!("{op}: element {i} of input {input} is {found}, expected {expected}");
                return Err(PerformError::value(op, problem));
            }
        }
        Ok(())
    }

    /// Returns the integers as C: for each input its position, the number of its elements, and the elements.
    pub(in crate::control) fn known_table(&self) -> String {
        let entry = |(k, value): (&usize, &Array)| {
            let elements = elements::integers("", value).unwrap_or_default();
            let numbers = [*k as i64, elements.len() as i64].into_iter().chain(elements);
            numbers.map(|n| n.to_string()).collect::<Vec<_>>().join(", ")
        };
        self.known.iter().map(entry).collect::<Vec<_>>().join(", ")
    }
}

/// Returns the extents of a type, if all are fixed.
pub(in crate::control) fn fixed_extents(ty: &Type) -> Option<Vec<usize>> {
    let extent = |extent: &Extent| match extent {
        Extent::Fixed(n) => usize::try_from(*n).ok(),
        Extent::Unknown => None,
    };
    ty.shape().iter().map(extent).collect()
}

/// The maximum number of Applies between a variable and those that extents are read from.
const MAX_DEPTH: usize = 12;

/// Returns the extents of a variable, if they follow from types and constants of a graph.
pub(in crate::control) fn extents(graph: &FunctionGraph, variable: VarId) -> Option<Vec<usize>> {
    extents_within(graph, variable, MAX_DEPTH)
}

fn extents_within(graph: &FunctionGraph, variable: VarId, depth: usize) -> Option<Vec<usize>> {
    if let Some(extents) = fixed_extents(graph.ty(variable)) {
        return Some(extents);
    }
    if let Some(integers) = integers(graph, variable) {
        return Some(integers.shape().to_vec());
    }
    let (apply, depth) = (graph.producer(variable)?, depth.checked_sub(1)?);
    let op: &dyn Any = &*apply.op;
    if op.is::<Alloc>() {
        let extents =
            apply.inputs[1..].iter().map(|input| integers(graph, *input)).collect::<Option<Vec<_>>>()?;
        return elements::extents("", &extents.iter().collect::<Vec<_>>()).ok();
    }
    let inputs = apply.inputs.iter().filter(|_| op.is::<Elemwise>());
    let inputs = inputs.map(|input| extents_within(graph, *input, depth)).collect::<Option<Vec<_>>>()?;
    common(inputs.iter().map(Vec::as_slice))
}

/// Returns the elements of an integer or a vector of integers, if they follow from types and constants of a graph.
pub(in crate::control) fn integers(graph: &FunctionGraph, variable: VarId) -> Option<Array> {
    integers_within(graph, variable, MAX_DEPTH).filter(|value| value.dtype() == DType::I64)
}

fn integers_within(graph: &FunctionGraph, variable: VarId, depth: usize) -> Option<Array> {
    let ty = graph.ty(variable);
    let is_exact = ty.as_user().is_none() && matches!(ty.dtype(), DType::I64 | DType::Bool);
    if !is_exact || ty.ndim() > 1 {
        return None;
    }
    if let Origin::Constant(value) = &graph.variable(variable).origin {
        return Some(value.clone());
    }
    let (apply, depth) = (graph.producer(variable)?, depth.checked_sub(1)?);
    let op: &dyn Any = &*apply.op;
    if let Some(extent) = op.downcast_ref::<ShapeI>() {
        return match graph.ty(apply.inputs[0]).shape().get(extent.axis)? {
            Extent::Fixed(n) => Some(Array::I64(ndarray::arr0(i64::try_from(*n).ok()?).into_dyn())),
            Extent::Unknown => None,
        };
    }
    if !op.is::<MakeVector>() && !op.is::<Join>() && !op.is::<Elemwise>() {
        return None;
    }
    let inputs = apply.inputs.iter().map(|input| integers_within(graph, *input, depth));
    let inputs = inputs.collect::<Option<Vec<_>>>()?;
    apply.op.perform(&inputs.iter().collect::<Vec<_>>()).ok()?.into_iter().next()
}
