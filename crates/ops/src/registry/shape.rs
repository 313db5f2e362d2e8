//! Functions of shapes: reshape, alloc, arange, join and more, with NumPy's arguments.

use super::operand::Operands;
use super::sequence::Sequence;
use super::settings::list;
use crate::DimShuffle;
use crate::declared::Declared;
use crate::rows::Row;
use crate::shape::{ARange, Alloc, Assert, Eye, Join, MakeVector, Reshape, ShapeI, Split};
use precast_graph::{Array, BuildError, DType, Extent, Literal, MakeNodeError, Operand, Props, VarId};

/// Builds `reshape(x, 2, -1)`, `reshape(x, n, m)`, `reshape(x, shape=(2, -1))`, and `reshape(x, s)` with a vector of
/// known extent or with `ndim=2`.
pub(super) fn reshape(operands: &mut Operands<'_>, _: &Row, props: &Props) -> Result<VarId, BuildError> {
    let declared = Declared::bound(operands.function, props);
    operands.expect_between(1, usize::MAX)?;
    let tensor = operands.variable(0)?;
    if let [_, Operand::Var(vector)] = operands.args
        && operands.graph.ty(*vector).ndim() == 1
    {
        let ndim = match (declared.has("ndim"), operands.graph.ty(*vector).shape()[0]) {
            (false, Extent::Fixed(n)) => usize::try_from(n).unwrap_or(usize::MAX),
            _ => declared.count("ndim")?,
        };
        let vector = operands.cast(*vector, DType::I64)?;
        return operands.apply(Reshape { ndim }, &[tensor, vector]);
    }
    let extents: Vec<i64> = operands.args[1..]
        .iter()
        .filter_map(|arg| match arg {
            Operand::Literal(Literal::Int(n)) => i64::try_from(n).ok(),
            _ => None,
        })
        .collect();
    let ndim = operands.args.len() - 1;
    let vector = if extents.len() == ndim {
        operands.vector(&extents)
    } else {
        let extents = operands.extents(1)?;
        operands.apply(MakeVector { dtype: DType::I64 }, &extents)?
    };
    operands.apply(Reshape { ndim }, &[tensor, vector])
}

/// Builds `flatten(x)`, which has one dimension.
pub(super) fn flatten(operands: &mut Operands<'_>, _: &Row, props: &Props) -> Result<VarId, BuildError> {
    operands.expect(1)?;
    super::settings::no_props("flatten", props)?;
    let (tensor, vector) = (operands.variable(0)?, operands.vector(&[-1]));
    operands.apply(Reshape { ndim: 1 }, &[tensor, vector])
}

/// Builds `alloc(value, 3, n)` and `alloc(value, shape=(3, 4))`.
pub(super) fn alloc(operands: &mut Operands<'_>, _: &Row, _: &Props) -> Result<VarId, BuildError> {
    operands.expect_between(1, usize::MAX)?;
    let mut inputs = vec![operands.variable(0)?];
    inputs.extend(operands.extents(1)?);
    operands.apply(Alloc, &inputs)
}

/// Builds `zeros(3, n, dtype="f32")` and `ones(shape=(3, 4))`; the default dtype is f64.
pub(super) fn filled(operands: &mut Operands<'_>, row: &Row, props: &Props) -> Result<VarId, BuildError> {
    let declared = Declared::bound(operands.function, props);
    let dtype = declared.dtype("dtype")?.unwrap_or(DType::F64);
    let number = i64::from(row.name == "ones");
    let value = number_of(operands, number, dtype)?;
    let mut inputs = vec![value];
    inputs.extend(operands.extents(0)?);
    operands.apply(Alloc, &inputs)
}

/// Returns a small integer of a dtype as a constant.
pub(super) fn number_of(operands: &mut Operands<'_>, n: i64, dtype: DType) -> Result<VarId, BuildError> {
    let value = crate::scalar::collect(dtype, &[], &[crate::scalar::Value::I64(n)]);
    let value = value.unwrap_or_else(|| Array::zeros(dtype, &[]));
    Ok(operands.graph.constant(value))
}

