//! Pushes a release to a registry: blobs, then the manifest that names them, then the artifacts that refer to it.

use std::collections::BTreeMap;

use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use http::{Method, StatusCode};
use oci_client::manifest::{
    ImageIndexEntry, OCI_IMAGE_INDEX_MEDIA_TYPE, OCI_IMAGE_MEDIA_TYPE, OciDescriptor, OciImageIndex,
    OciImageManifest,
};
use precast_store::keyring::Date;
use precast_store::remote::RemoteError;

use super::ask::Purpose;
use super::ask::Request;
use super::credentials::IdentityToken;
use super::{
    AT_ONCE, At, CREATED, EMPTY, ENVELOPE, Kind, MANIFEST, Registry, SIGNATURES, TITLE, cut, sha256,
};
use crate::wait::wait;

/// The annotations of a manifest.
type Annotations = Option<BTreeMap<String, String>>;

/// An artifact that refers to a release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Attached {
    /// Signatures of its file: the text of a `.minisig`.
    Signatures(String),
    /// A bill of materials: CycloneDX in JSON.
    Sbom(String),
    /// Signed provenance: a DSSE envelope.
    Provenance(String),
}

/// The result of a push.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pushed {
    /// The digest of the manifest. A pull by this digest needs no trust.
    pub digest: String,
    /// The number of layers of the release.
    pub layers: usize,
    /// The number of blobs that were sent, for the release and its attached artifacts.
    pub sent: usize,
    /// The number of attached artifacts.
    pub attached: usize,
}

impl Registry {
    /// Pushes a file called `name` as a release, with its attached artifacts. The same file always has the same
    /// digest.
    ///
    /// # Errors
    ///
    /// Fails if the registry rejects a part. The parts that it has accepted then have no name.
    pub fn push(
        &self,
        kind: Kind,
        name: &str,
        bytes: Vec<u8>,
        attached: Vec<Attached>,
    ) -> Result<Pushed, RemoteError> {
        if self.0.unusable.is_some() {
            let (reason, remedy) = (IdentityToken::WHY.to_owned(), IdentityToken::REMEDY);
            return Err(RemoteError::Denied { place: self.0.place.clone(), reason, remedy });
        }
        let (at, name, size) = (self.0.clone(), name.to_owned(), bytes.len() as u64);
        wait(&self.0.place, self.0.patience.all(size) * 4, async move {
            at.push(kind, &name, bytes.into(), attached).await
        })?
    }
}

impl At {
    async fn push(
        &self,
        kind: Kind,
        name: &str,
        bytes: Bytes,
        attached: Vec<Attached>,
    ) -> Result<Pushed, RemoteError> {
        let parts = cut::cut(&bytes);
        let title = |at: usize| if parts.len() == 1 { name.to_owned() } else { format!("{name}.{at:05}") };
        let blobs: Vec<(Bytes, String)> =
            parts.iter().enumerate().map(|(at, part)| (bytes.slice(part.clone()), title(at))).collect();
        let (release, sent) = self.put_artifact(kind.artifact_type(), &blobs, None).await?;
        let mut pushed = Pushed { digest: release.digest.clone(), layers: blobs.len(), sent, attached: 0 };
        for said in attached {
            let (artifact_type, text, name) = match said {
                Attached::Signatures(text) => (SIGNATURES, text, format!("{name}.minisig")),
                Attached::Sbom(text) => ("application/vnd.cyclonedx+json", text, format!("{name}.cdx.json")),
                Attached::Provenance(text) => (ENVELOPE, text, format!("{name}.intoto.jsonl")),
            };
            let created = (artifact_type == SIGNATURES).then(|| last_signed(&text)).flatten();
            let annotations = created.map(|time| BTreeMap::from([(CREATED.to_owned(), time)]));
            let blob = [(Bytes::from(text), name)];
            let subject = Some((release.clone(), annotations.clone()));
            let (about, sent) = self.put_artifact(artifact_type, &blob, subject).await?;
            pushed.sent += sent;
            self.list(&release, &about, artifact_type, annotations).await?;
            pushed.attached += 1;
        }
        Ok(pushed)
    }

    /// Pushes blobs and a manifest of them: under the name of this place, or under its digest if it refers to another
    /// manifest, its subject. Annotations come with a subject.
    async fn put_artifact(
        &self,
        artifact_type: &str,
        blobs: &[(Bytes, String)],
        subject: Option<(OciDescriptor, Annotations)>,
    ) -> Result<(OciDescriptor, usize), RemoteError> {
        let is_about = subject.is_some();
        let (subject, annotations) = subject.unzip();
        let empty = Bytes::from_static(b"{}");
        let all: Vec<Bytes> = blobs.iter().map(|(blob, _)| blob.clone()).chain([empty.clone()]).collect();
        let sent = stream::iter(all).map(|blob| self.put_blob(blob)).buffer_unordered(AT_ONCE);
        let sent: Vec<bool> = sent.try_collect().await?;
        let layer = |(blob, title): &(Bytes, String)| OciDescriptor {
            annotations: Some(BTreeMap::from([(TITLE.to_owned(), title.clone())])),
            ..descriptor(artifact_type, blob)
        };
        let manifest = OciImageManifest {
            media_type: Some(OCI_IMAGE_MEDIA_TYPE.to_owned()),
            config: descriptor(EMPTY, &empty),
            layers: blobs.iter().map(layer).collect(),
            subject,
            annotations: annotations.flatten(),
            artifact_type: Some(artifact_type.to_owned()),
            ..OciImageManifest::default()
        };
        let body = self.render(&manifest)?;
        let put = descriptor(OCI_IMAGE_MEDIA_TYPE, &body);
        let reference = if is_about { self.by_digest(&put.digest) } else { self.reference.clone() };
        if reference.digest().is_some_and(|digest| digest != put.digest) {
            let why = format!("the digest of the pushed release is `{}`", put.digest);
            return Err(RemoteError::Foreign { place: self.place.clone(), why });
        }
        self.put_manifest(&reference, OCI_IMAGE_MEDIA_TYPE, body).await?;
        Ok((put, sent.into_iter().filter(|sent| *sent).count()))
    }

