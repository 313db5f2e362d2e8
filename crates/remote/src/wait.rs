//! The bridge from synchronous callers to asynchronous transports: one thread for all remotes of a process.
//!
//! Work is handed to that thread and waited for, rather than driven by the caller, who may be a task of another runtime, in which
//! nothing may block on a second one. A forked child has not got the thread, and is told so.

use std::sync::OnceLock;
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use precast_store::remote::RemoteError;
use tokio::runtime::{Builder, Runtime};

/// The runtime, and the process that has its thread.
static RUNTIME: OnceLock<Option<(u32, Runtime)>> = OnceLock::new();

/// Waits for an answer from `place`.
///
/// # Errors
///
/// It has not come in time, or there is no thread to be had.
pub(crate) fn wait<T: Send + 'static>(
    place: &str,
    patience: Duration,
    answer: impl Future<Output = T> + Send + 'static,
) -> Result<T, RemoteError> {
    let failed = |reason: String| RemoteError::Unreachable { place: place.to_owned(), reason };
    let start = || {
        let mut runtime = Builder::new_multi_thread();
        runtime
            .worker_threads(1)
            .max_blocking_threads(4)
            .thread_name("precast-remote")
            .enable_all()
            .build()
            .ok()
            .map(|runtime| (std::process::id(), runtime))
    };
    let runtime = RUNTIME.get_or_init(start).as_ref();
    let (owner, runtime) = runtime.ok_or_else(|| failed("no thread can be started for it".to_owned()))?;
    if *owner != std::process::id() {
        return Err(failed("this process was forked after it had asked a remote".to_owned()));
    }
    let (sender, receiver) = sync_channel(1);
    let task = runtime.spawn(async move {
        // Who asked may have given up.
        let _ = sender.send(answer.await);
    });
    receiver.recv_timeout(patience).map_err(|_| {
        task.abort();
        failed(format!("no answer within {} s", patience.as_secs_f32()))
    })
}
