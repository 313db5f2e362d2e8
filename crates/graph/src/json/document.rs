//! The serde types of the document: names and shapes of the fields, without their meaning.
//!
//! Unknown fields are rejected everywhere, so that a misspelt field is an error and not a silent default.

use super::prop::PropDocument;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// Props by name.
pub(super) type PropsDocument = BTreeMap<String, PropDocument>;

/// A graph.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GraphDocument {
    pub(super) precast_graph: u64,
    pub(super) inputs: Vec<InputDocument>,
    #[serde(default)]
    pub(super) constants: Vec<ConstantDocument>,
    #[serde(default)]
    pub(super) applies: Vec<ApplyDocument>,
    pub(super) outputs: Vec<OutputDocument>,
}

/// The version alone. It is read first, because a newer document may have other fields.
#[derive(Debug, Deserialize)]
pub(super) struct VersionDocument {
    pub(super) precast_graph: u64,
}

/// An input; its name is its id.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct InputDocument {
    pub(super) name: String,
    #[serde(rename = "type")]
    pub(super) ty: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ConstantDocument {
    pub(super) id: String,
    #[serde(rename = "type")]
    pub(super) ty: String,
    pub(super) shape: Vec<u64>,
    pub(super) bits: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<String>,
}

/// A constant's value; its type has every extent fixed.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ArrayDocument {
    #[serde(rename = "type")]
    pub(super) ty: String,
    pub(super) bits: Vec<String>,
}

/// An op: its name and props.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OpDocument {
    pub(super) op: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "unique")]
    pub(super) props: PropsDocument,
}

/// A use of an op.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ApplyDocument {
    pub(super) op: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "unique")]
    pub(super) props: PropsDocument,
    pub(super) inputs: Vec<String>,
    pub(super) outputs: Vec<ResultDocument>,
}

/// An output of an Apply.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ResultDocument {
    pub(super) id: String,
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub(super) ty: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<String>,
}

/// An output of the graph.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OutputDocument {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<String>,
    pub(super) value: String,
    /// The declared type, if it differs from that of the value.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub(super) ty: Option<String>,
}

/// Reads props and rejects duplicate names; serde's own map reader would silently keep the last one.
fn unique<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PropsDocument, D::Error> {
    struct Unique;

    impl<'de> Visitor<'de> for Unique {
        type Value = PropsDocument;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object of props")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<PropsDocument, A::Error> {
            let mut props = PropsDocument::new();
            while let Some((name, prop)) = map.next_entry::<String, PropDocument>()? {
                if props.contains_key(&name) {
                    return Err(A::Error::custom(format!("duplicate prop `{name}`")));
                }
                props.insert(name, prop);
            }
            Ok(props)
        }
    }

    deserializer.deserialize_map(Unique)
}
