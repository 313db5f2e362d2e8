//! What is known of the compiler of a language.

use std::ffi::OsString;
use std::path::PathBuf;

use precast_store::ToolchainId;
use serde::{Deserialize, Serialize};

/// Whose flags a compiler takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Family {
    /// The GNU compilers.
    Gcc,
    /// Clang.
    Clang,
}

/// One language's compiler with the tools that go with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Compiler {
    /// The driver, as it is started.
    pub(crate) driver: PathBuf,
    pub(crate) family: Family,
    /// `gcc 12.2.0`.
    pub(crate) description: String,
    /// `x86_64-linux-gnu`, as the compiler says it.
    pub(crate) machine: String,
    /// `PATH` for everything that is started: the directories of the driver, the assembler and the linker.
    pub(crate) path: OsString,
    /// Directory of the headers that belong to the compiler: `stdint.h`, `stddef.h`, …
    pub(crate) own_headers: PathBuf,
    /// Directories searched for `<…>`, the compiler's own among them.
    pub(crate) system_headers: Vec<PathBuf>,
    pub(crate) ld: PathBuf,
    pub(crate) objcopy: PathBuf,
    pub(crate) id: ToolchainId,
}

/// Gives the triple of the machine that this program was built for.
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
