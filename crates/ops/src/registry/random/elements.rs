//! Shapes of results, and the counter of each element: its position in C order.

use crate::declared::Declared;
use crate::registry::operand::Operands;
use precast_graph::{Array, BuildError, DType, Literal, MakeNodeError, Operand, Prop, Props, VarId};

/// The elements of a result.
pub(super) struct Elements {
    /// The counter of each element, as u64.
    pub(super) counters: VarId,
    /// The number of dimensions.
    pub(super) ndim: usize,
}

/// Returns a shape argument as extents; `None` if it is missing.
pub(super) fn shape(
    operands: &mut Operands<'_>,
    position: usize,
) -> Result<Option<Vec<Operand>>, BuildError> {
    let given = operands.args.get(position).cloned().unwrap_or(Operand::None);
    Ok(match given {
        Operand::None => None,
        Operand::List(items) => Some(items),
        Operand::Var(vector) if operands.ndim(vector) == 1 => {
            let args = [Operand::Var(vector)];
            let mut own = operands.with(&args);
            Some(own.extents(0)?.into_iter().map(Operand::Var).collect())
        }
        one => Some(vec![one]),
    })
}

/// The shape of a result, and the conditions, known when the graph runs, under which the parameters fit it.
pub(super) struct Shape {
    pub(super) extents: Vec<Operand>,
    conditions: Vec<VarId>,
}

impl Shape {
    /// Inserts an axis before the last `back` axes, and returns its position.
    pub(super) fn insert(&mut self, back: usize, extent: Operand) -> usize {
        let at = self.extents.len() - back;
        self.extents.insert(at, extent);
        at
    }

    /// Returns the elements of the shape with further axes.
    pub(super) fn elements(
        &self,
        operands: &mut Operands<'_>,
        more: &[Operand],
    ) -> Result<Elements, BuildError> {
        let extents = [self.extents.as_slice(), more].concat();
        let counters = counters(operands, &extents, &self.conditions)?;
        Ok(Elements { counters, ndim: extents.len() })
    }
}

/// Returns the shape at `position`, to which parameters of these shapes are broadcast. Without a shape argument, it is the
/// common shape of the parameters.
pub(super) fn shape_for(
    operands: &mut Operands<'_>,
    position: usize,
    parameters: &[Vec<Operand>],
) -> Result<Shape, BuildError> {
    let Some(extents) = shape(operands, position)? else {
        return Ok(Shape { extents: common(operands, parameters)?, conditions: Vec::new() });
    };
    let mut conditions = Vec::new();
    for own in parameters {
        conditions.extend(fits(operands, own, &extents)?);
    }
    Ok(Shape { extents, conditions })
}

/// Returns the elements of [`shape_for`].
pub(super) fn elements(
    operands: &mut Operands<'_>,
    position: usize,
    parameters: &[Vec<Operand>],
) -> Result<Elements, BuildError> {
    shape_for(operands, position, parameters)?.elements(operands, &[])
}

/// Returns the counters of a shape. The call fails if a condition is false or an extent is negative.
pub(super) fn counters(
    operands: &mut Operands<'_>,
    extents: &[Operand],
    conditions: &[VarId],
) -> Result<VarId, BuildError> {
    let known: Option<Vec<i64>> = extents.iter().map(literal).collect();
    if extents.is_empty() && conditions.is_empty() {
        return Ok(operands.graph.constant(Array::from(0_u64)));
    }
    let mut total = match &known {
        Some(known) => Operand::from(product(operands, known)?),
        None => Operand::Var(checked_product(operands, extents)?),
    };
    for condition in conditions {
        let message = format!("{}: the parameters do not fit the shape", operands.function);
        let number = operands.cast_operand(&total, DType::I64)?;
        total = operands.demand(number, *condition, &message)?.into();
    }
    let numbers = operands.call_with("arange", &[total], &[("dtype", Prop::DType(DType::U64).into())])?;
    if extents.len() == 1 {
        return Ok(numbers);
    }
    match known {
        Some(known) => operands.reshape(numbers, &known),
        None => operands.call_with("reshape", &[&[numbers.into()], extents].concat(), &[]),
    }
}

/// Returns an extent that is a number.
fn literal(extent: &Operand) -> Option<i64> {
    match extent {
        Operand::Literal(Literal::Int(n)) => i64::try_from(n).ok(),
        _ => None,
    }
}

fn product(operands: &Operands<'_>, extents: &[i64]) -> Result<i64, BuildError> {
    if let Some(negative) = extents.iter().find(|n| **n < 0) {
        return Err(operands.error(format!("a shape has the negative extent {negative}")));
    }
    let product = extents.iter().try_fold(1_i64, |product, n| product.checked_mul(*n));
    product.ok_or_else(|| operands.error("a shape has too many elements"))
}

