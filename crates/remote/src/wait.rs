//! The bridge from synchronous callers to asynchronous transports: one runtime with one
//! thread, for all remotes of a process.
//!
//! A caller may be a task of another runtime, which must not block on a second one. So the future is spawned on the
//! thread of this runtime, and the caller waits for the result. Work that borrows from the caller is driven from a
//! thread without a runtime. A forked child does not have the thread, so it gets an error.

use std::sync::OnceLock;
#[cfg(any(feature = "files", feature = "oci"))]
use std::sync::mpsc::sync_channel;
#[cfg(any(feature = "files", feature = "oci"))]
use std::time::Duration;

#[cfg(any(feature = "files", feature = "oci"))]
use precast_store::remote::RemoteError;
use tokio::runtime::{Builder, Runtime};

/// The runtime, and the ID of the process that has its thread.
static RUNTIME: OnceLock<Option<(u32, Runtime)>> = OnceLock::new();

/// The reason why no remote can be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoRuntime {
    #[error("cannot start a thread")]
    NoThread,
    #[error("cannot use remotes after a fork")]
    Forked,
}

/// Returns the runtime of this process.
pub(crate) fn runtime() -> Result<&'static Runtime, NoRuntime> {
    let (owner, runtime) = RUNTIME.get_or_init(start).as_ref().ok_or(NoRuntime::NoThread)?;
    if *owner == std::process::id() { Ok(runtime) } else { Err(NoRuntime::Forked) }
}

/// Starts the runtime. It first checks that a thread can be started, since tokio panics otherwise.
fn start() -> Option<(u32, Runtime)> {
    let probe = std::thread::Builder::new().spawn(|| ()).ok()?;
    probe.join().ok()?;
    let mut runtime = Builder::new_multi_thread();
    runtime.worker_threads(1).max_blocking_threads(4).thread_name("precast-remote").enable_all();
    let built = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| runtime.build()));
    Some((std::process::id(), built.ok()?.ok()?))
}

/// A DNS resolver that starts a thread for each name. If no thread can be started, this returns an error,
/// whereas tokio's resolver panics.
#[cfg(any(feature = "files", feature = "oci"))]
#[derive(Debug)]
pub(crate) struct Names;

#[cfg(any(feature = "files", feature = "oci"))]
impl reqwest::dns::Resolve for Names {
    fn resolve(&self, name: reqwest::dns::Name) -> reqwest::dns::Resolving {
        use std::net::ToSocketAddrs as _;
        let (sender, receiver) = tokio::sync::oneshot::channel();
        let find = move || {
            // The caller may have given up.
            let _ = sender.send((name.as_str(), 0).to_socket_addrs());
        };
        let started = std::thread::Builder::new().name("precast-names".to_owned()).spawn(find);
        Box::pin(async move {
            started?;
            let found: reqwest::dns::Addrs = Box::new(receiver.await??);
            Ok(found)
        })
    }
}

/// Waits for an answer from `place`.
///
/// # Errors
///
/// The answer does not arrive in time, or no thread can be started.
#[cfg(any(feature = "files", feature = "oci"))]
pub(crate) fn wait<T: Send + 'static>(
    place: &str,
    patience: Duration,
    answer: impl Future<Output = T> + Send + 'static,
) -> Result<T, RemoteError> {
    let failed = |reason: String| RemoteError::Unreachable { place: place.to_owned(), reason };
    let runtime = runtime().map_err(|error| failed(error.to_string()))?;
    let (sender, receiver) = sync_channel(1);
    let task = runtime.spawn(async move {
        // The caller may have given up.
        let _ = sender.send(answer.await);
    });
    receiver.recv_timeout(patience).map_err(|_| {
        task.abort();
        failed(format!("no response within {} s", patience.as_secs_f32()))
    })
}

/// Runs work that borrows from the caller and limits its own time. It runs on this thread, or on a new one if this
/// thread runs a task of some runtime.
///
/// # Errors
///
/// No thread can be started.
#[cfg(feature = "reapi")]
pub(crate) fn drive<T: Send>(work: impl AsyncFnOnce() -> T + Send) -> Result<T, NoRuntime> {
    let runtime = runtime()?;
    if tokio::runtime::Handle::try_current().is_err() {
        return Ok(runtime.block_on(work()));
    }
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("precast-remote-caller".to_owned());
        let thread =
            thread.spawn_scoped(scope, || runtime.block_on(work())).map_err(|_| NoRuntime::NoThread)?;
        Ok(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}
