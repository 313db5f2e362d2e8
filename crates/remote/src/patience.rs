//! Timeouts and retries.

use std::time::Duration;

#[cfg(any(feature = "files", feature = "oci", feature = "reapi"))]
use precast_store::remote::AT_ONCE;
#[cfg(any(feature = "files", feature = "oci"))]
use precast_store::remote::RemoteError;

/// The timeouts and retries of a remote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// The timeout for a connection.
    pub connection: Duration,
    /// The timeout for the first byte of an answer, and between two parts of it.
    pub silence: Duration,
    /// The timeout for a whole answer. A slower answer may continue as long as it arrives at its share of 64 KiB per
    /// second, which is divided by the maximum number of concurrent requests.
    pub answer: Duration,
    /// The number of attempts for an operation that may succeed later.
    pub tries: u32,
    /// The delay before the second attempt; it doubles for each further one.
    pub pause: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            connection: Duration::from_secs(5),
            silence: Duration::from_secs(10),
            answer: Duration::from_secs(60),
            tries: 3,
            pause: Duration::from_millis(200),
        }
    }
}

/// The slowest transfer rate that is tolerated, in bytes per second: concurrent answers
/// share a line of 64 KiB per second.
#[cfg(any(feature = "files", feature = "oci", feature = "reapi"))]
const SLOWEST: u64 = (64 << 10) / AT_ONCE as u64;

#[cfg(any(feature = "files", feature = "oci", feature = "reapi"))]
impl Patience {
    /// Returns the timeout for a whole answer of at most `limit` bytes.
    #[must_use]
    pub(crate) fn whole(&self, limit: u64) -> Duration {
        self.answer + Duration::from_secs(limit / SLOWEST)
    }

    /// Returns whether a transfer is slower than the slowest tolerated rate.
    #[cfg(any(feature = "files", feature = "oci"))]
    pub(crate) fn is_lost(&self, elapsed: Duration, bytes: usize) -> bool {
        elapsed > self.answer && (bytes as f64) < elapsed.as_secs_f64() * SLOWEST as f64
    }

    /// Returns the timeout for all attempts at an answer of at most `limit` bytes.
    #[cfg(any(feature = "files", feature = "oci"))]
    pub(crate) fn all(&self, limit: u64) -> Duration {
        let pauses = self.pause * 2_u32.saturating_pow(self.tries);
        (self.whole(limit) + self.connection) * self.tries.max(1) + pauses + self.silence
    }

    /// Retries an operation until it succeeds or fails permanently.
    ///
    /// # Errors
    ///
    /// Returns the error of the last attempt.
    #[cfg(any(feature = "files", feature = "oci"))]
    pub(crate) async fn retry<T, F>(&self, mut attempt: impl FnMut() -> F) -> Result<T, RemoteError>
    where
        F: Future<Output = Result<T, RemoteError>>,
    {
        let mut pause = self.pause;
        for _ in 1..self.tries {
            match attempt().await {
                Err(RemoteError::Unreachable { .. }) => tokio::time::sleep(pause).await,
                done => return done,
            }
            pause *= 2;
        }
        attempt().await
    }
}
