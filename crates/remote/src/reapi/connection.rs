//! One channel to a server, and the one runtime that waits for it.
//!
//! Callers are threads: each blocks on its own call, and all calls share the channel. Every call has a limit of time, and one
//! that failed for a reason that passes is tried again after a pause that doubles, with a random part so that many builds do not
//! come back at once.

use std::collections::hash_map::RandomState;
use std::fmt;
use std::future::Future;
use std::hash::BuildHasher as _;
use std::io;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::runtime::Runtime;
use tonic::transport::Channel;
use tonic::{Code, Status};

use super::api::capabilities_client::CapabilitiesClient;
use super::api::{GetCapabilitiesRequest, ServerCapabilities, digest_function};
use super::report::{Report, count};
use super::server::Server;
use crate::Patience;

/// The longest pause between two attempts.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// Says why a server did not do what it was asked for.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// It refused, could not be reached, or did not answer in time.
    #[error("{what}: {}{}", spoken(*code), told(message))]
    Refused {
        /// What it was asked for.
        what: &'static str,
        /// The code of gRPC.
        code: Code,
        /// What it said.
        message: String,
    },
    /// What it gave is not what it should be.
    #[error("it gave {what}")]
    Wrong {
        /// What it gave.
        what: String,
    },
}

impl CallError {
    pub(super) fn refused(what: &'static str) -> impl Fn(Status) -> Self {
        move |status| Self::Refused { what, code: status.code(), message: status.message().to_owned() }
    }

    pub(super) fn wrong(what: impl Into<String>) -> Self {
        Self::Wrong { what: what.into() }
    }

    pub(super) fn code(&self) -> Option<Code> {
        match self {
            Self::Refused { code, .. } => Some(*code),
            Self::Wrong { .. } => None,
        }
    }
}

/// A code in words.
pub(super) fn spoken(code: Code) -> &'static str {
    match code {
        Code::Unavailable => "not reachable, or overloaded",
        Code::ResourceExhausted => "a quota is used up",
        Code::DeadlineExceeded => "no answer in time",
        Code::Aborted | Code::Cancelled => "broken off",
        Code::NotFound => "not there",
        Code::PermissionDenied => "not allowed",
        Code::Unauthenticated => "not authenticated",
        Code::Unimplemented => "the server does not offer it",
        Code::FailedPrecondition => "a condition is not met",
        Code::InvalidArgument => "refused as invalid",
        _ => "an error of the server",
    }
}

fn told(message: &str) -> String {
    let line = message.lines().next().unwrap_or_default();
    if line.is_empty() {
        String::new()
    } else {
        format!(" (`{}`)", line.chars().take(300).collect::<String>())
    }
}

/// Whether the same call may succeed a little later.
pub(super) fn passes(code: Code) -> bool {
    matches!(
        code,
        Code::Unavailable
            | Code::ResourceExhausted
            | Code::DeadlineExceeded
            | Code::Aborted
            | Code::Cancelled
            | Code::Internal
            | Code::Unknown
    )
}

/// A channel to one server.
pub(super) struct Connection {
    // Before the runtime, which its tasks need.
    channel: Channel,
    runtime: Runtime,
    pub(super) place: Server,
    pub(super) patience: Patience,
    report: Mutex<Report>,
    random: RandomState,
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").field("place", &self.place).finish_non_exhaustive()
    }
}

impl Connection {
    /// Prepares a connection; it is made when it is first used.
    pub(super) fn new(place: Server, patience: Patience) -> io::Result<Self> {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        let runtime = builder.worker_threads(1).thread_name("precast-remote").enable_all().build()?;
        let endpoint = Channel::from_shared(place.uri()).map_err(io::Error::other)?;
        let endpoint = endpoint
            .connect_timeout(patience.connection)
            .http2_keep_alive_interval(Duration::from_secs(30))
            .keep_alive_timeout(Duration::from_secs(20))
            .tcp_nodelay(true);
        let channel = {
            let _inside = runtime.enter();
            endpoint.connect_lazy()
        };
        let (report, random) = (Mutex::default(), RandomState::new());
        Ok(Self { channel, runtime, place, patience, report, random })
    }

