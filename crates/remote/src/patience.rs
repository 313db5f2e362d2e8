//! How long is waited for whom, and how often a question is repeated.

use std::time::Duration;

#[cfg(any(feature = "files", feature = "oci", feature = "reapi"))]
use precast_store::remote::AT_ONCE;
#[cfg(any(feature = "files", feature = "oci"))]
use precast_store::remote::RemoteError;

/// How long one who asks waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// For a connection.
    pub connection: Duration,
    /// For an answer to begin, and between two of its parts.
    pub silence: Duration,
    /// For an answer to end; for a long one as long as its share of 64 KiB comes a second, of as many as are asked for at once.
    pub answer: Duration,
    /// How often something is tried that may succeed another time.
    pub tries: u32,
    /// How long is waited before the second time; each time afterwards it is twice as long.
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

/// The slowest answer that is waited for, in bytes a second: all that are under way share a line of 64 KiB.
#[cfg(any(feature = "files", feature = "oci", feature = "reapi"))]
const SLOWEST: u64 = (64 << 10) / AT_ONCE as u64;

#[cfg(any(feature = "files", feature = "oci", feature = "reapi"))]
impl Patience {
    /// For an answer of at most so many bytes to end.
    #[must_use]
    pub(crate) fn whole(&self, limit: u64) -> Duration {
        self.answer + Duration::from_secs(limit / SLOWEST)
    }

    /// Tells whether what came in a time is less than of the slowest transport that is waited for.
    #[cfg(any(feature = "files", feature = "oci"))]
    pub(crate) fn is_lost(&self, elapsed: Duration, bytes: usize) -> bool {
        elapsed > self.answer && (bytes as f64) < elapsed.as_secs_f64() * SLOWEST as f64
    }

    /// For all tries of an answer of at most so many bytes.
    #[cfg(any(feature = "files", feature = "oci"))]
    pub(crate) fn all(&self, limit: u64) -> Duration {
        let pauses = self.pause * 2_u32.saturating_pow(self.tries);
        (self.whole(limit) + self.connection) * self.tries.max(1) + pauses + self.silence
    }

    /// Tries something until it succeeds, or fails in a way that will not change.
    ///
    /// # Errors
    ///
    /// Those of the last try.
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
