//! Printable signatures.

use precast_core::names::one_line;
use precast_graph::Type;

/// Returns a printable signature without ranks and extents: `add(f32[..], f32[..]) -> f32[..]`.
pub(super) fn print(label: &str, inputs: &[Type], outputs: &[Type]) -> String {
    let join = |types: &[Type]| types.iter().map(rankless).collect::<Vec<_>>().join(", ");
    format!("{}({}) -> {}", plain(label), join(inputs), join(outputs))
}

/// Makes the label of an op, which may contain author-written text, safe for a C comment or string.
pub(super) fn plain(label: &str) -> String {
    one_line(label).replace("*/", "* /")
}

/// Returns a type without rank and extents: `f32[..]`.
pub(super) fn rankless(ty: &Type) -> String {
    match ty {
        Type::Scalar(dtype) => dtype.to_string(),
        Type::User(user) if user.is_opaque() => user.to_string(),
        Type::User(user) => format!("{}<{}>", user.name(), rankless(&Type::Tensor(user.carrier().clone()))),
        other if other.ndim() == 0 => format!("{}[]", other.dtype()),
        other => format!("{}[..]", other.dtype()),
    }
}