/// Returns the product of extents that are known when the graph runs, none of which may be negative.
fn checked_product(operands: &mut Operands<'_>, extents: &[Operand]) -> Result<VarId, BuildError> {
    let numbers = operands.with(extents).integers(0)?;
    let mut total = operands.graph.constant(Array::from(1_i64));
    for number in numbers {
        let is_extent = operands.call("ge", [number.into(), 0_i64.into()])?;
        let message = format!("{}: a shape has a negative extent", operands.function);
        let number = operands.demand(number, is_extent, &message)?;
        total = operands.call("mul", [total.into(), number.into()])?;
    }
    Ok(total)
}

/// Returns the shape to which shapes are broadcast.
fn common(operands: &mut Operands<'_>, shapes: &[Vec<Operand>]) -> Result<Vec<Operand>, BuildError> {
    let ndim = shapes.iter().map(Vec::len).max().unwrap_or(0);
    let mut all = vec![Operand::from(1_i64); ndim];
    for shape in shapes {
        for (extent, own) in all[ndim - shape.len()..].iter_mut().zip(shape) {
            *extent = match (literal(extent), literal(own)) {
                (Some(1), _) => own.clone(),
                (_, Some(1)) => continue,
                (Some(_), _) => continue,
                (None, Some(_)) => own.clone(),
                (None, None) => {
                    let is_one = operands.call("eq", [extent.clone(), 1_i64.into()])?;
                    operands.call("where", [is_one.into(), own.clone(), extent.clone()])?.into()
                }
            };
        }
    }
    Ok(all)
}

/// Returns the conditions, known when the graph runs, under which a parameter can be broadcast to a shape.
fn fits(operands: &mut Operands<'_>, own: &[Operand], shape: &[Operand]) -> Result<Vec<VarId>, BuildError> {
    if own.len() > shape.len() {
        let problem =
            format!("a parameter of {} dimension(s) does not fit a shape of {}", own.len(), shape.len());
        return Err(operands.error(problem));
    }
    let mut conditions = Vec::new();
    for (own, extent) in own.iter().zip(&shape[shape.len() - own.len()..]) {
        match (literal(own), literal(extent)) {
            (Some(1), _) => {}
            (Some(own), Some(extent)) if own == extent => {}
            (Some(own), Some(extent)) => {
                let problem = format!("a parameter of extent {own} does not fit the extent {extent}");
                return Err(operands.error(problem));
            }
            _ => {
                let is_one = operands.call("eq", [own.clone(), 1_i64.into()])?;
                let same = operands.call("eq", [own.clone(), extent.clone()])?;
                conditions.push(operands.call("logical_or", [is_one.into(), same.into()])?);
            }
        }
    }
    Ok(conditions)
}

/// Returns a tensor, and demands that two extents are equal.
pub(super) fn demand_equal(
    operands: &mut Operands<'_>,
    tensor: VarId,
    [x, y]: [&Operand; 2],
    what: &str,
) -> Result<VarId, BuildError> {
    match (literal(x), literal(y)) {
        (Some(x), Some(y)) if x == y => Ok(tensor),
        (Some(x), Some(y)) => Err(operands.error(format!("{what}: the extents {x} and {y} differ"))),
        _ => {
            let same = operands.call("eq", [x.clone(), y.clone()])?;
            let message = format!("{}: {what}: the extents differ", operands.function);
            operands.demand(tensor, same, &message)
        }
    }
}

/// Returns a parameter as an array of f64.
pub(super) fn parameter(operands: &mut Operands<'_>, input: usize) -> Result<VarId, BuildError> {
    let found = operands.dtype(input);
    if found.is_complex() {
        let (op, expected) = (operands.function.to_owned(), "real numbers".to_owned());
        return Err(MakeNodeError::DType { op, input, found, expected }.into());
    }
    // A list becomes a constant of f64, so that its extents are known.
    if let Operand::List(items) = &operands.args[input] {
        return operands.array(items, DType::F64);
    }
    operands.cast_argument(input, DType::F64)
}

/// Returns the shapes of parameters, with the extents that the types or constants give.
pub(super) fn shapes(
    operands: &mut Operands<'_>,
    parameters: &[VarId],
) -> Result<Vec<Vec<Operand>>, BuildError> {
    parameters.iter().map(|parameter| extents(operands, *parameter)).collect()
}

/// Returns the extents of a parameter.
pub(super) fn extents(operands: &mut Operands<'_>, parameter: VarId) -> Result<Vec<Operand>, BuildError> {
    let ndim = operands.ndim(parameter);
    let extent = |axis: usize| match operands.known_extent(parameter, axis) {
        Some(known) => Ok(known.into()),
        None => operands.extent(parameter, axis),
    };
    (0..ndim).map(extent).collect()
}

/// Returns the setting `dtype`, a float; the default is f64.
pub(super) fn float_dtype(operands: &Operands<'_>, props: &Props) -> Result<DType, MakeNodeError> {
    let declared = Declared::bound(operands.function, props);
    let dtype = declared.dtype("dtype")?.unwrap_or(DType::F64);
    if dtype.is_float() { Ok(dtype) } else { Err(declared.wrong("dtype", "a float dtype")) }
}
