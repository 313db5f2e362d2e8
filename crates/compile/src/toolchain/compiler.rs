//! The description of a language's compiler.

use std::ffi::OsString;
use std::path::PathBuf;

use precast_store::ToolchainId;
use serde::{Deserialize, Serialize};

/// The flag syntax of a compiler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Family {
    /// The GNU compilers.
    Gcc,
    /// Clang.
    Clang,
}

/// The compiler of one language and its tools.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Compiler {
    /// The path with which the driver is started.
    pub(crate) driver: PathBuf,
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
    pub(crate) ld: PathBuf,
    pub(crate) objcopy: PathBuf,
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
