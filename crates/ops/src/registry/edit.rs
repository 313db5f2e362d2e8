//! Functions that add, remove and select elements: `pad`, `delete`, `insert`, `select`.

use super::operand::Operands;
use crate::declared::Declared;
use crate::rows::Row;
use precast_graph::{BuildError, DType, Literal, MakeNodeError, Operand, Prop, Props, VarId};

/// Builds `select([a > 1, b > 2], [x, y], 0)`.
pub(super) fn select(operands: &mut Operands<'_>, _: &Row, _: &Props) -> Result<Operand, BuildError> {
    operands.expect_between(2, 3)?;
    let [Operand::List(conditions), Operand::List(choices), rest @ ..] = operands.args else {
        return Err(operands.error("takes a list of conditions and a list of choices"));
    };
    if conditions.len() != choices.len() || choices.is_empty() {
        let problem = format!("found {} conditions for {} choices", conditions.len(), choices.len());
        return Err(operands.error(problem));
    }
    let default =
        rest.first().filter(|default| **default != Operand::None).cloned().unwrap_or_else(|| 0_i64.into());
    let all: Vec<Operand> = choices.iter().cloned().chain([default]).collect();
    let mut values = operands.with(&all);
    let dtype = values.common();
    let values = values.cast_all(dtype)?;
    let mut found = values[choices.len()];
    let masks = operands.with(conditions);
    if let Some((input, dtype)) = (0..conditions.len())
        .map(|input| (input, masks.dtype(input)))
        .find(|(_, dtype)| *dtype != DType::Bool)
    {
        let (op, expected) = (operands.function.to_owned(), "conditions of bool".to_owned());
        return Err(MakeNodeError::DType { op, input, found: dtype, expected }.into());
    }
    for (condition, value) in conditions.iter().zip(&values).rev() {
        found = operands.call("where", [condition.clone(), (*value).into(), found.into()])?;
    }
    Ok(found.into())
}

/// Returns the number of elements to add before and after each axis.
fn widths(operands: &Operands<'_>, props: &Props, ndim: usize) -> Result<Vec<(i64, i64)>, MakeNodeError> {
    let declared = Declared::bound(operands.function, props);
    let wrong =
        || declared.wrong("pad_width", "a non-negative number, a pair of them, or a pair for each axis");
    let numbers = |prop: &Prop| match prop {
        Prop::Int(n) if *n >= 0 => Some((*n, *n)),
        Prop::List(items) => match items.as_slice() {
            [Prop::Int(n)] if *n >= 0 => Some((*n, *n)),
            [Prop::Int(before), Prop::Int(behind)] if *before >= 0 && *behind >= 0 => {
                Some((*before, *behind))
            }
            _ => None,
        },
        _ => None,
    };
    let given = props.get("pad_width").ok_or_else(wrong)?;
    if let Some(pair) = numbers(given) {
        return Ok(vec![pair; ndim]);
    }
    let Prop::List(items) = given else { return Err(wrong()) };
    let pairs = items.iter().map(numbers).collect::<Option<Vec<_>>>().ok_or_else(wrong)?;
    match pairs.as_slice() {
        [one] => Ok(vec![*one; ndim]),
        pairs if pairs.len() == ndim => Ok(pairs.to_vec()),
        _ => Err(wrong()),
    }
}

