//! Stores and releases on existing infrastructure: web servers, S3, OCI registries.
//!
//! | URL | content | read | written |
//! |---|---|---|---|
//! | `https://host/path`, `http://…` | a store directory that was copied to a web server, with `precast index` | layer | |
//! | `s3://bucket/prefix` | a store directory in a bucket | layer | `precast push` |
//! | `oci://host/repository:tag`, `…@sha256:…` | a release: one bundle or export | layer, `precast pull` | `precast push` |
//!
//! Build caches and build farms, `grpc://host:port/instance` or `grpcs://…`, are in `reapi`.
//!
//! This crate contains only transports. Fetched content is verified in [`precast_store::remote`] and trusted because
//! of its signatures, never because of the transport. Asynchronous code stays internal (`wait.rs`): one thread
//! serves all remotes of a process, and callers wait for a limited time ([`Patience`]). Loaders and deployed
//! programs do not link this crate.

#[cfg(feature = "files")]
mod bounded;
#[cfg(any(feature = "files", feature = "oci"))]
mod cache;
#[cfg(feature = "files")]
mod files;
#[cfg(any(feature = "files", feature = "oci"))]
mod gather;
#[cfg(any(feature = "files", feature = "oci"))]
mod layer;
#[cfg(feature = "files")]
mod lists;
#[cfg(feature = "oci")]
pub mod oci;
mod patience;
#[cfg(feature = "reapi")]
pub mod reapi;
#[cfg(any(feature = "files", feature = "oci"))]
mod tls;
mod url;
#[cfg(any(feature = "files", feature = "oci", feature = "reapi"))]
mod wait;

#[cfg(feature = "files")]
pub use files::Files;
#[cfg(feature = "oci")]
pub use layer::compare;
#[cfg(any(feature = "files", feature = "oci"))]
pub use layer::{OpenRemoteError, Options, open};
pub use patience::Patience;
pub use url::{ParseRemoteUrlError, RemoteUrl};

/// Returns the innermost error of a transport in one short line. The outer errors may repeat
/// URLs with secrets, or whole pages.
#[cfg(any(feature = "files", feature = "oci", feature = "reapi"))]
fn words(error: &(dyn std::error::Error + 'static)) -> String {
    let last = std::iter::successors(Some(error), |error| error.source()).last().unwrap_or(error);
    let line = shortened(&last.to_string());
    if line.is_empty() { "unknown transport error".to_owned() } else { line }
}

/// Returns the first line of a remote text, up to 200 characters. Further lines could look like messages of precast.
#[cfg(any(feature = "files", feature = "oci", feature = "reapi"))]
fn shortened(text: &str) -> String {
    text.lines().next().unwrap_or_default().chars().take(200).collect()
}
