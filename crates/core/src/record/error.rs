//! The errors of parsing records, documents and entries.

use super::wire::{FORMAT, WITH_GENERATION};
use crate::key::BuildKey;

/// The reason why bytes are not a record, its documents or an entry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseRecordError {
    /// The bytes are damaged or have another form.
    #[error("not {}: {why}", article(what))]
    Malformed {
        /// The expected kind.
        what: &'static str,
        /// The defect.
        why: &'static str,
    },
    /// The data has an unknown format version.
    #[error(
        "found {} of format {found}, expected {FORMAT} or {WITH_GENERATION}\nhint: rebuild it with \
         this version of precast, or update precast",
        article(what)
    )]
    Format {
        /// The expected kind.
        what: &'static str,
        /// The format version found.
        found: u32,
    },
    /// Two members have the same key or slot.
    #[error("two members have the same key `{}` or slot {slot}", key.short())]
    Twice {
        /// The key of the second member.
        key: BuildKey,
        /// The slot of the second member.
        slot: u32,
    },
    /// The document of a member does not hash to the member's key.
    #[error("key mismatch in the document of member `{}`", key.short())]
    Document {
        /// The member's key.
        key: BuildKey,
    },
    /// The number of documents differs from the number of members.
    #[error("found {found} documents, expected {expected}")]
    DocumentCount {
        /// The number of documents.
        found: usize,
        /// The number of members.
        expected: usize,
    },
}

/// Puts the article before a noun that a message needs.
fn article(what: &str) -> String {
    match what {
        "entry" => "an entry".to_owned(),
        "documents" | "metadata" => what.to_owned(),
        _ => format!("a {what}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_uses_the_right_article() {
        for (what, expected) in [
            ("record", "not a record: x"),
            ("entry", "not an entry: x"),
            ("documents", "not documents: x"),
            ("metadata", "not metadata: x"),
        ] {
            assert_eq!(ParseRecordError::Malformed { what, why: "x" }.to_string(), expected);
        }
    }
}
