//! The serialization of records, documents and entries. Each value has one encoding, and readers do not trust lengths.
//!
//! # Layout
//!
//! ```text
//! frame    "pc"  kind u8  format u32     the format comes first, so that a reader can reject newer ones
//! u8 u32 u64     little-endian
//! hash           32 bytes
//! str, bytes     length u32, then the bytes; text is UTF-8
//! list           count u32, then the items
//! option         u8 0, or 1 and the value
//! ```
//! A value has only one form, so equal values have equal bytes. A reader rejects bytes that are too short or too long.

use super::ParseRecordError;

/// The format version of records, documents and entries that this crate writes, and the newest that it reads.
pub const FORMAT: u32 = 2;

/// The format version of a record with a generation.
pub(crate) const WITH_GENERATION: u32 = 3;

/// The format version of an entry with metadata.
pub(crate) const WITH_METADATA: u32 = 3;

/// The format version of an entry with names of extents, with or without metadata.
pub(crate) const WITH_NAMES: u32 = 4;

/// The kind of a frame: the first byte after the magic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A record.
    Record = b'R' as isize,
    /// The documents of a record.
    Documents = b'D' as isize,
    /// An entry.
    Entry = b'E' as isize,
    /// Metadata, which is always part of a frame.
    Metadata = b'M' as isize,
}

impl Kind {
    const fn name(self) -> &'static str {
        match self {
            Self::Record => "record",
            Self::Documents => "list of documents",
            Self::Entry => "entry",
            Self::Metadata => "metadata",
        }
    }
}

/// An encoder that appends values.
#[derive(Debug)]
pub(crate) struct Writer(Vec<u8>);

impl Writer {
    /// Starts a frame.
    pub(crate) fn new(kind: Kind) -> Self {
        Self::with_format(kind, FORMAT)
    }

    /// Starts a frame of another format version.
    pub(crate) fn with_format(kind: Kind, format: u32) -> Self {
        let mut writer = Self(b"pc".to_vec());
        writer.u8(kind as u8);
        writer.u32(format);
        writer
    }

    /// Continues a frame that another writer started.
    pub(crate) const fn within() -> Self {
        Self(Vec::new())
    }

    pub(crate) fn u8(&mut self, value: u8) {
        self.0.push(value);
    }

    pub(crate) fn u32(&mut self, value: u32) {
        self.0.extend(value.to_le_bytes());
    }

    pub(crate) fn u64(&mut self, value: u64) {
        self.0.extend(value.to_le_bytes());
    }

    /// Writes a count. More than 2³² items would not fit in memory.
    pub(crate) fn count(&mut self, value: usize) {
        self.u32(u32::try_from(value).unwrap_or(u32::MAX));
    }

    pub(crate) fn hash(&mut self, value: &[u8; 32]) {
        self.0.extend_from_slice(value);
    }

    pub(crate) fn bytes(&mut self, value: &[u8]) {
        self.count(value.len());
        self.0.extend_from_slice(value);
    }

    pub(crate) fn str(&mut self, value: &str) {
        self.bytes(value.as_bytes());
    }

    pub(crate) fn list<T>(
        &mut self,
        items: impl ExactSizeIterator<Item = T>,
        mut item: impl FnMut(&mut Self, T),
    ) {
        self.count(items.len());
        for value in items {
            item(self, value);
        }
    }

    pub(crate) fn strs(&mut self, values: &[String]) {
        self.list(values.iter(), |writer, value| writer.str(value));
    }

    pub(crate) fn option<T>(&mut self, value: Option<T>, some: impl FnOnce(&mut Self, T)) {
        self.u8(value.is_some().into());
        if let Some(value) = value {
            some(self, value);
        }
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        self.0
    }
}

/// A decoder that reads values from the front of a slice.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
    kind: Kind,
}

type Read<T> = Result<T, ParseRecordError>;

