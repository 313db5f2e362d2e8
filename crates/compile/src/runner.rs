//! Runs the compiler for a unit: on this machine, or wherever a [`Runner`] runs it.
//!
//! Only the compiler itself can run remotely. It takes nine tenths of a unit's time, and its inputs are a few small
//! files. `objcopy` and the linker take 4 ms, less than transferring the object. Remote results pass the same checks as
//! local ones: the files that preprocessor and assembler report as read, and the requirements of the shared object.

use std::ffi::OsStr;
use std::fmt;
use std::path::Path;
use std::process::Command;

use precast_store::key::Language;

use crate::run::{Ended, RunError, run};
use crate::toolchain::Toolchain;

/// One run of the compiler: all inputs that affect its output, under names that do not depend on the machine.
#[derive(Debug, Clone, Copy)]
pub struct Run<'a> {
    /// The toolchain; the remote machine must have the same one.
    pub toolchain: &'a Toolchain,
    /// The language, which selects the compiler.
    pub language: Language,
    /// The absolute path of the program.
    pub program: &'a Path,
    /// The arguments; file names in them are relative to the directory.
    pub arguments: &'a [String],
    /// The complete environment, sorted by name.
    pub environment: &'a [(&'static str, &'a OsStr)],
    /// The working directory for a local run.
    pub directory: &'a Path,
    /// All inputs: names in the directory, each with the path of its file or directory.
    pub inputs: &'a [(&'a str, &'a Path)],
    /// The names of the files that a successful run writes.
    pub outputs: &'a [&'a str],
}

/// Runs the compiler of units. Several threads may call it at the same time.
pub trait Runner: fmt::Debug + Send + Sync {
    /// Runs the compiler to completion, within [`Toolchain::timeout`]. The output files are written to the directory or
    /// returned in [`Ended::files`].
    ///
    /// # Errors
    ///
    /// Fails if the compiler did not run to completion. A rejected unit is not an error.
    fn run(&self, run: &Run<'_>) -> Result<Ended, RunError>;
}

/// Runs the compiler on this machine.
#[derive(Debug)]
pub(crate) struct Here;

impl Runner for Here {
    fn run(&self, given: &Run<'_>) -> Result<Ended, RunError> {
        let mut command = Command::new(given.program);
        command.env_clear().envs(given.environment.iter().copied());
        command.args(given.arguments).current_dir(given.directory);
        run(&mut command, given.toolchain.timeout())
    }
}
