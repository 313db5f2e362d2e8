//! Predicts whether the dynamic linker will find shared libraries from an op's own directories when it loads the
//! module.
//!
//! A module is loaded from verified bytes and has no run path, so the dynamic linker finds its libraries only in system
//! directories. A static library becomes part of the module. It is therefore preferred if the shared library would not
//! be found.

use std::path::Path;

/// The default directories of every dynamic linker; distributions keep their configured directories below these.
const SYSTEM: [&str; 5] = ["/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib"];
/// The cache of `ldconfig`.
const CACHE: &str = "/etc/ld.so.cache";

/// Returns whether the dynamic linker of this host finds a shared library with this path.
pub(crate) fn finds(library: &Path) -> bool {
    let listed = || {
        let path = library.as_os_str().as_encoded_bytes();
        let wanted = [b"\0", path, b"\0"].concat();
        fs_err::read(CACHE).is_ok_and(|cache| cache.windows(wanted.len()).any(|part| part == wanted))
    };
    SYSTEM.iter().any(|directory| library.starts_with(directory)) || listed()
}

/// Returns the linker's argument for a library: `-l` and its name, or the static library's file name if the dynamic
/// linker would not find the shared one.
pub(crate) fn argument(name: &str, directories: &[String]) -> String {
    let beside = directories.iter().map(Path::new).find_map(|directory| {
        let (shared, archive) =
            (directory.join(format!("lib{name}.so")), directory.join(format!("lib{name}.a")));
        match (shared.is_file(), archive.is_file()) {
            (true, true) => Some(!finds(&shared)),
            (false, false) => None,
            _ => Some(false),
        }
    });
    if beside == Some(true) { format!("-l:lib{name}.a") } else { format!("-l{name}") }
}
