//! The canonical CEP 1000 string of a graph's types.
//!
//! Fields follow PEP 3118 ([`precast_graph::DType::pep3118`]): `q` i64, `d` f64, `Zf` c64; `&` before a field is a pointer to a
//! tensor of it. The arguments come first, then `)`, then the results: `add(f32[..], f32[..]) -> f32[..]` is `&f&f)&f`. A
//! user type is its carrier under its name, as PEP 3118 names a field: `double<f64[]>` is `&d:double:`.

use precast_graph::Type;

/// The CEP 1000 string of a graph that takes `inputs` and gives `outputs`.
#[must_use]
pub fn native_signature(inputs: &[Type], outputs: &[Type]) -> String {
    let fields = |types: &[Type]| types.iter().map(field).collect::<String>();
    format!("{}){}", fields(inputs), fields(outputs))
}

fn field(ty: &Type) -> String {
    let code = ty.dtype().pep3118();
    match ty {
        Type::Scalar(_) => code.to_owned(),
        Type::User(user) => format!("&{code}:{}:", user.name()),
        _ => format!("&{code}"),
    }
}
