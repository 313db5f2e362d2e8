//! A small op library for tests of crates below `precast-ops`: the usual names, props and type rules, with values in
//! plain f64 arithmetic.
//!
//! | ops | props |
//! |---|---|
//! | `neg exp log sqrt tanh invert`, `add sub mul div floor_div mod pow maximum`, comparisons, `bitwise_and/or/xor`, `left_shift`, `right_shift`, `switch` | – |
//! | `cast` | `dtype` |
//! | `sum` | `axis` (a list; absent: all), `keepdims` |
//! | `dot` (rank 2 with rank 2 or 1) | – |
//! | `minmax`: two outputs | – |
//! | `composite`: a graph as an op | `graph` |
//! | `map`: another op, pointwise | `op` |
//!
//! Not a model of accuracy: integers are computed in f64, and rounding is not exact.

mod library;
mod pointwise;
mod reduce;
mod wrap;

pub use library::ToyLibrary;
pub use wrap::Composite;

use precast_graph::{Array, DType};

/// The dtypes that toy ops compute with.
pub const DTYPES: [DType; 4] = [DType::Bool, DType::I64, DType::F32, DType::F64];

/// Returns the elements as f64; booleans as 0 and 1.
fn to_f64(array: &Array) -> ndarray::ArrayD<f64> {
    match array {
        Array::Bool(a) => a.mapv(|x| f64::from(u8::from(x))),
        Array::I64(a) => a.mapv(|x| x as f64),
        Array::F32(a) => a.mapv(f64::from),
        Array::F64(a) => a.clone(),
        other => panic!("the toy ops have no {}", other.dtype()),
    }
}

/// Converts the elements to a dtype: integers saturate, NaN becomes integer 0, and nonzero values become true.
fn from_f64(values: &ndarray::ArrayD<f64>, dtype: DType) -> Array {
    match dtype {
        DType::Bool => Array::from(values.mapv(|x| x != 0.0)),
        DType::I64 => Array::from(values.mapv(|x| x as i64)),
        DType::F32 => Array::from(values.mapv(|x| x as f32)),
        DType::F64 => Array::from(values.clone()),
        other => panic!("the toy ops have no {other}"),
    }
}
