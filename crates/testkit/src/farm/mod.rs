//! A server of the Remote Execution API that follows the API, and on request breaks it.
//!
//! It exists to inject faults, and to measure without a network. The tests against BuildGrid (`cargo xtask remotes`)
//! check that clients are compatible with other implementations.
//!
//! | file | contents |
//! |---|---|
//! | `storage.rs` | capabilities, the action cache, content-addressed storage |
//! | `execution.rs` | actions, each executed by a process of this machine |
//! | `authority.rs` | certificates |
#![allow(clippy::unwrap_used, clippy::missing_panics_doc, reason = "a test whose server fails has failed")]
#![allow(clippy::result_large_err, reason = "the handlers of tonic give a Status")]

mod authority;
mod execution;
mod storage;

pub use authority::{Authority, Certified};

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

/// The messages of the API.
pub use bazel_remote_apis::build::bazel::remote::execution::v2 as api;
use bazel_remote_apis::google::bytestream::byte_stream_server::ByteStreamServer;
use bazel_remote_apis::google::longrunning::Operation;
use sha2::{Digest as _, Sha256};
use tokio::runtime::Runtime;
pub use tonic::Code;
use tonic::service::InterceptorLayer;
use tonic::transport::server::TcpIncoming;
use tonic::transport::{Certificate, Identity, Server as Transport, ServerTlsConfig};
use tonic::{Request, Response, Status};

/// The faults to inject, with the number of times for each.
#[derive(Debug, Clone, Default)]
pub struct Faults {
    /// Calls to refuse, by name: the status code and the number of times.
    pub refuse: BTreeMap<&'static str, (Code, u32)>,
    /// Reads of blobs that return one changed byte.
    pub lie: u32,
    /// Streams of large blobs that end in the middle.
    pub cut: u32,
    /// Compile actions that end like a killed process.
    pub kill: u32,
    /// Streams of operations that end before the operation.
    pub leave: u32,
    /// Forgets operations, so that a client which reconnects does not find them.
    pub forget: bool,
    /// Reports other tools than the client's, as a worker with a different installation does.
    pub other_tools: bool,
    /// Actions that exceed their time limit.
    pub late: u32,
    /// The number of actions that may still be executed before the quota is used up.
    pub quota: Option<u32>,
    /// The call that never gets a response.
    pub silent: Option<&'static str>,
    /// The token that every call must send.
    pub token: Option<String>,
}

/// The contents of a server, and a log of its calls.
#[derive(Debug, Default)]
pub struct State {
    /// The blobs by the hex digits of their digests.
    pub blobs: BTreeMap<String, Vec<u8>>,
    /// The results by the hex digits of their actions' digests.
    pub actions: BTreeMap<String, api::ActionResult>,
    /// The faults to inject.
    pub faults: Faults,
    /// The number of calls, by name.
    pub calls: BTreeMap<&'static str, u32>,
    /// The commands that were run.
    pub commands: Vec<api::Command>,
    operations: BTreeMap<String, Operation>,
}

#[derive(Clone, Default)]
struct Service(Arc<Mutex<State>>);

/// A server on the loopback interface, stopped on drop.
pub struct Server {
    /// The address: `grpc://127.0.0.1:port/main`, or `grpcs://localhost:port/main`.
    pub url: String,
    service: Service,
    _runtime: Runtime,
}

type Answer<T> = Result<Response<T>, Status>;
type Stream<T> = tokio_stream::Iter<std::vec::IntoIter<Result<T, Status>>>;

impl Server {
    /// Starts a server without encryption.
    #[must_use]
    pub fn start() -> Self {
        Self::with(Transport::builder(), "grpc://127.0.0.1")
    }

    /// Starts a server with TLS. With `clients`, it requires client certificates of that authority.
    #[must_use]
    pub fn encrypted(own: &Certified, clients: Option<&Authority>) -> Self {
        let mut tls = ServerTlsConfig::new().identity(Identity::from_pem(&own.certificate, &own.key));
        if let Some(clients) = clients {
            tls = tls.client_ca_root(Certificate::from_pem(&clients.certificate));
        }
        Self::with(Transport::builder().tls_config(tls).unwrap(), "grpcs://localhost")
    }

    fn with(builder: Transport, host: &str) -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let service = Service::default();
        let known = service.clone();
        let router = builder
            .layer(InterceptorLayer::new(move |request| known.known(request)))
            .add_service(api::capabilities_server::CapabilitiesServer::new(service.clone()))
            .add_service(api::action_cache_server::ActionCacheServer::new(service.clone()))
            .add_service(api::content_addressable_storage_server::ContentAddressableStorageServer::new(
                service.clone(),
            ))
            .add_service(api::execution_server::ExecutionServer::new(service.clone()))
            .add_service(ByteStreamServer::new(service.clone()));
        let incoming = {
            let _inside = runtime.enter();
            TcpIncoming::bind("127.0.0.1:0".parse().unwrap()).unwrap()
        };
        let url = format!("{host}:{}/main", incoming.local_addr().unwrap().port());
        runtime.spawn(router.serve_with_incoming(incoming));
        Self { url, service, _runtime: runtime }
    }

    /// Returns the state of the server.
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.service.0.lock().unwrap()
    }

    /// Sets the faults from now on, and forgets open operations.
    pub fn faults(&self, faults: Faults) {
        let mut state = self.state();
        state.faults = faults;
        state.operations.clear();
    }
}

impl State {
    fn take(count: &mut u32) -> bool {
        let is_left = *count > 0;
        *count = count.saturating_sub(1);
        is_left
    }

    fn put(&mut self, bytes: Vec<u8>) -> api::Digest {
        let hash: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        let size_bytes = bytes.len() as i64;
        self.blobs.insert(hash.clone(), bytes);
        api::Digest { hash, size_bytes }
    }

    fn read(&mut self, hash: &str) -> Option<Vec<u8>> {
        let mut bytes = self.blobs.get(hash)?.clone();
        if !bytes.is_empty() && Self::take(&mut self.faults.lie) {
            bytes[0] ^= 1;
        }
        Some(bytes)
    }
}

impl Service {
    /// Rejects requests without the token.
    fn known(&self, request: Request<()>) -> Result<Request<()>, Status> {
        let said = request.metadata().get("authorization").map(|said| said.to_str().unwrap().to_owned());
        match &self.0.lock().unwrap().faults.token {
            Some(token) if said != Some(format!("Bearer {token}")) => {
                Err(Status::unauthenticated("nobody is known by that token"))
            }
            _ => Ok(request),
        }
    }

    /// Never returns if the call is configured to be silent.
    async fn answer(&self, name: &'static str) {
        let is_silent = self.0.lock().unwrap().faults.silent == Some(name);
        if is_silent {
            std::future::pending::<()>().await;
        }
    }

    /// Counts a call, and refuses it if a fault says so.
    fn called(&self, name: &'static str) -> Result<MutexGuard<'_, State>, Status> {
        let mut state = self.0.lock().unwrap();
        *state.calls.entry(name).or_default() += 1;
        if let Some((code, left)) = state.faults.refuse.get_mut(name)
            && State::take(left)
        {
            return Err(Status::new(*code, "as the test asks"));
        }
        Ok(state)
    }
}
