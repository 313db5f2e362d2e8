//! Releases in OCI registries: a bundle or an export, with artifacts that refer to it.
//!
//! ```text
//! repository:tag ─▶ manifest   artifactType application/vnd.precast.bundle | .export, config empty
//!                       └ layers   the file, cut by its content: releases share equal layers
//!                      ▲ subject
//!    manifests of signatures (application/vnd.precast.minisig), of bills of materials (application/vnd.cyclonedx+json)
//!    and of signed provenance (application/vnd.dsse.envelope.v1+json, as cosign stores it)
//! ```
//! The file is the concatenation of its layers, which any tool can download. A pull by the manifest's digest needs no
//! trust; a pull by a tag trusts signatures. Without the referrers API, the list of referring artifacts is stored under
//! a tag made from the manifest's digest, as the OCI specification says.
//!
//! Every body has a size limit (`ask.rs`), and a long release stays in a file until its signatures are verified
//! (`spool.rs`). oci-client reads responses without a size limit, so this module uses its types but not its client.

mod ask;
mod credentials;
mod cut;
mod get;
mod layer;
mod pull;
mod push;
mod spool;
mod tag;
mod token;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use oci_client::Reference;
use precast_store::remote::RemoteError;
use reqwest::Url;
use sha2::{Digest as _, Sha256};

use credentials::{IdentityToken, Login};
pub(crate) use layer::layer;
pub use pull::{Fetched, Release};
pub use push::{Attached, Pushed};
pub use tag::{Compared, Signed};

use crate::url::{RemoteUrl, is_here};
use crate::{OpenRemoteError, Patience};

/// The kind of a release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A bundle file.
    Bundle,
    /// The output of `precast export`.
    Export,
}

impl Kind {
    /// Returns the artifact type.
    #[must_use]
    pub fn artifact_type(self) -> &'static str {
        match self {
            Self::Bundle => "application/vnd.precast.bundle",
            Self::Export => "application/vnd.precast.export",
        }
    }

    fn of(artifact_type: &str) -> Option<Self> {
        [Self::Bundle, Self::Export].into_iter().find(|kind| kind.artifact_type() == artifact_type)
    }
}

/// The artifact type of signatures: minisign's, as in a `.minisig` file.
pub(crate) const SIGNATURES: &str = "application/vnd.precast.minisig";

/// The artifact type of signed provenance: a DSSE envelope, as in a `.intoto.jsonl` file.
pub(crate) const ENVELOPE: &str = "application/vnd.dsse.envelope.v1+json";

/// The annotation with the time of an artifact: that of the last signature in it.
const CREATED: &str = "org.opencontainers.image.created";

/// The media type of an empty config.
const EMPTY: &str = "application/vnd.oci.empty.v1+json";

/// The annotation that names a file.
const TITLE: &str = "org.opencontainers.image.title";

/// The maximum size of a manifest that registries accept, in bytes.
const MANIFEST: usize = 4 << 20;

/// The number of blobs that are sent or fetched at once.
const AT_ONCE: usize = 8;

/// A release's place in a registry, whether or not the release exists yet.
#[derive(Clone)]
pub struct Registry(Arc<At>);

/// The shared state of tasks that send requests.
struct At {
    place: String,
    reference: Reference,
    /// The origin: `https://host:port`.
    origin: Url,
    client: reqwest::Client,
    /// The credentials, if any.
    login: Option<Login>,
    /// The stored credential, if it is unusable; requests are then anonymous.
    unusable: Option<IdentityToken>,
    /// The tokens that the registry issued in exchange for a password.
    tokens: tokio::sync::Mutex<BTreeMap<ask::Purpose, String>>,
    patience: Patience,
}

impl Registry {
    /// Opens a place in a registry without sending a request. Registries on this machine are accessed without TLS.
    ///
    /// Credentials are read from the files of docker and podman.
    ///
    /// # Errors
    ///
    /// Fails if the place is not in a registry.
    pub fn open(place: &RemoteUrl, patience: Patience) -> Result<Self, OpenRemoteError> {
        let RemoteUrl::Oci { reference } = place else {
            return Err(OpenRemoteError::Transport {
                place: place.to_string(),
                why: "not a registry reference\nhint: use `oci://host/repository:tag`".to_owned(),
            });
        };
        crate::tls::provide();
        let refused = |why: String| OpenRemoteError::Transport { place: place.to_string(), why };
        let reference: Reference = reference.parse().map_err(|error| refused(format!("{error}")))?;
        let host = reference.resolve_registry();
        let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
        let scheme = if is_here(name) { "http" } else { "https" };
        let origin: Url =
            format!("{scheme}://{host}").parse().map_err(|error| refused(format!("{error}")))?;
        let (login, unusable) = match credentials::find(host) {
            Ok(login) => (login, None),
            Err(token) => (None, Some(token)),
        };
        let client = ask::client(patience).map_err(|error| refused(crate::words(&error)))?;
        let (place, tokens) = (place.to_string(), tokio::sync::Mutex::default());
        Ok(Self(Arc::new(At { place, reference, origin, client, login, unusable, tokens, patience })))
    }
}

