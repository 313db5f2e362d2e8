//! Elementwise functions of the text form, and the dtypes they compute in.

use super::operand::Operands;
use super::{first, no_props};
use crate::{Elemwise, scalar};
use precast_graph::{BuildError, DType, MakeNodeError, Operand, Props, Type, VarId};

/// What a function does to the dtypes of its arguments before its scalar op is applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Promotion {
    /// All to their common dtype.
    Common,
    /// All to their common dtype, or f64 if that is no float.
    Float,
    /// All to bool.
    Bool,
    /// As they are, which must be bool: what bit operators do to truth values.
    OnlyBool,
    /// The first to bool, the others to their common dtype.
    Condition,
}

/// A function of the text form.
#[derive(Debug)]
pub(super) struct Function {
    pub(super) name: &'static str,
    scalar: &'static str,
    pub(super) arity: usize,
    promotion: Promotion,
}

const fn function(name: &'static str, scalar: &'static str, arity: usize, promotion: Promotion) -> Function {
    Function { name, scalar, arity, promotion }
}

/// Every elementwise function, by its name in text; operators have the names of the right column of the grammar.
pub(super) const FUNCTIONS: &[Function] = &[
    function("add", "add", 2, Promotion::Common),
    function("sub", "sub", 2, Promotion::Common),
    function("mul", "mul", 2, Promotion::Common),
    function("div", "div", 2, Promotion::Float),
    function("neg", "neg", 1, Promotion::Common),
    function("abs", "abs", 1, Promotion::Common),
    function("exp", "exp", 1, Promotion::Float),
    function("log", "log", 1, Promotion::Float),
    function("sqrt", "sqrt", 1, Promotion::Float),
    function("tanh", "tanh", 1, Promotion::Float),
    function("sigmoid", "sigmoid", 1, Promotion::Float),
    function("maximum", "maximum", 2, Promotion::Common),
    function("minimum", "minimum", 2, Promotion::Common),
    function("eq", "eq", 2, Promotion::Common),
    function("ne", "ne", 2, Promotion::Common),
    function("lt", "lt", 2, Promotion::Common),
    function("le", "le", 2, Promotion::Common),
    function("gt", "gt", 2, Promotion::Common),
    function("ge", "ge", 2, Promotion::Common),
    function("logical_and", "logical_and", 2, Promotion::Bool),
    function("logical_or", "logical_or", 2, Promotion::Bool),
    function("logical_not", "logical_not", 1, Promotion::Bool),
    function("bitwise_and", "logical_and", 2, Promotion::OnlyBool),
    function("bitwise_or", "logical_or", 2, Promotion::OnlyBool),
    function("bitwise_xor", "ne", 2, Promotion::OnlyBool),
    function("invert", "logical_not", 1, Promotion::OnlyBool),
    function("identity", "identity", 1, Promotion::Common),
    function("switch", "switch", 3, Promotion::Condition),
    function("where", "switch", 3, Promotion::Condition),
];

/// Whether `name` is an elementwise function.
pub(super) fn is_function(name: &str) -> bool {
    name == "pow" || FUNCTIONS.iter().any(|f| f.name == name)
}

/// Applies an elementwise function.
pub(super) fn apply(operands: &mut Operands<'_>, props: &Props) -> Result<VarId, BuildError> {
    let name = operands.function;
    no_props(name, props)?;
    if name == "pow" {
        return pow(operands);
    }
    let unknown = || MakeNodeError::prop(name, "name", "is not an elementwise function");
    let function = FUNCTIONS.iter().find(|f| f.name == name).ok_or_else(unknown)?;
    operands.expect(function.arity)?;
    let inputs = match function.promotion {
        Promotion::Common => {
            operands.common().map_err(BuildError::from).and_then(|d| operands.cast_all(d))?
        }
        Promotion::Float => {
            let dtype = operands.common()?;
            operands.cast_all(if dtype.is_float() { dtype } else { DType::F64 })?
        }
        Promotion::Bool => operands.cast_all(DType::Bool)?,
        Promotion::OnlyBool => {
            let found = operands.common()?;
            if found != DType::Bool {
                let (op, expected) = (name.to_owned(), DType::Bool.to_string());
                return Err(MakeNodeError::DType { op, input: 0, found, expected }.into());
            }
            operands.cast_all(DType::Bool)?
        }
        Promotion::Condition => {
            let dtype = operands.common_of(1..3)?;
            vec![
                operands.cast_argument(0, DType::Bool)?,
                operands.cast_argument(1, dtype)?,
                operands.cast_argument(2, dtype)?,
            ]
        }
    };
    scalar_apply(operands, function.scalar, &inputs)
}

/// Applies a scalar op of the library, mapped over tensors.
pub(super) fn scalar_apply(
    operands: &mut Operands<'_>,
    name: &str,
    inputs: &[VarId],
) -> Result<VarId, BuildError> {
    let missing =
        || MakeNodeError::prop(operands.function, "scalar", format!("`{name}` is not in the library"));
    let scalar = scalar::find(name).ok_or_else(missing)?;
    first(operands.graph.apply(std::sync::Arc::new(Elemwise::new(scalar)), inputs)?, name)
}

/// `x**n` for the literal exponents 0.5, 1, 2, 3, 4 and -1: products, a root or a quotient, each exact to its last bit.
fn pow(operands: &mut Operands<'_>) -> Result<VarId, BuildError> {
    operands.expect(2)?;
    let base = operands.variable(0)?;
    let dtype = operands.graph.ty(base).dtype();
    let exponent = match &operands.args[1] {
        Operand::Int(n) => *n as f64,
        Operand::Float(x) => *x,
        _ => f64::NAN,
    };
    let float = if dtype.is_float() { dtype } else { DType::F64 };
    let times = |operands: &mut Operands<'_>, a, b| scalar_apply(operands, "mul", &[a, b]);
    if exponent == 0.5 {
        let base = operands.cast(base, float)?;
        return scalar_apply(operands, "sqrt", &[base]);
    }
    if exponent == -1.0 {
        let base = operands.cast(base, float)?;
        let one = scalar::Value::F64(1.0).cast(float).into_array();
        let ty = operands.graph.ty(base).clone();
        let one = match ty {
            Type::Scalar(_) => operands.graph.constant_of(one, ty),
            _ => operands.graph.constant(one),
        };
        return scalar_apply(operands, "div", &[one, base]);
    }
    if ![1.0, 2.0, 3.0, 4.0].contains(&exponent) {
        let problem = "must be one of the literals -1, 0.5, 1, 2, 3, 4";
        return Err(MakeNodeError::prop("pow", "exponent", problem).into());
    }
    let integral = matches!(operands.args[1], Operand::Int(_));
    let base = operands.cast(base, if integral { dtype } else { float })?;
    if exponent == 1.0 {
        return Ok(base);
    }
    let square = times(operands, base, base)?;
    if exponent == 2.0 {
        return Ok(square);
    }
    let last = if exponent == 3.0 { base } else { square };
    times(operands, square, last)
}
