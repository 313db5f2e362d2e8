//! Allocations whose size a stranger states: where memory ends they are an error, and never an abort of the host program.

/// Says that there is not enough memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("cannot allocate {bytes} bytes for an archive")]
pub struct NoMemory {
    /// How many bytes were asked for.
    pub bytes: usize,
}

/// Allocates room for so many bytes.
pub(super) fn room(bytes: usize) -> Result<Vec<u8>, NoMemory> {
    let mut room = Vec::new();
    room.try_reserve_exact(bytes).map_err(|_| NoMemory { bytes })?;
    Ok(room)
}
