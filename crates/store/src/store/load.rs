//! Loads and verifies an archive: decode, hash, compare.

use super::{FindError, Store};
use crate::archive::{Archive, Limits, UnpackError};
use crate::key::Digest;
use crate::record::Record;
use precast_core::event::chain;
use precast_core::trace::outcome;

/// The reason why an archive was not loaded. The first two variants are a miss for the caller, the last one is an
/// error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The object is damaged. It was quarantined if possible, and reported.
    #[error("archive `{}` is damaged: {reason}\nhint: rebuild to restore it", digest.short())]
    Damaged {
        /// The archive.
        digest: Digest,
        /// The defect.
        reason: String,
    },
    /// The object is missing.
    #[error("archive `{}` is missing\nhint: rebuild to restore it", digest.short())]
    Missing {
        /// The archive.
        digest: Digest,
    },
    /// The object cannot be read, or other users can change it.
    #[error(transparent)]
    Find(#[from] FindError),
}

impl Store {
    /// Loads the archive of a record. The result has the record's digest and size.
    ///
    /// # Errors
    ///
    /// The object is missing or damaged, or the file system refuses.
    pub fn load(&self, record: &Record) -> Result<Archive, LoadError> {
        let span = precast_core::span!("verify", variant = record.isa.as_str(), bytes = record.size; outcome);
        let loaded = self.load_object(&record.digest);
        span.record("outcome", outcome(&loaded));
        let archive = loaded?;
        check_size(archive.size(), record)?;
        Ok(archive)
    }

    /// Loads one member of a record's archive, after verifying the whole archive. `None` if it has no such member.
    ///
    /// # Errors
    ///
    /// Fails as [`Store::load`].
    pub fn load_member(&self, record: &Record, name: &str) -> Result<Option<Vec<u8>>, LoadError> {
        let span = precast_core::span!("verify", variant = record.isa.as_str(), bytes = record.size; outcome);
        let read = |frame: &[u8], limits: &Limits| Archive::member(frame, limits, name);
        let loaded = self.told(&record.digest, self.read_object(&record.digest, read));
        span.record("outcome", outcome(&loaded));
        let taken = loaded?;
        check_size(taken.size, record)?;
        Ok(taken.content)
    }

    /// Returns whether the archive of a record exists, without reading it.
    ///
    /// # Errors
    ///
    /// Other users can change it, or the file system refuses.
    pub fn holds(&self, record: &Record) -> Result<bool, FindError> {
        let path = self.paths.object(&record.digest);
        if !path.parent().map_or(Ok(false), |shard| self.has_dir(shard))? {
            return Ok(false);
        }
        Ok(self
            .judged(&path, crate::trust::look(&path, self.protection))?
            .is_some_and(|found| found.is_file()))
    }

    fn load_object(&self, digest: &Digest) -> Result<Archive, LoadError> {
        self.told(digest, self.read_object(digest, Archive::unpack))
    }

    /// Reads an object with `read`. Its result is only used if the digest matches.
    pub(super) fn read_object<T>(
        &self,
        digest: &Digest,
        read: impl FnOnce(&[u8], &Limits) -> Result<(Digest, T), UnpackError>,
    ) -> Result<T, LoadError> {
        let limits = Limits::default();
        let Some(frame) = self.read(&self.paths.object(digest), limits.size)? else {
            return Err(LoadError::Missing { digest: *digest });
        };
        let reason = match read(&frame.bytes, &limits) {
            Ok((found, content)) if found == *digest => return Ok(content),
            Ok((found, _)) => format!("its content hashes to `{}`", found.short()),
            Err(error) => chain(&error),
        };
        Err(LoadError::Damaged { digest: *digest, reason })
    }

    /// Reports a damaged object and moves it away.
    pub(super) fn told<T>(&self, digest: &Digest, read: Result<T, LoadError>) -> Result<T, LoadError> {
        if let Err(LoadError::Damaged { reason, .. }) = &read {
            self.damaged(&self.paths.object(digest), reason.clone());
        }
        read
    }
}

/// Checks the length of a tar against its record.
fn check_size(found: u64, record: &Record) -> Result<(), LoadError> {
    if found == record.size {
        return Ok(());
    }
    let reason = format!("found a tar of {found} bytes, expected {} from its record", record.size);
    Err(LoadError::Damaged { digest: record.digest, reason })
}
