//! Functions of LU decompositions beyond `lu_factor`: `lu` and `lu_solve`; and powers of matrices.

use super::decompositions::{Form, matrices, with_columns};
use super::factors::square;
use super::operand::Operands;
use super::parts::list;
use crate::declared::Declared;
use crate::linalg::{LuFactor, PivotToPermutation, SolveTriangular};
use crate::rows::Row;
use precast_graph::{BuildError, DType, MakeNodeError, Operand, Prop, Props, VarId};
use std::sync::Arc;

/// The decomposition of matrices with as many rows as columns, or with additional rows or columns of zeros.
struct Factors {
    both: VarId,
    /// The order of the rows.
    order: VarId,
}

impl Factors {
    fn of(operands: &mut Operands<'_>, x: VarId) -> Result<Self, BuildError> {
        let results = operands.results(Arc::new(LuFactor), &[x])?;
        let [both, pivots] = results[..] else {
            return Err(operands.error("lacks the results of `lu_factor`"));
        };
        Ok(Self { both, order: operands.apply(PivotToPermutation, &[pivots])? })
    }
}

/// Appends zeros to matrices so that they are square. These zeros are never pivots of other columns, and change no
/// other element.
fn squared(operands: &mut Operands<'_>, x: VarId) -> Result<VarId, BuildError> {
    let last = operands.ndim(x) - 1;
    let known = [operands.known_extent(x, last - 1), operands.known_extent(x, last)];
    if known[0].is_some() && known[0] == known[1] {
        return Ok(x);
    }
    let dtype = Prop::DType(operands.graph.ty(x).dtype());
    let mut extents = operands.extents_of(x)?;
    let (rows, columns) = (extents[last - 1].clone(), extents[last].clone());
    let missing = |operands: &mut Operands<'_>, of: Operand, less: Operand| {
        let missing = operands.call("sub", [of, less])?;
        operands.call("maximum", [missing.into(), 0_i64.into()])
    };
    let zeros = |operands: &mut Operands<'_>, extents: Vec<Operand>| {
        operands.call_with("zeros", &[Operand::List(extents)], &[("dtype", dtype.clone().into())])
    };
    let join = |operands: &mut Operands<'_>, x: VarId, zeros: VarId, axis: i64| {
        operands.call_with("join", &[x.into(), zeros.into()], &[("axis", axis.into())])
    };
    extents[last] = missing(operands, rows.clone(), columns.clone())?.into();
    let right = zeros(operands, extents.clone())?;
    let wide = join(operands, x, right, -1)?;
    extents[last - 1] = missing(operands, columns.clone(), rows.clone())?.into();
    extents[last] = operands.call("maximum", [rows, columns])?.into();
    let below = zeros(operands, extents)?;
    join(operands, wide, below, -2)
}

/// Builds `lu(x, permute_l, p_indices)`: the permutation, and both triangles.
pub(super) fn lu(operands: &mut Operands<'_>, _: &Row, props: &Props) -> Result<Operand, BuildError> {
    let [x] = matrices(operands)?;
    let declared = Declared::bound(operands.function, props);
    let (permutes, as_indices) = (declared.flag("permute_l")?, declared.flag("p_indices")?);
    let square = squared(operands, x)?;
    let factors = Factors::of(operands, square)?;
    let last = operands.ndim(x) - 1;
    let (rows, columns) = (operands.extent(x, last - 1)?, operands.extent(x, last)?);
    let least = operands.call("minimum", [rows.clone(), columns.clone()])?;
    let names = [
        ("both", factors.both.into()),
        ("x", x.into()),
        ("order", factors.order.into()),
        ("m", rows),
        ("n", columns),
        ("k", least.into()),
    ];
    let place = operands.expression("arange(shape(both)[-1])", &names)?;
    let below = [("both", factors.both.into()), ("i", place.into())];
    let mut lower = operands.expression("where(i[:, None] > i, both, i[:, None] == i)", &below)?;
    let mut upper = operands.call("triu", [factors.both.into()])?;
    if square != x {
        lower =
            operands.expression("lower[..., :m, :k]", &[&names[..], &[("lower", lower.into())]].concat())?;
        upper =
            operands.expression("upper[..., :k, :n]", &[&names[..], &[("upper", upper.into())]].concat())?;
    }
    let inverse = operands.expression("argsort(order[..., :m])", &names)?;
    let names = [("lower", lower.into()), ("inverse", inverse.into())];
    if permutes {
        let permuted = operands.expression("take_along_axis(lower, inverse[..., None], axis=-2)", &names)?;
        return Ok(list([permuted, upper]));
    }
    if as_indices {
        return Ok(list([inverse, lower, upper]));
    }
    let permutation = operands.expression("inverse[..., None] == arange(shape(inverse)[-1])", &names)?;
    let dtype = operands.graph.ty(x).dtype();
    let permutation = operands.cast(permutation, dtype.real())?;
    Ok(list([permutation, lower, upper]))
}

