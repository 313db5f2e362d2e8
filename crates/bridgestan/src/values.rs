//! JSON values, as CmdStan writes them, to arrays of a variable.

use crate::error::Error;
use precast_core::{Array, DType};
use precast_density::Variable;
use serde_json::{Map, Value};

/// Parses a JSON object. An empty text is an empty object.
pub(crate) fn object(text: &str) -> Result<Map<String, Value>, Error> {
    if text.trim().is_empty() {
        return Ok(Map::new());
    }
    match serde_json::from_str(text).map_err(Error::Json)? {
        Value::Object(map) => Ok(map),
        _ => Err(Error::NoObject),
    }
}

/// Converts nested JSON arrays to the array of a variable, with any extents of its rank.
pub(crate) fn array(variable: &Variable, value: &Value) -> Result<Array, Error> {
    let wrong = |reason: String| Error::Value { name: variable.name.clone(), reason };
    let (mut shape, mut numbers) = (Vec::new(), Vec::new());
    let mut inner = value;
    while let Value::Array(rows) = inner {
        shape.push(rows.len());
        match rows.first() {
            Some(first) => inner = first,
            None => break,
        }
    }
    // An empty array says nothing about the inner extents.
    if shape.contains(&0) && variable.size() == 0 {
        shape.clone_from(&variable.shape);
    } else if shape.contains(&0) {
        shape.resize(variable.shape.len(), 0);
    }
    if shape.len() != variable.shape.len() {
        return Err(wrong(format!("has rank {}, expected {}", shape.len(), variable.shape.len())));
    }
    if !shape.contains(&0) {
        gather(value, &shape, &mut numbers).map_err(wrong)?;
    }
    typed(variable, shape, numbers).map_err(wrong)
}

/// Converts numbers in C order to the array of a variable.
pub(crate) fn typed(variable: &Variable, shape: Vec<usize>, numbers: Vec<f64>) -> Result<Array, String> {
    let dtype: DType = match variable.dtype.as_str() {
        "float64" => DType::F64,
        "float32" => DType::F32,
        "bool" => DType::Bool,
        integer => {
            let short = integer.replace("uint", "u").replace("int", "i");
            if let Some(fraction) = numbers.iter().find(|number| number.fract() != 0.0) {
                return Err(format!("has the element {fraction}, expected integers"));
            }
            short.parse().map_err(|_| format!("has the unknown dtype {integer}"))?
        }
    };
    let array = ndarray::ArrayD::from_shape_vec(shape, numbers).map_err(|error| error.to_string())?;
    let array = Array::from(array);
    let cast = array.cast(dtype);
    let is_float = matches!(dtype, DType::F64 | DType::F32);
    if is_float || cast.cast(DType::F64) == array {
        Ok(cast)
    } else {
        Err(format!("has an element that {} cannot hold", variable.dtype))
    }
}

/// Appends the numbers of nested arrays in C order.
fn gather(value: &Value, shape: &[usize], numbers: &mut Vec<f64>) -> Result<(), String> {
    match (value, shape) {
        (Value::Array(rows), [extent, inner @ ..]) if rows.len() == *extent => {
            rows.iter().try_for_each(|row| gather(row, inner, numbers))
        }
        (Value::Array(_), _) | (_, [_, ..]) => Err("is ragged".to_owned()),
        (value, []) => {
            numbers.push(number(value).ok_or_else(|| format!("has the element {value}, expected a number"))?);
            Ok(())
        }
    }
}

/// Returns a number, which CmdStan writes as a text if it is not finite.
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::Bool(truth) => Some(f64::from(u8::from(*truth))),
        Value::String(text) => match text.to_ascii_lowercase().as_str() {
            "nan" => Some(f64::NAN),
            "inf" | "+inf" | "infinity" | "+infinity" => Some(f64::INFINITY),
            "-inf" | "-infinity" => Some(f64::NEG_INFINITY),
            _ => None,
        },
        _ => None,
    }
}
