//! Names of loaded modules, for profilers, debuggers and people.
//!
//! Each shared object has a name such as `precast:score:1f3a9c20`: the graph that loaded it first, or else its first
//! op, and the digest. The kernel shows this name in `/proc/PID/maps`. With a profiling directory, shared objects are
//! loaded from files in it. Profilers read a symbol table from such a file, even after the process has ended. (perf
//! ignores its own map files for code in mapped files.) Release modules have no symbols, so `symbols` adds them, with
//! graph, ops and ISA level. Debug modules already have symbols and lines.
//!
//! ```text
//! DIRECTORY/precast-score-1f3a9c20-<pid>-<count>.so    0600; the user removes it
//!    symbols     score: sum(exp(neg(x) * x) * y) [v4]
//!
//! symbols     adds the table
//! owners      the module of each function in a shared object of several modules
//! expression  signatures as expressions
//! elf         sections and words of a file
//! ```

mod elf;
pub mod expression;
mod owners;
mod symbols;

use crate::key::{BuildKey, Digest};
use crate::program::{Program, Register};
use crate::record::Record;
use crate::trust::{TrustError, check_way};
use std::collections::BTreeMap;
use std::ffi::CString;
use std::sync::{Mutex, PoisonError};

use fs_err::OpenOptions;
use fs_err::os::unix::fs::OpenOptionsExt as _;
use std::io::{self, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// The environment variable that sets the profiling directory.
pub const VARIABLE: &str = "PRECAST_PROFILING";

/// The maximum length of a graph name in the name of an in-memory file, in bytes. Linux allows 249 for the whole name.
const MAX_NAME: usize = 64;
/// The maximum length of a symbol, in characters. perf cuts lines at 4096.
const MAX_SYMBOL: usize = 1024;

/// The directory that the program set for this process. `Some(None)` disables profiling.
static SET: Mutex<Option<Option<PathBuf>>> = Mutex::new(None);

/// Sets the directory for modules that this process loads from now on, overriding [`VARIABLE`]. `None` disables
/// profiling. Loaders and runtimes with their own directory keep it.
pub fn set_directory(directory: Option<PathBuf>) {
    *SET.lock().unwrap_or_else(PoisonError::into_inner) = Some(directory);
}

/// Returns the directory of this process: the one that was set, else the one from the environment.
#[must_use]
pub fn directory() -> Option<PathBuf> {
    let set = SET.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let named = || std::env::var_os(VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from);
    set.unwrap_or_else(named)
}

/// The symbols of the modules in a shared object, without the ISA level: `score: sum(exp(neg(x) * x) * y)`.
pub type Symbols = BTreeMap<BuildKey, String>;

/// Returns the symbols of a record's modules, from their signatures alone.
#[must_use]
pub fn symbols_of_record(record: &Record) -> Symbols {
    record.members.iter().map(|member| (member.key, expression_of(&member.signature, &[]))).collect()
}

/// Returns the symbols of the modules that a named graph calls. A module of several ops lists them in order, since a
/// program does not record how they are connected.
pub fn symbols_of_program<'p>(
    graph: &'p str,
    program: &'p Program,
) -> impl Iterator<Item = (BuildKey, String)> + 'p {
    program.steps.iter().map(move |step| {
        let inputs = step.args.iter().take(step.n_inputs);
        let names: Vec<String> = inputs.map(|register| name(program, *register)).collect();
        let names = if step.signatures.len() == 1 { &names[..] } else { &[] };
        let ops = step.signatures.iter().map(|signature| expression_of(signature, names)).collect();
        (step.key, symbol(graph, &expression::tuple(ops)))
    })
}

/// Returns the symbol of a module that serves a graph. The graph name may be empty.
#[must_use]
pub fn symbol(graph: &str, expression: &str) -> String {
    if graph.is_empty() { expression.to_owned() } else { format!("{graph}: {expression}") }
}

fn expression_of(signature: &str, names: &[String]) -> String {
    expression::of_signature(signature, names).unwrap_or_else(|| signature.to_owned())
}

fn name(program: &Program, register: Register) -> String {
    let port = match register {
        Register::Input(i) => program.inputs.get(i),
        Register::Output(i) => program.outputs.get(i),
        Register::Constant(i) => return format!("c{i}"),
        Register::Temp(i) => return format!("t{i}"),
    };
    port.map(|port| port.name.clone()).unwrap_or_default()
}

