//! The signatures of single records and entries in an export. A store that is read under a keyring serves only records
//! and entries that enough keys have signed, whatever signed the export as a whole.

use super::import::{ImportError, entry};
use super::{Export, Release, SIGNED};
use crate::keyring::{Key, Keyring, KeyringError, merged, with_signature};
use crate::store::{DeployError, Served, Store, name_of_entry, name_of_record};

impl Export {
    /// Adds the signatures of `key` to every record and entry. `sign` gets the bytes and their name. The statement does
    /// not cover these signatures, so other signatures of the export stay valid.
    ///
    /// # Errors
    ///
    /// `sign` fails, its result is not a signature by `key`, or a member is invalid.
    pub fn sign_items<E: From<KeyringError> + From<ImportError>>(
        &mut self,
        key: &Key,
        sign: impl Fn(&[u8], &str) -> Result<String, E>,
    ) -> Result<(), E> {
        let mut signed = Vec::new();
        for Signable { id, name, bytes } in self.signable()? {
            let present = self.signatures_of(id)?;
            let text = with_signature(bytes, key, &present, &sign(bytes, &name)?)?;
            signed.push((format!("{SIGNED}{id}"), text.into_bytes()));
        }
        self.0.members.extend(signed);
        Ok(())
    }

    /// Checks that a store with these records and entries would serve all of them under `keyring`. The signatures that
    /// `store` has count too.
    ///
    /// # Errors
    ///
    /// Too few keys have signed a record or an entry, a member is invalid, or the store cannot be read.
    pub fn check_served(&self, keyring: &Keyring, store: Option<&Store>) -> Result<(), ImportError> {
        let items = self.signable()?;
        let (total, mut first, mut count) = (items.len(), None, 0);
        for Signable { id, name, bytes } in items {
            let stored = store.map(|store| store.signatures_of_bytes(bytes)).transpose()?.unwrap_or_default();
            let all = merged(&stored, &self.signatures_of(id)?, Some((keyring, bytes)));
            if let Err(unsigned) = keyring.check(bytes, &all) {
                count += 1;
                first.get_or_insert((name, unsigned));
            }
        }
        match first {
            None => Ok(()),
            Some((name, unsigned)) => Err(ImportError::Unserved { count, total, name, unsigned }),
        }
    }

    /// Checks that a store can serve the release of this export after the import: no release of another name serves one
    /// of its entries.
    ///
    /// # Errors
    ///
    /// Another release serves an entry, the export has no entries, a member is invalid, or the store cannot be read.
    pub fn check_switch(&self, release: &Release, store: Option<&Store>) -> Result<(), ImportError> {
        let entries = self.below("entries").map(|(id, bytes)| entry(id, bytes));
        let served: Served = entries
            .map(|entry| entry.map(|entry| (entry.name.clone(), entry.id())))
            .collect::<Result<_, _>>()?;
        if served.is_empty() {
            return Err(DeployError::Empty.into());
        }
        Ok(store.map_or(Ok(()), |store| store.check_unshared(release, &served))?)
    }

    /// Lists the records and entries.
    fn signable(&self) -> Result<Vec<Signable<'_>>, ImportError> {
        let records = self
            .below("records")
            .map(|(id, bytes)| Ok(Signable { id, name: name_of_record(&self.record(id, bytes)?), bytes }));
        let entries = self
            .below("entries")
            .map(|(id, bytes)| Ok(Signable { id, name: name_of_entry(&entry(id, bytes)?), bytes }));
        records.chain(entries).collect()
    }
}

/// A record or an entry that is signed on its own.
struct Signable<'a> {
    id: &'a str,
    /// The name for messages.
    name: String,
    bytes: &'a [u8],
}
