//! Exports: entries and modules of a store in a single file. An export can be carried to machines without a network,
//! and is signed as a whole.
//!
//! An export is an [`Archive`], so the code that reads untrusted archives also reads exports.
//!
//! # Layout
//!
//! ```text
//! documents/<RecordId>     the documents of a record
//! entries/<RecordId>       a named graph
//! objects/<Digest>         an archive: its zstd frame
//! provenance/<RecordId>    a builder's statement about a record, if one exists
//! records/<RecordId>       a record
//! release                  `<name>=<number>`, of an export that replaces earlier exports of that name
//! signatures/<RecordId>    signatures of a record or an entry, as stored beside it in the store
//! statement                the signed text: `precast export 2`, then `<content id> <name>` of each member, sorted
//! statement.minisig        signatures of the statement
//! ```
//! The statement covers all members but signatures, so members cannot be added, left out or mixed with another export.
//! The signatures of records and entries are not covered: each signer adds some, and each proves itself. No part
//! of an export is used before all of it is verified. If a reader requires signatures, they are checked before the
//! export is unpacked. An import is a publish: it verifies again, and may be interrupted at any time.

mod import;
mod release;
mod served;
mod signed;
mod write;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Read as _};

use crate::archive::{Archive, CARRIED, Limits, PackError, UnpackError};
use crate::key::ContentId;
use crate::keyring::Unsigned;

pub use import::{ImportError, Imported, Stated};
pub use release::{ParseReleaseError, Release};
pub use write::ExportError;

/// The name of the signed member.
const STATEMENT: &str = "statement";

/// The name of the member with the statement's signatures.
const SIGNATURES: &str = "statement.minisig";

/// The name of the member that states the release.
const RELEASE: &str = "release";

/// The prefix of the members with the signatures of records and entries.
const SIGNED: &str = "signatures/";

/// The prefixes of valid member names.
const MEMBERS: [&str; 8] =
    ["documents/", "entries/", "objects/", "provenance/", "records/", RELEASE, SIGNED, STATEMENT];

/// The hint for a damaged export.
const AGAIN: &str = "copy it again from its source, or export it again with `precast export`";

/// The largest zstd window that is accepted when streaming: 128 MiB.
const WINDOW_LOG: u32 = 27;

/// The first line of a statement.
const FIRST_LINE: &str = "precast export 2\n";

/// The first line of the statements of an earlier format.
const EARLIER: &[u8] = b"precast export 1\n";

/// Returns the limits for unpacking an export, whose author is unknown at this point: 8 GiB and 500 000 members. The
/// size is also bounded by `found`, the length of the file, because most members are already compressed.
fn limits(found: usize) -> Limits {
    let room = (64 << 20) + 64 * found as u64;
    Limits { size: room.min(8 << 30), members: 500_000 }
}

/// An export in memory. Its members match its statement; records and archives are verified on import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Export(Archive);

/// The reason why bytes are not a valid export.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenExportError {
    /// The bytes are not an archive.
    #[error("not an export: not a precast archive{}", unpack_hint(.0))]
    Unpack(#[from] UnpackError),
    /// The archive is not an export, or a later version wrote it.
    #[error(
        "not an export: {why}\nhint: copy it again from its source; use at least the precast version that exported it"
    )]
    Statement {
        /// The defect.
        why: &'static str,
    },
    /// Too few trusted keys signed the export.
    #[error("the export is not {0}{hint}", hint = _0.hint())]
    Unsigned(Box<Unsigned>),
    /// The release member is invalid.
    #[error("not an export\nhint: {AGAIN}")]
    Release(#[from] ParseReleaseError),
    /// A member does not match the statement.
    #[error("the export is damaged: member `{member}` {why}\nhint: {AGAIN}")]
    Member {
        /// The member.
        member: String,
        /// The mismatch.
        why: &'static str,
    },
}

/// Returns the hint for an archive that cannot be unpacked.
fn unpack_hint(error: &UnpackError) -> String {
    match error {
        UnpackError::Memory(_) => "\nhint: import it on a machine with more memory".to_owned(),
        _ => format!("\nhint: {AGAIN}"),
    }
}

impl Export {
    /// Builds an export from its members and adds the statement.
    fn of(members: BTreeMap<String, Vec<u8>>) -> Self {
        let mut archive = Archive { members };
        let statement = state(&archive.members, |content| ContentId::of(content));
        archive.members.insert(STATEMENT.to_owned(), statement.into_bytes());
        Self(archive)
    }

    /// Opens an export and checks that its members match the statement, with none missing.
    ///
    /// # Errors
    ///
    /// The bytes are not an export, or the export is damaged.
    pub fn open(bytes: &[u8]) -> Result<Self, OpenExportError> {
        let (_, archive) = Archive::unpack(bytes, &limits(bytes.len()))?;
        check_statement(archive.get(STATEMENT), &state(&archive.members, |content| ContentId::of(content)))?;
        let export = Self(archive);
        export.release()?;
        Ok(export)
    }

