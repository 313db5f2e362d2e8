//! Reads from a registry.

use bytes::Bytes;
use futures_util::Stream;
use http::{Method, StatusCode};
use oci_client::Reference;
use oci_client::manifest::{ImageIndexEntry, OCI_IMAGE_INDEX_MEDIA_TYPE, OciImageIndex};
use precast_store::remote::RemoteError;

use super::ask::Purpose;
use super::ask::Request;
use super::{At, MANIFEST, is_digest};

impl At {
    /// Fetches the manifest of a reference.
    pub(super) async fn get_manifest(
        &self,
        of: &Reference,
        accept: &'static str,
    ) -> Result<Vec<u8>, RemoteError> {
        let name = of.digest().or_else(|| of.tag()).unwrap_or("latest");
        self.get(&format!("manifests/{name}"), accept, MANIFEST as u64).await
    }

    /// Fetches the list of artifacts that refer to the manifest with a digest: from the referrers API, or else from
    /// the list under the digest's tag.
    pub(super) async fn about(&self, digest: &str) -> Result<Vec<ImageIndexEntry>, RemoteError> {
        let path = format!("referrers/{digest}");
        let body = match self.get(&path, OCI_IMAGE_INDEX_MEDIA_TYPE, MANIFEST as u64).await {
            Err(RemoteError::NoRelease { .. }) => {
                let tag = self.by_tag(digest.replace(':', "-"));
                match self.get_manifest(&tag, OCI_IMAGE_INDEX_MEDIA_TYPE).await {
                    Err(RemoteError::NoRelease { .. }) => return Ok(Vec::new()),
                    found => found?,
                }
            }
            found => found?,
        };
        match serde_json::from_slice::<OciImageIndex>(&body) {
            Ok(index) => Ok(index.manifests.into_iter().filter(|entry| is_digest(&entry.digest)).collect()),
            Err(_) => Err(self.damaged("invalid list of referrers")),
        }
    }

    /// Fetches the content at a path of the repository, of at most `limit` bytes.
    pub(super) async fn get(
        &self,
        path: &str,
        accept: &'static str,
        limit: u64,
    ) -> Result<Vec<u8>, RemoteError> {
        self.timely(limit, async {
            let answer = self.open(path, accept).await?;
            self.body(answer, limit).await
        })
        .await
    }

    /// Passes the content at a path of the repository to `take`, part by part, up to `limit` bytes.
    pub(super) async fn pour(
        &self,
        path: &str,
        limit: u64,
        mut take: impl FnMut(&[u8]) -> std::io::Result<()>,
    ) -> Result<(), RemoteError> {
        self.timely(limit, async {
            let parts: std::pin::Pin<Box<dyn Stream<Item = reqwest::Result<Bytes>> + Send>> =
                Box::pin(self.open(path, "*/*").await?.bytes_stream());
            self.patience.pour(limit, parts, &mut take).await.map_err(|stopped| self.stopped(stopped, limit))
        })
        .await
    }

    async fn open(&self, path: &str, accept: &'static str) -> Result<reqwest::Response, RemoteError> {
        let request = Request::new(Method::GET, self.url(path)?).accept(accept);
        let answer = self.send(request, Purpose::Pull).await?;
        match answer.status() {
            StatusCode::OK => Ok(answer),
            StatusCode::NOT_FOUND | StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                Err(self.refused(answer).await)
            }
            // The body is not read, since it may have any length.
            status => Err(self.unreachable(format!("HTTP status {}", status.as_u16()))),
        }
    }
}
