//! The body of an answer, taken part by part: bounded in length, and waited for as long as [`Patience`] says.

use std::time::Instant;

use bytes::Bytes;
use futures_util::{Stream, StreamExt as _};

use crate::Patience;

/// Why a body did not come whole.
pub(crate) enum Stopped<E> {
    /// It is silent, or slower than anybody waits for.
    Slow,
    /// It is longer than the limit.
    TooLong,
    /// The transport failed.
    Failed(E),
}

impl Patience {
    /// Takes all parts of a body of at most `limit` bytes.
    pub(crate) async fn gather<E>(
        &self,
        limit: u64,
        mut parts: impl Stream<Item = Result<Bytes, E>> + Unpin,
    ) -> Result<Vec<u8>, Stopped<E>> {
        let (mut bytes, begin) = (Vec::new(), Instant::now());
        while let Some(part) =
            tokio::time::timeout(self.silence, parts.next()).await.map_err(|_| Stopped::Slow)?
        {
            let part = part.map_err(Stopped::Failed)?;
            if (bytes.len() + part.len()) as u64 > limit {
                return Err(Stopped::TooLong);
            }
            bytes.extend_from_slice(&part);
            if self.is_lost(begin.elapsed(), bytes.len()) {
                return Err(Stopped::Slow);
            }
        }
        Ok(bytes)
    }
}
