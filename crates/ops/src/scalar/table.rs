//! The library of scalar ops: one line each, and the Rust side of `c/precast/ops/scalar.h`.

use super::{Identity, ScalarOp, Value};
use crate::math;
use crate::sources::closure;
use precast_codegen::{LinkError, SourceSet, Sub};
use precast_graph::{DType, PerformError};
use std::sync::Arc;

/// Which dtypes an op takes, and what it gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    /// All inputs of one dtype of the list; the result too.
    Same(&'static [DType]),
    /// All inputs of one dtype, any; the result is bool.
    Compare,
    /// bool, then two of one dtype, any; the result is of that.
    Choose,
}

/// A line of the library.
#[derive(Debug)]
struct Row {
    name: &'static str,
    arity: usize,
    rule: Rule,
    /// `add` in `pc_add_f64`.
    c: &'static str,
    evaluate: fn(&[Value]) -> Option<Value>,
}

/// The dtypes that the rows below have functions for.
pub(super) const BASIC: [DType; 4] = [DType::Bool, DType::I64, DType::F32, DType::F64];
const ALL: Rule = Rule::Same(&BASIC);
const NUMBER: Rule = Rule::Same(&[DType::I64, DType::F32, DType::F64]);
const FLOAT: Rule = Rule::Same(&[DType::F32, DType::F64]);
const BOOL: Rule = Rule::Same(&[DType::Bool]);

/// A function of one value; an arm for each dtype it exists for.
macro_rules! unary {
    ($x:ident; $($variant:ident => $body:expr),*) => {
        |v| match v { $([Value::$variant($x)] => { let $x = *$x; Some(Value::from($body)) })* _ => None }
    };
}

/// A function of two values.
macro_rules! binary {
    ($x:ident, $y:ident; $($variant:ident => $body:expr),*) => {
        |v| match v {
            $([Value::$variant($x), Value::$variant($y)] => { let ($x, $y) = (*$x, *$y); Some(Value::from($body)) })*
            _ => None
        }
    };
}

/// The same expression for every dtype.
macro_rules! each {
    ($x:ident, $y:ident; $body:expr) => {
        binary!($x, $y;
            Bool => { let ($x, $y) = (u8::from($x), u8::from($y)); $body },
            I64 => $body, F32 => $body, F64 => $body)
    };
}

/// NaN if either is; the first of equal operands.
macro_rules! maximum {
    ($x:expr, $y:expr) => {{
        let m = if $y > $x { $y } else { $x };
        if $y.is_nan() { $y } else { m }
    }};
}
macro_rules! minimum {
    ($x:expr, $y:expr) => {{
        let m = if $y < $x { $y } else { $x };
        if $y.is_nan() { $y } else { m }
    }};
}
pub(crate) use {maximum, minimum};

#[rustfmt::skip]
const LIBRARY: &[Row] = &[
    Row { name: "abs", arity: 1, rule: ALL, c: "abs", evaluate: unary!(x; Bool => x, I64 => x.wrapping_abs(), F32 => x.abs(), F64 => x.abs()) },
    Row { name: "add", arity: 2, rule: ALL, c: "add", evaluate: binary!(x, y; Bool => x | y, I64 => x.wrapping_add(y), F32 => x + y, F64 => x + y) },
    Row { name: "div", arity: 2, rule: FLOAT, c: "div", evaluate: binary!(x, y; F32 => x / y, F64 => x / y) },
    Row { name: "eq", arity: 2, rule: Rule::Compare, c: "eq", evaluate: each!(x, y; x == y) },
    Row { name: "exp", arity: 1, rule: FLOAT, c: "exp", evaluate: unary!(x; F32 => math::exp_f32(x), F64 => math::exp_f64(x)) },
    Row { name: "ge", arity: 2, rule: Rule::Compare, c: "ge", evaluate: each!(x, y; x >= y) },
    Row { name: "gt", arity: 2, rule: Rule::Compare, c: "gt", evaluate: each!(x, y; x > y) },
    Row { name: "le", arity: 2, rule: Rule::Compare, c: "le", evaluate: each!(x, y; x <= y) },
    Row { name: "log", arity: 1, rule: FLOAT, c: "log", evaluate: unary!(x; F32 => math::log_f32(x), F64 => math::log_f64(x)) },
    Row { name: "logical_and", arity: 2, rule: BOOL, c: "and", evaluate: binary!(x, y; Bool => x & y) },
    Row { name: "logical_not", arity: 1, rule: BOOL, c: "not", evaluate: unary!(x; Bool => !x) },
    Row { name: "logical_or", arity: 2, rule: BOOL, c: "or", evaluate: binary!(x, y; Bool => x | y) },
    Row { name: "lt", arity: 2, rule: Rule::Compare, c: "lt", evaluate: each!(x, y; x < y) },
    Row { name: "maximum", arity: 2, rule: ALL, c: "maximum", evaluate: binary!(x, y; Bool => x | y, I64 => x.max(y), F32 => maximum!(x, y), F64 => maximum!(x, y)) },
    Row { name: "minimum", arity: 2, rule: ALL, c: "minimum", evaluate: binary!(x, y; Bool => x & y, I64 => x.min(y), F32 => minimum!(x, y), F64 => minimum!(x, y)) },
    Row { name: "mul", arity: 2, rule: ALL, c: "mul", evaluate: binary!(x, y; Bool => x & y, I64 => x.wrapping_mul(y), F32 => x * y, F64 => x * y) },
    Row { name: "ne", arity: 2, rule: Rule::Compare, c: "ne", evaluate: each!(x, y; x != y) },
    Row { name: "neg", arity: 1, rule: NUMBER, c: "neg", evaluate: unary!(x; I64 => x.wrapping_neg(), F32 => -x, F64 => -x) },
    Row { name: "sigmoid", arity: 1, rule: FLOAT, c: "sigmoid", evaluate: unary!(x; F32 => math::sigmoid_f32(x), F64 => math::sigmoid_f64(x)) },
    Row { name: "sqrt", arity: 1, rule: FLOAT, c: "sqrt", evaluate: unary!(x; F32 => x.sqrt(), F64 => x.sqrt()) },
    Row { name: "sub", arity: 2, rule: NUMBER, c: "sub", evaluate: binary!(x, y; I64 => x.wrapping_sub(y), F32 => x - y, F64 => x - y) },
    Row { name: "switch", arity: 3, rule: Rule::Choose, c: "switch", evaluate: choose },
    Row { name: "tanh", arity: 1, rule: FLOAT, c: "tanh", evaluate: unary!(x; F32 => math::tanh_f32(x), F64 => math::tanh_f64(x)) },
];

