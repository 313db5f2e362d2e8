//! Finds the module of each function in a stripped shared object that holds several modules.
//!
//! Modules share no functions and no tables. So functions that call each other, or that the same table refers to,
//! belong to the same module. The module's entry, which has its key, is such a table.
//!
//! ```text
//! function ─ call, jump ─▶ function        x86-64: relative addresses in the code
//! function ─ address of ─▶ table ─ relocation ─▶ function, table
//! entry    ─ relocation ─▶ load, init, run, cleanup, function
//! ```

use super::elf::{Section, find as section, read32, read64};
use std::collections::{BTreeMap, BTreeSet};
use std::mem::offset_of;

use precast_abi::module::{Module, ModuleEntry};

/// A relocation without a symbol: its offset, and the address that the loader writes there.
type Relocation = (u64, u64);

/// The ELF machine number of x86-64, and the type of its relocations without a symbol.
const MACHINE: u16 = 62;
const RELATIVE: u64 = 8;

/// Returns the key of each function's module; `None` for a function whose module is unknown. Returns `None` for the
/// whole file if the architecture is not x86-64.
pub(super) fn find(bytes: &[u8], text: Section, functions: &[(u64, u64)]) -> Option<Vec<Option<[u8; 32]>>> {
    if bytes.get(0x12..0x14)? != MACHINE.to_le_bytes() {
        return None;
    }
    let data = section(bytes, ".data.rel.ro")?;
    let relocations = relocations(bytes, data)?;
    let entries = entries(bytes, data, &relocations)?;
    let starts: BTreeMap<u64, usize> = functions.iter().enumerate().map(|(i, (at, _))| (*at, i)).collect();
    let mut edges = Vec::new();
    for (position, (address, size)) in functions.iter().enumerate() {
        let place = text.place(*address)?;
        // Start one byte early: `targets` matches pairs of bytes, and a one-byte opcode is the second of its pair.
        let code = bytes.get(place.checked_sub(1)?..place.checked_add(usize::try_from(*size).ok()?)?)?;
        let named = targets(code, address - 1).filter(|target| match data.place(target.address) {
            Some(_) => target.may_be_table,
            None => target.may_be_function && starts.contains_key(&target.address),
        });
        edges.extend(named.map(|target| (position, target.address)));
    }
    // A table begins at each address that is referred to.
    let pointed =
        edges.iter().map(|(_, target)| *target).chain(relocations.iter().map(|(_, target)| *target));
    let tables: BTreeSet<u64> =
        pointed.chain(entries.iter().copied()).filter(|at| data.place(*at).is_some()).collect();
    let tables: Vec<u64> = tables.into_iter().collect();
    let table = |at: u64| tables.partition_point(|start| *start <= at).checked_sub(1);
    let node = |at: u64| match starts.get(&at) {
        Some(function) => Some(*function),
        None if data.place(at).is_some() => table(at).map(|table| functions.len() + table),
        None => None,
    };
    let mut groups = Groups::new(functions.len() + tables.len());
    for (function, target) in edges {
        if let Some(target) = node(target) {
            groups.join(function, target);
        }
    }
    for (at, target) in &relocations {
        // Lists of entries belong to all modules.
        if !entries.contains(target)
            && let (Some(table), Some(target)) = (table(*at), node(*target))
        {
            groups.join(functions.len() + table, target);
        }
    }
    let mut keys = BTreeMap::new();
    for entry in &entries {
        let place = data.place(*entry)? + offset_of!(ModuleEntry, key);
        let key: [u8; 32] = *bytes.get(place..)?.first_chunk()?;
        keys.insert(groups.find(node(*entry)?), key);
    }
    Some((0..functions.len()).map(|function| keys.get(&groups.find(function)).copied()).collect())
}

/// Returns the addresses that instructions refer to relative to their end: targets of calls and jumps, and operands in
/// memory. Of the operands, only that of `lea` may be a function. The code is not decoded, so an immediate may look
/// like an operand, but it is too small to be an address in a table.
fn targets(code: &[u8], address: u64) -> impl Iterator<Item = Target> {
    code.windows(6).zip(address..).filter_map(|(window, at)| {
        let (opcode, last, offset) = (window[0], window[1], i32::from_le_bytes(*window.last_chunk()?));
        let is_branch = matches!(last, 0xe8 | 0xe9) || opcode == 0x0f && last & 0xf0 == 0x80;
        let is_operand = last & 0xc7 == 0x05;
        let address = at.wrapping_add(6).wrapping_add_signed(i64::from(offset));
        let target =
            Target { address, may_be_function: is_branch || opcode == 0x8d, may_be_table: is_operand };
        (is_branch || is_operand).then_some(target)
    })
}

/// An address that an instruction refers to.
#[derive(Clone, Copy)]
struct Target {
    address: u64,
    may_be_function: bool,
    may_be_table: bool,
}

/// Returns the relocations without a symbol in a section.
fn relocations(bytes: &[u8], data: Section) -> Option<Vec<Relocation>> {
    let table = section(bytes, ".rela.dyn")?;
    let rows = bytes.get(table.offset..table.offset.checked_add(table.size)?)?.chunks_exact(24);
    let relocation = |row: &[u8]| Some((read64(row, 0)?, read64(row, 8)?, read64(row, 16)?));
    let all: Vec<(u64, u64, u64)> = rows.map(relocation).collect::<Option<_>>()?;
    let ours = all.into_iter().filter(|(at, kind, _)| *kind == RELATIVE && data.place(*at).is_some());
    Some(ours.map(|(at, _, target)| (at, target)).collect())
}

/// Returns the addresses of the entries in the table of the shared object, which is its only exported symbol.
fn entries(bytes: &[u8], data: Section, relocations: &[Relocation]) -> Option<Vec<u64>> {
    let target = |at: u64| relocations.iter().find(|(place, _)| *place == at).map(|(_, target)| *target);
    let symbols = section(bytes, ".dynsym")?;
    let values = (0..symbols.size / 24).filter_map(|row| read64(bytes, symbols.offset + row * 24 + 8));
    let module = values.into_iter().find(|value| data.place(*value).is_some())?;
    let count = read32(bytes, data.place(module)? + offset_of!(Module, n_entries))?;
    let list = target(module + offset_of!(Module, entries) as u64)?;
    (0..u64::from(count)).map(|slot| target(list.checked_add(slot * 8)?)).collect()
}

/// Disjoint groups of numbers (union-find).
struct Groups(Vec<usize>);

impl Groups {
    fn new(count: usize) -> Self {
        Self((0..count).collect())
    }

    fn find(&mut self, mut of: usize) -> usize {
        while self.0[of] != of {
            self.0[of] = self.0[self.0[of]];
            of = self.0[of];
        }
        of
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find(a), self.find(b));
        self.0[a] = b;
    }
}
