//! Finds where two builds of one action differ: the file of the archive, the section of an object, the function.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use object::elf::FileHeader64;
use object::read::elf::ElfFile;
use object::{Endianness, Object as _, ObjectSection as _, ObjectSymbol as _, SymbolKind};
use serde::Serialize;

/// The files of an archive by name.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;

/// A place where two archives differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Difference {
    /// The file in the archive.
    pub(crate) file: String,
    /// The section of an object file.
    pub(crate) section: Option<String>,
    /// The function or the variable.
    pub(crate) symbol: Option<String>,
    /// The difference, in words.
    pub(crate) what: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.file)?;
        if let Some(section) = &self.section {
            write!(f, ", section `{section}`")?;
        }
        if let Some(symbol) = &self.symbol {
            write!(f, ", in `{symbol}`")?;
        }
        write!(f, ": {}", self.what)
    }
}

type Elf<'a> = ElfFile<'a, FileHeader64<Endianness>>;

/// Compares two archives, file by file.
pub(crate) fn between(one: &Files, other: &Files) -> Vec<Difference> {
    let names: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
    names.into_iter().flat_map(|name| file(name, one.get(name), other.get(name))).collect()
}

fn file(name: &str, one: Option<&Vec<u8>>, other: Option<&Vec<u8>>) -> Vec<Difference> {
    let told = |what: String| Difference { file: name.to_owned(), section: None, symbol: None, what };
    let (one, other) = match (one, other) {
        (Some(one), Some(other)) if one == other => return Vec::new(),
        (Some(one), Some(other)) => (one, other),
        _ => return vec![told("only one file has it".to_owned())],
    };
    if let (Ok(a), Ok(b)) = (Elf::parse(&**one), Elf::parse(&**other)) {
        let found = sections(name, &a, &b);
        // A difference outside of all sections, e.g. in a header, is reported by its offset.
        return if found.is_empty() { vec![told(first_byte(one, other))] } else { found };
    }
    vec![told(match (str::from_utf8(one), str::from_utf8(other)) {
        (Ok(one), Ok(other)) => first_line(one, other),
        _ => first_byte(one, other),
    })]
}

fn sections(file: &str, one: &Elf<'_>, other: &Elf<'_>) -> Vec<Difference> {
    let (a, b) = (contents(one), contents(other));
    let names: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    let mut found = Vec::new();
    for name in names {
        let mut told = |symbol: Option<String>, what: String| {
            found.push(Difference { file: file.to_owned(), section: Some(name.clone()), symbol, what });
        };
        match (a.get(name), b.get(name)) {
            (Some(a), Some(b)) if a == b => {}
            (Some(a), Some(b)) => {
                let symbols = symbols(name, (one, a), (other, b));
                if symbols.is_empty() {
                    told(None, first_byte(a, b));
                }
                symbols.into_iter().for_each(|(symbol, what)| told(Some(symbol), what));
            }
            _ => told(None, "only one file has it".to_owned()),
        }
    }
    found
}

fn contents(elf: &Elf<'_>) -> BTreeMap<String, Vec<u8>> {
    let mut contents: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    for section in elf.sections() {
        let name = section.name().unwrap_or("?").to_owned();
        // Sections of the same name count as one.
        contents.entry(name).or_default().extend(section.data().unwrap_or_default());
    }
    contents
}

/// Returns the functions and variables of a section that differ, by name.
fn symbols(section: &str, one: (&Elf<'_>, &[u8]), other: (&Elf<'_>, &[u8])) -> Vec<(String, String)> {
    let (a, b) = (pieces(section, one), pieces(section, other));
    let names: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    let mut found = Vec::new();
    for name in names {
        match (a.get(name), b.get(name)) {
            (Some(a), Some(b)) if a == b => {}
            (Some(a), Some(b)) => found.push((name.clone(), first_byte(a, b))),
            _ => found.push((name.clone(), "only one file has it".to_owned())),
        }
    }
    found
}

fn pieces<'a>(section: &str, (elf, data): (&Elf<'_>, &'a [u8])) -> BTreeMap<String, &'a [u8]> {
    let Some(section) = elf.section_by_name(section) else { return BTreeMap::new() };
    let symbols = elf.symbols().chain(elf.dynamic_symbols());
    let inside = symbols.filter(|symbol| {
        symbol.section_index() == Some(section.index())
            && matches!(symbol.kind(), SymbolKind::Text | SymbolKind::Data)
    });
    let piece = |symbol: object::read::elf::ElfSymbol<'_, '_, FileHeader64<Endianness>>| {
        let start = usize::try_from(symbol.address().checked_sub(section.address())?).ok()?;
        let end = start.checked_add(usize::try_from(symbol.size()).ok()?)?;
        Some((symbol.name().ok()?.to_owned(), data.get(start..end)?))
    };
    inside.filter_map(piece).collect()
}

fn first_byte(one: &[u8], other: &[u8]) -> String {
    let at = one.iter().zip(other).position(|(a, b)| a != b);
    let lengths = format!("{} and {} bytes", one.len(), other.len());
    match at {
        Some(at) if one.len() == other.len() => {
            let count = one.iter().zip(other).filter(|(a, b)| a != b).count();
            format!("{count} of {} bytes differ, the first at {at:#x}", one.len())
        }
        Some(at) => format!("{lengths}, different from {at:#x}"),
        None => lengths,
    }
}

fn first_line(one: &str, other: &str) -> String {
    let lines = one.lines().zip(other.lines());
    match lines.enumerate().find(|(_, (a, b))| a != b) {
        Some((at, (a, b))) => format!("line {} is `{}` and `{}`", at + 1, cut(a), cut(b)),
        None => format!("{} and {} lines", one.lines().count(), other.lines().count()),
    }
}

fn cut(line: &str) -> String {
    let short: String = line.chars().take(60).collect();
    if short.len() < line.len() { format!("{short}…") } else { short }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(members: &[(&str, &[u8])]) -> Files {
        members.iter().map(|(name, content)| ((*name).to_owned(), content.to_vec())).collect()
    }

    #[test]
    fn texts_differ_by_line_and_bytes_by_offset() {
        let one =
            files(&[("a.c", b"int x;\nint y;\n"), ("b", b"\xff\x01\x02"), ("same", b"s"), ("lost", b"")]);
        let other = files(&[("a.c", b"int x;\nint z;\n"), ("b", b"\xff\x01\x03"), ("same", b"s")]);
        let told: Vec<String> = between(&one, &other).iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            [
                "`a.c`: line 2 is `int y;` and `int z;`",
                "`b`: 1 of 3 bytes differ, the first at 0x2",
                "`lost`: only one file has it"
            ]
        );
        assert_eq!(between(&one, &one), []);
    }
}
