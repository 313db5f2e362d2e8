//! Checks whether a record was built from the headers and libraries of this host.
//!
//! `precast build` recompiles a module whose generation changed. A program that is allowed to compile does the same, so
//! that both give the same result. If a file that was read is missing here and the module cannot be compiled without
//! it, the module is still used, since precompiled modules exist for this case.

use std::fs::Metadata;
use std::io::Read as _;

use precast_codegen::Unit;
use precast_store::key::ContentId;
use precast_store::{Outside, Record};

use crate::generation::generation;
use crate::toolchain::Toolchain;

/// Returns the reason if a record was built from other headers or libraries than a build of the unit on this host would
/// read.
#[must_use]
pub fn outdated(record: &Record, unit: &Unit, toolchain: &Toolchain) -> Option<String> {
    if !record.has_outside() {
        return None;
    }
    let is_missing = |Outside { path, .. }: &Outside| fs_err::metadata(path).is_err();
    match generation(unit, toolchain) {
        Ok(here) if here == record.generation => return None,
        Err(_) if record.outside.iter().any(is_missing) => return None,
        Ok(_) | Err(_) => {}
    }
    let changed = record.outside.iter().find(|file| is_changed(file));
    Some(match changed {
        Some(Outside { path, .. }) => format!("`{path}` changed since the build"),
        None => "other headers or libraries than at the build are found".to_owned(),
    })
}

/// The maximum size of a file to read, in bytes. No header or library is this large, but a record can name any file of
/// the host.
const MOST: u64 = 1 << 31;

/// Returns whether a file exists with another content. Only regular files are opened.
fn is_changed(Outside { path, content }: &Outside) -> bool {
    let Some(found) = fs_err::metadata(path).ok().filter(Metadata::is_file) else { return false };
    if found.len() > MOST {
        return true;
    }
    // Reads at most the stated size: files in /proc state none, and some of them never end.
    let here = match found.len() {
        0 => Ok(ContentId::of([])),
        size => fs_err::File::open(path).and_then(|file| ContentId::of_reader(file.take(size))),
    };
    here.is_ok_and(|here| here != *content)
}

#[cfg(test)]
mod tests {
    use super::{MOST, is_changed};
    use precast_store::Outside;
    use precast_store::key::ContentId;

    fn changed(path: &str, content: &str) -> bool {
        is_changed(&Outside { path: path.to_owned(), content: ContentId::of(content) })
    }

    #[test]
    fn sparse_file_is_not_read() {
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(MOST + 1).unwrap();
        assert!(changed(file.path().to_str().unwrap(), ""));
    }

    #[test]
    fn file_is_compared_by_content() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("header.h");
        fs_err::write(&path, "one").unwrap();
        assert!(!changed(path.to_str().unwrap(), "one"));
        assert!(changed(path.to_str().unwrap(), "two"));
    }

    #[test]
    fn only_regular_files_are_opened() {
        assert!(!changed("/dev/zero", ""));
        assert!(!changed("/absent", ""));
        // Files in /proc state no size, and reading some of them blocks forever.
        assert!(!changed("/proc/version", ""));
    }
}
