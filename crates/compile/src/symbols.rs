//! Localizes and renames symbols of an object without `objcopy`, for zig, which has none that can.
//!
//! Local symbols come first in a symbol table. So the table's entries are sorted, and the relocations that refer to them
//! are renumbered; all sizes stay. Groups of sections (C++) are dissolved, as `objcopy --remove-section=.group` does.
//! A new name is appended to the file with a copy of the other names.

use std::collections::BTreeSet;

use crate::error::CompileError;

const SHT_NULL: u32 = 0;
const SHT_SYMTAB: u32 = 2;
const SHT_RELA: u32 = 4;
const SHT_GROUP: u32 = 17;
/// A list of symbols whose address is compared, by number. Without it, all addresses may be.
const SHT_LLVM_ADDRSIG: u32 = 0x6fff_4c03;
const SHF_GROUP: u64 = 0x200;
const SECTION: usize = 64;
const SYMBOL: usize = 24;
const RELOCATION: usize = 24;

/// Makes all defined symbols local, except the exported ones.
pub(crate) fn localize(object: Vec<u8>, exported: &BTreeSet<String>) -> Result<Vec<u8>, CompileError> {
    let mut file = Object::new(object)?;
    file.localize(|name| exported.contains(name)).ok_or_else(damaged)?;
    Ok(file.bytes)
}

/// Renames a symbol, and makes all other defined symbols local.
pub(crate) fn rename(object: Vec<u8>, old: &str, new: &str) -> Result<Vec<u8>, CompileError> {
    let mut file = Object::new(object)?;
    file.rename(old, new).ok_or_else(damaged)?;
    file.localize(|name| name == new).ok_or_else(damaged)?;
    Ok(file.bytes)
}

fn damaged() -> CompileError {
    CompileError::Module { what: "zig wrote an object that is damaged or of an unknown form".to_owned() }
}

/// A relocatable 64-bit little-endian ELF file.
struct Object {
    bytes: Vec<u8>,
    /// The offsets of the section headers.
    sections: Vec<usize>,
    /// The offset of the symbol table's header.
    table: usize,
}

impl Object {
    fn new(bytes: Vec<u8>) -> Result<Self, CompileError> {
        let mut file = Self { bytes, sections: Vec::new(), table: 0 };
        file.find_sections().ok_or_else(damaged)?;
        Ok(file)
    }

    fn find_sections(&mut self) -> Option<()> {
        // 64-bit, little-endian, relocatable.
        if self.bytes.get(..6)? != b"\x7fELF\x02\x01" || self.u16(16)? != 1 {
            return None;
        }
        let (start, count) = (self.offset(40)?, usize::from(self.u16(60)?));
        self.bytes.get(start..start.checked_add(count * SECTION)?)?;
        self.sections = (0..count).map(|at| start + at * SECTION).collect();
        self.table = *self.sections.iter().find(|at| self.u32(**at + 4) == Some(SHT_SYMTAB))?;
        Some(())
    }

    fn localize(&mut self, is_exported: impl Fn(&str) -> bool) -> Option<()> {
        let (start, count) = self.symbols()?;
        let mut order: Vec<(bool, usize)> = Vec::with_capacity(count);
        for at in 0..count {
            let symbol = start + at * SYMBOL;
            let is_defined = self.u16(symbol + 6)? != 0;
            let info = *self.bytes.get(symbol + 4)?;
            let is_local = info >> 4 == 0 || (is_defined && !is_exported(&self.name(symbol)?));
            if is_local {
                self.bytes[symbol + 4] = info & 0xf;
            }
            order.push((!is_local, at));
        }
        // Stable: the first, empty symbol stays the first.
        order.sort_by_key(|(is_global, _)| *is_global);
        let old = self.bytes.get(start..start + count * SYMBOL)?.to_vec();
        let mut numbers = vec![0_u32; count];
        for (new, (_, at)) in order.iter().enumerate() {
            let entry = &old[at * SYMBOL..(at + 1) * SYMBOL];
            self.bytes[start + new * SYMBOL..start + (new + 1) * SYMBOL].copy_from_slice(entry);
            numbers[*at] = u32::try_from(new).ok()?;
        }
        let local = order.iter().filter(|(is_global, _)| !is_global).count();
        self.put_u32(self.table + 44, u32::try_from(local).ok()?);
        self.renumber(&numbers)
    }

