//! Exports: entries and modules of a store as one file, to be carried to where there is no network, and signed as one.
//!
//! An export is an [`Archive`], so that there is one way to read what nobody vouches for, and one file for a set of things.
//!
//! # Layout
//!
//! ```text
//! documents/<RecordId>     the documents of a record
//! entries/<RecordId>       a named graph
//! objects/<Digest>         an archive: its zstd frame
//! provenance/<RecordId>    what a builder has stated of a record, where one has
//! records/<RecordId>       a record
//! release                  `<name>=<number>`, of an export that takes the place of earlier ones of that name
//! signatures/<RecordId>    signatures of a record or an entry, as they stand beside it in the store
//! statement                what is signed: `precast export 1`, then a line for each member above: content id, name; sorted
//! statement.minisig        signatures of the statement
//! ```
//! The statement covers all others, so nothing can be added, left out or mixed with another export. Nothing of an export is
//! used before all of it is verified. Where a reader asks for signatures, they are checked before the export is unpacked. An
//! import is a publish: it verifies again, and may be interrupted at any time.

mod import;
mod release;
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

/// The member that is signed.
const STATEMENT: &str = "statement";

/// The member with its signatures.
const SIGNATURES: &str = "statement.minisig";

/// The member that says which release it is.
const RELEASE: &str = "release";

/// What the names of members begin with.
const MEMBERS: [&str; 8] =
    ["documents/", "entries/", "objects/", "provenance/", "records/", RELEASE, "signatures/", STATEMENT];

/// The remedy for a damaged export.
const AGAIN: &str = "copy it again from its source, or export it again: `precast export`";

/// As much as is looked back for in a beginning: 128 MiB.
const WINDOW_LOG: u32 = 27;

/// How a statement begins.
const FIRST_LINE: &str = "precast export 1\n";

/// What an export may cost its reader, since nothing is known of who wrote it before it is unpacked: 8 GiB and 500 000 members,
/// and no more than what `found` bytes can be, most of which are compressed already.
fn limits(found: usize) -> Limits {
    let room = (64 << 20) + 64 * found as u64;
    Limits { size: room.min(8 << 30), members: 500_000 }
}

/// An export in memory, whole and in order; its records and archives are verified when they are imported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Export(Archive);

/// Says why bytes are no export.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenExportError {
    /// They are no archive.
    #[error("not an export: no archive of precast{}", unpack_hint(.0))]
    Unpack(#[from] UnpackError),
    /// They are an archive of something else, or of a later version.
    #[error(
        "not an export: {why}\nhint: copy it again from its source, with a precast of at least the version that exported it"
    )]
    Statement {
        /// What is wrong.
        why: &'static str,
    },
    /// Too few keys have signed it.
    #[error("the export is not {0}{hint}", hint = _0.hint())]
    Unsigned(Box<Unsigned>),
    /// What it says of its release means nothing.
    #[error("not an export\nhint: {AGAIN}")]
    Release(#[from] ParseReleaseError),
    /// A member is not what the statement says.
    #[error("the export is damaged: member `{member}` {why}\nhint: {AGAIN}")]
    Member {
        /// The member.
        member: String,
        /// What is wrong with it.
        why: &'static str,
    },
}

/// Returns the remedy for bytes that are not unpacked.
fn unpack_hint(error: &UnpackError) -> String {
    match error {
        UnpackError::Memory(_) => "\nhint: import it where there is more memory".to_owned(),
        _ => format!("\nhint: {AGAIN}"),
    }
}

impl Export {
    /// Puts members together and states them.
    fn of(members: BTreeMap<String, Vec<u8>>) -> Self {
        let mut archive = Archive { members };
        let statement = state(&archive.members, |content| ContentId::of(content));
        archive.members.insert(STATEMENT.to_owned(), statement.into_bytes());
        Self(archive)
    }

    /// Opens an export: every member is what the statement says, and every one is there.
    ///
    /// # Errors
    ///
    /// The bytes are no export, or a damaged one.
    pub fn open(bytes: &[u8]) -> Result<Self, OpenExportError> {
        let (_, archive) = Archive::unpack(bytes, &limits(bytes.len()))?;
        check_statement(archive.get(STATEMENT), &state(&archive.members, |content| ContentId::of(content)))?;
        let export = Self(archive);
        export.release()?;
        Ok(export)
    }

