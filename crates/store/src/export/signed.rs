//! Reads an export as a stream, before it is unpacked. The statement and signatures are held in memory; other members
//! are hashed or skipped. Callers can therefore check the signatures, or all members, in little memory.

use std::collections::BTreeMap;
use std::io::{self, Read, Take};

use super::{Export, OpenExportError, RELEASE, SIGNATURES, STATEMENT, WINDOW_LOG, limits};
use super::{Release, check_statement, state};
use crate::archive::{Limits, UnpackError, check_all, header_of, stated_size};
use crate::key::ContentId;
use crate::keyring::{Keyring, SIGNATURES_LIMIT};

/// The maximum length of a statement, in bytes: it has a line for each member.
const STATEMENT_LIMIT: u64 = 128 << 20;

/// The maximum length of the release member, in bytes.
const RELEASE_LIMIT: u64 = 4 << 10;

impl Export {
    /// Opens an export that enough keys of `keyring` signed. Returns it with the names of those keys. An export without
    /// enough signatures is not unpacked.
    ///
    /// # Errors
    ///
    /// Fails as [`Export::open`], or if too few trusted keys signed the export.
    pub fn open_signed<'k>(
        bytes: &[u8],
        keyring: &'k Keyring,
    ) -> Result<(Self, Vec<&'k str>), OpenExportError> {
        let (statement, signatures) = signed(bytes)?;
        let missing = OpenExportError::Statement { why: "missing statement" };
        let statement = statement.ok_or(missing)?;
        let signatures = String::from_utf8_lossy(&signatures.unwrap_or_default()).into_owned();
        let names = keyring.check(&statement, &signatures).map_err(OpenExportError::Unsigned)?;
        let export = Self::open(bytes)?;
        if export.statement() == statement {
            return Ok((export, names));
        }
        Err(OpenExportError::Statement { why: "several statements" })
    }

    /// Checks an export like [`Export::open`], without unpacking it. Memory is bounded by the size of the statement.
    ///
    /// # Errors
    ///
    /// The bytes are not an export, or the export is damaged.
    pub fn check(bytes: &[u8]) -> Result<(), OpenExportError> {
        let mut stream = Stream::open(bytes)?;
        let (mut statement, mut release, mut found) = (None, None, BTreeMap::new());
        while let Some((name, size)) = stream.next()? {
            let id = match name.as_str() {
                STATEMENT => ContentId::of(statement.insert(stream.content(&name, size, STATEMENT_LIMIT)?)),
                SIGNATURES => ContentId::of(stream.content(&name, size, SIGNATURES_LIMIT)?),
                RELEASE => ContentId::of(release.insert(stream.content(&name, size, RELEASE_LIMIT)?)),
                _ => stream.id(size)?,
            };
            found.insert(name, id);
        }
        check_all(&found).map_err(UnpackError::from)?;
        check_statement(statement.as_deref(), &state(&found, |id| *id))?;
        release.map(|release| Release::parse(&release)).transpose()?;
        Ok(())
    }
}

/// The contents of the statement and its signatures.
type Signed = (Option<Vec<u8>>, Option<Vec<u8>>);

fn signed(bytes: &[u8]) -> Result<Signed, OpenExportError> {
    let mut stream = Stream::open(bytes)?;
    let (mut statement, mut signatures) = (None, None);
    while let Some((name, size)) = stream.next()? {
        match name.as_str() {
            STATEMENT => statement = Some(stream.content(&name, size, STATEMENT_LIMIT)?),
            SIGNATURES => signatures = Some(stream.content(&name, size, SIGNATURES_LIMIT)?),
            _ => stream.skip(size)?,
        }
    }
    Ok((statement, signatures))
}

/// The tar of an export, decoded step by step. It applies the header rules of [`crate::Archive::unpack`], and rejects
/// trailing bytes.
struct Stream<'b> {
    tar: Take<zstd::stream::read::Decoder<'static, &'b [u8]>>,
    size: u64,
    limits: Limits,
    members: usize,
    last: String,
}

impl<'b> Stream<'b> {
    fn open(bytes: &'b [u8]) -> Result<Self, UnpackError> {
        let limits = limits(bytes.len());
        let size = stated_size(bytes, &limits)?;
        let decoder = || {
            let mut decoder = zstd::stream::read::Decoder::with_buffer(bytes)?.single_frame();
            decoder.window_log_max(WINDOW_LOG)?;
            Ok(decoder)
        };
        let decoder = decoder().map_err(|source| UnpackError::Decode { source })?;
        Ok(Self { tar: decoder.take(size), size, limits, members: 0, last: String::new() })
    }

    /// Reads the name and size of the next member. The caller must read its content before the next call.
    fn next(&mut self) -> Result<Option<(String, u64)>, UnpackError> {
        let mut block = [0; 512];
        self.read(&mut block)?;
        if block == [0; 512] {
            return self.end().map(|()| None);
        }
        if self.members == self.limits.members {
            return Err(UnpackError::TooMany { limit: self.limits.members });
        }
        self.members += 1;
        let (name, size) = header_of(&block)?;
        if name <= self.last {
            return Err(UnpackError::Order { name });
        }
        self.last.clone_from(&name);
        Ok(Some((name, size)))
    }

    /// Reads the end of the tar: zeros, then the frame's checksum.
    fn end(&mut self) -> Result<(), UnpackError> {
        let mut block = [0; 512];
        self.read(&mut block)?;
        // Reading past the end makes the decoder verify the checksum.
        let rest = self.tar.get_mut().read(&mut [0]).map_err(|source| UnpackError::Decode { source })?;
        if block != [0; 512] || self.tar.limit() != 0 || rest != 0 {
            return Err(self.structure());
        }
        Ok(())
    }

    fn content(&mut self, member: &str, size: u64, limit: u64) -> Result<Vec<u8>, OpenExportError> {
        if size > limit {
            let why = "exceeds the size limit for its kind";
            return Err(OpenExportError::Member { member: member.to_owned(), why });
        }
        let mut content = Vec::new();
        self.part(size, &mut content)?;
        Ok(content)
    }

    fn id(&mut self, size: u64) -> Result<ContentId, UnpackError> {
        let id = ContentId::of_reader((&mut self.tar).take(size));
        let id = id.map_err(|source| UnpackError::Decode { source })?;
        self.padding(size)?;
        Ok(id)
    }

    fn skip(&mut self, size: u64) -> Result<(), UnpackError> {
        self.part(size, &mut io::sink())
    }

    fn part(&mut self, size: u64, to: &mut impl io::Write) -> Result<(), UnpackError> {
        let copied = io::copy(&mut (&mut self.tar).take(size), to);
        match copied.map_err(|source| UnpackError::Decode { source })? {
            copied if copied == size => self.padding(size),
            _ => Err(self.structure()),
        }
    }

    /// Reads the zero padding after a member's content. The padding is missing if the content was cut.
    fn padding(&mut self, size: u64) -> Result<(), UnpackError> {
        let mut block = [0; 512];
        let padding = &mut block[..(size.wrapping_neg() % 512) as usize];
        self.read(padding)?;
        if padding.iter().any(|byte| *byte != 0) {
            return Err(self.structure());
        }
        Ok(())
    }

    fn read(&mut self, block: &mut [u8]) -> Result<(), UnpackError> {
        self.tar.read_exact(block).map_err(|source| match source.kind() {
            io::ErrorKind::UnexpectedEof => self.structure(),
            _ => UnpackError::Decode { source },
        })
    }

    fn structure(&self) -> UnpackError {
        UnpackError::Structure { at: usize::try_from(self.size - self.tar.limit()).unwrap_or(usize::MAX) }
    }
}
