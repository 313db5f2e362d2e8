//! Takes a release out of a registry. Every blob is held against its digest, the manifest against the one it was asked for by.

use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use oci_client::Reference;
use oci_client::manifest::{OCI_IMAGE_MEDIA_TYPE, OciDescriptor, OciImageManifest};
use precast_store::remote::RemoteError;

use super::{AT_ONCE, At, Kind, MANIFEST, Registry, SIGNATURES, TITLE, is_digest, sha256};
use crate::wait::wait;

/// Longest release, in bytes: as an export may be.
const LONGEST: u64 = 8 << 30;

/// Longest signatures of a release, in bytes.
const LONGEST_SIGNATURES: u64 = precast_store::keyring::SIGNATURES_LIMIT;

/// Most layers of a release.
const LAYERS: usize = 1 << 16;

/// Most manifests of signatures that are looked at.
const SIGNERS: usize = 64;

/// A release, as it was pushed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Release {
    /// The digest of its manifest.
    pub digest: String,
    /// What it is.
    pub kind: Kind,
    /// The name of its file, without directories.
    pub name: String,
    /// Its file.
    pub bytes: Vec<u8>,
    /// The signatures that are there of it, as a `.minisig` has them; whether they count is for readers to say.
    pub signatures: String,
}

impl Registry {
    /// Finds the digest of the manifest that is there now.
    ///
    /// # Errors
    ///
    /// There is no release, or the registry cannot be asked.
    pub fn digest(&self) -> Result<String, RemoteError> {
        if let Some(digest) = self.0.reference.digest() {
            return Ok(digest.to_owned());
        }
        let at = self.0.clone();
        wait(&self.0.place, self.0.patience.all(MANIFEST as u64), async move {
            at.manifest(&at.reference).await.map(|(digest, _)| digest)
        })?
    }

    /// Pulls the release. By a digest it is what was pushed, byte for byte; by a tag it is what the registry says.
    ///
    /// # Errors
    ///
    /// There is none, it is something else or damaged, or the registry cannot be asked.
    pub fn pull(&self) -> Result<Release, RemoteError> {
        self.pull_by(self.0.reference.clone())
    }

    /// Pulls the release that has a digest.
    pub(super) fn pull_digest(&self, digest: &str) -> Result<Release, RemoteError> {
        self.pull_by(self.0.by_digest(digest))
    }

    fn pull_by(&self, reference: Reference) -> Result<Release, RemoteError> {
        let at = self.0.clone();
        wait(&self.0.place, self.0.patience.all(LONGEST), async move { at.pull(&reference).await })?
    }
}

impl At {
    async fn pull(&self, reference: &Reference) -> Result<Release, RemoteError> {
        let (digest, manifest) = self.manifest(reference).await?;
        let found = manifest.artifact_type.as_deref().unwrap_or(&manifest.config.media_type);
        let Some(kind) = Kind::of(found) else {
            let found: String = found.chars().take(80).collect();
            let why = format!("it is no release of precast, its type is `{found}`");
            return Err(RemoteError::Foreign { place: self.place.clone(), why });
        };
        let bytes = self.blobs(&manifest.layers, LONGEST).await?;
        let signatures = self.signatures(&digest).await?;
        let title = manifest.layers.first().and_then(|layer| layer.annotations.as_ref()?.get(TITLE));
        let name = file_name(title.map(String::as_str).unwrap_or_default(), manifest.layers.len(), kind);
        Ok(Release { digest, kind, name, bytes, signatures })
    }

    /// A manifest, and its digest.
    async fn manifest(&self, reference: &Reference) -> Result<(String, OciImageManifest), RemoteError> {
        let body = self.patience.retry(|| self.get_manifest(reference, OCI_IMAGE_MEDIA_TYPE)).await?;
        let digest = sha256(&body);
        if reference.digest().is_some_and(|wanted| wanted != digest) {
            return Err(self.damaged(format!("its manifest has the digest `{digest}`")));
        }
        match serde_json::from_slice(&body) {
            Ok(manifest) => Ok((digest, manifest)),
            Err(_) => {
                let why = "what it names is no manifest of an artifact".to_owned();
                Err(RemoteError::Foreign { place: self.place.clone(), why })
            }
        }
    }

    /// Blobs, one after another; together they have at most `longest` bytes.
    async fn blobs(&self, layers: &[OciDescriptor], longest: u64) -> Result<Vec<u8>, RemoteError> {
        let mut sizes = layers.iter().map(|layer| u64::try_from(layer.size).ok());
        let whole =
            sizes.try_fold(0_u64, |sum, size| sum.checked_add(size?)).filter(|whole| *whole <= longest);
        if whole.is_none() {
            return Err(RemoteError::TooLong { place: self.place.clone(), limit: longest });
        }
        // A release has no empty layers, and its digests are what paths of URLs are made of.
        if layers.len() > LAYERS || !layers.iter().all(|layer| layer.size > 0 && is_digest(&layer.digest)) {
            return Err(self.damaged("its layers are none of a release"));
        }
        let parts = stream::iter(layers.to_vec())
            .map(|layer| async move { self.patience.retry(|| self.blob(&layer)).await });
        let whole = parts.buffered(AT_ONCE).try_fold(Vec::new(), async |mut whole, part: Bytes| {
            whole.extend_from_slice(&part);
            Ok(whole)
        });
        whole.await
    }

    async fn blob(&self, layer: &OciDescriptor) -> Result<Bytes, RemoteError> {
        let size = u64::try_from(layer.size).unwrap_or(0);
        let short = layer.digest.chars().take(80).collect::<String>();
        // By its digest alone: a descriptor may name any URL.
        let bytes = self.get(&format!("blobs/{}", layer.digest), "*/*", size).await?;
        if bytes.len() as u64 != size || sha256(&bytes) != layer.digest {
            return Err(self.damaged(format!("the blob `{short}` has other bytes than its manifest says")));
        }
        Ok(bytes.into())
    }

    /// The signatures of a release, all that there are.
    async fn signatures(&self, digest: &str) -> Result<String, RemoteError> {
        let listed = self.patience.retry(|| self.about(digest)).await?;
        let mut signatures = String::new();
        for about in
            listed.iter().filter(|about| about.artifact_type.as_deref() == Some(SIGNATURES)).take(SIGNERS)
        {
            let (_, manifest) = match self.manifest(&self.by_digest(&about.digest)).await {
                // What is listed and lost, or no signature, is none.
                Err(
                    RemoteError::NoRelease { .. } | RemoteError::Foreign { .. } | RemoteError::Damaged { .. },
                ) => continue,
                found => found?,
            };
            if manifest.subject.is_none_or(|subject| subject.digest != digest) {
                continue;
            }
            let Ok(text) = self.blobs(&manifest.layers, LONGEST_SIGNATURES).await else { continue };
            signatures = precast_store::keyring::merged(&signatures, &String::from_utf8_lossy(&text));
        }
        Ok(signatures)
    }
}

/// The name of a file: what the registry says, if it is a plain name.
fn file_name(title: &str, layers: usize, kind: Kind) -> String {
    let name = match title.rsplit_once('.') {
        Some((name, number)) if layers > 1 && number.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => title,
    };
    let is_plain = !name.is_empty()
        && !name.starts_with(['.', '-'])
        && name.len() <= 200
        && !name.contains(|c: char| c.is_control() || matches!(c, '/' | '\\' | ':'));
    match kind {
        _ if is_plain => name.to_owned(),
        Kind::Bundle => "release.precast".to_owned(),
        Kind::Export => "release.export".to_owned(),
    }
}