/// The names of all scalar ops of the library, sorted; `cast` and `composite` have props and are not among them.
pub const NAMES: [&str; 24] = [
    "abs",
    "add",
    "div",
    "eq",
    "exp",
    "ge",
    "gt",
    "identity",
    "le",
    "log",
    "logical_and",
    "logical_not",
    "logical_or",
    "lt",
    "maximum",
    "minimum",
    "mul",
    "ne",
    "neg",
    "sigmoid",
    "sqrt",
    "sub",
    "switch",
    "tanh",
];

/// The scalar op of this name, for ops without props.
#[must_use]
pub fn find(name: &str) -> Option<Arc<dyn ScalarOp>> {
    if name == "identity" {
        return Some(Arc::new(Identity));
    }
    LIBRARY.iter().find(|row| row.name == name).map(|row| Arc::new(Basic { row }) as Arc<dyn ScalarOp>)
}

fn choose(v: &[Value]) -> Option<Value> {
    match v {
        [Value::Bool(condition), a, b] if a.dtype() == b.dtype() => Some(if *condition { *a } else { *b }),
        _ => None,
    }
}

/// An op of the library.
#[derive(Debug)]
struct Basic {
    row: &'static Row,
}

impl ScalarOp for Basic {
    fn name(&self) -> &str {
        self.row.name
    }

    fn arity(&self) -> usize {
        self.row.arity
    }

    fn output(&self, inputs: &[DType]) -> Option<DType> {
        let same = |of: &[DType]| of.windows(2).all(|pair| pair[0] == pair[1]);
        match self.row.rule {
            Rule::Same(dtypes) => (same(inputs) && dtypes.contains(&inputs[0])).then_some(inputs[0]),
            Rule::Compare => (same(inputs) && BASIC.contains(&inputs[0])).then_some(DType::Bool),
            Rule::Choose => {
                let fits = inputs[0] == DType::Bool && same(&inputs[1..]) && BASIC.contains(&inputs[1]);
                fits.then_some(inputs[1])
            }
        }
    }

    fn perform(&self, inputs: &[Value]) -> Result<Vec<Value>, PerformError> {
        let result = (self.row.evaluate)(inputs);
        result
            .map(|value| vec![value])
            .ok_or_else(|| PerformError::value(self.row.name, "no rule for these dtypes"))
    }

    fn c_code(
        &self,
        dtypes: &[DType],
        _name: &str,
        inputs: &[String],
        outputs: &[String],
        _sub: &Sub,
    ) -> Result<String, LinkError> {
        // The last operand has the dtype that the C function is named after.
        let dtype = dtypes[dtypes.len() - 1];
        Ok(format!("{} = pc_{}_{dtype}({});", outputs[0], self.row.c, inputs.join(", ")))
    }

    fn c_headers(&self) -> Vec<String> {
        math::header(self.row.c).into_iter().map(str::to_owned).collect()
    }

    fn c_sources(&self) -> SourceSet {
        math::header(self.row.c).map(|header| closure(&[header])).unwrap_or_default()
    }

    fn content_id(&self) -> Option<String> {
        Some(self.row.name.to_owned())
    }
}