/// Builds `pad(x, ((1, 2), (0, 0)), mode='edge')`, one axis after the other.
pub(super) fn pad(operands: &mut Operands<'_>, _: &Row, props: &Props) -> Result<Operand, BuildError> {
    operands.expect(1)?;
    let declared = Declared::bound(operands.function, props);
    let mode = declared.text("mode")?;
    let mut tensor = operands.variable(0)?;
    let widths = widths(operands, props, operands.ndim(tensor))?;
    let value = match props.get("constant_values") {
        Some(Prop::List(_)) => return Err(declared.wrong("constant_values", "a number").into()),
        Some(prop) => Operand::from(prop.clone()),
        None => 0_i64.into(),
    };
    for (axis, (before, behind)) in widths.into_iter().enumerate().filter(|(_, width)| *width != (0, 0)) {
        tensor = match mode {
            "constant" => constants(operands, tensor, axis, (before, behind), &value)?,
            "edge" | "reflect" | "symmetric" | "wrap" => {
                let extent = operands.extent(tensor, axis)?;
                let places = places(operands, mode, &extent, (before, behind))?;
                let along = i64::try_from(axis).unwrap_or(i64::MAX);
                operands.call_with("take", &[tensor.into(), places.into()], &[("axis", along.into())])?
            }
            _ => {
                let expected = "`constant`, `edge`, `reflect`, `symmetric` or `wrap`";
                return Err(declared.wrong("mode", expected).into());
            }
        };
    }
    Ok(tensor.into())
}

/// Pads an axis with constants of the tensor's dtype.
fn constants(
    operands: &mut Operands<'_>,
    tensor: VarId,
    axis: usize,
    (before, behind): (i64, i64),
    value: &Operand,
) -> Result<VarId, BuildError> {
    let dtype = operands.graph.ty(tensor).dtype();
    let value = stored(operands, value, dtype)?;
    let extents = operands.extents_of(tensor)?;
    let mut block = |count: i64| {
        let mut extents = extents.clone();
        extents[axis] = count.into();
        operands.call_with("alloc", &[&[value.into()], extents.as_slice()].concat(), &[])
    };
    let (first, last) = (block(before)?, block(behind)?);
    let axis = i64::try_from(axis).unwrap_or(i64::MAX);
    operands.call_with("join", &[first.into(), tensor.into(), last.into()], &[("axis", axis.into())])
}

/// Converts values to the dtype of the tensor. A literal that does not fit is rejected; a fraction is truncated.
fn stored(operands: &mut Operands<'_>, value: &Operand, dtype: DType) -> Result<VarId, BuildError> {
    let args = [value.clone()];
    let mut one = operands.with(&args);
    let fits = match value {
        Operand::Literal(Literal::Float(x)) if dtype.is_integer() => x.is_finite(),
        Operand::Literal(literal) => dtype == DType::Bool || literal.value(dtype).is_some(),
        _ => true,
    };
    if !fits {
        return Err(one.misfit(0, dtype));
    }
    let value = one.variable(0)?;
    operands.cast(value, dtype)
}

/// Returns the source position along an axis for each element of the padded tensor.
fn places(
    operands: &mut Operands<'_>,
    mode: &str,
    extent: &Operand,
    (before, behind): (i64, i64),
) -> Result<VarId, BuildError> {
    let stop = operands.call("add", [extent.clone(), behind.into()])?;
    let numbers = operands.call("arange", [(-before).into(), stop.into()])?;
    let last = operands.call("sub", [extent.clone(), 1_i64.into()])?;
    if mode == "edge" {
        return operands.call("clip", [numbers.into(), 0_i64.into(), last.into()]);
    }
    if mode == "wrap" {
        return operands.call("mod", [numbers.into(), extent.clone()]);
    }
    // The positions run forward and back. Each end occurs once (`reflect`) or twice (`symmetric`).
    let once = if mode == "reflect" { last } else { operands.call("add", [last.into(), 1_i64.into()])? };
    let period = operands.call("mul", [once.into(), 2_i64.into()])?;
    let within = operands.call("mod", [numbers.into(), period.into()])?;
    let back = operands.call("sub", [period.into(), within.into()])?;
    let back = operands.call("sub", [back.into(), i64::from(mode != "reflect").into()])?;
    let is_back = operands.call("gt", [within.into(), last.into()])?;
    operands.call("where", [is_back.into(), back.into(), within.into()])
}

/// Returns the tensor and the axis of a call; without an axis, the flattened tensor and axis 0.
fn line(operands: &mut Operands<'_>, props: &Props) -> Result<(VarId, usize), BuildError> {
    let tensor = operands.variable(0)?;
    match Declared::bound(operands.function, props).int("axis")? {
        Some(axis) => Ok((tensor, operands.axis(axis, operands.ndim(tensor))?)),
        None => Ok((operands.call("flatten", [tensor.into()])?, 0)),
    }
}

