//! The description of a language's compiler.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use precast_store::ToolchainId;
use serde::{Deserialize, Serialize};

use super::arguments::Arguments;

/// The flag syntax of a compiler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Family {
    /// The GNU compilers.
    Gcc,
    /// Clang.
    Clang,
    /// The clang and the linker inside `zig`, with the C libraries that it brings for every target.
    Zig,
}

/// A program and the arguments that select its function: `zig ld.lld`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Tool {
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<String>,
}

impl Tool {
    pub(crate) fn of(program: &Path, arguments: &[&str]) -> Self {
        let arguments = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        Self { program: program.to_owned(), arguments }
    }
}

impl From<PathBuf> for Tool {
    fn from(program: PathBuf) -> Self {
        Self { program, arguments: Vec::new() }
    }
}

/// The compiler of one language and its tools.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Compiler {
    /// The driver, with the arguments that every run of the compiler gets.
    pub(crate) driver: Tool,
    pub(crate) family: Family,
    /// `gcc 12.2.0`.
    pub(crate) description: String,
    /// The target machine as the compiler reports it: `x86_64-linux-gnu`.
    pub(crate) machine: String,
    /// The `PATH` for all started programs: the directories of the driver, the assembler and the linker.
    pub(crate) path: OsString,
    /// The directory of the compiler's own headers: `stdint.h`, `stddef.h`, …
    pub(crate) own_headers: PathBuf,
    /// The directories searched for `<…>`, including the compiler's own.
    pub(crate) system_headers: Vec<PathBuf>,
    pub(crate) ld: Tool,
    /// `None`: precast localizes symbols itself.
    pub(crate) objcopy: Option<Tool>,
    pub(crate) ar: Tool,
    /// The accepted arguments of `CC`; of zig, the headers of its C library.
    pub(crate) arguments: Arguments,
    pub(crate) id: ToolchainId,
}

/// Returns the target triple of the machine that this program was built for.
#[must_use]
pub fn host_target() -> String {
    let arch = std::env::consts::ARCH;
    match std::env::consts::OS {
        "linux" if cfg!(target_env = "musl") => format!("{arch}-unknown-linux-musl"),
        "linux" => format!("{arch}-unknown-linux-gnu"),
        "macos" => format!("{arch}-apple-darwin"),
        "windows" if cfg!(target_env = "msvc") => format!("{arch}-pc-windows-msvc"),
        "windows" => format!("{arch}-pc-windows-gnu"),
        os => format!("{arch}-unknown-{os}"),
    }
}

/// Returns whether two triples name the same architecture.
pub(super) fn has_arch(machine: &str, target: &str) -> bool {
    let arch = |triple: &str| match triple.split('-').next().unwrap_or_default() {
        "amd64" => "x86_64".to_owned(),
        "arm64" => "aarch64".to_owned(),
        "i386" | "i486" | "i586" => "i686".to_owned(),
        other if other.starts_with("riscv64") => "riscv64".to_owned(),
        "powerpc64le" => "ppc64le".to_owned(),
        other if other.starts_with("arm") => "arm".to_owned(),
        other => other.to_owned(),
    };
    arch(machine) == arch(target)
}

/// Returns whether two triples name the same system and C library: `x86_64-linux-gnu`, `x86_64-poky-linux` and
/// `x86_64-unknown-linux-gnu` do.
pub(super) fn same_system(machine: &str, target: &str) -> bool {
    let system = |triple: &str| {
        let mut parts: Vec<&str> = triple.split('-').skip(1).collect();
        // The C library of `x86_64-poky-linux` is glibc; zig adds its version: `gnu.2.28`.
        let last = parts.pop().unwrap_or_default();
        let (os, libc) = match (last, parts.pop()) {
            ("linux", _) => ("linux", "gnu"),
            (libc, os) => (os.unwrap_or_default(), libc),
        };
        (os.to_owned(), libc.split('.').next().unwrap_or_default().to_owned())
    };
    system(machine) == system(target)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn architectures_are_compared_by_meaning() {
        assert!(has_arch("x86_64-linux-gnu", "x86_64-unknown-linux-gnu"));
        assert!(!has_arch("x86_64-linux-gnu", "aarch64-unknown-linux-gnu"));
    }

    #[test]
    fn systems_are_compared_by_meaning() {
        for same in ["x86_64-linux-gnu", "x86_64-poky-linux", "x86_64-pc-linux-gnu", "x86_64-linux-gnu.2.28"]
        {
            assert!(same_system(same, "x86_64-unknown-linux-gnu"), "{same}");
        }
        for other in ["x86_64-linux-musl", "x86_64-pc-windows-gnu", "x86_64"] {
            assert!(!same_system(other, "x86_64-unknown-linux-gnu"), "{other}");
        }
    }
}