    /// Returns whether bytes begin like an export, judged by the first member; the rest may be cut or damaged.
    #[must_use]
    pub fn is_begun(bytes: &[u8]) -> bool {
        let mut header = [0; 512];
        let mut begin = || -> io::Result<()> {
            let mut decoder = zstd::stream::read::Decoder::with_buffer(bytes)?;
            decoder.window_log_max(WINDOW_LOG)?;
            decoder.read_exact(&mut header)
        };
        let is_tar = begin().is_ok() && header[257..].starts_with(b"ustar");
        is_tar && MEMBERS.iter().any(|name| header.starts_with(name.as_bytes()))
    }

    /// Sets the release of this export. Stores that imported it reject earlier releases afterwards. Removes the
    /// signatures.
    pub fn set_release(&mut self, release: &Release) {
        let mut members = std::mem::take(&mut self.0.members);
        members.retain(|name, _| name != STATEMENT && name != SIGNATURES);
        members.insert(RELEASE.to_owned(), format!("{release}\n").into_bytes());
        *self = Self::of(members);
    }

    /// Returns the release that the export states, if any.
    ///
    /// # Errors
    ///
    /// The release member is invalid; cannot happen for an opened export.
    pub fn release(&self) -> Result<Option<Release>, ParseReleaseError> {
        self.0.get(RELEASE).map(Release::parse).transpose()
    }

    /// Returns the statement, which is the signed text.
    #[must_use]
    pub fn statement(&self) -> &[u8] {
        self.0.get(STATEMENT).unwrap_or_default()
    }

    /// Returns the signatures of the statement.
    #[must_use]
    pub fn signatures(&self) -> String {
        String::from_utf8_lossy(self.0.get(SIGNATURES).unwrap_or_default()).into_owned()
    }

    /// Replaces the signatures of the statement.
    pub fn set_signatures(&mut self, signatures: String) {
        self.0.members.insert(SIGNATURES.to_owned(), signatures.into_bytes());
    }

    /// Packs the export into a file's bytes.
    ///
    /// # Errors
    ///
    /// Compression fails.
    pub fn pack(&self) -> Result<Vec<u8>, PackError> {
        self.0.pack_at(CARRIED).map(|(_, frame)| frame)
    }

    /// Returns the number of records.
    #[must_use]
    pub fn records(&self) -> usize {
        self.below("records").count()
    }

    /// Returns the number of entries.
    #[must_use]
    pub fn entries(&self) -> usize {
        self.below("entries").count()
    }

    /// Iterates over the members of a directory, as (name below it, content).
    fn below<'a>(&'a self, directory: &'static str) -> impl Iterator<Item = (&'a str, &'a [u8])> {
        let members = self.0.members.iter();
        members.filter_map(move |(name, content)| {
            let name = name.strip_prefix(directory)?.strip_prefix('/')?;
            Some((name, content.as_slice()))
        })
    }
}

/// Builds the statement: one line for each member except the statement and all signatures.
fn state<T>(members: &BTreeMap<String, T>, id: impl Fn(&T) -> ContentId) -> String {
    let mut text = FIRST_LINE.to_owned();
    for (name, content) in members.iter().filter(|(name, _)| is_stated(name)) {
        let _ = writeln!(text, "{} {name}", id(content));
    }
    text
}

/// Returns whether the statement covers a member.
fn is_stated(name: &str) -> bool {
    name != STATEMENT && name != SIGNATURES && !name.starts_with(SIGNED)
}

/// Checks a statement against `found`, the statement computed from the members.
fn check_statement(stated: Option<&[u8]>, found: &str) -> Result<(), OpenExportError> {
    let wrong = |why| OpenExportError::Statement { why };
    let stated = stated.ok_or(wrong("missing statement"))?;
    if stated.starts_with(EARLIER) {
        return Err(wrong("an earlier precast wrote it"));
    }
    if !stated.starts_with(FIRST_LINE.as_bytes()) {
        return Err(wrong("unknown statement format; it may come from a later precast"));
    }
    let stated = std::str::from_utf8(stated).map_err(|_| wrong("the statement is not UTF-8"))?;
    difference(stated, found).map_or(Ok(()), Err)
}

/// Finds the first line in which the statement differs from the members.
fn difference(stated: &str, found: &str) -> Option<OpenExportError> {
    if stated == found {
        return None;
    }
    let name = |line: &str| line.split_once(' ').map_or(line, |(_, name)| name).to_owned();
    let (stated, found): (Vec<&str>, Vec<&str>) = (stated.lines().collect(), found.lines().collect());
    let at = stated.iter().zip(&found).take_while(|(a, b)| a == b).count();
    let (member, why) = match (stated.get(at), found.get(at)) {
        (Some(stated), Some(found)) if name(stated) == name(found) => {
            (name(found), "does not match its hash in the statement")
        }
        (Some(stated), Some(found)) if name(stated) > name(found) => (name(found), "is not in the statement"),
        (Some(stated), _) => (name(stated), "is missing"),
        (None, Some(found)) => (name(found), "is not in the statement"),
        (None, None) => (STATEMENT.to_owned(), "is not in canonical form"),
    };
    Some(OpenExportError::Member { member, why })
}