/// Builds `delete(x, [0, -1], axis=0)` and `delete(x, mask)`.
pub(super) fn delete(operands: &mut Operands<'_>, _: &Row, props: &Props) -> Result<Operand, BuildError> {
    operands.expect(2)?;
    let (tensor, axis) = line(operands, props)?;
    if matches!(&operands.args[1], Operand::List(items) if items.is_empty()) {
        return Ok(tensor.into());
    }
    let (gone, extent) = (operands.variable(1)?, operands.extent(tensor, axis)?);
    let found = operands.graph.ty(gone).dtype();
    let kept = if found == DType::Bool {
        let same = operands.extent(gone, 0)?;
        let same = operands.call("eq", [same, extent])?;
        let gone = operands.demand(gone, same, "delete: the mask must be as long as the axis")?;
        operands.call("logical_not", [gone.into()])?
    } else if found.is_integer() {
        let gone = operands.call("flatten", [gone.into()])?;
        let every = operands.call("alloc", [true.into(), extent])?;
        let part = operands.call("take", [every.into(), gone.into()])?;
        operands.call("set_subtensor", [part.into(), false.into()])?
    } else {
        let (op, expected) = (operands.function.to_owned(), "integers, or a boolean mask".to_owned());
        return Err(MakeNodeError::DType { op, input: 1, found, expected }.into());
    };
    let axis = i64::try_from(axis).unwrap_or(i64::MAX);
    operands.call_with("compress", &[kept.into(), tensor.into()], &[("axis", axis.into())]).map(Operand::Var)
}

/// Builds `insert(x, 1, y, axis=0)`, which inserts values, cast to the tensor's dtype, before one position.
pub(super) fn insert(operands: &mut Operands<'_>, _: &Row, props: &Props) -> Result<Operand, BuildError> {
    operands.expect(3)?;
    let (tensor, axis) = line(operands, props)?;
    let (position, ndim) = (operands.integer(1)?, operands.ndim(tensor));
    let extent = operands.extent(tensor, axis)?;
    let from_end = operands.call("add", [position.into(), extent.clone()])?;
    let negative = operands.call("lt", [position.into(), 0_i64.into()])?;
    let position = operands.call("where", [negative.into(), from_end.into(), position.into()])?;
    let [least, most] = [("ge", Operand::from(0_i64)), ("le", extent)]
        .map(|(function, end)| operands.call(function, [position.into(), end]));
    let within = operands.call("logical_and", [least?.into(), most?.into()])?;
    let position = operands.demand(position, within, "insert: the position is out of bounds")?;
    let values = stored(operands, &operands.args[2].clone(), operands.graph.ty(tensor).dtype())?;
    let own = operands.ndim(values);
    if own > ndim {
        return Err(operands.error(format!("values of {own} dimension(s) do not match a tensor of {ndim}")));
    }
    // The values get as many dimensions as the tensor, with the insertion axis first.
    let padded = operands.shuffled(values, (0..ndim).map(|d| d.checked_sub(ndim - own)))?;
    let order = (1..=axis).chain([0]).chain(axis + 1..ndim);
    let turned = operands.shuffled(padded, order.map(Some))?;
    let mut extents = operands.extents_of(tensor)?;
    extents[axis] = operands.extent(turned, axis)?;
    let new = operands.call_with("broadcast_to", &[&[turned.into()], extents.as_slice()].concat(), &[])?;
    let before = operands.slice(tensor, axis, "e", &[position.into()])?;
    let behind = operands.slice(tensor, axis, "b", &[position.into()])?;
    let axis = i64::try_from(axis).unwrap_or(i64::MAX);
    operands
        .call_with("join", &[before.into(), new.into(), behind.into()], &[("axis", axis.into())])
        .map(Operand::Var)
}
