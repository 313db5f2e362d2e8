//! A fresh directory with exactly the files of a unit, and the environment that tools run in.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use precast_store::scratch;

use crate::error::CompileError;
use crate::run::{Ended, RunError, run};
use crate::toolchain::Toolchain;

/// The directory; removed with the value.
pub(crate) struct Scratch {
    /// Its path without links, as the compiler sees it: what prefix maps must name.
    root: PathBuf,
    _directory: scratch::Scratch,
}

impl Scratch {
    pub(crate) fn new() -> Result<Self, CompileError> {
        let make = || -> io::Result<Self> {
            let directory = scratch::Scratch::new()?;
            Ok(Self { root: fs_err::canonicalize(directory.path())?, _directory: directory })
        };
        make().map_err(|source| CompileError::Scratch { directory: std::env::temp_dir(), source })
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    fn error(&self, source: io::Error) -> CompileError {
        CompileError::Scratch { directory: self.root.clone(), source }
    }

    /// Writes a file under a relative name, with the directories above it.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> Result<(), CompileError> {
        let file = self.root.join(name);
        let parents = file.parent().map_or(Ok(()), fs_err::create_dir_all);
        parents.and_then(|()| fs_err::write(&file, content)).map_err(|source| self.error(source))
    }

    /// Reads a file that a tool wrote.
    pub(crate) fn read(&self, name: &str) -> Result<Vec<u8>, CompileError> {
        fs_err::read(self.root.join(name)).map_err(|source| self.error(source))
    }

    /// Runs a tool here, in an environment that no setting of the user reaches.
    pub(crate) fn run(
        &self,
        toolchain: &Toolchain,
        path: &str,
        program: &Path,
        arguments: &[String],
    ) -> Result<Ended, CompileError> {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(&self.root)
            .env_clear()
            .env("PATH", path)
            .env("LC_ALL", "C")
            .env("SOURCE_DATE_EPOCH", "0")
            .env("TMPDIR", &self.root);
        let program = || program.to_owned();
        let limit = toolchain.timeout();
        let ended = run(&mut command, limit).map_err(|error| match error {
            RunError::Start(source) => CompileError::Start { program: program(), source },
            RunError::Timeout => CompileError::Timeout { program: program(), limit },
        })?;
        if ended.status.success() {
            return Ok(ended);
        }
        if ended.stderr.contains("No space left on device") {
            return Err(self.error(io::ErrorKind::StorageFull.into()));
        }
        if let Some(how) = killed(&ended) {
            return Err(CompileError::Killed { program: program(), how });
        }
        Ok(ended)
    }
}

/// Finds out whether the tool, or one that it started, was ended by a signal.
fn killed(ended: &Ended) -> Option<String> {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&ended.status) {
        return Some(format!("signal {signal}"));
    }
    let mark = |line: &&str| {
        line.contains("signal terminated program") || line.contains("frontend command failed due to signal")
    };
    ended.stderr.lines().find(mark).map(|line| line.trim().to_owned())
}
