//! Names of loaded modules, for profilers, debuggers and people.
//!
//! Each module has a name, `precast:score:1f3a9c20`: the graph or its first op, and the digest. The kernel shows it in
//! `/proc/PID/maps`. With a profiling directory, modules are loaded from files in it. Profilers read a symbol table from such a
//! file, even after the process has ended; perf ignores its own map files for code in mapped files. Release modules have no
//! symbols, so `symbols` adds some, which name graph, ops and ISA level. Debug modules have symbols and lines already.
//!
//! ```text
//! DIRECTORY/precast-score-1f3a9c20-<pid>-<count>.so    0600; the user removes it
//! ```

mod symbols;

use crate::key::Digest;
use crate::trust::{TrustError, check_way};
use std::ffi::CString;

use fs_err::OpenOptions;
use fs_err::os::unix::fs::OpenOptionsExt as _;
use std::io::{self, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// The environment variable that names the directory.
pub const VARIABLE: &str = "PRECAST_PROFILING";

/// The longest name of a graph in the name of a file in memory, in bytes; Linux allows 249 for the whole name.
const MAX_NAME: usize = 64;
/// The longest symbol, in characters; perf cuts lines at 4096.
const MAX_SYMBOL: usize = 1024;

/// The directory that the environment names.
#[must_use]
pub fn directory() -> Option<PathBuf> {
    std::env::var_os(VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// A description of a shared object.
#[derive(Debug, Clone, Copy)]
pub struct Label<'a> {
    /// The name of the graph; empty where it has none.
    pub graph: &'a str,
    /// The printable signature of the first module.
    pub signature: &'a str,
    /// The ISA level.
    pub isa: &'a str,
    /// The digest of the archive.
    pub digest: &'a Digest,
}

impl Label<'_> {
    /// The name of the file in memory.
    pub(super) fn memory(&self) -> CString {
        // Letters, digits and punctuation only, so there is no NUL.
        CString::new(self.parts().join(":")).unwrap_or_default()
    }

    /// Graph, op and ISA level: `score: sum(f64[?]) -> f64[] [v4]`.
    fn symbol(&self) -> String {
        let level = self.isa.strip_prefix("x86-64-").unwrap_or(self.isa);
        let separator = if self.graph.is_empty() { "" } else { ": " };
        let what = format!("{}{separator}{}", self.graph, self.signature);
        // Semicolons separate the frames of a folded stack.
        let plain = |c: char| if c == ';' || c.is_control() { ',' } else { c };
        let what: String = what.chars().take(MAX_SYMBOL).map(plain).collect();
        format!("{what} [{level}]")
    }

    fn parts(&self) -> Vec<String> {
        let op = self.signature.split(['{', '(']).next().unwrap_or_default();
        let name = if self.graph.is_empty() { op } else { self.graph };
        let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
        let name: String = name.chars().take(MAX_NAME).map(plain).collect();
        let digest = self.digest.short()[..8].to_owned();
        ["precast".to_owned(), name, digest].into_iter().filter(|part| !part.is_empty()).collect()
    }
}

/// Writes a module, with symbols, to a new file of the directory, which is made where it does not exist. A directory in which
/// others can replace the file is refused.
pub(super) fn write(directory: &Path, bytes: &[u8], label: &Label<'_>) -> io::Result<PathBuf> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(directory).map_err(|error| match error
        .kind()
    {
        io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory => {
            io::Error::new(io::ErrorKind::NotADirectory, "a file stands in the place of a directory")
        }
        _ => error,
    })?;
    let directory = check_way(directory).map_err(|error| match error {
        TrustError::Untrusted(untrusted) => io::Error::other(untrusted.of_profiles()),
        error => io::Error::other(error),
    })?;
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let path = directory.join(format!("{}-{}-{count}.so", label.parts().join("-"), std::process::id()));
    match fs_err::remove_file(&path) {
        // A process of the same number left it.
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
    let named = symbols::add(bytes, &label.symbol());
    file.write_all(named.as_deref().unwrap_or(bytes))?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_that_cannot_hold_modules_is_refused_with_its_remedy() {
        use std::os::unix::fs::PermissionsExt as _;
        let (place, digest) = (tempfile::tempdir().unwrap(), Digest::from_bytes([0; 32]));
        let label = Label { graph: "", signature: "add", isa: "x86-64-v2", digest: &digest };
        let (open, file) = (place.path().join("open"), place.path().join("file"));
        fs_err::create_dir(&open).unwrap();
        fs_err::set_permissions(&open, std::fs::Permissions::from_mode(0o777)).unwrap();
        fs_err::write(&file, "").unwrap();
        let refused = write(&open, b"", &label).unwrap_err().to_string();
        assert!(refused.contains("hint: ") && !refused.contains("build again"), "{refused}");
        for file in [&file, &file.join("below")] {
            assert_eq!(write(file, b"", &label).unwrap_err().kind(), io::ErrorKind::NotADirectory);
        }
    }

    #[test]
    fn a_label_names_graph_digest_and_level() {
        let digest = Digest::from_bytes([0x1f; 32]);
        let signature = "sum{of=composite{v1=exp(v0); v1}}(f64[..]) -> f64[]";
        let label = Label { graph: "a b/c\0", signature, isa: "x86-64-v4", digest: &digest };
        assert_eq!(label.memory().to_str().unwrap(), "precast:a_b_c_:1f1f1f1f");
        assert_eq!(Label { graph: "", ..label }.memory().to_str().unwrap(), "precast:sum:1f1f1f1f");
        let symbol = label.symbol();
        assert!(symbol.ends_with("-> f64[] [v4]") && !symbol.contains([';', '\0']), "{symbol}");
        let long = "e".repeat(5000);
        let label = Label { graph: &long, ..label };
        assert!(label.memory().as_bytes().len() < 249 && label.symbol().len() < 1100);
    }
}
