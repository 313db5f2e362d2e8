//! Checks signatures of an export before it is unpacked: the statement and its signatures are read from the stream, and nothing else
//! is kept in memory.

use std::io::{self, Read};

use tar::Header;

use super::{Export, OpenExportError, SIGNATURES, STATEMENT, WINDOW_LOG, limits};
use crate::archive::UnpackError;
use crate::keyring::{Keyring, SIGNATURES_LIMIT};

/// Longest statement, in bytes: a line for each member.
const STATEMENT_LIMIT: u64 = 128 << 20;

impl Export {
    /// Opens an export that enough keys of `keyring` have signed. Returns it with the names of the keys. An export without these
    /// signatures is not unpacked.
    ///
    /// # Errors
    ///
    /// As [`Export::open`]; too few keys have signed it.
    pub fn open_signed<'k>(
        bytes: &[u8],
        keyring: &'k Keyring,
    ) -> Result<(Self, Vec<&'k str>), OpenExportError> {
        let limit = limits(bytes.len()).size;
        let (statement, signatures) = read(bytes, limit).map_err(|source| UnpackError::Decode { source })?;
        let missing = OpenExportError::Statement { why: "it has no statement" };
        let statement = statement.ok_or(missing)?;
        let signatures = String::from_utf8_lossy(&signatures.unwrap_or_default()).into_owned();
        let names = keyring.check(&statement, &signatures).map_err(OpenExportError::Unsigned)?;
        let export = Self::open(bytes)?;
        if export.statement() == statement {
            return Ok((export, names));
        }
        Err(OpenExportError::Statement { why: "it has several statements" })
    }
}

/// The contents of the statement and of its signatures.
type Signed = (Option<Vec<u8>>, Option<Vec<u8>>);

/// Reads the statement and its signatures, in a stream of at most `limit` bytes.
fn read(bytes: &[u8], limit: u64) -> io::Result<Signed> {
    let mut decoder = zstd::stream::read::Decoder::with_buffer(bytes)?;
    decoder.window_log_max(WINDOW_LOG)?;
    let mut tar = decoder.take(limit);
    let (mut statement, mut signatures) = (None, None);
    let mut block = [0; 512];
    loop {
        tar.read_exact(&mut block)?;
        if block.iter().all(|byte| *byte == 0) {
            return Ok((statement, signatures));
        }
        let header = Header::from_byte_slice(&block);
        let size = header.entry_size()?;
        let padding = size.wrapping_neg() % 512;
        match &*header.path_bytes() {
            name if name == STATEMENT.as_bytes() => {
                statement = Some(content(&mut tar, size, STATEMENT_LIMIT)?);
            }
            name if name == SIGNATURES.as_bytes() => {
                signatures = Some(content(&mut tar, size, SIGNATURES_LIMIT)?);
            }
            _ => skip(&mut tar, size)?,
        }
        skip(&mut tar, padding)?;
    }
}

fn content(tar: &mut impl Read, size: u64, limit: u64) -> io::Result<Vec<u8>> {
    let too_long = io::ErrorKind::FileTooLarge;
    if size > limit {
        return Err(too_long.into());
    }
    let mut content = Vec::new();
    tar.take(size).read_to_end(&mut content)?;
    if content.len() as u64 == size { Ok(content) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

fn skip(tar: &mut impl Read, size: u64) -> io::Result<()> {
    let skipped = io::copy(&mut tar.take(size), &mut io::sink())?;
    if skipped == size { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}
