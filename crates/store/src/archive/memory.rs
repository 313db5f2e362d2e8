//! Allocations of an untrusted size: running out of memory is an error and never aborts the host program.

/// An allocation failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("cannot allocate {bytes} bytes for an archive")]
pub struct NoMemory {
    /// The requested size, in bytes.
    pub bytes: usize,
}

/// Allocates a vector with a capacity of `bytes`.
pub(super) fn room(bytes: usize) -> Result<Vec<u8>, NoMemory> {
    let mut room = Vec::new();
    room.try_reserve_exact(bytes).map_err(|_| NoMemory { bytes })?;
    Ok(room)
}
