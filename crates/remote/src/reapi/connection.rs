//! A channel to a server, and calls on it.
//!
//! Callers are threads: each blocks on its own call, and all calls share the channel. Every call has a time limit. A
//! call that failed for a temporary reason is retried after a pause. The pause doubles each time and has a random
//! part, so that many builds do not retry at once.

use std::collections::hash_map::RandomState;
use std::error::Error as _;
use std::fmt;
use std::hash::BuildHasher as _;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tonic::service::interceptor::InterceptedService;
use tonic::transport::Channel;
use tonic::{Code, Status};

use super::access::{Access, AccessError};
use super::api::capabilities_client::CapabilitiesClient;
use super::api::{GetCapabilitiesRequest, ServerCapabilities, digest_function};
use super::credentials::{Headers, Teller};
use super::report::{Report, count};
use super::server::Server;
use super::untrusted;
use crate::wait::{NoRuntime, drive, runtime};
use crate::{Patience, shortened};

/// The longest pause between two attempts.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// The reason why a call to a server failed.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The server refused, could not be reached, or did not respond in time.
    #[error("cannot {what}: {}{}", spoken(*code), told(message))]
    Refused {
        /// The requested operation.
        what: &'static str,
        /// The gRPC code.
        code: Code,
        /// The server's message.
        message: String,
    },
    /// The encrypted connection failed because one side rejects the other's certificate.
    #[error("cannot establish an encrypted connection: {why}")]
    Untrusted {
        /// The reason, with a hint.
        why: String,
    },
    /// The connection was established and then broken.
    #[error("cannot {what}: connection lost{}{hint}", told(message))]
    Broken {
        /// The requested operation.
        what: &'static str,
        /// The known details.
        message: String,
        /// A hint on a separate line.
        hint: &'static str,
    },
    /// The action exceeded its time limit and was stopped.
    #[error("the remote action timed out")]
    Late,
    /// No request can be sent from this process.
    #[error("{0}")]
    Here(String),
    /// The response is invalid.
    #[error("invalid response: {what}")]
    Wrong {
        /// A description of the response.
        what: String,
    },
}

impl CallError {
    pub(super) fn refused(what: &'static str) -> impl Fn(Status) -> Self {
        move |status| match untrusted::why(&status) {
            Some(why) => Self::Untrusted { why },
            // An error without a response has a source. An unreachable server has the code `Unavailable`.
            None if status.source().is_some() && status.code() != Code::Unavailable => {
                Self::Broken { what, message: said(&status), hint: "" }
            }
            None => Self::Refused { what, code: status.code(), message: said(&status) },
        }
    }

    pub(super) fn wrong(what: impl Into<String>) -> Self {
        Self::Wrong { what: what.into() }
    }

    pub(super) fn code(&self) -> Option<Code> {
        match self {
            Self::Refused { code, .. } => Some(*code),
            Self::Untrusted { .. } => Some(Code::Unauthenticated),
            Self::Broken { .. } => Some(Code::Unavailable),
            Self::Late => Some(Code::DeadlineExceeded),
            Self::Here(_) | Self::Wrong { .. } => None,
        }
    }
}

impl From<NoRuntime> for CallError {
    fn from(error: NoRuntime) -> Self {
        Self::Here(error.to_string())
    }
}

/// Returns the server's message, or the error that prevented the request.
fn said(status: &Status) -> String {
    status.source().map_or_else(|| status.message().to_owned(), crate::words)
}

/// Returns the description of a code.
pub(super) fn spoken(code: Code) -> &'static str {
    match code {
        Code::Unavailable => "unavailable or overloaded",
        Code::ResourceExhausted => "quota exceeded",
        Code::DeadlineExceeded => "timed out",
        Code::Aborted | Code::Cancelled => "interrupted",
        Code::NotFound => "not found",
        Code::PermissionDenied => "permission denied",
        Code::Unauthenticated => "not authenticated",
        Code::Unimplemented => "not supported by the server",
        Code::FailedPrecondition => "precondition failed",
        Code::InvalidArgument => "invalid argument",
        _ => "server error",
    }
}

fn told(message: &str) -> String {
    let line = shortened(message);
    if line.is_empty() { line } else { format!(" (`{line}`)") }
}

