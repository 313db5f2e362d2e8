//! The part of an OCI registry that pushing and pulling need, in memory; with the referrers API, or without it like
//! Debian's registry.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::{Answer, Request, Server, lock};

/// The contents of a registry.
#[derive(Debug, Default)]
pub struct Contents {
    /// The blobs by digest.
    pub blobs: BTreeMap<String, Vec<u8>>,
    /// The manifests by digest or tag: media type and body.
    pub manifests: BTreeMap<String, (String, Vec<u8>)>,
    uploads: BTreeMap<String, Vec<u8>>,
}

/// A registry.
#[derive(Debug)]
pub struct Registry {
    /// The HTTP server, which also injects faults.
    pub server: Server,
    /// The contents.
    pub contents: Arc<Mutex<Contents>>,
}

/// Returns the digest of bytes, as registries write it.
#[must_use]
pub fn sha256(bytes: &[u8]) -> String {
    let hex: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex}")
}

impl Registry {
    /// Starts a registry with the referrers API, or without it like the oldest registries.
    #[must_use]
    pub fn new(lists_referrers: bool) -> Self {
        let contents: Arc<Mutex<Contents>> = Arc::default();
        let shared = Arc::clone(&contents);
        let server = Server::new(move |request| answer(&mut lock(&shared), request, lists_referrers));
        Self { server, contents }
    }

    /// Returns the URL of a release.
    #[must_use]
    pub fn url(&self, release: &str) -> String {
        format!("{}/{release}", self.server.url.replace("http://", "oci://"))
    }
}

fn missing(code: &str) -> Answer {
    let body = json!({"errors": [{"code": code, "message": "unknown"}]});
    (404, Vec::new(), body.to_string().into_bytes())
}

fn answer(contents: &mut Contents, request: &Request, lists_referrers: bool) -> Answer {
    let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
    let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
    let (method, body) = (request.method.as_str(), request.body.clone());
    match (method, &parts[1..]) {
        (_, []) => (200, Vec::new(), b"{}".to_vec()),
        ("POST", [name @ .., "blobs", "uploads"]) => {
            let id = contents.uploads.len().to_string();
            contents.uploads.insert(id.clone(), body);
            let location = format!("/v2/{}/blobs/uploads/{id}", name.join("/"));
            (202, vec![header("location", location), header("range", "0-0")], Vec::new())
        }
        ("PATCH", [name @ .., "blobs", "uploads", id]) => {
            let Some(upload) = contents.uploads.get_mut(*id) else { return missing("BLOB_UPLOAD_UNKNOWN") };
            upload.extend(body);
            let location = format!("/v2/{}/blobs/uploads/{id}", name.join("/"));
            (
                202,
                vec![
                    header("location", location),
                    header("range", format!("0-{}", upload.len().saturating_sub(1))),
                ],
                Vec::new(),
            )
        }
        ("PUT", [name @ .., "blobs", "uploads", id]) => {
            let Some(mut upload) = contents.uploads.remove(*id) else {
                return missing("BLOB_UPLOAD_UNKNOWN");
            };
            contents.uploads.insert(format!("done {id}"), Vec::new());
            upload.extend(body);
            let digest = sha256(&upload);
            if !query.replace("%3A", ":").contains(&digest) {
                return (
                    400,
                    Vec::new(),
                    json!({"errors": [{"code": "DIGEST_INVALID", "message": "no"}]}).to_string().into_bytes(),
                );
            }
            contents.blobs.insert(digest.clone(), upload);
            (201, vec![header("location", format!("/v2/{}/blobs/{digest}", name.join("/")))], Vec::new())
        }
        ("GET" | "HEAD", [.., "blobs", digest]) => match contents.blobs.get(*digest) {
            Some(blob) => (200, vec![header("docker-content-digest", *digest)], blob.clone()),
            None => missing("BLOB_UNKNOWN"),
        },
        ("PUT", [name @ .., "manifests", reference]) => {
            let (digest, kind) = (sha256(&body), said(request, "content-type"));
            contents.manifests.insert(digest.clone(), (kind.clone(), body.clone()));
            contents.manifests.insert((*reference).to_owned(), (kind, body));
            (201, vec![header("location", format!("/v2/{}/manifests/{digest}", name.join("/")))], Vec::new())
        }
        ("GET" | "HEAD", [.., "manifests", reference]) => match contents.manifests.get(*reference) {
            Some((kind, body)) => (
                200,
                vec![header("content-type", kind.clone()), header("docker-content-digest", sha256(body))],
                body.clone(),
            ),
            None => missing("MANIFEST_UNKNOWN"),
        },
        ("GET", [.., "referrers", digest]) if lists_referrers => {
            let about = |body: &Vec<u8>| {
                let manifest: Value = serde_json::from_slice(body).ok()?;
                (manifest["subject"]["digest"] == **digest).then(|| {
                    json!({
                        "mediaType": manifest["mediaType"], "digest": sha256(body), "size": body.len(),
                        "artifactType": manifest["artifactType"],
                    })
                })
            };
            let all = contents.manifests.iter().filter(|(name, _)| name.starts_with("sha256:"));
            let listed: Vec<Value> = all.filter_map(|(_, (_, body))| about(body)).collect();
            let index = json!({
                "schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": listed,
            });
            (200, Vec::new(), index.to_string().into_bytes())
        }
        _ => (404, Vec::new(), b"404 page not found".to_vec()),
    }
}

fn header(name: &str, value: impl Into<String>) -> (String, String) {
    (name.to_owned(), value.into())
}

fn said(request: &Request, name: &str) -> String {
    let found = request.headers.iter().find(|(known, _)| known == name);
    found.map(|(_, value)| value.clone()).unwrap_or_default()
}
