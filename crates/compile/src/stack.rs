//! Detects objects that request an executable stack. Such code would crash, since modules are linked without one.
//!
//! A nested function in GNU C needs it if its address is taken (gcc writes a trampoline), and so may assembler text. An
//! object requests it with the flags of its section `.note.GNU-stack`. A dynamic linker that grants the request makes
//! the stack of the whole program executable; glibc 2.41 rejects such objects.

use object::elf::{FileHeader64, SHF_EXECINSTR};
use object::read::archive::ArchiveFile;
use object::read::elf::{ElfFile, SectionHeader as _};
use object::{Endianness, Object as _};
use std::path::{Path, PathBuf};

use crate::error::CompileError;
use crate::object::{RAW, object};
use crate::prepared::Prepared;
use crate::scratch::Scratch;
use crate::toolchain::Family;
use precast_store::ActionKey;

/// Makes gcc report the line.
const NAME_THE_LINE: &str = "-Werror=trampolines";

/// Rejects the unit's object if it requests an executable stack.
pub(crate) fn check(
    prepared: &Prepared<'_>,
    scratch: &Scratch,
    action: &ActionKey,
) -> Result<(), CompileError> {
    if !is_asked(&scratch.read(RAW)?) {
        return Ok(());
    }
    let again = match prepared.compiler.family {
        Family::Gcc => object(prepared, scratch, action, &[NAME_THE_LINE]),
        Family::Clang | Family::Zig => Ok(()),
    };
    let at = match again {
        Err(CompileError::Rejected { mut diagnostics, .. }) if !diagnostics.is_empty() => {
            Some(Box::new(diagnostics.remove(0)))
        }
        _ => None,
    };
    Err(CompileError::ExecutableStack { of: prepared.unit.first().signature.clone(), at })
}

/// Rejects a library if a linked member requests an executable stack. `words` is the output of a linker that lists
/// members (`-t -t`).
pub(crate) fn check_members(words: &str) -> Result<(), CompileError> {
    for (path, name) in words.lines().filter_map(member) {
        let bytes =
            fs_err::read(&path).map_err(|source| CompileError::Read { path: path.clone(), source })?;
        let Ok(archive) = ArchiveFile::parse(&*bytes) else { continue };
        let mut members = archive.members().flatten().filter(|member| member.name() == name.as_bytes());
        if members.any(|member| member.data(&*bytes).is_ok_and(is_asked)) {
            return Err(CompileError::ExecutableStackOf { path, member: name.to_owned() });
        }
    }
    Ok(())
}

/// Returns the archive and the member of a line: `(lib/libown.a)own.o` (GNU linkers) or `lib/libown.a(own.o)` (other
/// linkers).
fn member(line: &str) -> Option<(PathBuf, &str)> {
    let line = line.trim();
    let (path, name) = match line.strip_prefix('(') {
        Some(rest) => rest.rsplit_once(')')?,
        None => line.strip_suffix(')')?.rsplit_once('(')?,
    };
    (Path::new(path).is_absolute() && !name.is_empty()).then(|| (path.into(), name))
}

/// Returns whether an object requests an executable stack.
fn is_asked(bytes: &[u8]) -> bool {
    let Ok(elf) = ElfFile::<FileHeader64<Endianness>>::parse(bytes) else { return false };
    let note = elf.section_by_name(".note.GNU-stack");
    note.is_some_and(|note| note.elf_section_header().sh_flags(elf.endian()).contains(SHF_EXECINSTR))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn archive_members_parse_as_linkers_write_them() {
        let own = || Some((PathBuf::from("/lib/libown.a"), "own.o"));
        assert_eq!(member("(/lib/libown.a)own.o"), own());
        assert_eq!(member("/lib/libown.a(own.o)"), own());
        let parenthesised = Some((PathBuf::from("/a (1)/libown.a"), "own.o"));
        assert_eq!(member("(/a (1)/libown.a)own.o"), parenthesised);
        assert_eq!(member("/a (1)/libown.a(own.o)"), parenthesised);
        for other in ["/lib/libown.a", "own.o", "", "(", ")", "()", "(/lib/libown.a)", "libown.a(own.o)"] {
            assert_eq!(member(other), None, "{other}");
        }
    }
}
