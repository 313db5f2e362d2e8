//! Adds a symbol table to a stripped shared object.
//!
//! The functions are read from the unwinder's sorted table, `.eh_frame_hdr`. Mapped contents do not move: the symbol
//! tables, their names and the new section headers follow the old end of the file.

use super::elf::{E_SHNUM, E_SHOFF, E_SHSTRNDX, HEADER, Section, find, read16, read32, read64, section};
use super::owners;
use std::collections::BTreeMap;

/// The size of a symbol in bytes.
const SYMBOL: usize = 24;
/// The encoding of a sorted table of `i32` pairs, relative to its section.
const ENCODING: [u8; 4] = [1, 0x1b, 0x03, 0x3b];

/// Returns the bytes of the file with a symbol for each function. `name` is called with the key of the function's
/// module. Returns `None` if the file already has symbols or has another format.
pub(super) fn add(bytes: &[u8], name: impl Fn(Option<&[u8; 32]>) -> String) -> Option<Vec<u8>> {
    if !bytes.starts_with(b"\x7fELF\x02\x01") || find(bytes, ".symtab").is_some() {
        return None;
    }
    let text = find(bytes, ".text")?;
    let functions = functions(bytes, text)?;
    let owners = owners::find(bytes, text, &functions).unwrap_or_default();
    let (mut symbols, mut names) = (vec![0; SYMBOL], vec![0]);
    let mut places = BTreeMap::new();
    for (position, (address, size)) in functions.iter().enumerate() {
        let owner = owners.get(position).copied().flatten();
        let place = *places.entry(owner).or_insert_with(|| {
            let place = names.len();
            names.extend(name(owner.as_ref()).into_bytes());
            names.push(0);
            place
        });
        symbols.extend(u32::try_from(place).ok()?.to_le_bytes());
        // A local function with default visibility.
        symbols.extend([2, 0]);
        symbols.extend(u16::try_from(text.index).ok()?.to_le_bytes());
        symbols.extend(address.to_le_bytes());
        symbols.extend(size.to_le_bytes());
    }
    append(bytes, &symbols, &names)
}

fn append(bytes: &[u8], symbols: &[u8], text: &[u8]) -> Option<Vec<u8>> {
    let (count, strings) = (read16(bytes, E_SHNUM)?, read16(bytes, E_SHSTRNDX)?);
    let start = usize::try_from(read64(bytes, E_SHOFF)?).ok()?;
    let mut headers = bytes.get(start..start.checked_add(count * HEADER)?)?.to_vec();
    let old = section(bytes, strings)?;
    let mut names = bytes.get(old.offset..old.offset.checked_add(old.size)?)?.to_vec();
    let added = u32::try_from(names.len()).ok()?;
    names.extend(b".symtab\0.strtab\0");
    let mut whole = bytes.to_vec();
    let mut put = |data: &[u8]| {
        whole.resize(whole.len().next_multiple_of(8), 0);
        whole.extend(data);
        (whole.len() - data.len()) as u64
    };
    let (symbols_at, text_at, names_at) = (put(symbols), put(text), put(&names));
    let place = strings * HEADER;
    let of_names = headers.get_mut(place + 24..place + 40)?;
    of_names.copy_from_slice(&[names_at.to_le_bytes(), (names.len() as u64).to_le_bytes()].concat());
    let locals = u32::try_from(symbols.len() / SYMBOL).ok()?;
    let link = u32::try_from(count + 1).ok()?;
    headers.extend(header([added, 2], symbols_at, symbols.len(), [link, locals], [8, SYMBOL as u64]));
    headers.extend(header([added + 8, 3], text_at, text.len(), [0, 0], [1, 0]));
    let headers_at = put(&headers);
    whole[E_SHOFF..E_SHOFF + 8].copy_from_slice(&headers_at.to_le_bytes());
    whole[E_SHNUM..E_SHNUM + 2].copy_from_slice(&u16::try_from(count + 2).ok()?.to_le_bytes());
    Some(whole)
}

/// Builds a section header without flags and address: name and type, offset and size, link and
/// info, alignment and entry size.
fn header(kind: [u32; 2], offset: u64, size: usize, link: [u32; 2], last: [u64; 2]) -> Vec<u8> {
    let mut header = Vec::with_capacity(HEADER);
    header.extend(kind.iter().flat_map(|word| word.to_le_bytes()));
    header.extend([0, 0, offset, size as u64].iter().flat_map(|word| word.to_le_bytes()));
    header.extend(link.iter().flat_map(|word| word.to_le_bytes()));
    header.extend(last.iter().flat_map(|word| word.to_le_bytes()));
    header
}

/// Returns the address and size of each function in `text`.
fn functions(bytes: &[u8], text: Section) -> Option<Vec<(u64, u64)>> {
    let (table, frames) = (find(bytes, ".eh_frame_hdr")?, find(bytes, ".eh_frame")?);
    if !bytes.get(table.offset..)?.starts_with(&ENCODING) {
        return None;
    }
    let mut found = Vec::new();
    for row in 0..read32(bytes, table.offset.checked_add(8)?)? as usize {
        let at = table.offset.checked_add(12)?.checked_add(row.checked_mul(8)?)?;
        let target =
            |at| Some(table.address.wrapping_add_signed(i64::from(read32(bytes, at)?.cast_signed())));
        let (address, frame) = (target(at)?, target(at.checked_add(4)?)?);
        let frame = usize::try_from(frame.checked_sub(frames.address)?).ok()?.checked_add(frames.offset)?;
        // Fields: length, offset of the common entry, start, size.
        let size = u64::from(read32(bytes, frame.checked_add(12)?)?);
        if address.checked_sub(text.address).is_some_and(|within| within < text.size as u64) {
            found.push((address, size));
        }
    }
    Some(found)
}
