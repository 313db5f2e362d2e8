//! Bounds-checked reads of sections and words of an ELF file.

/// The size of a section header in bytes.
pub(super) const HEADER: usize = 64;
/// Offsets of fields in the file header.
pub(super) const E_SHOFF: usize = 0x28;
pub(super) const E_SHNUM: usize = 0x3c;
pub(super) const E_SHSTRNDX: usize = 0x3e;

/// A section: its index, address, offset and size.
#[derive(Clone, Copy)]
pub(super) struct Section {
    pub(super) index: usize,
    pub(super) address: u64,
    pub(super) offset: usize,
    pub(super) size: usize,
}

impl Section {
    /// Returns the file offset of an address in the section.
    pub(super) fn place(&self, address: u64) -> Option<usize> {
        let within = usize::try_from(address.checked_sub(self.address)?).ok()?;
        (within < self.size).then(|| self.offset + within)
    }
}

pub(super) fn find(bytes: &[u8], name: &str) -> Option<Section> {
    let strings = section(bytes, read16(bytes, E_SHSTRNDX)?)?;
    (1..read16(bytes, E_SHNUM)?).find_map(|index| {
        let start = strings.offset.checked_add(read32(bytes, header_at(bytes, index)?)? as usize)?;
        let rest = bytes.get(start..)?.strip_prefix(name.as_bytes())?;
        (rest.first() == Some(&0)).then(|| section(bytes, index)).flatten()
    })
}

pub(super) fn section(bytes: &[u8], index: usize) -> Option<Section> {
    let header = bytes.get(header_at(bytes, index)?..)?.get(..HEADER)?;
    let place = |offset| usize::try_from(read64(header, offset)?).ok();
    let (offset, size) = (place(24)?, place(32)?);
    bytes.get(offset..offset.checked_add(size)?)?;
    Some(Section { index, address: read64(header, 16)?, offset, size })
}

fn header_at(bytes: &[u8], index: usize) -> Option<usize> {
    usize::try_from(read64(bytes, E_SHOFF)?).ok()?.checked_add(index * HEADER)
}

pub(super) fn read16(bytes: &[u8], at: usize) -> Option<usize> {
    Some(usize::from(u16::from_le_bytes(bytes.get(at..)?.first_chunk().copied()?)))
}

pub(super) fn read32(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..)?.first_chunk().copied()?))
}

pub(super) fn read64(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..)?.first_chunk().copied()?))
}
