//! The key documents that stand beside a record: a JSON array, one document a member, in the members' order.

use super::{ParseRecordError, Record};
use crate::key::KeyDocument;

/// Renders the documents of a record, or `None` when a member has none.
pub(crate) fn documents_bytes(record: &Record) -> Option<Vec<u8>> {
    let documents: Option<Vec<&KeyDocument>> =
        record.members.iter().map(|member| member.document.as_ref()).collect();
    serde_json::to_vec(&documents?).ok()
}

/// Fills in the documents of a record and checks each against its member's key. On an error the record stays as it was.
pub(crate) fn set_documents(record: &mut Record, bytes: &[u8]) -> Result<(), ParseRecordError> {
    let documents: Vec<KeyDocument> = serde_json::from_slice(bytes)
        .map_err(|source| ParseRecordError::Json { what: "list of documents", source })?;
    if documents.len() != record.members.len() {
        let (found, expected) = (documents.len(), record.members.len());
        return Err(ParseRecordError::DocumentCount { found, expected });
    }
    let wrong = record.members.iter().zip(&documents).find(|(member, document)| document.key() != member.key);
    if let Some((member, _)) = wrong {
        return Err(ParseRecordError::Document { key: member.key });
    }
    for (member, document) in record.members.iter_mut().zip(documents) {
        member.document = Some(document);
    }
    Ok(())
}