    /// Pushes a blob unless the registry has it. Returns whether the blob was sent.
    async fn put_blob(&self, blob: Bytes) -> Result<bool, RemoteError> {
        let digest = sha256(&blob);
        if self.patience.retry(|| self.has_blob(&digest)).await? {
            return Ok(false);
        }
        let put = || self.timely(blob.len() as u64, self.send_blob(&digest, blob.clone()));
        self.patience.retry(put).await.map(|()| true)
    }

    async fn has_blob(&self, digest: &str) -> Result<bool, RemoteError> {
        let url = self.url(&format!("blobs/{digest}"))?;
        let asked = self.timely(0, self.send(Request::new(Method::HEAD, url), Purpose::Push)).await?;
        match asked.status() {
            StatusCode::NOT_FOUND => Ok(false),
            status if status.is_success() => Ok(true),
            _ => Err(self.refused(asked).await),
        }
    }

    /// Requests an upload URL for a blob, and sends the blob there.
    async fn send_blob(&self, digest: &str, blob: Bytes) -> Result<(), RemoteError> {
        let begun = self.send(Request::new(Method::POST, self.url("blobs/uploads/")?), Purpose::Push).await?;
        if !begun.status().is_success() {
            return Err(self.refused(begun).await);
        }
        let mut url = self.location(&begun)?;
        url.query_pairs_mut().append_pair("digest", digest);
        let put = Request::new(Method::PUT, url).body("application/octet-stream", blob);
        self.done(self.send(put, Purpose::Push).await?).await
    }

    async fn put_manifest(
        &self,
        reference: &oci_client::Reference,
        media_type: &'static str,
        body: Bytes,
    ) -> Result<(), RemoteError> {
        let name = reference.digest().or_else(|| reference.tag()).unwrap_or("latest");
        let url = self.url(&format!("manifests/{name}"))?;
        let put = || async {
            let put = Request::new(Method::PUT, url.clone()).body(media_type, body.clone());
            self.done(self.timely(body.len() as u64, self.send(put, Purpose::Push)).await?).await
        };
        self.patience.retry(put).await
    }

    async fn done(&self, answer: reqwest::Response) -> Result<(), RemoteError> {
        if answer.status().is_success() { Ok(()) } else { Err(self.refused(answer).await) }
    }

    /// Makes an attached artifact discoverable: through the referrers API, or else in the list under the release's
    /// tag.
    async fn list(
        &self,
        release: &OciDescriptor,
        about: &OciDescriptor,
        artifact_type: &str,
        annotations: Annotations,
    ) -> Result<(), RemoteError> {
        let mut known = self.patience.retry(|| self.about(&release.digest)).await?;
        if known.iter().any(|entry| entry.digest == about.digest) {
            return Ok(());
        }
        known.push(ImageIndexEntry {
            media_type: OCI_IMAGE_MEDIA_TYPE.to_owned(),
            digest: about.digest.clone(),
            size: about.size,
            platform: None,
            annotations,
            artifact_type: Some(artifact_type.to_owned()),
        });
        let index = OciImageIndex {
            schema_version: 2,
            media_type: Some(OCI_IMAGE_INDEX_MEDIA_TYPE.to_owned()),
            manifests: known,
            artifact_type: None,
            annotations: None,
        };
        let tag = self.by_tag(release.digest.replace(':', "-"));
        self.put_manifest(&tag, OCI_IMAGE_INDEX_MEDIA_TYPE, self.render(&index)?).await
    }

    fn render(&self, manifest: &impl serde::Serialize) -> Result<Bytes, RemoteError> {
        let body = serde_json::to_vec(manifest).map_err(|error| self.damaged(error.to_string()))?;
        if body.len() <= MANIFEST {
            return Ok(body.into());
        }
        let why = format!("the manifest has {} bytes, and registries accept at most {MANIFEST}", body.len());
        Err(RemoteError::Foreign { place: self.place.clone(), why })
    }
}

/// Returns the time of the last signature in a text, by its trusted comments, in the form of RFC 3339. Readers take the
/// newest signatures first.
fn last_signed(signatures: &str) -> Option<String> {
    let comments = signatures.lines().filter_map(|line| line.strip_prefix("trusted comment: "));
    let fields = comments.flat_map(|comment| comment.split('\t'));
    let times = fields.filter_map(|field| field.strip_prefix("timestamp:")?.parse::<u64>().ok());
    // The last second of the year 9999: a date has four digits for the year.
    let seconds = times.filter(|seconds| *seconds <= 253_402_300_799).max()?;
    let (day, second) = (Date::of_days(seconds / 86_400), seconds % 86_400);
    Some(format!("{day}T{:02}:{:02}:{:02}Z", second / 3600, second / 60 % 60, second % 60))
}

/// Returns the descriptor of a blob.
fn descriptor(media_type: &str, blob: &[u8]) -> OciDescriptor {
    OciDescriptor {
        media_type: media_type.to_owned(),
        digest: sha256(blob),
        size: i64::try_from(blob.len()).unwrap_or(i64::MAX),
        urls: None,
        annotations: None,
        artifact_type: None,
    }
}
