//! Casts by name: `cast(x, f32)` and `f32(x)`.

use super::operand::Operands;
use super::settings::no_props;
use crate::declared::Declared;
use crate::rows::Row;
use precast_graph::{BuildError, DType, Literal, MakeNodeError, Operand, Props, VarId};

/// Builds `cast(x, f32)`.
pub(super) fn cast(operands: &mut Operands<'_>, _: &Row, props: &Props) -> Result<VarId, BuildError> {
    operands.expect(1)?;
    let declared = Declared::bound(operands.function, props);
    let dtype = declared.dtype("dtype")?.ok_or_else(|| declared.wrong("dtype", "a dtype"))?;
    let variable = operands.variable(0)?;
    operands.cast(variable, dtype)
}

/// Builds `f32(x)`.
pub(super) fn cast_to(operands: &mut Operands<'_>, name: &str, props: &Props) -> Result<VarId, BuildError> {
    operands.expect(1)?;
    no_props(name, props)?;
    let dtype: DType =
        name.parse().map_err(|e| MakeNodeError::prop(name, "dtype", format!("is invalid: {e}")))?;
    // As in NumPy, an integer literal that does not fit the dtype is an error, but elements of an array wrap.
    if let (Operand::Literal(Literal::Int(_)), true) = (&operands.args[0], dtype.is_integer()) {
        return operands.cast_argument(0, dtype);
    }
    // A complex literal is also an error for a real dtype; for an array the imaginary part is dropped.
    let is_real = !dtype.is_complex() && dtype != DType::Bool;
    if matches!(&operands.args[0], Operand::Literal(literal) if literal.dtype().is_complex()) && is_real {
        return Err(operands.misfit(0, dtype));
    }
    let variable = operands.variable(0)?;
    operands.cast(variable, dtype)
}
