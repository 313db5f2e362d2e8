//! The library of scalar ops: a line each, in [`rows`](super::rows), and how a line becomes C.
//!
//! An op of dtype `d` is the C function `pc_<name>_<d>` of the header that has it. A 16-bit float has none of its own: its
//! operands are widened to f32, the result is rounded, in C as in [`ScalarOp::perform`].

use super::cast::convert;
use super::rows::LIBRARY;
use super::{Identity, ScalarOp, Value};
use crate::math;
use precast_codegen::{LinkError, Sub};
use precast_graph::{DType, PerformError};
use std::sync::Arc;

/// Kinds of dtypes that an op takes, as bits.
pub(super) const BOOL: u8 = 1;
pub(super) const INT: u8 = 2;
pub(super) const FLOAT: u8 = 4;
pub(super) const COMPLEX: u8 = 8;
pub(super) const REAL: u8 = BOOL | INT | FLOAT;
pub(super) const NUMBER: u8 = INT | FLOAT | COMPLEX;
pub(super) const ALL: u8 = REAL | COMPLEX;

/// What an op makes of operands of one dtype.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gives {
    /// The dtype of the operands.
    Same,
    /// bool.
    Bool,
    /// The dtype of a part; for real dtypes the same.
    Part,
    /// The complex dtype whose parts the operands are.
    Whole,
    /// The dtype of the operands after the first, which is bool.
    Choice,
}

/// A line of the library.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) arity: usize,
    pub(super) takes: u8,
    pub(super) gives: Gives,
    pub(super) evaluate: fn(&[Value]) -> Option<Value>,
}

/// The names of all scalar ops of the library, sorted; `cast` and `composite` have props and are not among them.
#[must_use]
pub fn names() -> Vec<&'static str> {
    let mut names: Vec<&str> = LIBRARY.iter().map(|row| row.name).chain(["identity"]).collect();
    names.sort_unstable();
    names
}

/// The scalar op of this name, for ops without props.
#[must_use]
pub fn find(name: &str) -> Option<Arc<dyn ScalarOp>> {
    if name == "identity" {
        return Some(Arc::new(Identity));
    }
    LIBRARY.iter().find(|row| row.name == name).map(|row| Arc::new(Basic { row }) as Arc<dyn ScalarOp>)
}

/// Whether a dtype is stored in 16 bits and computed with in f32.
pub(super) fn is_half(dtype: DType) -> bool {
    matches!(dtype, DType::F16 | DType::Bf16)
}

/// The header that has the functions of a dtype.
pub(super) fn header(dtype: DType) -> String {
    match dtype {
        DType::F16 | DType::Bf16 => "precast/ops/half.h".to_owned(),
        other => format!("precast/ops/scalar/{other}.h"),
    }
}

fn kind(dtype: DType) -> u8 {
    match dtype {
        DType::Bool => BOOL,
        integer if integer.is_integer() => INT,
        float if float.is_float() => FLOAT,
        _ => COMPLEX,
    }
}

/// An op of the library.
#[derive(Debug)]
struct Basic {
    row: &'static Row,
}

impl Basic {
    /// `add` in `pc_add_f64`.
    fn c_name(&self) -> &'static str {
        match self.row.name {
            "logical_and" => "and",
            "logical_or" => "or",
            "logical_xor" => "xor",
            "logical_not" => "not",
            "sign" => "signum",
            name => name,
        }
    }

    /// Whether operands of this dtype are widened before and the result rounded after.
    fn widens(&self, dtype: DType) -> bool {
        is_half(dtype) && self.row.gives != Gives::Choice
    }
}

impl ScalarOp for Basic {
    fn name(&self) -> &str {
        self.row.name
    }

    fn arity(&self) -> usize {
        self.row.arity
    }

    fn output(&self, inputs: &[DType]) -> Option<DType> {
        let choice = self.row.gives == Gives::Choice;
        let operands = if choice { &inputs[1..] } else { inputs };
        let dtype = operands[0];
        let fits = operands.iter().all(|other| *other == dtype) && self.row.takes & kind(dtype) != 0;
        match self.row.gives {
            _ if !fits => None,
            Gives::Same => Some(dtype),
            Gives::Bool => Some(DType::Bool),
            Gives::Part => Some(dtype.real()),
            Gives::Whole => match dtype {
                DType::F32 => Some(DType::C64),
                DType::F64 => Some(DType::C128),
                _ => None,
            },
            Gives::Choice => (inputs[0] == DType::Bool).then_some(dtype),
        }
    }

    fn perform(&self, inputs: &[Value]) -> Result<Vec<Value>, PerformError> {
        let dtypes: Vec<DType> = inputs.iter().map(|v| v.dtype()).collect();
        let missing = || PerformError::value(self.row.name, "no rule for these dtypes");
        let output = self.output(&dtypes).ok_or_else(missing)?;
        let wide = |v: &Value| if self.widens(v.dtype()) { v.cast(DType::F32) } else { *v };
        let operands: Vec<Value> = inputs.iter().map(wide).collect();
        let refused = || match self.row.name {
            "pow" => PerformError::value("pow", "integers to negative integer powers are not allowed"),
            _ => missing(),
        };
        (self.row.evaluate)(&operands).map(|value| vec![value.cast(output)]).ok_or_else(refused)
    }

    fn c_code(
        &self,
        dtypes: &[DType],
        _name: &str,
        inputs: &[String],
        outputs: &[String],
        sub: &Sub,
    ) -> Result<String, LinkError> {
        // The last operand has the dtype that the C function is named after.
        let dtype = dtypes[dtypes.len() - 1];
        let widens = self.widens(dtype);
        let operands = inputs.iter().zip(dtypes).map(|(x, d)| match *d {
            half if widens && is_half(half) => convert(half, DType::F32, x),
            _ => x.clone(),
        });
        let operands = operands.collect::<Vec<_>>().join(", ");
        let of = if widens { DType::F32 } else { dtype };
        let mut value = format!("pc_{}_{of}({operands})", self.c_name());
        if let Some(result) = self.output(dtypes).filter(|result| is_half(*result) && widens) {
            value = convert(DType::F32, result, &value);
        }
        let assign = format!("{} = {value};", outputs[0]);
        if self.row.name == "pow" && dtype.is_integer() && !dtype.is_unsigned() {
            let text = include_str!("../../c/pow.c.in");
            let values = [("EXPONENT", inputs[1].as_str()), ("FAIL", &sub.fail), ("ASSIGN", &assign)];
            return Ok(precast_codegen::template::render(text, &values));
        }
        Ok(assign)
    }

    fn c_headers(&self, dtypes: &[DType]) -> Vec<String> {
        let dtype = dtypes[dtypes.len() - 1];
        let widens = self.widens(dtype);
        let of = if widens { DType::F32 } else { dtype };
        let own = match self.row.name {
            "floor_div" | "mod" if of.is_float() => "precast/ops/scalar/modulo.h".to_owned(),
            "complex" => "precast/ops/scalar/complex.h".to_owned(),
            name => {
                let of_kind = if of.is_complex() { math::complex_header(name) } else { math::header(name) };
                of_kind.filter(|_| !of.is_integer()).map_or_else(|| header(of), str::to_owned)
            }
        };
        if widens { vec![header(dtype), own] } else { vec![own] }
    }

    fn content_id(&self) -> Option<String> {
        Some(self.row.name.to_owned())
    }
}