impl At {
    /// Returns the reference of a digest in this repository.
    fn by_digest(&self, digest: &str) -> Reference {
        self.reference.clone_with_digest(digest.to_owned())
    }

    /// Returns the reference of a tag in this repository.
    fn by_tag(&self, tag: String) -> Reference {
        let (registry, repository) = (self.reference.registry(), self.reference.repository());
        Reference::with_tag(registry.to_owned(), repository.to_owned(), tag)
    }

    /// Waits at most for the time limit of `limit` bytes.
    async fn timely<T>(
        &self,
        limit: u64,
        asked: impl Future<Output = Result<T, RemoteError>>,
    ) -> Result<T, RemoteError> {
        self.within(self.patience.whole(limit), asked).await
    }

    /// Waits at most for the time limit of all attempts at `limit` bytes in several responses. Otherwise, many small
    /// responses could be slow without end.
    async fn in_all<T>(
        &self,
        limit: u64,
        asked: impl Future<Output = Result<T, RemoteError>>,
    ) -> Result<T, RemoteError> {
        self.within(self.patience.all(limit), asked).await
    }

    async fn within<T>(
        &self,
        time: Duration,
        asked: impl Future<Output = Result<T, RemoteError>>,
    ) -> Result<T, RemoteError> {
        let got = tokio::time::timeout(time, asked).await;
        got.unwrap_or_else(|_| Err(self.slow()))
    }

    fn slow(&self) -> RemoteError {
        self.unreachable("no response, or too slow".to_owned())
    }

    fn unreachable(&self, reason: String) -> RemoteError {
        RemoteError::Unreachable { place: self.place.clone(), reason }
    }

    fn damaged(&self, why: impl Into<String>) -> RemoteError {
        RemoteError::Damaged { place: self.place.clone(), why: why.into() }
    }

    fn denied(&self, reason: String) -> RemoteError {
        let place = self.place.clone();
        if self.unusable.is_some() {
            let reason = format!("{reason}; {}", IdentityToken::WHY);
            return RemoteError::Denied { place, reason, remedy: IdentityToken::REMEDY };
        }
        let remedy = "run `docker login`, `podman login` or `skopeo login`; precast uses their credentials";
        RemoteError::Denied { place, reason, remedy }
    }
}

/// Returns whether a text is a digest in precast's form, and therefore safe in a URL.
fn is_digest(text: &str) -> bool {
    let hex = text.strip_prefix("sha256:").unwrap_or_default();
    hex.len() == 64 && hex.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Returns the digest of a blob, as registries write it.
fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn hex(hash: &[u8]) -> String {
    let hex: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn password_is_not_sent_to_plaintext_realms() {
        let place = "oci://registry.example/me/model:1".parse().unwrap();
        let Registry(at) = Registry::open(&place, Patience::default()).unwrap();
        let login = Login { name: "me".to_owned(), password: "secret".to_owned() };
        let shown = |url: &str| at.shown_to(&login, &url.parse().unwrap());
        assert!(matches!(shown("http://tokens.example/t"), Err(RemoteError::Denied { .. })));
        for fine in ["https://tokens.example/t", "http://127.0.0.1:5000/t", "http://[::1]/t"] {
            assert!(shown(fine).unwrap().is_sensitive(), "{fine}");
        }
    }

    #[test]
    fn identity_token_is_reported_on_rejection_and_push() {
        let place = "oci://127.0.0.1:1/me/model:1".parse().unwrap();
        let Registry(at) = Registry::open(&place, Patience::default()).unwrap();
        assert!(!at.denied("HTTP status 401".to_owned()).to_string().contains("identity token"));
        let at = At { unusable: Some(IdentityToken), ..Arc::into_inner(at).unwrap() };
        let denied = at.denied("HTTP status 401".to_owned()).to_string();
        for said in ["HTTP status 401; docker stores an identity token", "`docker login --username NAME`"] {
            assert!(denied.contains(said), "{denied}");
        }
        // No registry exists at this address, so no request may be sent.
        let pushed = Registry(Arc::new(at)).push(Kind::Bundle, "a.precast", Vec::new(), Vec::new());
        assert!(matches!(pushed, Err(RemoteError::Denied { remedy: IdentityToken::REMEDY, .. })));
    }
}