/// A description of a shared object.
#[derive(Debug, Clone, Copy)]
pub struct Label<'a> {
    /// The name of the graph; empty if it has none.
    pub graph: &'a str,
    /// The printable signature of the first module.
    pub signature: &'a str,
    /// The ISA level.
    pub isa: &'a str,
    /// The digest of the archive.
    pub digest: &'a Digest,
    /// Symbols for profilers. They are needed only with a profiling directory.
    pub symbols: &'a Symbols,
}

impl Label<'_> {
    /// Returns the name of the in-memory file.
    pub(super) fn memory(&self) -> CString {
        // Letters, digits and punctuation only, so there is no NUL.
        CString::new(self.parts().join(":")).unwrap_or_default()
    }

    /// Returns graph, ops and ISA level: `score: sum(exp(neg(x) * x) * y) [v4]`. A function whose module is
    /// unknown gets the name of the file.
    fn symbol(&self, key: Option<&[u8; 32]>) -> String {
        let level = self.isa.strip_prefix("x86-64-").unwrap_or(self.isa);
        let known = key.and_then(|key| self.symbols.get(&BuildKey::from_bytes(*key)));
        let alone = || self.symbols.values().next().filter(|_| self.symbols.len() == 1);
        let what = known.or_else(alone).cloned().unwrap_or_else(|| self.parts().join(":"));
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

/// Writes a module with symbols to a new file in the directory, which is created if missing. A directory in which
/// another user can replace the file is rejected.
pub(super) fn write(directory: &Path, bytes: &[u8], label: &Label<'_>) -> io::Result<PathBuf> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(directory).map_err(|error| match error
        .kind()
    {
        io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory => {
            io::Error::new(io::ErrorKind::NotADirectory, "a file exists at the path of a directory")
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
        // A process with the same process ID left this file.
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
    let named = symbols::add(bytes, |key| label.symbol(key));
    file.write_all(named.as_deref().unwrap_or(bytes))?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unusable_directory_is_rejected_with_remedy() {
        use std::os::unix::fs::PermissionsExt as _;
        let (place, digest) = (tempfile::tempdir().unwrap(), Digest::from_bytes([0; 32]));
        let symbols = Symbols::new();
        let label =
            Label { graph: "", signature: "add", isa: "x86-64-v2", digest: &digest, symbols: &symbols };
        let (open, file) = (place.path().join("open"), place.path().join("file"));
        fs_err::create_dir(&open).unwrap();
        fs_err::set_permissions(&open, std::fs::Permissions::from_mode(0o777)).unwrap();
        fs_err::write(&file, "").unwrap();
        let refused = write(&open, b"", &label).unwrap_err().to_string();
        assert!(refused.contains("hint: ") && !refused.contains("rebuild"), "{refused}");
        for file in [&file, &file.join("below")] {
            assert_eq!(write(file, b"", &label).unwrap_err().kind(), io::ErrorKind::NotADirectory);
        }
    }

    #[test]
    fn a_label_names_graph_digest_and_level() {
        let digest = Digest::from_bytes([0x1f; 32]);
        let signature = "sum{of=composite{v1=exp(v0); v1}}(f64[..]) -> f64[]";
        let key = [7; 32];
        let symbols = Symbols::from([(BuildKey::from_bytes(key), symbol("a;b", "sum(exp(x))"))]);
        let label =
            Label { graph: "a b/c\0", signature, isa: "x86-64-v4", digest: &digest, symbols: &symbols };
        assert_eq!(label.memory().to_str().unwrap(), "precast:a_b_c_:1f1f1f1f");
        assert_eq!(Label { graph: "", ..label }.memory().to_str().unwrap(), "precast:sum:1f1f1f1f");
        // All functions of a shared object with one module belong to that module.
        for known in [Some(&key), None, Some(&[8; 32])] {
            assert_eq!(label.symbol(known), "a,b: sum(exp(x)) [v4]");
        }
        let long = "e".repeat(5000);
        let symbols = Symbols::from([
            (BuildKey::from_bytes(key), symbol(&long, "x")),
            (BuildKey::from_bytes([8; 32]), symbol("other", "y")),
        ]);
        let label = Label { graph: &long, symbols: &symbols, ..label };
        assert!(label.memory().as_bytes().len() < 249 && label.symbol(Some(&key)).len() < 1100);
        assert_eq!(label.symbol(Some(&[8; 32])), "other: y [v4]");
        assert!(label.symbol(None).starts_with("precast:eee"));
    }
}
