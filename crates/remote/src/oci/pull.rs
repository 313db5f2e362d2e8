//! Pulls a release from a registry. Every blob is checked against its digest, and the manifest against the requested
//! digest.

use std::sync::{Mutex, MutexGuard, PoisonError};

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use oci_client::Reference;
use oci_client::manifest::{ImageIndexEntry, OCI_IMAGE_MEDIA_TYPE, OciDescriptor, OciImageManifest};
use precast_store::remote::RemoteError;
use precast_store::{Keyring, Unsigned};
use sha2::{Digest as _, Sha256};

use super::spool::Spool;
use super::{
    AT_ONCE, At, CREATED, ENVELOPE, Kind, MANIFEST, Registry, SIGNATURES, TITLE, hex, is_digest, sha256,
};
use crate::wait::wait;

/// The maximum size of a release in bytes, the same as for an export. A long release stays in a file until its
/// signatures are verified.
const LONGEST: u64 = 8 << 30;

/// The maximum size of a release's signatures, in bytes.
const LONGEST_SIGNATURES: u64 = precast_store::keyring::SIGNATURES_LIMIT;

/// The maximum size in bytes of layers that are fetched together, in memory. Longer layers are streamed one by one.
/// The layers that precast pushes are shorter.
const SMALL: u64 = 1 << 20;

/// The maximum number of layers of a release.
const LAYERS: usize = 1 << 16;

/// The maximum number of signature manifests that are read: the newest.
const SIGNERS: usize = 64;

/// The maximum number of envelopes that are read, and the maximum size of each in bytes.
const ENVELOPES: usize = 8;
const LONGEST_ENVELOPE: u64 = 16 << 20;

/// A release with its pushed content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Release {
    /// The digest of its manifest.
    pub digest: String,
    /// The kind of release.
    pub kind: Kind,
    /// The name of its file, without directories.
    pub name: String,
    /// The content of its file.
    pub bytes: Vec<u8>,
    /// The signatures of the file, in `.minisig` form. They are not verified; readers decide whether to trust them.
    pub signatures: String,
    /// The DSSE envelopes that refer to the release. They are not verified, and may be about other files.
    pub envelopes: Vec<String>,
}

/// A fetched release whose signatures are not verified yet.
#[derive(Debug)]
pub struct Fetched {
    place: String,
    digest: String,
    kind: Kind,
    name: String,
    spool: Spool,
    signatures: String,
    envelopes: Vec<String>,
}

impl Fetched {
    /// Returns the kind that the manifest states.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Checks that enough keys have signed the bytes of a bundle, and returns the names of those keys. A long release
    /// is not read into memory for that.
    ///
    /// # Errors
    ///
    /// The inner error means that too few trusted keys have signed; the outer error comes from the temporary file.
    pub fn check<'k>(
        &mut self,
        keyring: &'k Keyring,
    ) -> Result<Result<Vec<&'k str>, Box<Unsigned>>, RemoteError> {
        self.spool.check(keyring, &self.signatures).map_err(|error| here(&self.place, &error))
    }

    /// Reads the whole release into memory.
    ///
    /// # Errors
    ///
    /// Fails if there is not enough memory, or the temporary file cannot be read.
    pub fn read(self) -> Result<Release, RemoteError> {
        let Self { place, digest, kind, name, spool, signatures, envelopes } = self;
        let bytes = spool.into_bytes().map_err(|error| here(&place, &error))?;
        Ok(Release { digest, kind, name, bytes, signatures, envelopes })
    }
}

fn here(place: &str, error: &std::io::Error) -> RemoteError {
    RemoteError::Here { place: place.to_owned(), reason: error.to_string() }
}

impl Registry {
    /// Returns the digest of the manifest that the registry has now.
    ///
    /// # Errors
    ///
    /// Fails if the release is missing or the registry cannot be reached.
    pub fn digest(&self) -> Result<String, RemoteError> {
        if let Some(digest) = self.0.reference.digest() {
            return Ok(digest.to_owned());
        }
        let at = self.0.clone();
        wait(&self.0.place, self.0.patience.all(MANIFEST as u64), async move {
            at.manifest(&at.reference).await.map(|(digest, _)| digest)
        })?
    }

    /// Pulls the release. A pull by digest returns the pushed bytes; a pull by tag returns the registry's current
    /// release.
    ///
    /// # Errors
    ///
    /// Fails if the release is missing, corrupt or of another type, or the registry cannot be reached.
    pub fn pull(&self) -> Result<Release, RemoteError> {
        self.fetch()?.read()
    }

    /// Pulls the release, and keeps a long one out of memory.
    ///
    /// # Errors
    ///
    /// Same as for [`Registry::pull`].
    pub fn fetch(&self) -> Result<Fetched, RemoteError> {
        self.fetch_by(self.0.reference.clone())
    }

