//! Functions that join and split tensors: `meshgrid`, `unstack`, `array_split`, `column_stack`, `dstack`.

use super::operand::Operands;
use super::parts::list;
use super::sequence::Sequence;
use crate::declared::Declared;
use crate::rows::Row;
use precast_graph::{BuildError, DType, Operand, Prop, Props, VarId};

/// Builds `meshgrid(u, v, indexing='ij')`; `xy` swaps the first two axes.
pub(super) fn meshgrid(operands: &mut Operands<'_>, _: &Row, props: &Props) -> Result<Operand, BuildError> {
    let declared = Declared::bound(operands.function, props);
    let turned = match declared.text("indexing")? {
        "xy" => true,
        "ij" => false,
        _ => return Err(declared.wrong("indexing", "`xy` or `ij`").into()),
    };
    let (sparse, ndim) = (declared.flag("sparse")?, operands.args.len());
    let axis = |position: usize| if turned && ndim > 1 && position < 2 { 1 - position } else { position };
    let (mut vectors, mut extents) = (Vec::new(), vec![Operand::None; ndim]);
    for position in 0..ndim {
        let own = operands.variable(position)?;
        let flat = operands.call("flatten", [own.into()])?;
        extents[axis(position)] = operands.extent(flat, 0)?;
        vectors.push(operands.shuffled(flat, (0..ndim).map(|d| (d == axis(position)).then_some(0)))?);
    }
    if !sparse {
        for vector in &mut vectors {
            *vector = operands.call_with(
                "broadcast_to",
                &[&[(*vector).into()], extents.as_slice()].concat(),
                &[],
            )?;
        }
    }
    Ok(list(vectors))
}

/// Builds `unstack(x, axis=0)`; the type must give the number of parts.
pub(super) fn unstack(operands: &mut Operands<'_>, _: &Row, props: &Props) -> Result<Operand, BuildError> {
    operands.expect(1)?;
    let tensor = operands.variable(0)?;
    let axis = Declared::bound(operands.function, props).int("axis")?.unwrap_or(0);
    let axis = operands.axis(axis, operands.ndim(tensor))?;
    let Some(count) = operands.known_extent(tensor, axis) else {
        let problem = format!(
            "unknown extent of axis {axis} of `{}`\nhint: give the input a type with a fixed extent",
            operands.graph.ty(tensor)
        );
        return Err(operands.error(problem));
    };
    let parts = (0..count).map(|at| operands.slice(tensor, axis, "i", &[at.into()]));
    Ok(list(parts.collect::<Result<Vec<_>, _>>()?))
}

/// Builds `array_split(x, 3, axis=0)` and `array_split(x, [2, 5])`.
pub(super) fn array_split(
    operands: &mut Operands<'_>,
    _: &Row,
    props: &Props,
) -> Result<Operand, BuildError> {
    operands.expect(2)?;
    let declared = Declared::bound(operands.function, props);
    let mut tensor = operands.variable(0)?;
    let axis = operands.axis(declared.int("axis")?.unwrap_or(0), operands.ndim(tensor))?;
    let bounds = match operands.args[1].clone() {
        Operand::List(positions) => positions,
        Operand::Literal(sections) => {
            let sections = Operand::from(sections).prop().and_then(|prop| prop_count(&prop));
            let wrong = || operands.error("takes a positive number of pieces, or a list of positions");
            let sections = sections.ok_or_else(wrong)?;
            equal_bounds(operands, &mut tensor, axis, sections, declared.flag("equal")?)?
        }
        _ => {
            return Err(operands.error("takes a constant number of pieces, or a constant list of positions"));
        }
    };
    let (mut pieces, mut start) = (Vec::new(), Operand::from(0_i64));
    for bound in bounds {
        pieces.push(operands.slice(tensor, axis, "be", &[start, bound.clone()])?);
        start = bound;
    }
    pieces.push(operands.slice(tensor, axis, "b", &[start])?);
    Ok(list(pieces))
}

fn prop_count(prop: &Prop) -> Option<i64> {
    if let Prop::Int(n) = prop { Some(*n).filter(|n| *n > 0) } else { None }
}

/// Returns the bounds of a number of sections. The first sections get one extra element if there is a remainder; with
/// `equal` a remainder is an error.
fn equal_bounds(
    operands: &mut Operands<'_>,
    tensor: &mut VarId,
    axis: usize,
    sections: i64,
    equal: bool,
) -> Result<Vec<Operand>, BuildError> {
    let extent = operands.extent(*tensor, axis)?;
    let each = operands.call("floor_div", [extent.clone(), sections.into()])?;
    let rest = operands.call("mod", [extent, sections.into()])?;
    if equal {
        let none = operands.call("eq", [rest.into(), 0_i64.into()])?;
        *tensor = operands.demand(*tensor, none, "array split does not result in an equal division")?;
    }
    let mut bounds = Vec::new();
    for piece in 1..sections {
        let before = operands.call("mul", [each.into(), piece.into()])?;
        let longer = operands.call("minimum", [rest.into(), piece.into()])?;
        let bound = operands.call("add", [before.into(), longer.into()])?;
        bounds.push(operands.cast(bound, DType::I64)?.into());
    }
    Ok(bounds)
}

/// Builds `column_stack([u, x])`, where vectors become columns.
pub(super) fn column_stack(operands: &mut Operands<'_>, _: &Row, _: &Props) -> Result<Operand, BuildError> {
    joined(operands, 1, |ndim| match ndim {
        0 => vec![None, None],
        1 => vec![Some(0), None],
        _ => (0..ndim).map(Some).collect(),
    })
}

/// Builds `dstack([x, y])`, which joins along the third axis. Inputs of lower rank get new axes as in NumPy's
/// `atleast_3d`.
pub(super) fn dstack(operands: &mut Operands<'_>, _: &Row, _: &Props) -> Result<Operand, BuildError> {
    joined(operands, 2, |ndim| match ndim {
        0 => vec![None; 3],
        1 => vec![None, Some(0), None],
        2 => vec![Some(0), Some(1), None],
        _ => (0..ndim).map(Some).collect(),
    })
}

fn joined(
    operands: &mut Operands<'_>,
    axis: i64,
    order: impl Fn(usize) -> Vec<Option<usize>>,
) -> Result<Operand, BuildError> {
    let Sequence::Several(tensors) = operands.sequence()? else {
        return Err(operands.error("takes a list of tensors"));
    };
    let operands = &mut operands.with(&tensors);
    let mut parts = Vec::new();
    for position in 0..operands.args.len() {
        let part = operands.variable(position)?;
        let order = order(operands.ndim(part));
        parts.push(Operand::Var(operands.shuffled(part, order)?));
    }
    operands.call_with("join", &[Operand::List(parts)], &[("axis", axis.into())]).map(Operand::Var)
}
