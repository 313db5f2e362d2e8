//! The library of scalar ops, created from the rows of [`crate::rows`].
//!
//! An op of dtype `d` is the C function `pc_<name>_<d>` in its header. There are no functions for 16-bit floats:
//! operands are widened to f32 and the result is rounded, in C as in [`ScalarOp::perform`].

use super::arms::{arm, arms};
use super::block::{self, BlockFunction};
use super::cast::convert;
use super::complex::ComplexNumber as _;
use super::float::Float as _;
use super::integer::Integer as _;
use super::row::{Arms, Cost, Gives, Promotion, Scalar};
use super::{Identity, ScalarOp, Value};
use crate::math;
use crate::rows::{Keyword, Row, scalar_rows};
use precast_codegen::{LinkError, Sub};
use precast_graph::{Complex, DType, PerformError};
use std::sync::Arc;

/// The kinds of dtypes that an op takes, as bits.
const BOOL: u8 = 1;
const INT: u8 = 2;
const FLOAT: u8 = 4;
const COMPLEX: u8 = 8;
const ALL: u8 = BOOL | INT | FLOAT | COMPLEX;

macro_rules! library {
    ($(#[doc = $help:literal] $name:ident $x:tt [$($alias:ident)*] $({$keyword:ident = $default:expr})?
       $promotion:ident => $gives:ident, $cost:ident, $builder:ident $(as $c_name:literal)? { $($arms:tt)* } $(d[$($d:literal),*])?)*) => {
        /// The rows of elementwise functions, in the order of their documentation.
        pub(crate) const LIBRARY: &[Row] = &[$(Row {
            name: stringify!($name),
            aliases: &[$(stringify!($alias)),*],
            arguments: arguments!($x),
            keywords: &[$(Keyword::setting(stringify!($keyword), stringify!($default), true))?],
            help: $help.trim_ascii(),
            apply: None,
            register: |library| library,
            combinations: Some(|at| at.elementwise()),
            takes_rows: false,
            scalar: Some(Scalar {
                promotion: Promotion::$promotion,
                gives: Gives::$gives,
                cost: Cost::$cost,
                c_name: first(&[$($c_name,)? stringify!($name)]),
                arms: arms!($name $x $($arms)*),
                derivatives: &[$($($d),*)?],
            }),
        }),*];
    };
}
macro_rules! arguments {
    (($($x:ident),+)) => { &[$(stringify!($x)),+] };
}
scalar_rows!(library);

