//! `round(x, decimals)`: rounds to a number of decimals; negative `decimals` round to powers of ten.
//!
//! | elements | rounded |
//! |---|---|
//! | floats | scaled by `10**decimals`, rounded to an integer, and scaled back, as in NumPy |
//! | floats whose scaled value overflows | unchanged: they have no decimals to round |
//! | complex numbers | each part as a float |
//! | integers, `decimals` below 0 | exactly, ties to the even multiple; a result that the dtype cannot hold wraps around |
//!
//! A power of ten that the dtype cannot hold exactly is an f64, or from 10^23 on the sum of two f64
//! (`scalar/decimal.h`). The result is therefore the float nearest to the decimal number, while NumPy's result may be
//! its neighbour. For decimals beyond 308, elements are scaled in two steps.

use super::operand::Operands;
use super::variables::scalar_apply;
use num_bigint::BigInt;
use precast_graph::{Array, BuildError, DType, MakeNodeError, Number, VarId};

/// The largest exponents of powers of ten that f64 can hold exactly, and at all.
const EXACT: u32 = 22;
const MOST: u32 = 308;

/// Builds `round` with a number of decimals other than 0.
pub(super) fn to_decimals(operands: &mut Operands<'_>, decimals: i64) -> Result<VarId, BuildError> {
    let own = operands.dtype(0);
    if own.is_integer() && decimals > 0 {
        return operands.variable(0);
    }
    if own == DType::Bool {
        let (op, expected) = (operands.function.to_owned(), "integers, floats, complex".to_owned());
        return Err(MakeNodeError::DType { op, input: 0, found: own, expected }.into());
    }
    let Ok(places) = i32::try_from(decimals.unsigned_abs()) else {
        let problem = format!("is {decimals}, which does not fit into a C int");
        return Err(MakeNodeError::prop(operands.function, "decimals", problem).into());
    };
    let places = places.unsigned_abs();
    let x = operands.cast_argument(0, own)?;
    if own.is_integer() {
        return whole(operands, x, places);
    }
    if !own.is_complex() {
        return float(operands, x, places, decimals > 0);
    }
    let [re, im] = ["real", "imag"].map(|part| scalar_apply(operands, part, &[x]));
    let [re, im] = [re?, im?].map(|part| float(operands, part, places, decimals > 0));
    scalar_apply(operands, "complex", &[re?, im?])
}

/// Returns the float nearest to a power of ten, and the rest of the power.
fn power_of_ten(exponent: u32) -> [f64; 2] {
    let nearest: f64 = format!("1e{exponent}").parse().unwrap_or(f64::INFINITY);
    let bits = nearest.to_bits();
    let (significand, place) = (bits << 12 >> 12 | 1 << 52, (bits >> 52) as i64 - 1075);
    let whole = BigInt::from(significand);
    let whole = if place < 0 { whole >> -place } else { whole << place };
    let rest = BigInt::from(10).pow(exponent) - whole;
    [nearest, rest.to_string().parse().unwrap_or(0.0)]
}

fn float(operands: &mut Operands<'_>, x: VarId, places: u32, behind: bool) -> Result<VarId, BuildError> {
    let own = operands.graph.ty(x).dtype();
    let exact = match own {
        DType::F16 => 4,
        DType::Bf16 | DType::F32 => 10,
        _ => EXACT,
    };
    let dtype = if places > exact { DType::F64 } else { own };
    let x = operands.cast(x, dtype)?;
    let rounded = match (places, behind) {
        (..=EXACT, _) => scaled(operands, x, places, behind)?,
        (..=MOST, _) => by_pair(operands, x, places, behind)?,
        (_, true) if places <= MOST + EXACT => {
            let step = number(operands, power_of_ten(places - MOST)[0], DType::F64);
            let small = scalar_apply(operands, "mul", &[x, step])?;
            let rounded = by_pair(operands, small, MOST, true)?;
            let back = scalar_apply(operands, "div", &[rounded, step])?;
            finite_or(operands, rounded, back, x)?
        }
        // Even the smallest positive number has no decimals beyond this point.
        (_, true) => x,
        (_, false) => {
            let zero = number(operands, 0.0, DType::F64);
            let zero = scalar_apply(operands, "mul", &[x, zero])?;
            finite_or(operands, x, zero, x)?
        }
    };
    operands.cast(rounded, own)
}

