//! The Bazel Remote Execution API, version 2: a shared cache of compiled units, and compilers that run on a farm.
//!
//! This module implements only the client. The services already exist in many companies: BuildGrid, Buildbarn,
//! NativeLink, bazel-remote, EngFlow.
//!
//! ```text
//! unit ─▶ ActionKey ─▶ action digest ─▶ ActionCache ─ hit ─▶ all blobs exist? ─▶ CAS ─▶ verified ─▶ the local store
//!                                            │ miss                                      ▲
//!                                            ▼                                           │ objcopy, ld, archive: local
//!                      compiled locally, or: Run ─▶ input tree, Command ─▶ Execution ─▶ object from the CAS
//! ```
//! | file | its job |
//! |---|---|
//! | `server.rs` | `grpc://host:port/instance`, `grpcs://host/instance` |
//! | `access.rs`, `untrusted.rs` | certificates and their errors; credentials |
//! | `connection.rs` | one channel; calls with limits and retries; a report of the retries |
//! | `digest.rs`, `tree.rs` | the API's names of blobs and directories |
//! | `blobs.rs` | content-addressed storage: missing blobs, uploads and downloads, in batches and streams |
//! | `cache.rs` | [`RemoteCache`]: the action cache, as [`precast_store::ActionCache`] |
//! | `farm.rs`, `job.rs`, `operation.rs` | [`Farm`]: execution, as [`precast_compile::Runner`] |
//! | `identity.rs` | the check that a worker's toolchain equals the local one |
//!
//! # Trust
//!
//! No content is used before its SHA-256 and its length match its digest; the length is checked before memory is
//! allocated. A hash proves no more than that: a cache that strangers can write to can return another unit's machine
//! code for a key. With a keyring, everything from a cache must therefore be signed. A farm's action cache must be
//! writable by its workers only, as for any other client.
//!
//! # The toolchain of a farm
//!
//! A record states the identity of the local toolchain, so the worker must have the same one, in the same place.
//!
//! 1. Each action has the platform property `precast-toolchain`, the identity's 64 digits. The administrator sets
//!    it for the workers that have that toolchain, most simply by running the same image on all of them. A
//!    scheduler sends the action only to those workers.
//! 2. Before the first action of a toolchain, a worker computes the SHA-256 of every file in the identity. It does the
//!    same for every path that could take precedence over one. If any of them differs from the local file, nothing is
//!    compiled there.
//!
//! The second step detects a property that is wrong for all workers. `precast verify --rebuild` and `precast
//! challenge` detect one that is wrong for some.

mod access;
mod blobs;
mod cache;
mod connection;
mod credentials;
mod digest;
mod farm;
mod identity;
mod job;
mod operation;
mod report;
mod server;
mod tree;
mod untrusted;

pub use access::{Access, AccessError};
pub use cache::RemoteCache;
pub use connection::CallError;
pub use credentials::Credentials;
pub use farm::{Farm, FarmError};
pub use report::Report;
pub use server::{ParseServerError, Server};

/// The messages of the API.
pub(crate) use bazel_remote_apis::build::bazel::remote::execution::v2 as api;
