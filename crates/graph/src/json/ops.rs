//! Resolves the ops and props of a document through the library.

use super::ParseJsonError;
use super::document::PropsDocument;
use super::parse::{array_value, build};
use super::prop::{NamedProp, PropDocument};
use crate::nearest::nearest;
use crate::op::{Op, OpLibrary, Prop, Props};
use std::sync::Arc;

/// Looks up the op with this name and these props; `place` is the path of the object that contains them.
pub(super) fn resolve_op(
    name: &str,
    props: &PropsDocument,
    library: &dyn OpLibrary,
    place: &str,
) -> Result<Arc<dyn Op>, ParseJsonError> {
    let mut resolved = Props::new();
    for (name, prop) in props {
        resolved.insert(name.clone(), resolve_prop(prop, library, &format!("{place}.props.{name}"))?);
    }
    match library.op(name, &resolved) {
        Some(Ok(op)) => Ok(op),
        Some(Err(source)) => Err(ParseJsonError::MakeNode { place: place.to_owned(), source }),
        None => {
            let known = library.names();
            // The text form may have a function with exactly this name that is not an op of the JSON form.
            let others = known.iter().map(String::as_str).filter(|known| *known != name);
            let nearest = nearest(name, others).map(str::to_owned);
            Err(ParseJsonError::UnknownOp { place: format!("{place}.op"), found: name.to_owned(), nearest })
        }
    }
}

fn resolve_prop(prop: &PropDocument, library: &dyn OpLibrary, place: &str) -> Result<Prop, ParseJsonError> {
    Ok(match prop {
        PropDocument::Bool(value) => Prop::Bool(*value),
        PropDocument::Int(value) => Prop::Int(*value),
        PropDocument::Str(value) => Prop::Str(value.clone()),
        PropDocument::List(items) => {
            let item = |(i, item)| resolve_prop(item, library, &format!("{place}[{i}]"));
            Prop::List(items.iter().enumerate().map(item).collect::<Result<_, _>>()?)
        }
        PropDocument::Named(NamedProp::DType(name)) => Prop::DType(
            name.parse()
                .map_err(|source| ParseJsonError::DType { place: format!("{place}.dtype"), source })?,
        ),
        PropDocument::Named(NamedProp::Float(bits)) => Prop::Float(float(bits, place)?),
        PropDocument::Named(NamedProp::Array(array)) => {
            Prop::Array(array_value(array, &format!("{place}.array"))?)
        }
        PropDocument::Named(NamedProp::Op(op)) => {
            Prop::Op(resolve_op(&op.op, &op.props, library, &format!("{place}.op"))?)
        }
        PropDocument::Named(NamedProp::Graph(graph)) => {
            Prop::Graph(Arc::new(build(graph, library, &format!("{place}.graph."))?))
        }
    })
}

fn float(text: &str, place: &str) -> Result<f64, ParseJsonError> {
    let hex = text.len() == 16 && text.bytes().all(|b| b.is_ascii_hexdigit());
    let bits = u64::from_str_radix(text, 16).ok().filter(|_| hex);
    bits.map(f64::from_bits).ok_or_else(|| ParseJsonError::Constant {
        place: format!("{place}.float"),
        problem: format!("invalid `f64` `{text}`: expected 16 hex digits"),
    })
}