fn number(operands: &mut Operands<'_>, value: f64, dtype: DType) -> VarId {
    operands.constant(Array::of(Number::Float(value), dtype))
}

/// Returns `yes` if a value is finite, otherwise `no`.
fn finite_or(operands: &mut Operands<'_>, value: VarId, yes: VarId, no: VarId) -> Result<VarId, BuildError> {
    let fits = scalar_apply(operands, "isfinite", &[value])?;
    scalar_apply(operands, "switch", &[fits, yes, no])
}

/// Rounds with a power that the dtype can hold exactly.
fn scaled(operands: &mut Operands<'_>, x: VarId, places: u32, behind: bool) -> Result<VarId, BuildError> {
    let scale = number(operands, power_of_ten(places)[0], operands.graph.ty(x).dtype());
    let [to, back] = if behind { ["mul", "div"] } else { ["div", "mul"] };
    let scaled = scalar_apply(operands, to, &[x, scale])?;
    let nearest = scalar_apply(operands, "round", &[scaled])?;
    let rounded = scalar_apply(operands, back, &[nearest, scale])?;
    if behind { finite_or(operands, scaled, rounded, x) } else { Ok(rounded) }
}

/// Rounds with a power that is the sum of two numbers.
fn by_pair(operands: &mut Operands<'_>, x: VarId, places: u32, behind: bool) -> Result<VarId, BuildError> {
    let [hi, lo] = power_of_ten(places).map(|part| number(operands, part, DType::F64));
    scalar_apply(operands, if behind { "round_decimals" } else { "round_multiples" }, &[x, hi, lo])
}

/// Rounds integers to multiples of a power of ten, using their magnitudes as u64.
fn whole(operands: &mut Operands<'_>, x: VarId, places: u32) -> Result<VarId, BuildError> {
    let own = operands.graph.ty(x).dtype();
    // Half of 10^20 exceeds every integer, so the result is 0.
    let Some(unit) = 10_u64.checked_pow(places) else { return scalar_apply(operands, "sub", &[x, x]) };
    let wide = if own.is_unsigned() { x } else { operands.cast(x, DType::I64)? };
    let size = scalar_apply(operands, "abs", &[wide])?;
    let size = operands.cast(size, DType::U64)?;
    let constant = |operands: &mut Operands<'_>, n: u64| operands.constant(Array::from(n));
    let (unit, one) = (constant(operands, unit), constant(operands, 1));
    let count = scalar_apply(operands, "floor_div", &[size, unit])?;
    let below = scalar_apply(operands, "mul", &[count, unit])?;
    let rest = scalar_apply(operands, "sub", &[size, below])?;
    let open = scalar_apply(operands, "sub", &[unit, rest])?;
    let nearer = scalar_apply(operands, "gt", &[rest, open])?;
    let tie = scalar_apply(operands, "eq", &[rest, open])?;
    let odd = scalar_apply(operands, "bitwise_and", &[count, one])?;
    let odd = operands.cast(odd, DType::Bool)?;
    let to_even = scalar_apply(operands, "logical_and", &[tie, odd])?;
    let up = scalar_apply(operands, "logical_or", &[nearer, to_even])?;
    let above = scalar_apply(operands, "add", &[below, unit])?;
    let rounded = scalar_apply(operands, "switch", &[up, above, below])?;
    let rounded = operands.cast(rounded, own)?;
    if own.is_unsigned() {
        return Ok(rounded);
    }
    let sign = scalar_apply(operands, "sign", &[x])?;
    scalar_apply(operands, "mul", &[rounded, sign])
}
