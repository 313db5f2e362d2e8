//! The canonical CEP 1000 string of a graph's types.
//!
//! Fields follow PEP 3118: `?` bool, `q` i64, `f` f32, `d` f64; `&` before a field is a pointer to a tensor of it. The
//! arguments come first, then `)`, then the results: `add(f32[..], f32[..]) -> f32[..]` is `&f&f)&f`.

use precast_graph::{DType, Type};

/// The CEP 1000 string of a graph that takes `inputs` and gives `outputs`.
#[must_use]
pub fn native_signature(inputs: &[Type], outputs: &[Type]) -> String {
    let fields = |types: &[Type]| types.iter().map(field).collect::<String>();
    format!("{}){}", fields(inputs), fields(outputs))
}

fn field(ty: &Type) -> String {
    let code = match ty.dtype() {
        DType::Bool => '?',
        DType::I64 => 'q',
        DType::F32 => 'f',
        DType::F64 => 'd',
    };
    if matches!(ty, Type::Scalar(_)) { code.to_string() } else { format!("&{code}") }
}
