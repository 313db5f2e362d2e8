//! Lists the compilers of this machine, for reports.

use std::path::{Path, PathBuf};

use super::arguments::WRAPPERS;
use super::search::is_executable;
use super::{FindToolchainError, Toolchain, find};

/// A compiler on `PATH`, and whether it can be used.
#[derive(Debug)]
#[non_exhaustive]
pub struct Listed {
    /// Its path.
    pub path: PathBuf,
    /// The toolchain, or the reason why it cannot be used for the target.
    pub found: Result<Toolchain, FindToolchainError>,
}

/// Lists the compilers on `PATH` and the zig of this process ([`super::offer_zig`]), each once. `CC` is not read.
#[must_use]
pub fn list_compilers(target: Option<&str>) -> Vec<Listed> {
    let mut seen: Vec<PathBuf> = Vec::new();
    let mut listed: Vec<Listed> = Vec::new();
    for path in places() {
        let real = fs_err::canonicalize(&path).unwrap_or_else(|_| path.clone());
        let is_wrapper = real.file_stem().is_some_and(|stem| WRAPPERS.iter().any(|wrapper| stem == *wrapper));
        if is_wrapper || seen.contains(&real) {
            continue;
        }
        seen.push(real);
        let found = Toolchain::at(&path, target);
        // A script that starts a listed compiler.
        let is_listed = |driver: &Path| {
            listed.iter().any(|other| other.found.as_ref().is_ok_and(|other| other.driver() == driver))
        };
        if !found.as_ref().is_ok_and(|found| is_listed(found.driver())) {
            listed.push(Listed { path, found });
        }
    }
    listed
}

/// Returns the programs on `PATH` that have the name of a compiler.
fn places() -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut found = Vec::new();
    for directory in std::env::split_paths(&path).filter(|directory| directory.is_absolute()) {
        let entries = fs_err::read_dir(&directory).into_iter().flatten().flatten();
        let files = entries.map(|entry| entry.path()).filter(|file| is_compiler(file) && is_executable(file));
        let mut files: Vec<PathBuf> = files.collect();
        files.sort();
        found.extend(files);
    }
    found.extend(find::offered().map(Path::to_owned));
    found
}

/// Returns whether a program has the name of a compiler: `gcc-12`, `aarch64-linux-gnu-gcc`, `clang`, `zig`.
fn is_compiler(file: &Path) -> bool {
    let Some(name) = file.file_name().and_then(|name| name.to_str()) else { return false };
    let number = |end: &str| !end.is_empty() && end.chars().all(|c| c.is_ascii_digit() || c == '.');
    let base = match name.rsplit_once('-') {
        Some((base, end)) if number(end) => base,
        _ => name,
    };
    ["cc", "c99", "c89", "gcc", "clang", "tcc", "zig", "python-zig"].contains(&base) || base.ends_with("-gcc")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compiler_names_are_recognized() {
        for name in
            ["cc", "gcc", "gcc-12", "clang-14", "aarch64-linux-gnu-gcc", "musl-gcc", "zig", "python-zig"]
        {
            assert!(is_compiler(Path::new(name)), "{name}");
        }
        for name in ["gcc-ar", "gcc-ar-12", "c++", "clang-format", "clangd", "cccc"] {
            assert!(!is_compiler(Path::new(name)), "{name}");
        }
    }
}
