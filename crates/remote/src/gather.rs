//! The body of an answer, taken part by part: bounded in length, and waited for as long as [`Patience`] says.

use std::io;
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
    /// There is no room for it here.
    Held(io::Error),
    /// The transport failed.
    Failed(E),
}

impl Patience {
    /// Takes all parts of a body of at most `limit` bytes.
    pub(crate) async fn gather<E>(
        &self,
        limit: u64,
        parts: impl Stream<Item = Result<Bytes, E>> + Unpin,
    ) -> Result<Vec<u8>, Stopped<E>> {
        let mut bytes = Vec::new();
        self.pour(limit, parts, |part| append(&mut bytes, part)).await?;
        Ok(bytes)
    }

    /// Hands over the parts of a body of at most `limit` bytes, each as it comes.
    pub(crate) async fn pour<E>(
        &self,
        limit: u64,
        mut parts: impl Stream<Item = Result<Bytes, E>> + Unpin,
        mut take: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> Result<(), Stopped<E>> {
        let (mut length, begin) = (0, Instant::now());
        while let Some(part) =
            tokio::time::timeout(self.silence, parts.next()).await.map_err(|_| Stopped::Slow)?
        {
            let part = part.map_err(Stopped::Failed)?;
            length += part.len();
            if length as u64 > limit {
                return Err(Stopped::TooLong);
            }
            take(&part).map_err(Stopped::Held)?;
            if self.is_lost(begin.elapsed(), length) {
                return Err(Stopped::Slow);
            }
        }
        Ok(())
    }
}

/// Appends to bytes, in memory that is asked for first.
pub(crate) fn append(bytes: &mut Vec<u8>, part: &[u8]) -> io::Result<()> {
    bytes.try_reserve(part.len()).map_err(|_| no_memory((bytes.len() + part.len()) as u64))?;
    bytes.extend_from_slice(part);
    Ok(())
}

/// Says that there is not so much memory.
pub(crate) fn no_memory(length: u64) -> io::Error {
    io::Error::new(io::ErrorKind::OutOfMemory, format!("there is no memory for {length} bytes"))
}