/// Builds `arange(stop)`, `arange(start, stop)` and `arange(start, stop, step)`, each with an optional `dtype`.
pub(super) fn arange(operands: &mut Operands<'_>, _: &Row, props: &Props) -> Result<VarId, BuildError> {
    let declared = Declared::bound(operands.function, props);
    operands.expect_between(1, 3)?;
    let common = operands.common_array();
    let common = if common == DType::Bool { DType::I64 } else { common };
    let dtype = declared.dtype("dtype")?.unwrap_or(common);
    if common.is_float() && !dtype.is_float() {
        let problem =
            format!("is `{dtype}`, but the bounds are floats\nhint: cast the bounds, or the result");
        return Err(MakeNodeError::prop(operands.function, "dtype", problem).into());
    }
    // 16-bit floats are computed in f32 and rounded.
    let counted = if dtype.is_float() && !ARange::supports(dtype) { DType::F32 } else { dtype };
    let mut inputs = Vec::new();
    for position in 0..operands.args.len() {
        inputs.push(operands.cast_argument(position, counted)?);
    }
    if inputs.len() == 1 {
        inputs.insert(0, number_of(operands, 0, counted)?);
    }
    if inputs.len() == 2 {
        inputs.push(number_of(operands, 1, counted)?);
    }
    if !ARange::supports(counted) {
        return Err(declared.wrong("dtype", "an integer dtype or a float").into());
    }
    let numbers = operands.apply(ARange { dtype: counted }, &inputs)?;
    operands.cast(numbers, dtype)
}

/// Builds `eye(n)`, `eye(n, m)` and `eye(n, m, k)`; `k` may be a keyword argument. The default dtype is f64.
pub(super) fn eye(operands: &mut Operands<'_>, _: &Row, props: &Props) -> Result<VarId, BuildError> {
    let declared = Declared::bound(operands.function, props);
    operands.expect_between(1, 3)?;
    let dtype = declared.dtype("dtype")?.unwrap_or(DType::F64);
    let mut inputs = vec![operands.integer(0)?];
    for (position, default) in [(1, inputs[0]), (2, operands.graph.constant(Array::from(0_i64)))] {
        inputs.push(match operands.args.get(position) {
            None | Some(Operand::None) => default,
            Some(_) => operands.integer(position)?,
        });
    }
    operands.apply(Eye { dtype }, &inputs)
}

/// Builds `join(x, y, z, axis=0)` in the common dtype. With `axis=None` it joins all elements of all tensors.
/// `join(x)` joins the rows of x.
pub(super) fn join(operands: &mut Operands<'_>, _: &Row, props: &Props) -> Result<VarId, BuildError> {
    let axis = Declared::bound(operands.function, props).int("axis")?;
    let tensors = match (operands.sequence()?, axis) {
        (Sequence::Several(tensors), _) => tensors,
        (Sequence::RowsOf(tensor), None) => return operands.call("flatten", [tensor.into()]),
        (Sequence::RowsOf(tensor), Some(axis)) => {
            let rank = operands.ndim(tensor) - 1;
            if rank == 0 {
                return Err(operands.error("zero-dimensional arrays cannot be concatenated"));
            }
            let axis = operands.axis(axis, rank)?;
            return operands.rows_joined(tensor, axis);
        }
    };
    let operands = &mut operands.with(&tensors);
    // Without an axis, Python numbers are not converted to arrays first, as in NumPy.
    let dtype = if axis.is_some() { operands.common_array() } else { operands.common() };
    let mut inputs = operands.cast_all(dtype)?;
    let Some(axis) = axis else {
        for input in &mut inputs {
            *input = operands.call("flatten", [(*input).into()])?;
        }
        return operands.apply(Join { axis: 0 }, &inputs);
    };
    let axis = operands.axis(axis, operands.graph.ty(inputs[0]).ndim())?;
    operands.apply(Join { axis }, &inputs)
}

