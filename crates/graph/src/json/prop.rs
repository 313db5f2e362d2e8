//! Props in JSON: plain values as literals, the other kinds as an object with one field that names the kind.

use super::document::{ArrayDocument, GraphDocument, OpDocument};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;

#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum PropDocument {
    Bool(bool),
    Int(i64),
    Str(String),
    List(Vec<Self>),
    Named(NamedProp),
}

/// The kinds without a JSON literal.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum NamedProp {
    DType(String),
    /// 16 hex digits of the bits, so that no digit is lost and NaN is an ordinary value.
    Float(String),
    Array(ArrayDocument),
    Op(OpDocument),
    Graph(Box<GraphDocument>),
}

impl<'de> Deserialize<'de> for PropDocument {
    // Implemented by hand, because serde's untagged enums do not report which field was wrong.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PropVisitor)
    }
}

struct PropVisitor;

impl<'de> Visitor<'de> for PropVisitor {
    type Value = PropDocument;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "a boolean, an integer, a string, a list, or an object with `dtype`, `float`, `array`, `op` or \
                     `graph`",
        )
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<PropDocument, E> {
        Ok(PropDocument::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<PropDocument, E> {
        Ok(PropDocument::Int(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<PropDocument, E> {
        i64::try_from(value)
            .map(PropDocument::Int)
            .map_err(|_| E::custom(format!("integer `{value}` does not fit into i64")))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<PropDocument, E> {
        Ok(PropDocument::Str(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<PropDocument, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(PropDocument::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<PropDocument, A::Error> {
        NamedProp::deserialize(MapAccessDeserializer::new(map)).map(PropDocument::Named)
    }
}