const fn first(names: &[&'static str]) -> &'static str {
    names[0]
}

/// Evaluates `switch`, which takes a bool and two elements of any dtype.
fn choose(v: &[Value]) -> Option<Value> {
    match v {
        [Value::Bool(condition), a, b] if a.dtype() == b.dtype() => Some(if *condition { *a } else { *b }),
        _ => None,
    }
}

/// Returns the rows that are scalar ops. `angle` is composed of other ops, and [`Identity`] is implemented
/// separately.
fn library() -> impl Iterator<Item = Basic> {
    let basic = |row: &'static Row| Some(Basic { row, scalar: row.scalar.as_ref()? });
    LIBRARY.iter().filter_map(basic).filter(|op| op.scalar.arms.takes != 0)
}

/// Returns the names of all scalar ops of the library, sorted. `cast` and `composite` have props and are excluded.
#[must_use]
pub fn names() -> Vec<&'static str> {
    let mut names: Vec<&str> = library().map(|op| op.row.name).chain(["identity"]).collect();
    names.sort_unstable();
    names
}

/// Returns the scalar op with this name, for ops without props.
#[must_use]
pub fn find(name: &str) -> Option<Arc<dyn ScalarOp>> {
    if name == "identity" {
        return Some(Arc::new(Identity));
    }
    library().find(|op| op.row.name == name).map(|op| Arc::new(op) as Arc<dyn ScalarOp>)
}

/// Returns whether a dtype is stored in 16 bits and computed in f32.
pub(super) fn is_half(dtype: DType) -> bool {
    matches!(dtype, DType::F16 | DType::Bf16)
}

/// Returns whether loops over elements of 64 bits have values of a dtype: truth values are widened.
pub(crate) fn is_wide(dtype: DType) -> bool {
    matches!(dtype, DType::Bool | DType::F64 | DType::I64 | DType::U64)
}

/// Returns the header with the functions of a dtype.
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

/// A scalar op created from a row.
#[derive(Debug)]
struct Basic {
    row: &'static Row,
    scalar: &'static Scalar,
}

impl Basic {
    /// Returns whether operands of this dtype are widened first and the result is rounded.
    fn widens(&self, dtype: DType) -> bool {
        is_half(dtype) && self.scalar.gives != Gives::Choice
    }

    /// Returns the dtype that the C function is named after: that of the last operand, or f64 for draws.
    fn named_dtype(&self, dtypes: &[DType]) -> DType {
        if self.scalar.gives == Gives::Draw { DType::F64 } else { dtypes[dtypes.len() - 1] }
    }
}

impl ScalarOp for Basic {
    fn name(&self) -> &str {
        self.row.name
    }

    fn arity(&self) -> usize {
        self.row.arguments.len()
    }

    fn output(&self, inputs: &[DType]) -> Option<DType> {
        let is_words = |operands: &[DType]| operands.iter().all(|dtype| *dtype == DType::U64);
        match self.scalar.gives {
            Gives::Word => return is_words(inputs).then_some(DType::U64),
            Gives::Draw => {
                let fits = is_words(&inputs[..1]) && inputs[1..].iter().all(|dtype| *dtype == DType::F64);
                return fits.then_some(DType::F64);
            }
            _ => {}
        }
        let choice = self.scalar.gives == Gives::Choice;
        let operands = if choice { &inputs[1..] } else { inputs };
        let dtype = operands[0];
        let fits = operands.iter().all(|other| *other == dtype) && self.scalar.arms.takes & kind(dtype) != 0;
        match self.scalar.gives {
            _ if !fits => None,
            Gives::Same => Some(dtype),
            Gives::Bool => Some(DType::Bool),
            Gives::Part => Some(dtype.real()),
            Gives::Exact => (!is_half(dtype)).then_some(dtype),
            Gives::Whole => match dtype {
                DType::F32 => Some(DType::C64),
                DType::F64 => Some(DType::C128),
                _ => None,
            },
            Gives::Choice => (inputs[0] == DType::Bool).then_some(dtype),
            Gives::Word | Gives::Draw => None,
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
        (self.scalar.arms.evaluate)(&operands).map(|value| vec![value.cast(output)]).ok_or_else(refused)
    }

    fn c_code(
        &self,
        dtypes: &[DType],
        _name: &str,
        inputs: &[String],
        outputs: &[String],
        sub: &Sub,
    ) -> Result<String, LinkError> {
        let dtype = self.named_dtype(dtypes);
        let widens = self.widens(dtype);
        let operands = inputs.iter().zip(dtypes).map(|(x, d)| match *d {
            half if widens && is_half(half) => convert(half, DType::F32, x),
            _ => x.clone(),
        });
        let operands = operands.collect::<Vec<_>>().join(", ");
        let of = if widens { DType::F32 } else { dtype };
        let mut value = format!("pc_{}_{of}({operands})", self.scalar.c_name);
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

    fn c_code_wide(&self, dtypes: &[DType], inputs: &[String], outputs: &[String]) -> Option<String> {
        let fits = dtypes.iter().copied().all(is_wide);
        let (dtype, operands) = (dtypes[dtypes.len() - 1], inputs.join(", "));
        fits.then(|| format!("{} = pc_{}_{dtype}_wide({operands});", outputs[0], self.scalar.c_name))
    }

    fn c_headers(&self, dtypes: &[DType]) -> Vec<String> {
        let dtype = self.named_dtype(dtypes);
        let widens = self.widens(dtype);
        let of = if widens { DType::F32 } else { dtype };
        let [float, complex] = self.scalar.arms.headers;
        let named = match kind(of) {
            FLOAT => float.first(),
            INT if self.scalar.gives == Gives::Word => float.first(),
            COMPLEX => complex.first(),
            _ => None,
        };
        let own = named.map_or_else(|| header(of), |header| (*header).to_owned());
        let block = self.block(&vec![of; dtypes.len()]).map(|_| block::HEADER.to_owned());
        let first = if widens { vec![header(dtype), own] } else { vec![own] };
        first.into_iter().chain(block).collect()
    }

    fn is_cheap(&self) -> bool {
        self.scalar.cost == Cost::Cheap
    }

    fn block(&self, dtypes: &[DType]) -> Option<BlockFunction> {
        let dtype = dtypes[0];
        let [f32s, f64s] = self.scalar.arms.regions;
        let regions = match dtype {
            DType::F32 => f32s,
            DType::F64 => f64s,
            _ => return None,
        };
        let (is_heavy, branches) = match self.scalar.cost {
            Cost::Cheap | Cost::Costly => (false, false),
            Cost::Heavy => (true, false),
            Cost::Branching => (true, true),
        };
        let name = self.scalar.c_name;
        let block = BlockFunction { name, dtype, operands: dtypes.len(), regions, branches };
        ((is_heavy || !regions.is_empty()) && self.output(dtypes) == Some(dtype)).then_some(block)
    }

    fn content_id(&self) -> Option<String> {
        Some(self.row.name.to_owned())
    }
}
