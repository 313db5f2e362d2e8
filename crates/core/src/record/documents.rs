//! The key documents of a record: one for each member, in member order.

use super::wire::{Kind, Reader, Writer};
use super::{ParseRecordError, Record};
use crate::key::{ContentId, KeyDocument, Versioned};

/// Serializes the documents of a record. Returns `None` if a member has no document.
#[must_use]
pub fn documents_bytes(record: &Record) -> Option<Vec<u8>> {
    let documents = record.members.iter().map(|member| member.document.as_ref());
    let documents: Vec<&KeyDocument> = documents.collect::<Option<_>>()?;
    let mut writer = Writer::new(Kind::Documents);
    writer.list(documents.into_iter(), write);
    Some(writer.finish())
}

/// Fills in the documents of a record and checks each against its member's key. On an error the record is unchanged.
///
/// # Errors
/// The bytes are not documents, or belong to another record.
pub fn set_documents(record: &mut Record, bytes: &[u8]) -> Result<(), ParseRecordError> {
    let mut reader = Reader::new(Kind::Documents, bytes)?;
    let documents = reader.list(read)?;
    reader.end()?;
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

fn write(writer: &mut Writer, document: &KeyDocument) {
    // Destructured without `..`, so that a new field cannot be forgotten here.
    let KeyDocument { epoch, host_abi, profile, language, ops, text, sources, flags, libraries, versions } =
        document;
    writer.u64(*epoch);
    [host_abi.name(), profile.name(), language.name()].into_iter().for_each(|name| writer.str(name));
    writer.strs(ops);
    writer.hash(text.as_bytes());
    let file = |writer: &mut Writer, (name, content): (&String, &ContentId)| {
        writer.str(name);
        writer.hash(content.as_bytes());
    };
    writer.list(sources.iter(), file);
    writer.strs(flags);
    writer.strs(libraries);
    writer.list(versions.iter(), |writer, Versioned { op, version, files }| {
        writer.str(op);
        writer.list(version.iter(), |writer, number| writer.u32(*number));
        writer.list(files.iter(), file);
    });
}

fn read(reader: &mut Reader<'_>) -> Result<KeyDocument, ParseRecordError> {
    let file = |reader: &mut Reader<'_>| Ok((reader.str()?, ContentId::from_bytes(reader.hash()?)));
    Ok(KeyDocument {
        epoch: reader.u64()?,
        host_abi: reader.parsed("unknown host ABI")?,
        profile: reader.parsed("unknown profile")?,
        language: reader.parsed("unknown language")?,
        ops: reader.strs()?,
        text: ContentId::from_bytes(reader.hash()?),
        sources: reader.list(file)?.into_iter().collect(),
        flags: reader.strs()?,
        libraries: reader.strs()?,
        versions: reader.list(|reader| {
            Ok(Versioned {
                op: reader.str()?,
                version: reader.list(Reader::u32)?,
                files: reader.list(file)?.into_iter().collect(),
            })
        })?,
    })
}