impl<'a> Reader<'a> {
    /// Opens a frame.
    pub(crate) fn new(kind: Kind, bytes: &'a [u8]) -> Read<Self> {
        Self::up_to(FORMAT, kind, bytes).map(|(reader, _)| reader)
    }

    /// Opens a frame of a format version up to `newest`, and returns the version.
    pub(crate) fn up_to(newest: u32, kind: Kind, bytes: &'a [u8]) -> Read<(Self, u32)> {
        let mut reader = Self { rest: bytes, kind };
        if reader.take(2)? != b"pc" || reader.u8()? != kind as u8 {
            return Err(reader.malformed("invalid magic"));
        }
        match reader.u32()? {
            format if (FORMAT..=newest).contains(&format) => Ok((reader, format)),
            found => Err(ParseRecordError::Format { what: kind.name(), found }),
        }
    }

    /// Continues a frame that another reader opened.
    pub(crate) const fn within(kind: Kind, rest: &'a [u8]) -> Self {
        Self { rest, kind }
    }

    /// Returns the error for bytes that do not encode the expected value.
    pub(crate) fn malformed(&self, why: &'static str) -> ParseRecordError {
        ParseRecordError::Malformed { what: self.kind.name(), why }
    }

    fn take(&mut self, count: usize) -> Read<&'a [u8]> {
        let Some((taken, rest)) = self.rest.split_at_checked(count) else {
            return Err(self.malformed("truncated"));
        };
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Read<[u8; N]> {
        let taken = self.take(N)?;
        taken.try_into().map_err(|_| self.malformed("truncated"))
    }

    pub(crate) fn u8(&mut self) -> Read<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub(crate) fn u32(&mut self) -> Read<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Read<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// Reads a position or an extent.
    pub(crate) fn size(&mut self) -> Read<usize> {
        Ok(self.u32()? as usize)
    }

    pub(crate) fn hash(&mut self) -> Read<[u8; 32]> {
        self.array()
    }

    pub(crate) fn bytes(&mut self) -> Read<&'a [u8]> {
        let len = self.size()?;
        self.take(len)
    }

    pub(crate) fn text(&mut self) -> Read<&'a str> {
        let bytes = self.bytes()?;
        str::from_utf8(bytes).map_err(|_| self.malformed("text is not UTF-8"))
    }

    pub(crate) fn str(&mut self) -> Read<String> {
        self.text().map(str::to_owned)
    }

    /// Reads a list. Every item takes at least one byte, so a count larger than the rest is rejected before memory is
    /// allocated.
    pub(crate) fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Read<T>) -> Read<Vec<T>> {
        let count = self.size()?;
        if count > self.rest.len() {
            return Err(self.malformed("a list is longer than the data"));
        }
        (0..count).map(|_| item(self)).collect()
    }

    /// Skips `count` items of `bytes` bytes each.
    pub(crate) fn skip(&mut self, count: usize, bytes: usize) -> Read<()> {
        let len = count.checked_mul(bytes).ok_or_else(|| self.malformed("truncated"))?;
        self.take(len).map(drop)
    }

    pub(crate) fn strs(&mut self) -> Read<Vec<String>> {
        self.list(Self::str)
    }

    pub(crate) fn option<T>(&mut self, some: impl FnOnce(&mut Self) -> Read<T>) -> Read<Option<T>> {
        match self.u8()? {
            0 => Ok(None),
            1 => some(self).map(Some),
            _ => Err(self.malformed("invalid option tag")),
        }
    }

    /// Reads a value that is encoded as text.
    pub(crate) fn parsed<T: std::str::FromStr>(&mut self, why: &'static str) -> Read<T> {
        self.text()?.parse().map_err(|_| self.malformed(why))
    }

    /// Returns all remaining bytes.
    pub(crate) fn rest(self) -> &'a [u8] {
        self.rest
    }

    /// Checks that no bytes are left.
    pub(crate) fn end(self) -> Read<()> {
        if self.rest.is_empty() { Ok(()) } else { Err(self.malformed("trailing bytes")) }
    }
}