    /// Fetches the release with a digest.
    pub(super) fn fetch_digest(&self, digest: &str) -> Result<Fetched, RemoteError> {
        self.fetch_by(self.0.by_digest(digest))
    }

    fn fetch_by(&self, reference: Reference) -> Result<Fetched, RemoteError> {
        let at = self.0.clone();
        wait(&self.0.place, self.0.patience.all(LONGEST), async move { at.fetch(&reference).await })?
    }
}

impl At {
    async fn fetch(&self, reference: &Reference) -> Result<Fetched, RemoteError> {
        let (digest, manifest) = self.manifest(reference).await?;
        let found = manifest.artifact_type.as_deref().unwrap_or(&manifest.config.media_type);
        let Some(kind) = Kind::of(found) else {
            let found: String = found.chars().take(80).collect();
            let why = format!("not a precast release: artifact type `{found}`");
            return Err(RemoteError::Foreign { place: self.place.clone(), why });
        };
        let spool = self.blobs(&manifest.layers, LONGEST).await?;
        let (signatures, envelopes) = self.attached(&digest).await?;
        let title = manifest.layers.first().and_then(|layer| layer.annotations.as_ref()?.get(TITLE));
        let name = file_name(title.map(String::as_str).unwrap_or_default(), manifest.layers.len(), kind);
        Ok(Fetched { place: self.place.clone(), digest, kind, name, spool, signatures, envelopes })
    }

    /// Fetches a manifest, and returns it with its digest.
    async fn manifest(&self, reference: &Reference) -> Result<(String, OciImageManifest), RemoteError> {
        let body = self.patience.retry(|| self.get_manifest(reference, OCI_IMAGE_MEDIA_TYPE)).await?;
        let digest = sha256(&body);
        if reference.digest().is_some_and(|wanted| wanted != digest) {
            return Err(self.damaged(format!("unexpected manifest digest `{digest}`")));
        }
        match serde_json::from_slice(&body) {
            Ok(manifest) => Ok((digest, manifest)),
            Err(_) => {
                let why = "not an artifact manifest".to_owned();
                Err(RemoteError::Foreign { place: self.place.clone(), why })
            }
        }
    }

    /// Fetches blobs one after another; their total size is at most `longest` bytes. The time limit depends on it.
    async fn blobs(&self, layers: &[OciDescriptor], longest: u64) -> Result<Spool, RemoteError> {
        let mut sizes = layers.iter().map(|layer| u64::try_from(layer.size).ok());
        let whole = sizes.try_fold(0_u64, |sum, size| sum.checked_add(size?));
        let Some(whole) = whole.filter(|whole| *whole <= longest) else {
            return Err(RemoteError::TooLong { place: self.place.clone(), limit: longest });
        };
        // A release has no empty layers, and its digests become parts of URL paths.
        if layers.len() > LAYERS || !layers.iter().all(|layer| layer.size > 0 && is_digest(&layer.digest)) {
            return Err(self.damaged("invalid layers of a release"));
        }
        self.in_all(whole, async {
            let mut spool = Spool::new();
            for some in layers.chunk_by(|one, next| is_small(one) && is_small(next)) {
                match some {
                    [long] if !is_small(long) => self.long_blob(long, &mut spool).await?,
                    some => self.small_blobs(some, &mut spool).await?,
                }
            }
            Ok(spool)
        })
        .await
    }

    /// Adds short blobs, which are fetched concurrently.
    async fn small_blobs(&self, layers: &[OciDescriptor], spool: &mut Spool) -> Result<(), RemoteError> {
        let blob = |layer: OciDescriptor| async move {
            self.patience
                .retry(|| async {
                    let mut bytes = Vec::new();
                    self.blob(&layer, |part| crate::gather::append(&mut bytes, part)).await?;
                    Ok(bytes)
                })
                .await
        };
        let mut blobs = stream::iter(layers.to_vec()).map(blob).buffered(AT_ONCE);
        while let Some(bytes) = blobs.try_next().await? {
            spool.add(&bytes).map_err(|error| here(&self.place, &error))?;
        }
        Ok(())
    }

    /// Adds a blob while it arrives.
    async fn long_blob(&self, layer: &OciDescriptor, spool: &mut Spool) -> Result<(), RemoteError> {
        let (begin, spool) = (spool.len(), Mutex::new(spool));
        let again = || async {
            let cut = lock(&spool).cut(begin);
            cut.map_err(|error| here(&self.place, &error))?;
            self.blob(layer, |part| lock(&spool).add(part)).await
        };
        self.patience.retry(again).await
    }

