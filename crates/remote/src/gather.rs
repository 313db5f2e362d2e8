//! Reads the body of a response part by part, within a length limit and the timeouts of [`Patience`].

use std::io;
use std::time::Instant;

use bytes::Bytes;
use futures_util::{Stream, StreamExt as _};

use crate::Patience;

/// The reason why a body was not read completely.
pub(crate) enum Stopped<E> {
    /// The transport sent nothing for too long, or was too slow.
    Slow,
    /// The body is longer than the limit.
    TooLong,
    /// The bytes could not be stored locally.
    Held(io::Error),
    /// The transport failed.
    Failed(E),
}

impl Patience {
    /// Reads a whole body of at most `limit` bytes into memory.
    pub(crate) async fn gather<E>(
        &self,
        limit: u64,
        parts: impl Stream<Item = Result<Bytes, E>> + Unpin,
    ) -> Result<Vec<u8>, Stopped<E>> {
        let mut bytes = Vec::new();
        self.pour(limit, parts, |part| append(&mut bytes, part)).await?;
        Ok(bytes)
    }

    /// Passes each part of a body of at most `limit` bytes to `take` as it arrives.
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

/// Appends bytes. Returns an error if the memory cannot be allocated.
pub(crate) fn append(bytes: &mut Vec<u8>, part: &[u8]) -> io::Result<()> {
    bytes.try_reserve(part.len()).map_err(|_| no_memory((bytes.len() + part.len()) as u64))?;
    bytes.extend_from_slice(part);
    Ok(())
}

/// Returns the error of a failed allocation of `length` bytes.
pub(crate) fn no_memory(length: u64) -> io::Error {
    io::Error::new(io::ErrorKind::OutOfMemory, format!("cannot allocate {length} bytes"))
}
