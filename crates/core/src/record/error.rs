//! Why bytes are no record, documents or entry.

use super::wire::FORMAT;
use crate::key::BuildKey;

/// Says why bytes are not a record, its documents or an entry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseRecordError {
    /// The bytes are damaged or have another form.
    #[error("not {}: {why}", article(what))]
    Malformed {
        /// What was expected.
        what: &'static str,
        /// What is wrong with the bytes.
        why: &'static str,
    },
    /// Another precast wrote it.
    #[error(
        "found {} of format {found}, expected {FORMAT}\nhint: another version of precast wrote it; build it again with this one, or update",
        article(what)
    )]
    Format {
        /// What was expected.
        what: &'static str,
        /// The format's number.
        found: u32,
    },
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

/// Puts the article before a noun that a message needs.
fn article(what: &str) -> String {
    match what {
        "entry" => "an entry".to_owned(),
        "documents" => what.to_owned(),
        _ => format!("a {what}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_has_the_article_of_its_noun() {
        for (what, expected) in
            [("record", "not a record: x"), ("entry", "not an entry: x"), ("documents", "not documents: x")]
        {
            assert_eq!(ParseRecordError::Malformed { what, why: "x" }.to_string(), expected);
        }
    }
}