    /// Passes a blob to `take` part by part, and verifies its digest.
    async fn blob(
        &self,
        layer: &OciDescriptor,
        mut take: impl FnMut(&[u8]) -> std::io::Result<()>,
    ) -> Result<(), RemoteError> {
        let size = u64::try_from(layer.size).unwrap_or(0);
        let (mut hash, mut length) = (Sha256::new(), 0);
        // By its digest alone, because a descriptor may name any URL.
        let path = format!("blobs/{}", layer.digest);
        self.pour(&path, size, |part| {
            hash.update(part);
            length += part.len() as u64;
            take(part)
        })
        .await?;
        if length == size && hex(&hash.finalize()) == layer.digest {
            return Ok(());
        }
        let short = layer.digest.chars().take(80).collect::<String>();
        Err(self.damaged(format!("blob `{short}` does not match its manifest")))
    }

    /// Returns the signatures of a release, and the envelopes about it.
    async fn attached(&self, digest: &str) -> Result<(String, Vec<String>), RemoteError> {
        let mut listed = self.patience.retry(|| self.about(digest)).await?;
        // The newest first. A list without times has them in the order of the pushes.
        listed.reverse();
        let created = |about: &ImageIndexEntry| about.annotations.as_ref()?.get(CREATED).cloned();
        listed.sort_by_cached_key(|about| std::cmp::Reverse(created(about)));
        let mut signatures = String::new();
        let texts = self.texts(digest, &listed, SIGNATURES, SIGNERS, LONGEST_SIGNATURES);
        for text in self.in_all(LONGEST_SIGNATURES, texts).await? {
            signatures = precast_store::keyring::merged(&signatures, &text, None);
        }
        let envelopes = self.texts(digest, &listed, ENVELOPE, ENVELOPES, LONGEST_ENVELOPE);
        Ok((signatures, self.in_all(LONGEST_ENVELOPE, envelopes).await?))
    }

    /// Returns the texts of the first `most` artifacts of a type, at most `longest` bytes each, that refer to a release.
    async fn texts(
        &self,
        digest: &str,
        listed: &[ImageIndexEntry],
        artifact_type: &str,
        most: usize,
        longest: u64,
    ) -> Result<Vec<String>, RemoteError> {
        let of_type = listed.iter().filter(|about| about.artifact_type.as_deref() == Some(artifact_type));
        let mut texts = Vec::new();
        for about in of_type.take(most) {
            let (_, manifest) = match self.manifest(&self.by_digest(&about.digest)).await {
                // Listed manifests that are missing or are not artifacts do not count.
                Err(
                    RemoteError::NoRelease { .. } | RemoteError::Foreign { .. } | RemoteError::Damaged { .. },
                ) => continue,
                found => found?,
            };
            if manifest.subject.is_none_or(|subject| subject.digest != digest) {
                continue;
            }
            let text = match self.blobs(&manifest.layers, longest).await {
                Err(
                    RemoteError::NoRelease { .. }
                    | RemoteError::Foreign { .. }
                    | RemoteError::Damaged { .. }
                    | RemoteError::TooLong { .. },
                ) => continue,
                // What was not read may be the one signature that is valid.
                found => found?,
            };
            let text = text.into_bytes().map_err(|error| here(&self.place, &error))?;
            texts.push(String::from_utf8_lossy(&text).into_owned());
        }
        Ok(texts)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn is_small(layer: &OciDescriptor) -> bool {
    u64::try_from(layer.size).is_ok_and(|size| size <= SMALL)
}

/// Returns the name of a file: the registry's title, if it is a plain file name.
fn file_name(title: &str, layers: usize, kind: Kind) -> String {
    let name = match title.rsplit_once('.') {
        Some((name, number)) if layers > 1 && number.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => title,
    };
    let is_plain = !name.is_empty()
        && !name.starts_with(['.', '-'])
        && name.len() <= 200
        && name
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, ' ' | '.' | '_' | '-' | '+' | '@' | '=' | ','));
    match kind {
        _ if is_plain => name.to_owned(),
        Kind::Bundle => "release.precast".to_owned(),
        Kind::Export => "release.export".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misleading_file_names_are_replaced() {
        for plain in ["model.precast", "Größe 2_x-1.precast", "模型.precast"] {
            assert_eq!(file_name(plain, 1, Kind::Bundle), plain);
        }
        let wrong = [
            "",
            ".x",
            "-x",
            "a/b",
            "a\\b",
            "a:b",
            "a\u{202e}tsacerp",
            "a\u{200b}",
            "a\u{2066}b",
            "a\nb",
            "a\u{feff}",
            "a\u{2028}",
            "../x",
            "a\u{1b}[2J",
        ];
        for wrong in wrong {
            assert_eq!(file_name(wrong, 1, Kind::Export), "release.export", "{wrong:?}");
        }
        assert_eq!(file_name("m.precast.00000", 2, Kind::Bundle), "m.precast");
    }
}
