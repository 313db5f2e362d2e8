//! The values that an instance is created with: constants, then the params of each Apply.

use super::{ParamType, ParamsType, param};
use crate::cop::COp;
use crate::error::LinkError;
use crate::library::Library;
use precast_graph::{
    Apply, Array, CarrierRules, DType, FunctionGraph, Op, Prop, Props, Type, TypeRules as _,
};

/// Returns all slot values of the module of `graph`: its constants, then the params of each Apply in order, field by
/// field.
///
/// # Errors
/// Fails if an op has no C side, or if a param's value does not fit the type of its field.
pub fn slots(graph: &FunctionGraph, library: &Library) -> Result<Vec<Array>, LinkError> {
    let mut values: Vec<Array> = graph.slots().map(|(_, value)| value.clone()).collect();
    for position in 0..graph.applies().len() {
        values.extend(apply_slots(graph, position, library)?);
    }
    Ok(values)
}

/// Returns the slot values of the module of a single Apply, which has no constants: the params of the graphs that its op
/// calls, then its own, field by field.
///
/// # Errors
/// See [`slots`].
pub fn apply_slots(
    graph: &FunctionGraph,
    position: usize,
    library: &Library,
) -> Result<Vec<Array>, LinkError> {
    let op = &*graph.applies()[position].op;
    let no_c = || LinkError::NoC { apply: position, op: op.label() };
    let c_op = library.c_op(op);
    let mut values = Vec::new();
    for body in c_op.map(COp::bodies).unwrap_or_default() {
        values.extend(slots(body, library)?);
    }
    if op.params().is_empty() {
        return Ok(values);
    }
    let params = of(&graph.applies()[position], c_op.ok_or_else(no_c)?)?;
    let props = op.props();
    let value = |(field, ty): (&str, &ParamType)| {
        let prop = props.get(field).ok_or_else(|| param(&called(op), field, "is not a prop of the op"))?;
        value(ty, prop).map_err(|problem| param(&called(op), field, &problem))
    };
    values.extend(params.fields().map(value).collect::<Result<Vec<_>, _>>()?);
    Ok(values)
}

/// Returns the name of an op for messages. External ops all have the same name in JSON, so their label is used.
fn called(op: &dyn Op) -> String {
    if op.name() == crate::external::NAME { op.label() } else { op.name().to_owned() }
}

/// Returns the params type of an Apply after checking it.
pub(crate) fn of(apply: &Apply, op: &dyn COp) -> Result<ParamsType, LinkError> {
    let names = apply.op.params();
    if names.is_empty() {
        return Ok(ParamsType::new());
    }
    let params = op.params_type()?;
    let label = |field: &str, problem: &str| param(&called(&*apply.op), field, problem);
    if let Some(missing) = names.iter().find(|name| params.get(name).is_none()) {
        return Err(label(missing, "has no type in `params_type`"));
    }
    if let Some((more, _)) = params.fields().find(|(field, _)| !names.iter().any(|name| name == field)) {
        return Err(label(more, "is in `params_type` but not in `params`"));
    }
    params.check(&called(&*apply.op))?;
    Ok(params)
}

/// Checks that `props` has a valid value for each field.
pub(crate) fn check_values(op: &str, params: &ParamsType, props: &Props) -> Result<(), LinkError> {
    params.check(op)?;
    params.fields().try_for_each(|(field, ty)| {
        let prop = props.get(field).ok_or_else(|| param(op, field, "is not a prop of the op"))?;
        value(ty, prop).map(drop).map_err(|problem| param(op, field, &problem))
    })
}

/// Converts the value of a field to a tensor. The error describes the problem.
pub(crate) fn value(ty: &ParamType, prop: &Prop) -> Result<Array, String> {
    let value = match ty {
        ParamType::Enum(constants) => return constants.value(prop),
        _ => array(prop).ok_or_else(|| format!("`{prop}` is neither a number nor a tensor"))?,
    };
    let ty = match ty {
        ParamType::Scalar(dtype) => Type::Scalar(*dtype),
        ParamType::Tensor(dtype) => Type::tensor(*dtype, value.shape().len()),
        _ => return Ok(value),
    };
    CarrierRules.filter(&ty, value, false, None).map_err(|error| error.to_string())
}

/// Converts a prop to a tensor.
fn array(prop: &Prop) -> Option<Array> {
    match prop {
        Prop::Array(value) => Some(value.clone()),
        Prop::Int(value) => Some(Array::from(*value)),
        Prop::Float(value) => Some(Array::from(*value)),
        Prop::Bool(value) => Some(Array::from(*value)),
        Prop::DType(value) => Some(Array::from(value.typenum())),
        Prop::List(items) => {
            let integer = |item: &Prop| if let Prop::Int(n) = item { Some(n.cast_unsigned()) } else { None };
            let float = |item: &Prop| match item {
                Prop::Int(n) => Some((*n as f64).to_bits()),
                Prop::Float(x) => Some(x.to_bits()),
                _ => None,
            };
            let (dtype, bits) = match items.iter().map(integer).collect::<Option<Vec<u64>>>() {
                Some(bits) => (DType::I64, bits),
                None => (DType::F64, items.iter().map(float).collect::<Option<Vec<u64>>>()?),
            };
            Array::from_bits(dtype, &[bits.len()], &bits)
        }
        _ => None,
    }
}