    /// Adapts the sections that refer to symbols by number.
    fn renumber(&mut self, numbers: &[u32]) -> Option<()> {
        for header in self.sections.clone() {
            let flags = self.u64(header + 8)?;
            self.put_u64(header + 8, flags & !SHF_GROUP);
            match self.u32(header + 4)? {
                SHT_RELA => {
                    let (start, size) = (self.offset(header + 24)?, self.offset(header + 32)?);
                    for at in (start..start + size).step_by(RELOCATION) {
                        let number = *numbers.get(self.u32(at + 12)? as usize)?;
                        self.put_u32(at + 12, number);
                    }
                }
                SHT_GROUP | SHT_LLVM_ADDRSIG => self.put_u32(header + 4, SHT_NULL),
                _ => {}
            }
        }
        Some(())
    }

    fn rename(&mut self, old: &str, new: &str) -> Option<()> {
        let (start, count) = self.symbols()?;
        let mut found = (0..count).map(|at| start + at * SYMBOL);
        let symbol = found.find(|symbol| self.name(*symbol).as_deref() == Some(old))?;
        let header = self.names()?;
        let (from, size) = (self.offset(header + 24)?, self.offset(header + 32)?);
        let names = self.bytes.get(from..from + size)?.to_vec();
        let to = self.bytes.len();
        self.bytes.extend(names);
        self.bytes.extend(new.bytes().chain([0]));
        self.put_u32(symbol, u32::try_from(size).ok()?);
        self.put_u64(header + 24, to as u64);
        self.put_u64(header + 32, (size + new.len() + 1) as u64);
        Some(())
    }

    /// Returns the offset and the number of the symbols.
    fn symbols(&self) -> Option<(usize, usize)> {
        let (start, size) = (self.offset(self.table + 24)?, self.offset(self.table + 32)?);
        self.bytes.get(start..start.checked_add(size)?)?;
        Some((start, size / SYMBOL))
    }

    /// Returns the offset of the header of the symbols' names.
    fn names(&self) -> Option<usize> {
        self.sections.get(self.u32(self.table + 40)? as usize).copied()
    }

    fn name(&self, symbol: usize) -> Option<String> {
        let names = self.offset(self.names()? + 24)?;
        let name = self.bytes.get(names + self.u32(symbol)? as usize..)?;
        let end = name.iter().position(|byte| *byte == 0)?;
        String::from_utf8(name[..end].to_vec()).ok()
    }

    fn number<const N: usize>(&self, at: usize) -> Option<[u8; N]> {
        self.bytes.get(at..at.checked_add(N)?)?.try_into().ok()
    }

    fn u16(&self, at: usize) -> Option<u16> {
        self.number(at).map(u16::from_le_bytes)
    }

    fn u32(&self, at: usize) -> Option<u32> {
        self.number(at).map(u32::from_le_bytes)
    }

    fn u64(&self, at: usize) -> Option<u64> {
        self.number(at).map(u64::from_le_bytes)
    }

    fn offset(&self, at: usize) -> Option<usize> {
        usize::try_from(self.u64(at)?).ok()
    }

    /// Writes a number where one was read before.
    fn put_u32(&mut self, at: usize, number: u32) {
        self.bytes[at..at + 4].copy_from_slice(&number.to_le_bytes());
    }

    fn put_u64(&mut self, at: usize, number: u64) {
        self.bytes[at..at + 8].copy_from_slice(&number.to_le_bytes());
    }
}
