//! What is read of a registry: each answer by a `GET` of its own, since oci-client takes manifests, lists and errors whole, however
//! long they are. It says who asks.

use std::time::Duration;

use http::StatusCode;
use http::header::ACCEPT;
use oci_client::manifest::{ImageIndexEntry, OCI_IMAGE_INDEX_MEDIA_TYPE, OciImageIndex};
use oci_client::secrets::RegistryAuth;
use oci_client::{Reference, RegistryOperation};
use precast_store::remote::RemoteError;
use reqwest::Response;

use super::{At, MANIFEST, is_digest};
use crate::gather::Stopped;
use crate::{Patience, words};

/// The client for what is read.
pub(super) fn client(patience: Patience) -> reqwest::Result<reqwest::Client> {
    let client = reqwest::Client::builder().user_agent(concat!("precast/", env!("CARGO_PKG_VERSION")));
    client.connect_timeout(patience.connection).read_timeout(patience.silence).build()
}

impl At {
    /// The manifest that a reference names.
    pub(super) async fn get_manifest(&self, of: &Reference, accept: &str) -> Result<Vec<u8>, RemoteError> {
        let name = of.digest().or_else(|| of.tag()).unwrap_or("latest");
        self.get(&format!("manifests/{name}"), accept, MANIFEST as u64).await
    }

    /// What is said about the manifest that has a digest: what the registry lists, or else the list under the digest's tag.
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
            Err(_) => Err(self.damaged("what it lists about a release is no list")),
        }
    }

    /// What is at a path of the repository, of at most `limit` bytes.
    pub(super) async fn get(&self, path: &str, accept: &str, limit: u64) -> Result<Vec<u8>, RemoteError> {
        let whole = self.patience.whole(limit);
        let got = tokio::time::timeout(whole, self.get_slowly(path, accept, limit)).await;
        got.unwrap_or_else(|_| Err(self.slow()))
    }

    async fn get_slowly(&self, path: &str, accept: &str, limit: u64) -> Result<Vec<u8>, RemoteError> {
        let token = self.token.lock().await.clone();
        let mut answer = self.ask(path, accept, token.as_deref()).await?;
        if answer.status() == StatusCode::UNAUTHORIZED
            && let Some(other) = self.authorize(token).await?
        {
            answer = self.ask(path, accept, Some(&other)).await?;
        }
        match answer.status() {
            StatusCode::OK => {}
            StatusCode::NOT_FOUND => return Err(RemoteError::NoRelease { place: self.place.clone() }),
            status @ (StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) => {
                return Err(self.denied(format!("HTTP status {}", status.as_u16())));
            }
            // What comes with it is not read: it may be of any length.
            status => return Err(self.unreachable(format!("HTTP status {}", status.as_u16()))),
        }
        match self.patience.gather(limit, Box::pin(answer.bytes_stream())).await {
            Ok(bytes) => Ok(bytes),
            Err(Stopped::Slow) => Err(self.slow()),
            Err(Stopped::TooLong) => Err(RemoteError::TooLong { place: self.place.clone(), limit }),
            Err(Stopped::Failed(error)) => Err(self.unreachable(words(&error))),
        }
    }

    async fn ask(&self, path: &str, accept: &str, token: Option<&str>) -> Result<Response, RemoteError> {
        let url = format!("{}/v2/{}/{path}", self.origin, self.reference.repository());
        let ask = self.reader.get(url).header(ACCEPT, accept);
        let ask = match (token, &self.auth) {
            (Some(token), _) => ask.bearer_auth(token),
            (None, RegistryAuth::Basic(name, password)) => ask.basic_auth(name, Some(password)),
            _ => ask,
        };
        let asked = tokio::time::timeout(self.patience.silence, ask.send()).await.map_err(|_| self.slow())?;
        asked.map_err(|error| self.unreachable(words(&error)))
    }

    /// Has a token made out, where the registry wants one, and gives it if it is another than the one that was refused. Others
    /// that were refused at the same time may be given the same.
    async fn authorize(&self, refused: Option<String>) -> Result<Option<String>, RemoteError> {
        let asked = self.client.auth(&self.reference, &self.auth, RegistryOperation::Pull);
        let known = tokio::time::timeout(self.patience.answer + Duration::from_millis(1), asked).await;
        let token = known.map_err(|_| self.slow())?.map_err(|error| self.failed(&error))?;
        self.token.lock().await.clone_from(&token);
        Ok(if token == refused { None } else { token })
    }

    fn slow(&self) -> RemoteError {
        self.unreachable("it is silent, or too slow".to_owned())
    }
}
