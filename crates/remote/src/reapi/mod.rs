//! The Bazel Remote Execution API, version 2: what one machine has compiled serves all, and the compiler runs on a farm.
//!
//! Nothing distributed is written here. The services are those that companies run already: BuildGrid, Buildbarn, NativeLink,
//! bazel-remote, EngFlow.
//!
//! ```text
//! unit ─▶ ActionKey ─▶ action digest ─▶ ActionCache ─ hit ─▶ all blobs there? ─▶ CAS ─▶ verified ─▶ the local store
//!                                            │ miss                                      ▲
//!                                            ▼                                           │ objcopy, ld, archive: here
//!                      compiled here, or: Run ─▶ input tree, Command ─▶ Execution ─▶ object from the CAS
//! ```
//! | file | its job |
//! |---|---|
//! | `server.rs` | `grpc://host:port/instance`, `grpcs://host/instance` |
//! | `access.rs`, `untrusted.rs` | certificates, and what is wrong with them; credentials |
//! | `connection.rs` | one channel, calls with limits, repeated after a pause; what had to be repeated |
//! | `digest.rs`, `tree.rs` | what the API calls a blob and a directory |
//! | `blobs.rs` | content-addressed storage: which blobs are missing, to and from it, in batches and streams |
//! | `cache.rs` | [`RemoteCache`]: the action cache, as [`precast_store::ActionCache`] |
//! | `farm.rs`, `job.rs`, `operation.rs` | [`Farm`]: execution, as [`precast_compile::Runner`] |
//! | `identity.rs` | that a worker's toolchain is ours |
//!
//! # What is believed
//!
//! Nothing that arrives is used before its SHA-256 and its length are those of its digest; a length is judged before there is
//! memory for it. What is more than that follows from no hash: a cache that is written to by strangers can give another's
//! machine code for a key. So a configured keyring is asked of everything that a cache gives, and a farm's action cache is to be
//! writable by its workers only, as for any other user of it.
//!
//! # The toolchain of a farm
//!
//! A record states the identity of the toolchain here, so the worker must have the same one, in the same place.
//!
//! 1. Each action has the platform property `precast-toolchain`, the identity's 64 digits. Who sets up workers says by it which
//!    of them have that toolchain, most simply because all run the same image; a scheduler gives the action to no other.
//! 2. Before the first action of a toolchain a worker is asked for the SHA-256 of every file that the identity was made of, and of
//!    every place where one would be taken instead. Unless each is what it is here, nothing is compiled there.
//!
//! The second finds a property that is wrong for all workers. That it is wrong for some of them, `precast verify --rebuild` and
//! `precast challenge` find.

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