    /// Tells whether bytes begin as an export does, by its first member; what follows may be cut or damaged.
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

    /// Says which release this is, so that whoever has imported it takes no earlier one afterwards.
    pub fn set_release(&mut self, release: &Release) {
        let mut members = std::mem::take(&mut self.0.members);
        members.retain(|name, _| name != STATEMENT && name != SIGNATURES);
        members.insert(RELEASE.to_owned(), format!("{release}\n").into_bytes());
        *self = Self::of(members);
    }

    /// Which release this is, if it says so.
    ///
    /// # Errors
    ///
    /// What it says means nothing; not so of an export that was opened.
    pub fn release(&self) -> Result<Option<Release>, ParseReleaseError> {
        self.0.get(RELEASE).map(Release::parse).transpose()
    }

    /// What is signed.
    #[must_use]
    pub fn statement(&self) -> &[u8] {
        self.0.get(STATEMENT).unwrap_or_default()
    }

    /// The signatures of the statement.
    #[must_use]
    pub fn signatures(&self) -> String {
        String::from_utf8_lossy(self.0.get(SIGNATURES).unwrap_or_default()).into_owned()
    }

    /// Puts the signatures of the statement in place of those that are there.
    pub fn set_signatures(&mut self, signatures: String) {
        self.0.members.insert(SIGNATURES.to_owned(), signatures.into_bytes());
    }

    /// Renders the file.
    ///
    /// # Errors
    ///
    /// The compressor fails.
    pub fn pack(&self) -> Result<Vec<u8>, PackError> {
        self.0.pack_at(CARRIED).map(|(_, frame)| frame)
    }

    /// How many records there are.
    #[must_use]
    pub fn records(&self) -> usize {
        self.below("records").count()
    }

    /// How many entries there are.
    #[must_use]
    pub fn entries(&self) -> usize {
        self.below("entries").count()
    }

    /// The members of a directory: name below it, content.
    fn below<'a>(&'a self, directory: &'static str) -> impl Iterator<Item = (&'a str, &'a [u8])> {
        let members = self.0.members.iter();
        members.filter_map(move |(name, content)| {
            let name = name.strip_prefix(directory)?.strip_prefix('/')?;
            Some((name, content.as_slice()))
        })
    }
}

/// States members, except the statement and its signatures: a line each.
fn state<T>(members: &BTreeMap<String, T>, id: impl Fn(&T) -> ContentId) -> String {
    let mut text = FIRST_LINE.to_owned();
    for (name, content) in members.iter().filter(|(name, _)| *name != STATEMENT && *name != SIGNATURES) {
        let _ = writeln!(text, "{} {name}", id(content));
    }
    text
}

/// Checks that the statement is that of the members, whose lines are `found`.
fn check_statement(stated: Option<&[u8]>, found: &str) -> Result<(), OpenExportError> {
    let wrong = |why| OpenExportError::Statement { why };
    let stated = stated.ok_or(wrong("it has no statement"))?;
    if !stated.starts_with(FIRST_LINE.as_bytes()) {
        return Err(wrong("its statement has another form; a later precast wrote it, or something else did"));
    }
    let stated = std::str::from_utf8(stated).map_err(|_| wrong("its statement is not text"))?;
    difference(stated, found).map_or(Ok(()), Err)
}

/// The first line in which what is stated differs from what is there.
fn difference(stated: &str, found: &str) -> Option<OpenExportError> {
    if stated == found {
        return None;
    }
    let name = |line: &str| line.split_once(' ').map_or(line, |(_, name)| name).to_owned();
    let (stated, found): (Vec<&str>, Vec<&str>) = (stated.lines().collect(), found.lines().collect());
    let at = stated.iter().zip(&found).take_while(|(a, b)| a == b).count();
    let (member, why) = match (stated.get(at), found.get(at)) {
        (Some(stated), Some(found)) if name(stated) == name(found) => {
            (name(found), "has other bytes than its statement says")
        }
        (Some(stated), Some(found)) if name(stated) > name(found) => (name(found), "is not in the statement"),
        (Some(stated), _) => (name(stated), "is missing"),
        (None, Some(found)) => (name(found), "is not in the statement"),
        (None, None) => (STATEMENT.to_owned(), "is not in its one form"),
    };
    Some(OpenExportError::Member { member, why })
}
