//! Exports entries and modules from a store.

use std::collections::{BTreeMap, BTreeSet};

use super::{Export, SIGNED};
use crate::archive::PackError;
use crate::event::Event;
use crate::key::BuildKey;
use crate::record::{Entry, Record, documents_bytes};
use crate::store::{FindError, LoadError, Store};

/// The modules that entries call, each with the name of a calling entry and the module's signature.
pub(crate) type Called = BTreeMap<BuildKey, (String, String)>;

/// The reason why an export failed. A damaged artifact is an error: the target may have no way to rebuild it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The store cannot be read.
    #[error("cannot read the store")]
    Find(#[from] FindError),
    /// The store is damaged, so the export would lack an entry.
    #[error("{event}\nhint: build or import it again, then export")]
    Damaged {
        /// The damage.
        event: Event,
    },
    /// An entry does not exist.
    #[error("the store has no entry `{name}`; available: {known}")]
    Unknown {
        /// The entry's name.
        name: String,
        /// The existing entries' names.
        known: String,
    },
    /// No record has a module that an entry calls.
    #[error("the store has no module `{signature}`, which entry `{name}` calls\nhint: build it first")]
    MissingModule {
        /// The entry.
        name: String,
        /// The module.
        signature: String,
    },
    /// An archive is lost or damaged.
    #[error("cannot export `{signature}`")]
    Load {
        /// The record's first module.
        signature: String,
        /// The load error.
        source: LoadError,
    },
    /// A record has lost its documents.
    #[error("missing documents of `{signature}`\nhint: rebuild to restore them")]
    Undocumented {
        /// The record's first module.
        signature: String,
    },
    /// An archive cannot be packed.
    #[error(transparent)]
    Pack(#[from] PackError),
}

impl Store {
    /// Exports the named entries and all records of the modules that they call; without names, the whole store.
    /// Superseded records stay behind.
    ///
    /// The output is deterministic: the same store yields the same bytes.
    ///
    /// # Errors
    ///
    /// An entry does not exist, or exported data is lost or damaged.
    pub fn export(&self, names: Option<&BTreeSet<String>>) -> Result<Export, ExportError> {
        let mut members = BTreeMap::new();
        let (entries, wanted) = self.chosen(names)?;
        for entry in &entries {
            let signed = self.signed_entry(entry)?;
            put(&mut members, "entries", &entry.id().to_string(), signed.bytes, signed.signatures);
        }
        let mut had: BTreeSet<BuildKey> = BTreeSet::new();
        for record in self.records() {
            let record = record?;
            let is_wanted = record.members.iter().any(|member| wanted.contains_key(&member.key));
            if (names.is_none() || is_wanted) && !self.is_superseded(&record)? {
                had.extend(record.members.iter().map(|member| member.key));
                self.export_record(&mut members, &record)?;
            }
        }
        match wanted.into_iter().find(|(key, _)| !had.contains(key)) {
            Some((_, (name, signature))) => Err(ExportError::MissingModule { name, signature }),
            None => Ok(Export::of(members)),
        }
    }

    /// Returns all entries, of served releases or as last published, and fails if one is lost or damaged.
    ///
    /// # Errors
    ///
    /// The store cannot be read, or an entry is lost or damaged.
    pub fn intact_entries(&self) -> Result<Vec<Entry>, ExportError> {
        let (quiet, heard) = self.quiet();
        let entries = quiet.entries()?;
        quiet.lost_entries()?;
        for event in heard.take() {
            match event {
                Event::Damaged { .. } => return Err(ExportError::Damaged { event }),
                event => self.tell(&event),
            }
        }
        Ok(entries)
    }

    /// Returns the named entries (all without names) and the modules that they call.
    pub(crate) fn chosen(
        &self,
        names: Option<&BTreeSet<String>>,
    ) -> Result<(Vec<Entry>, Called), ExportError> {
        let mut entries = if names.is_none() { self.intact_entries()? } else { self.entries()? };
        if let Some(name) = names.into_iter().flatten().find(|name| entries.iter().all(|e| e.name != **name))
        {
            let known: Vec<String> = entries.into_iter().map(|entry| entry.name).collect();
            return Err(ExportError::Unknown { name: name.clone(), known: known.join(", ") });
        }
        entries.retain(|entry| names.is_none_or(|names| names.contains(&entry.name)));
        let mut called = Called::new();
        for entry in &entries {
            for step in &entry.program.steps {
                called.insert(step.key, (entry.name.clone(), step.signatures.join("; ")));
            }
        }
        Ok((entries, called))
    }

    fn export_record(
        &self,
        members: &mut BTreeMap<String, Vec<u8>>,
        record: &Record,
    ) -> Result<(), ExportError> {
        let signature = || record.members.first().map(|member| member.signature.clone()).unwrap_or_default();
        let archive =
            self.load(record).map_err(|source| ExportError::Load { signature: signature(), source })?;
        let documents =
            documents_bytes(record).ok_or_else(|| ExportError::Undocumented { signature: signature() })?;
        let (id, signed) = (record.id().to_string(), self.signed_of(record)?);
        members.insert(format!("documents/{id}"), documents);
        members.insert(format!("objects/{}", record.digest), archive.pack()?.1);
        put(members, "records", &id, signed.bytes, signed.signatures);
        if let Some(statement) = self.find_provenance(record)? {
            members.insert(format!("provenance/{id}"), statement.into_bytes());
        }
        Ok(())
    }
}

fn put(members: &mut BTreeMap<String, Vec<u8>>, kind: &str, id: &str, bytes: Vec<u8>, signatures: String) {
    members.insert(format!("{kind}/{id}"), bytes);
    if !signatures.is_empty() {
        members.insert(format!("{SIGNED}{id}"), signatures.into_bytes());
    }
}
