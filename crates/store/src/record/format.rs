//! The JSON around a record and an entry: the format's number first, so that a reader can refuse what is newer than it is.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize, Serializer, ser::SerializeMap};

use crate::key::BuildKey;

/// The format of records and entries that this crate writes, and the newest that it reads.
pub const FORMAT: u32 = 1;

/// Says why bytes are not a record or an entry.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ParseRecordError {
    /// The JSON is damaged or has another form.
    #[error("not a {what} in JSON")]
    Json {
        /// What was expected.
        what: &'static str,
        /// What the parser said.
        source: serde_json::Error,
    },
    /// A newer precast wrote it.
    #[error(
        "found a {what} of format {found}, expected at most {FORMAT}\nhint: a newer precast wrote it; update this one"
    )]
    Newer {
        /// What was expected.
        what: &'static str,
        /// The format's number.
        found: u32,
    },
    /// The bytes are not the ones that this record is written as.
    #[error("the JSON is not in canonical form")]
    NotCanonical,
    /// A key or a slot is used by two members.
    #[error("two members share key `{}` or slot {slot}", key.short())]
    Twice {
        /// The key of the second member.
        key: BuildKey,
        /// The slot of the second member.
        slot: u32,
    },
    /// A document is not the preimage of its member's key.
    #[error("the document of member `{}` hashes to another key", key.short())]
    Document {
        /// The member's key.
        key: BuildKey,
    },
    /// The documents are fewer or more than the members.
    #[error("found {found} documents, expected {expected}")]
    DocumentCount {
        /// How many there are.
        found: usize,
        /// How many members there are.
        expected: usize,
    },
}

struct Framed<'a, T> {
    what: &'static str,
    body: &'a T,
}

impl<T: Serialize> Serialize for Framed<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("format", &FORMAT)?;
        map.serialize_entry(self.what, self.body)?;
        map.end()
    }
}

/// Renders `{"format":1,"<what>":<body>}`.
pub(super) fn render<T: Serialize>(what: &'static str, body: &T) -> Vec<u8> {
    let mut bytes = Vec::new();
    // Neither a `Vec` nor the types written here can fail: all map keys are strings.
    if serde_json::to_writer(&mut bytes, &Framed { what, body }).is_err() {
        bytes.clear();
    }
    bytes
}

/// Reads what [`render`] wrote.
pub(super) fn parse<T: DeserializeOwned>(what: &'static str, bytes: &[u8]) -> Result<T, ParseRecordError> {
    #[derive(Deserialize)]
    struct Peek {
        format: u32,
    }
    let refuse = |source| ParseRecordError::Json { what, source };
    // Everything older than the present format would be read here, for ever.
    let body = match bytes.strip_prefix(format!("{{\"format\":{FORMAT},\"{what}\":").as_bytes()) {
        Some(body) => body.strip_suffix(b"}").ok_or(ParseRecordError::NotCanonical)?,
        None => {
            let Peek { format: found } = serde_json::from_slice(bytes).map_err(refuse)?;
            return Err(match found {
                _ if found > FORMAT => ParseRecordError::Newer { what, found },
                _ => ParseRecordError::NotCanonical,
            });
        }
    };
    serde_json::from_slice(body).map_err(refuse)
}
