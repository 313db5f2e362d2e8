//! The constants of the file format, and the head of a bundle with every length and offset checked.

use super::bytes::{slice, u32_at, u64_at};
use super::table::Table;
use crate::key::context;

/// The format version that a reader must support. Bundles without metadata have this version.
pub const FORMAT: u32 = 3;
/// The format version of a bundle with metadata. Readers of [`FORMAT`] can read it.
pub(super) const WITH_METADATA: u32 = 4;

pub(super) const MAGIC: &[u8; 8] = b"precastb";
/// Offset of the generator.
pub(super) const GENERATOR_AT: usize = 96;
/// Maximum length of the generator, in bytes.
pub(super) const GENERATOR_LIMIT: usize = 256;
pub(super) const HASH_AT: usize = 32;
pub(super) const ROOT_AT: usize = 64;
/// Bytes of one entry in the list of sections.
pub(super) const SECTION: usize = 24;
/// Maximum number of sections that a reader accepts.
const SECTIONS_LIMIT: usize = 64;
/// Number of section kinds that every bundle has. They are numbered from 1.
pub(super) const KINDS: usize = 9;
/// The kind of the metadata.
pub(super) const METADATA: u32 = 10;
/// Flag of a section that a reader may skip if it does not know the kind.
pub(super) const OPTIONAL: u32 = 1;

/// (bytes per row, rows per page) of the three tables and of the programs.
pub(super) const INDEX: (usize, usize) = (40, 64);
pub(super) const ROWS: (usize, usize) = (144, 16);
pub(super) const NAMES: (usize, usize) = (96, 32);
pub(super) const PROGRAMS: (usize, usize) = (1, 8192);

/// Hashes a head, except the hash itself.
pub(super) fn hash_head(head: &[u8]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key(context::BUNDLE);
    hasher.update(&head[..HASH_AT]).update(&head[ROOT_AT..]);
    *hasher.finalize().as_bytes()
}

/// The checked head of a bundle.
#[derive(Debug, Clone)]
pub(super) struct Head {
    pub(super) generator: String,
    /// Offset of the page hashes.
    pub(super) hashes: usize,
    /// Number of pages.
    pub(super) pages: usize,
    pub(super) root: [u8; 32],
    pub(super) index: Table,
    pub(super) rows: Table,
    pub(super) names: Table,
    /// The table of the programs. Its rows are single bytes.
    pub(super) programs: Table,
    /// Offset and length of the metadata, which is the end of the programs.
    pub(super) metadata: Option<(usize, usize)>,
}

impl Head {
    /// Parses the head of a file whose magic, version and length have been checked. The error is the reason.
    pub(super) fn parse(data: &[u8]) -> Result<Self, &'static str> {
        let cut = "truncated header";
        let len = u32_at(data, 24).ok_or(cut)? as usize;
        if len > GENERATOR_LIMIT {
            return Err("generator name too long");
        }
        let count = u32_at(data, 28).ok_or(cut)? as usize;
        if count > SECTIONS_LIMIT {
            return Err("too many sections");
        }
        let end = GENERATOR_AT + len;
        let head = slice(data, 0, end + SECTION * count).ok_or(cut)?;
        if head[HASH_AT..ROOT_AT] != hash_head(head) {
            return Err("header hash mismatch");
        }
        let generator =
            str::from_utf8(&head[GENERATOR_AT..end]).map_err(|_| "generator name is not UTF-8")?;
        let root = *head[ROOT_AT..].first_chunk().ok_or(cut)?;
        let ([hashes, index, rows, names, _, _, _, programs, _], metadata) = sections(data, &head[end..])?;
        if metadata.is_some_and(|(at, len)| at < programs.0 || at + len != programs.0 + programs.1) {
            return Err("the metadata is not at the end of the programs");
        }
        let uneven = "the size of a table is not a multiple of its row size";
        let index = Table::new("index", index, INDEX, 0).ok_or(uneven)?;
        let rows = Table::new("rows", rows, ROWS, index.end_page()).ok_or(uneven)?;
        let names = Table::new("names", names, NAMES, rows.end_page()).ok_or(uneven)?;
        let programs = Table::new("programs", programs, PROGRAMS, names.end_page()).ok_or(uneven)?;
        let pages = programs.end_page();
        if Some(hashes.1) != pages.checked_mul(32) {
            return Err("the number of page hashes does not match the number of pages");
        }
        Ok(Self {
            generator: generator.to_owned(),
            hashes: hashes.0,
            pages,
            root,
            index,
            rows,
            names,
            programs,
            metadata,
        })
    }
}

/// Offset and length of a section.
type Place = (usize, usize);

/// Parses the list of sections into the place of each kind, and the place of the metadata.
fn sections(data: &[u8], list: &[u8]) -> Result<([Place; KINDS], Option<Place>), &'static str> {
    let beyond = "a section extends past the end of the file";
    let mut sections = [None; KINDS + 1];
    for row in list.chunks_exact(SECTION) {
        let (kind, flags) = (u32_at(row, 0).ok_or(beyond)?, u32_at(row, 4).ok_or(beyond)?);
        let place = (u64_at(row, 8).ok_or(beyond)?, u64_at(row, 16).ok_or(beyond)?);
        slice(data, place.0, place.1).ok_or(beyond)?;
        match (kind as usize).checked_sub(1).and_then(|number| sections.get_mut(number)) {
            Some(section @ None) => *section = Some(place),
            Some(Some(_)) => return Err("duplicate section"),
            None if flags & OPTIONAL == 0 => return Err("unknown section"),
            None => {}
        }
    }
    let [required @ .., metadata] = sections;
    if required.contains(&None) {
        return Err("missing section");
    }
    Ok((required.map(Option::unwrap_or_default), metadata))
}
