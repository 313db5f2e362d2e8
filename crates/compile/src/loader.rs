//! Shared libraries of an op's own directories: does the dynamic linker find them when the module is loaded?
//!
//! A module is loaded from bytes that were verified, and has no run path: what it needs is found by name, where the system
//! looks, or not at all. A static library becomes part of the module, so it is taken where only a shared one would stay out.

use std::path::Path;

/// Where every dynamic linker looks, and below which distributions put what their configuration names.
const SYSTEM: [&str; 5] = ["/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib"];
/// What `ldconfig` found.
const CACHE: &str = "/etc/ld.so.cache";

/// Whether the dynamic linker of this host finds a shared library that lies there.
pub(crate) fn finds(library: &Path) -> bool {
    let listed = || {
        let path = library.as_os_str().as_encoded_bytes();
        let wanted = [b"\0", path, b"\0"].concat();
        fs_err::read(CACHE).is_ok_and(|cache| cache.windows(wanted.len()).any(|part| part == wanted))
    };
    SYSTEM.iter().any(|directory| library.starts_with(directory)) || listed()
}

/// The linker's argument for a library: the static one by its file name, where a shared one beside it would not be found again.
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
