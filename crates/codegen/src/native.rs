//! The canonical CEP 1000 signature of a graph's types.
//!
//! Fields follow PEP 3118 ([`precast_graph::DType::pep3118`]): `q` i64, `d` f64, `Zf` c64. `#` before a field is a
//! `pc_tensor *` with such elements, of any rank. The arguments come first, then `)`, then the results. For example,
//! `add(f32[..], f32[..]) -> f32[..]` is `#f#f)#f`. A user type is replaced by its carrier, since names are not part of
//! a signature: `double<f64[]>` is `#d`. The grammar is in [`precast_abi::nativecall`]. A text longer than its limit
//! cannot be added to a table.

use precast_graph::Type;

/// Returns the CEP 1000 signature of a graph with these inputs and outputs.
#[must_use]
pub fn native_signature(inputs: &[Type], outputs: &[Type]) -> String {
    let fields = |types: &[Type]| types.iter().map(field).collect::<String>();
    format!("{}){}", fields(inputs), fields(outputs))
}

fn field(ty: &Type) -> String {
    let code = ty.dtype().pep3118();
    match ty {
        Type::Scalar(_) => code.to_owned(),
        _ => format!("#{code}"),
    }
}

#[cfg(test)]
mod tests {
    use super::native_signature;
    use precast_abi::nativecall::Signature;
    use precast_graph::{DType, Type};

    #[test]
    fn every_type_maps_to_a_signature_field() {
        for dtype in DType::ALL {
            let types = [
                Type::Scalar(dtype),
                Type::tensor(dtype, 2),
                format!("price<{}[?]>", dtype.name()).parse().unwrap(),
            ];
            let text = native_signature(&types, &types[..1]);
            let signature = Signature::parse(&text).unwrap();
            assert_eq!(signature.prototype().arguments.len(), 3, "{text}");
            let code = dtype.pep3118();
            assert_eq!(text, format!("{code}#{code}#{code}){code}"));
        }
    }
}