/// Returns whether the same call may succeed a little later.
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
    channel: Channel,
    teller: Teller,
    has_identity: bool,
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
    /// Prepares a connection, which is established on first use.
    pub(super) fn new(place: Server, access: &Access, patience: Patience) -> Result<Self, AccessError> {
        let teller = Teller::new(access, &place)?;
        let wrong = |error: tonic::transport::Error| AccessError::encryption(&place, &error);
        let endpoint =
            Channel::from_shared(place.uri()).map_err(|error| AccessError::encryption(&place, &error))?;
        let mut endpoint = endpoint
            .connect_timeout(patience.connection)
            .http2_keep_alive_interval(Duration::from_secs(30))
            .keep_alive_timeout(Duration::from_secs(20))
            .tcp_nodelay(true);
        if place.is_encrypted() {
            endpoint = endpoint.tls_config(access.encryption(patience.connection)?).map_err(wrong)?;
        }
        let channel = {
            let _inside = runtime().map_err(|error| AccessError::no_thread(&place, error))?.enter();
            endpoint.connect_lazy()
        };
        let (report, random) = (Mutex::default(), RandomState::new());
        let has_identity = access.identity.is_some();
        Ok(Self { channel, teller, has_identity, place, patience, report, random })
    }

    /// Returns the channel with the caller's credentials.
    pub(super) async fn channel(&self) -> Result<InterceptedService<Channel, Headers>, Status> {
        let headers = self.teller.headers(&self.place).await?;
        Ok(InterceptedService::new(self.channel.clone(), headers))
    }

    pub(super) fn instance(&self) -> String {
        self.place.instance().to_owned()
    }

    /// Waits on this thread.
    pub(super) fn wait<T: Send>(&self, what: impl AsyncFnOnce() -> T + Send) -> Result<T, CallError> {
        Ok(drive(what)?)
    }

    /// Changes the report.
    pub(super) fn note(&self, change: impl FnOnce(&mut Report)) {
        change(&mut self.report.lock().unwrap_or_else(PoisonError::into_inner));
    }

    pub(super) fn report(&self) -> Report {
        self.report.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Makes a short call until it succeeds, fails permanently, or the retries are used up.
    pub(super) async fn call<T>(
        &self,
        what: &'static str,
        attempt: impl AsyncFnMut() -> Result<T, Status>,
    ) -> Result<T, CallError> {
        self.call_for(what, 0, attempt).await
    }

    /// Makes a call that carries `size` bytes.
    pub(super) async fn call_for<T>(
        &self,
        what: &'static str,
        size: u64,
        mut attempt: impl AsyncFnMut() -> Result<T, Status>,
    ) -> Result<T, CallError> {
        let limit = self.patience.whole(size);
        let mut is_renewed = false;
        for number in 1.. {
            let began = Instant::now();
            let ended = tokio::time::timeout(limit, attempt()).await;
            let late = |_| Err(Status::deadline_exceeded(format!("none within {limit:?}")));
            match ended.unwrap_or_else(late) {
                Ok(given) => return Ok(given),
                Err(status) if untrusted::why(&status).is_some() => {
                    return Err(CallError::refused(what)(status));
                }
                Err(status) if !is_renewed && self.may_be_known(&status, began).await => is_renewed = true,
                Err(status) if passes(status.code()) && number < self.patience.tries => {
                    self.pause(number, spoken(status.code())).await;
                }
                Err(status) => return Err(self.failed(CallError::refused(what)(status))),
            }
        }
        Err(CallError::wrong("no answer"))
    }

    /// Returns whether an unauthenticated call may be retried once, with new credentials from the helper.
    pub(super) async fn may_be_known(&self, status: &Status, began: Instant) -> bool {
        status.code() == Code::Unauthenticated && self.teller.forget(began).await
    }

    /// Adds a hint to an error.
    fn failed(&self, mut error: CallError) -> CallError {
        if let CallError::Broken { hint, .. } = &mut error
            && self.place.is_encrypted()
            && !self.has_identity
        {
            *hint = "\nhint: pass `--remote-certificate FILE --remote-key FILE` if the server requires a client \
                     certificate";
        }
        error
    }

    /// Waits before a retry, longer after each attempt.
    pub(super) async fn pause(&self, number: u32, reason: &str) {
        self.note(|report| count(&mut report.repeated, reason));
        let random = self.random.hash_one((number, Instant::now()));
        tokio::time::sleep(pause(self.patience.pause, number, random)).await;
    }

    /// Returns a random name for an upload, in the form of a UUID.
    pub(super) fn uuid(&self) -> String {
        let now = Instant::now();
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

    /// Requests the server's capabilities; rejects a server with other digest functions.
    pub(super) async fn capabilities(&self) -> Result<ServerCapabilities, CallError> {
        let request = GetCapabilitiesRequest { instance_name: self.instance() };
        let asked = self.call("query the server's capabilities", async || {
            CapabilitiesClient::new(self.channel().await?).get_capabilities(request.clone()).await
        });
        let found = match asked.await {
            Ok(found) => found.into_inner(),
            // A server without this call is assumed to have the usual capabilities.
            Err(error) if error.code() == Some(Code::Unimplemented) => ServerCapabilities::default(),
            Err(error) => return Err(error),
        };
        let functions =
            found.cache_capabilities.as_ref().map(|cache| &cache.digest_functions[..]).unwrap_or_default();
        if !functions.is_empty() && !functions.contains(&(digest_function::Value::Sha256 as i32)) {
            return Err(CallError::wrong("no SHA-256 digests, which this client requires"));
        }
        Ok(found)
    }
}

/// Returns the pause after an attempt. It doubles up to the maximum, and a random part of at most half is subtracted.
fn pause(first: Duration, number: u32, random: u64) -> Duration {
    let longest = first.saturating_mul(1 << (number - 1).min(16)).min(LONGEST_PAUSE);
    longest - longest / 2000 * u32::try_from(random % 1000).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_delays_double_to_a_limit_with_jitter() {
        let first = Duration::from_millis(200);
        let longest: Vec<u128> = (1..9).map(|number| pause(first, number, 0).as_millis()).collect();
        assert_eq!(longest, [200, 400, 800, 1600, 3200, 6400, 10_000, 10_000]);
        assert_eq!(pause(first, u32::MAX, 0), LONGEST_PAUSE);
        for random in [0, 1, 999, u64::MAX] {
            let pause = pause(first, 3, random);
            assert!(pause > Duration::from_millis(399) && pause <= Duration::from_millis(800), "{pause:?}");
        }
        assert_ne!(pause(first, 3, 1), pause(first, 3, 2));
    }
}
