//! Stores and releases in places that companies run already: web servers, S3, OCI registries.
//!
//! | URL | what is there | read | written |
//! |---|---|---|---|
//! | `https://host/path`, `http://…` | a store directory that was copied to a web server, with `precast index` | layer | |
//! | `s3://bucket/prefix` | a store directory in a bucket | layer | `precast push` |
//! | `oci://host/repository:tag`, `…@sha256:…` | a release: one bundle or export | layer, `precast pull` | `precast push` |
//!
//! A cache and a farm for builds, `grpc://host:port/instance` or `grpcs://…`, are in `reapi`.
//!
//! Transports only: what arrives is judged in [`precast_store::remote`], and believed for its signatures, never for the way that it
//! took. What is asynchronous stays inside (`wait.rs`): one thread serves all remotes of a process, and who asks waits, for a time
//! that is bounded ([`Patience`]). Loaders and deployed programs link none of this.

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
pub use url::{Place, PlaceError};

/// What a transport said at last, in one short line: it may repeat URLs with what is secret in them, or whole pages.
#[cfg(any(feature = "files", feature = "oci", feature = "reapi"))]
fn words(error: &(dyn std::error::Error + 'static)) -> String {
    let last = std::iter::successors(Some(error), |error| error.source()).last().unwrap_or(error);
    let line = shortened(&last.to_string());
    if line.is_empty() { "the transport does not say why".to_owned() } else { line }
}

/// The first line of what others say, up to so many characters: the next one could look like ours.
#[cfg(any(feature = "files", feature = "oci", feature = "reapi"))]
fn shortened(text: &str) -> String {
    text.lines().next().unwrap_or_default().chars().take(200).collect()
}