/// Builds `lu_solve((lu, pivots), b, trans)`: two triangular systems.
pub(super) fn lu_solve(operands: &mut Operands<'_>, _: &Row, props: &Props) -> Result<Operand, BuildError> {
    operands.expect(2)?;
    let declared = Declared::bound(operands.function, props);
    let form = match props.get("trans") {
        Some(Prop::Str(_)) => None,
        _ => Form::of(props),
    };
    let form = form.ok_or_else(|| declared.wrong("trans", "0, 1 or 2"))?;
    let Operand::List(pair) = &operands.args[0] else {
        return Err(operands.error("needs the pair of results of `lu_factor`"));
    };
    let [both, pivots] = pair.as_slice() else {
        return Err(operands.error("needs the pair of results of `lu_factor`"));
    };
    let args = [both.clone(), operands.args[1].clone()];
    let pivots = operands.with(std::slice::from_ref(pivots)).cast_argument(0, DType::I64)?;
    let order = operands.apply(PivotToPermutation, &[pivots])?;
    let mut operands = operands.with(&args);
    let [both, b] = matrices(&mut operands)?;
    let triangle = |lower, unit_diagonal| SolveTriangular { lower, unit_diagonal, nan_on_error: true };
    let x = with_columns(&mut operands, b, |operands, b| {
        let (own, axis) = (operands.ndim(both) - 1, operands.ndim(b) - 2);
        let (columns, rows) = (operands.extent(both, own)?, operands.extent(b, axis)?);
        let fits = operands.call("eq", [columns, rows])?;
        let b = operands.demand(b, fits, "the right sides have another number of rows than the matrices")?;
        let moved = |operands: &mut Operands<'_>, order: VarId, x: VarId| {
            if operands.ndim(order) == 1 {
                return operands.call_with("take", &[x.into(), order.into()], &[("axis", (-2_i64).into())]);
            }
            // Both stacks are broadcast.
            let names = [("x", x.into()), ("both", both.into())];
            let x = operands.expression("x + zeros_like(both[..., :1, :1])", &names)?;
            let names = [("x", x.into()), ("order", order.into())];
            let order = "order[..., None] + i64(zeros_like(x[..., :1]))";
            let order = operands.expression(order, &names)?;
            operands.call_with("take_along_axis", &[x.into(), order.into()], &[("axis", (-2_i64).into())])
        };
        if form == Form::Own {
            let b = moved(operands, order, b)?;
            let y = operands.apply(triangle(true, true), &[both, b])?;
            return operands.apply(triangle(false, false), &[both, y]);
        }
        let turned = form.matrices(operands, both)?;
        let y = operands.apply(triangle(true, false), &[turned, b])?;
        let x = operands.apply(triangle(false, true), &[turned, y])?;
        let inverse = operands.call("argsort", [order.into()])?;
        moved(operands, inverse, x)
    })?;
    Ok(x.into())
}

/// Builds `matrix_power(x, n)` by repeated squares; a negative power is one of the inverse.
pub(super) fn matrix_power(operands: &mut Operands<'_>, _: &Row, props: &Props) -> Result<VarId, BuildError> {
    operands.expect(1)?;
    let declared = Declared::bound(operands.function, props);
    let power = declared.int("n")?.ok_or_else(|| declared.wrong("n", "an integer"))?;
    let mut x = operands.variable(0)?;
    if operands.ndim(x) < 2 {
        let (op, found) = (operands.function.to_owned(), operands.graph.ty(x).to_string());
        let expected = "a matrix, or a stack of matrices".to_owned();
        return Err(MakeNodeError::Input { op, input: 0, found, expected }.into());
    }
    x = square(operands, x)?;
    if power < 0 {
        x = operands.call("inv", [x.into()])?;
    }
    let mut result = None;
    let mut left = power.unsigned_abs();
    if left == 0 {
        return operands.expression("zeros_like(x) + eye(shape(x)[-1], dtype=x.dtype)", &[("x", x.into())]);
    }
    while left > 0 {
        if left % 2 == 1 {
            result = Some(match result {
                None => x,
                Some(result) => operands.call("matmul", [Operand::Var(result), x.into()])?,
            });
        }
        left /= 2;
        if left > 0 {
            x = operands.call("matmul", [x.into(), x.into()])?;
        }
    }
    result.ok_or_else(|| operands.error("has no power"))
}