    pub(super) fn channel(&self) -> Channel {
        self.channel.clone()
    }

    pub(super) fn instance(&self) -> String {
        self.place.instance().to_owned()
    }

    /// Waits on this thread.
    pub(super) fn wait<T>(&self, what: impl Future<Output = T>) -> T {
        self.runtime.block_on(what)
    }

    /// Changes the report.
    pub(super) fn note(&self, change: impl FnOnce(&mut Report)) {
        change(&mut self.report.lock().unwrap_or_else(PoisonError::into_inner));
    }

    pub(super) fn report(&self) -> Report {
        self.report.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Makes a call of little content until it succeeds, fails for good, or patience ends.
    pub(super) async fn call<T>(
        &self,
        what: &'static str,
        attempt: impl AsyncFnMut() -> Result<T, Status>,
    ) -> Result<T, CallError> {
        self.call_for(what, 0, attempt).await
    }

    /// Makes a call that carries so many bytes.
    pub(super) async fn call_for<T>(
        &self,
        what: &'static str,
        size: u64,
        mut attempt: impl AsyncFnMut() -> Result<T, Status>,
    ) -> Result<T, CallError> {
        let limit = self.patience.whole(size);
        for number in 1.. {
            let ended = tokio::time::timeout(limit, attempt()).await;
            let late = |_| Err(Status::deadline_exceeded(format!("none within {limit:?}")));
            match ended.unwrap_or_else(late) {
                Ok(given) => return Ok(given),
                Err(status) if passes(status.code()) && number < self.patience.tries => {
                    self.pause(number, spoken(status.code())).await;
                }
                Err(status) => return Err(CallError::refused(what)(status)),
            }
        }
        Err(CallError::wrong("no answer"))
    }

    /// Waits before something is tried again, the longer the more often it was.
    pub(super) async fn pause(&self, number: u32, reason: &str) {
        self.note(|report| count(&mut report.repeated, reason));
        let doubled = self.patience.pause.saturating_mul(1 << (number - 1).min(16));
        let longest = doubled.min(LONGEST_PAUSE);
        // Between half of it and all.
        let part = u32::try_from(self.random.hash_one((number, std::time::Instant::now())) % 1000);
        tokio::time::sleep(longest / 2 + longest / 2000 * part.unwrap_or_default()).await;
    }

    /// A random name for an upload, in the form of a UUID.
    pub(super) fn uuid(&self) -> String {
        let now = std::time::Instant::now();
        let (a, b) = (RandomState::new().hash_one(now), self.random.hash_one(now));
        let (a, b) = (a & !0xf000 | 0x4000, b & !(0b11 << 62) | 1 << 63);
        format!(
            "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
            a >> 32,
            a >> 16 & 0xffff,
            a & 0xffff,
            b >> 48,
            b & 0xffff_ffff_ffff
        )
    }

    /// Asks what the server can do, and refuses one whose digests are others.
    pub(super) async fn capabilities(&self) -> Result<ServerCapabilities, CallError> {
        let request = GetCapabilitiesRequest { instance_name: self.instance() };
        let asked = self.call("asking what the server can do", async || {
            CapabilitiesClient::new(self.channel()).get_capabilities(request.clone()).await
        });
        let found = match asked.await {
            Ok(found) => found.into_inner(),
            // What is not said is taken to be as usual.
            Err(error) if error.code() == Some(Code::Unimplemented) => ServerCapabilities::default(),
            Err(error) => return Err(error),
        };
        let functions =
            found.cache_capabilities.as_ref().map(|cache| &cache.digest_functions[..]).unwrap_or_default();
        if !functions.is_empty() && !functions.contains(&(digest_function::Value::Sha256 as i32)) {
            return Err(CallError::wrong("no digests of SHA-256, and this client has no others"));
        }
        Ok(found)
    }
}