/// Builds `stack(x, y, z, axis=0)` along a new axis; `stack(x, axis=1)` stacks the rows of x.
pub(super) fn stack(operands: &mut Operands<'_>, _: &Row, props: &Props) -> Result<VarId, BuildError> {
    let axis = Declared::bound(operands.function, props).int("axis")?.unwrap_or(0);
    let tensors = match operands.sequence()? {
        Sequence::Several(tensors) => tensors,
        Sequence::RowsOf(tensor) => {
            let axis = operands.axis(axis, operands.ndim(tensor))?;
            return operands.rows_stacked(tensor, axis);
        }
    };
    let operands = &mut operands.with(&tensors);
    let dtype = operands.common_array();
    let mut inputs = operands.cast_all(dtype)?;
    let ndim = operands.graph.ty(inputs[0]).ndim();
    let axis = operands.axis(axis, ndim + 1)?;
    for input in &mut inputs {
        let own = operands.graph.ty(*input).ndim();
        let order = (0..axis).map(Some).chain([None]).chain((axis..own.max(axis)).map(Some)).collect();
        *input = operands.apply(DimShuffle::new(order), &[*input])?;
    }
    operands.apply(Join { axis }, &inputs)
}

/// Builds `split(x, sizes=(2, 3), axis=0, piece=1)`, or `split(x, s, pieces=2, axis=0, piece=1)` with a vector of
/// extents. Returns one of the pieces.
pub(super) fn split(operands: &mut Operands<'_>, _: &Row, props: &Props) -> Result<VarId, BuildError> {
    let declared = Declared::bound(operands.function, props);
    let tensor = operands.variable(0)?;
    let sizes = list("split", "sizes", props)?;
    let (vector, pieces) = match &sizes {
        Some(sizes) => {
            operands.expect(1)?;
            (operands.vector(sizes), sizes.len())
        }
        None => {
            operands.expect(2)?;
            let vector = operands.variable(1)?;
            (operands.cast(vector, DType::I64)?, declared.count("pieces")?)
        }
    };
    let axis = operands.axis(declared.int("axis")?.unwrap_or(0), operands.graph.ty(tensor).ndim())?;
    let piece = declared.count("piece")?;
    let results = operands.results(std::sync::Arc::new(Split { axis, pieces }), &[tensor, vector])?;
    let none =
        || MakeNodeError::prop("split", "piece", format!("is {piece}, out of range for {pieces} pieces"));
    results.get(piece).copied().ok_or_else(|| none().into())
}

/// Builds `array([[1, 2], [x, y]], dtype=f32)`; an array is passed through.
pub(super) fn array(operands: &mut Operands<'_>, _: &Row, props: &Props) -> Result<VarId, BuildError> {
    operands.expect(1)?;
    let variable = operands.variable(0)?;
    match Declared::bound(operands.function, props).dtype("dtype")? {
        Some(dtype) => operands.cast(variable, dtype),
        None => Ok(variable),
    }
}

/// Builds `make_vector(a, b, c)` in the common dtype, or in `dtype`.
pub(super) fn make_vector(operands: &mut Operands<'_>, _: &Row, props: &Props) -> Result<VarId, BuildError> {
    let declared = Declared::bound(operands.function, props);
    let dtype = match declared.dtype("dtype")? {
        Some(dtype) => dtype,
        None => operands.common_array(),
    };
    let inputs = operands.cast_all(dtype)?;
    operands.apply(MakeVector { dtype }, &inputs)
}

/// Builds `shape_i(x, i=-1)`, an extent; `i` may count from the end.
pub(super) fn shape_i(operands: &mut Operands<'_>, _: &Row, props: &Props) -> Result<VarId, BuildError> {
    let declared = Declared::bound(operands.function, props);
    operands.expect(1)?;
    let tensor = operands.variable(0)?;
    let i = declared.int("i")?.ok_or_else(|| declared.wrong("i", "an integer"))?;
    let axis = operands.axis(i, operands.graph.ty(tensor).ndim())?;
    operands.apply(ShapeI { axis }, &[tensor])
}

/// Builds `assert(x, condition, …, message="…", error="…")`; conditions of any dtype are converted to bool.
pub(super) fn assert(operands: &mut Operands<'_>, _: &Row, props: &Props) -> Result<VarId, BuildError> {
    let declared = Declared::bound(operands.function, props);
    operands.expect_between(2, usize::MAX)?;
    let message = if declared.has("message") { declared.text("message")? } else { "assertion failed" };
    let mut inputs = vec![operands.variable(0)?];
    for position in 1..operands.args.len() {
        inputs.push(operands.cast_argument(position, DType::Bool)?);
    }
    let kind = crate::shape::assert::kind(&declared)?;
    operands.apply(Assert { message: message.to_owned(), kind }, &inputs)
}
