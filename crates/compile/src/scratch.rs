//! A fresh directory that contains exactly the files of a unit, in which tools run.
//!
//! Tools get only relative names, so that no output byte depends on the location of the directory or the spelling of
//! its path. `TMPDIR` is `.`, and `PWD` is [`SEEN_AS`], an alias of the tool's current directory, which compilers use
//! as the result of `getcwd`. The modification time of all files is the epoch, because `__TIMESTAMP__` expands to it.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use precast_core::file::check_size_limit;
use precast_store::key::Language;
use precast_store::scratch;

use crate::error::CompileError;
use crate::run::{Ended, RunError};
use crate::runner::{Here, Run, Runner as _};
use crate::toolchain::{Tool, Toolchain};

/// The path that tools use as the path of their directory.
pub(crate) const SEEN_AS: &str = "/proc/self/cwd";

/// The directory, which is removed when this value is dropped.
pub(crate) struct Scratch {
    /// Its path without symbolic links.
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

    /// Writes a file under a relative name, creating parent directories.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> Result<(), CompileError> {
        let file = self.root.join(name);
        let parents = file.parent().map_or(Ok(()), fs_err::create_dir_all);
        let write = || -> io::Result<()> {
            check_size_limit(content.as_ref().len() as u64)?;
            let mut file = fs_err::File::create(&file)?;
            io::Write::write_all(&mut file, content.as_ref())?;
            file.file().set_modified(SystemTime::UNIX_EPOCH)
        };
        parents.and_then(|()| write()).map_err(|source| self.error(source))
    }

    /// Creates a link with a relative name to a directory of the system.
    pub(crate) fn link(&self, name: &str, directory: &Path) -> Result<(), CompileError> {
        let link = self.root.join(name);
        let parents = link.parent().map_or(Ok(()), fs_err::create_dir_all);
        // The directory is writable, so the error concerns the link itself, as on FAT.
        let linked = parents.and_then(|()| {
            symlink(directory, &link).map_err(|error| match error.kind() {
                io::ErrorKind::PermissionDenied => {
                    io::Error::new(io::ErrorKind::Unsupported, "symbolic links are not supported")
                }
                _ => error,
            })
        });
        linked.map_err(|source| self.error(source))
    }

    /// Reads a file that a tool wrote.
    pub(crate) fn read(&self, name: &str) -> Result<Vec<u8>, CompileError> {
        fs_err::read(self.root.join(name)).map_err(|source| self.error(source))
    }

    /// Runs a tool on this machine.
    pub(crate) fn run(
        &self,
        toolchain: &Toolchain,
        path: &OsStr,
        tool: &Tool,
        arguments: &[String],
    ) -> Result<Ended, CompileError> {
        let run = Run {
            toolchain,
            language: Language::C,
            program: &tool.program,
            arguments: &[&*tool.arguments, arguments].concat(),
            environment: &environment(path),
            directory: &self.root,
            inputs: &[],
            outputs: &[],
        };
        self.end(&run, Here.run(&run))
    }

    /// Runs the compiler of a language with the toolchain's runner. `inputs` are all files that it reads, `outputs` all
    /// files that it writes.
    pub(crate) fn compile(
        &self,
        (toolchain, language): (&Toolchain, Language),
        arguments: &[String],
        inputs: &[(&str, &Path)],
        outputs: &[&str],
    ) -> Result<Ended, CompileError> {
        let compiler = toolchain.compiler(language)?;
        let (program, environment) = (&*compiler.driver.program, &environment(&compiler.path));
        let arguments = &[&*compiler.driver.arguments, arguments].concat();
        let directory = &self.root;
        let run = Run { toolchain, language, program, arguments, environment, directory, inputs, outputs };
        let ended = self.end(&run, toolchain.runner().run(&run))?;
        ended.files.iter().try_for_each(|(name, content)| self.write(name, content))?;
        Ok(ended)
    }

    /// Converts failures unrelated to the unit into errors. A tool that rejects the unit is left to the caller.
    fn end(&self, run: &Run<'_>, ended: Result<Ended, RunError>) -> Result<Ended, CompileError> {
        let program = || run.program.to_owned();
        let ended = ended.map_err(|error| match error {
            RunError::Start(source) => CompileError::Start { program: program(), source },
            RunError::Timeout => CompileError::Timeout { program: program(), limit: run.toolchain.timeout() },
            RunError::Elsewhere(source) => CompileError::Elsewhere { source },
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

/// Returns the fixed environment of all tools in the directory.
fn environment(path: &OsStr) -> [(&'static str, &OsStr); 5] {
    let fixed = |value: &'static str| OsStr::new(value);
    [
        ("LC_ALL", fixed("C")),
        ("PATH", path),
        ("PWD", fixed(SEEN_AS)),
        ("SOURCE_DATE_EPOCH", fixed("0")),
        ("TMPDIR", fixed(".")),
    ]
}

#[cfg(unix)]
fn symlink(directory: &Path, link: &Path) -> io::Result<()> {
    fs_err::os::unix::fs::symlink(directory, link)
}

#[cfg(not(unix))]
fn symlink(_directory: &Path, _link: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Returns the signal that killed the tool or one of its child processes, if any.
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
