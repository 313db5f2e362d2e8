//! Where the compiler runs when it compiles a unit: here, or wherever a [`Runner`] has it run.
//!
//! Only the compiler's own run goes elsewhere. It takes nine tenths of a unit's time, and its inputs are a few small files;
//! `objcopy` and the linker take 4 ms, less than it costs to bring them the object. What comes back passes the same checks as
//! what was compiled here: what preprocessor and assembler say they read, what the shared object asks for.

use std::ffi::OsStr;
use std::fmt;
use std::path::Path;
use std::process::Command;

use precast_store::key::Language;

use crate::run::{Ended, RunError, run};
use crate::toolchain::Toolchain;

/// One run of the compiler: all that decides what it writes, by names that mean the same everywhere.
#[derive(Debug, Clone, Copy)]
pub struct Run<'a> {
    /// The toolchain; where the program runs, the same one must be.
    pub toolchain: &'a Toolchain,
    /// Which of its compilers.
    pub language: Language,
    /// The program, by its absolute path.
    pub program: &'a Path,
    /// Its arguments; files in them are relative to the directory.
    pub arguments: &'a [String],
    /// All of its environment, sorted by name.
    pub environment: &'a [(&'static str, &'a OsStr)],
    /// The directory that it runs in if it runs here.
    pub directory: &'a Path,
    /// All that it reads: names in the directory, each with the file or the directory that is found there.
    pub inputs: &'a [(&'a str, &'a Path)],
    /// The names of the files that it writes when it succeeds.
    pub outputs: &'a [&'a str],
}

/// Runs the compiler of units. It is asked by several threads at once.
pub trait Runner: fmt::Debug + Send + Sync {
    /// Runs it to its end, within [`Toolchain::timeout`]. What it writes is put into the directory, or given in
    /// [`Ended::files`].
    ///
    /// # Errors
    ///
    /// It did not come to an end; that it refuses the unit is no error.
    fn run(&self, run: &Run<'_>) -> Result<Ended, RunError>;
}

/// This machine.
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
