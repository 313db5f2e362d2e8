//! The toolchain: compiler, assembler and linker, identified by content.
//!
//! ```text
//! compiler.rs     the description of a compiler
//! arguments/      the value of CC: wrappers, and which arguments are accepted
//! find.rs         finds the program: CC and similar variables, cross prefixes (crate `cc`), PATH
//! probe.rs        identifies it: family, version, machine, location of its parts
//! zig.rs          the compiler inside zig, and the C libraries that it builds
//! search.rs       every place where a driver looks for a part
//! fingerprint.rs  the contents of its parts ──▶ ToolchainId
//! list.rs         lists the compilers on PATH, for reports
//! memo.rs         remembers the result while no file changes
//! ```
//! The C compiler is found immediately, the C++ compiler when the first unit needs it.

mod arguments;
mod compiler;
mod error;
mod find;
mod fingerprint;
mod list;
mod memo;
mod probe;
mod search;
mod zig;

#[cfg(test)]
mod tests;

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use precast_store::ToolchainId;
use precast_store::key::Language;

pub(crate) use compiler::{Compiler, Tool};
pub use compiler::{Family, host_target};
pub use error::FindToolchainError;
use find::Wanted;
pub use find::offer_zig;
pub use list::{Listed, list_compilers};
use memo::Memo;

use crate::runner::{Here, Runner};

/// The time limit for one run of a tool, unless set by [`Toolchain::with_timeout`].
const TIMEOUT: Duration = Duration::from_secs(600);

/// A resolved compiler, assembler and linker.
pub struct Toolchain {
    wanted: Wanted,
    c: Memo,
    cxx: OnceLock<Memo>,
    timeout: Duration,
    runner: Arc<dyn Runner>,
}

impl Toolchain {
    /// Finds the C compiler for a target triple in Rust's spelling; `None` means the machine this program was built
    /// for.
    ///
    /// The variables of the crate `cc` take precedence (`CC_<target>`, `TARGET_CC` or `HOST_CC`, `CC`). Next are the
    /// names that `cc` tries for the target, such as `aarch64-linux-gnu-gcc`. Contents are hashed once and remembered
    /// by the device, inode, size and times of each file: in [`precast_store::user_cache`], or else only in this
    /// process.
    ///
    /// # Errors
    ///
    /// Fails if no compiler is found, if it does not work, or if it compiles for a different architecture.
    pub fn find(target: Option<&str>) -> Result<Self, FindToolchainError> {
        Self::resolve(target, None)
    }

    /// Finds the C compiler as [`Toolchain::find`] does, with a lowest version of glibc ([`Toolchain::with_glibc`]).
    ///
    /// # Errors
    ///
    /// See [`Toolchain::find`] and [`Toolchain::with_glibc`].
    pub fn find_for(target: Option<&str>, glibc: Option<&str>) -> Result<Self, FindToolchainError> {
        let found = Self::find(target)?;
        match glibc {
            Some(version) => found.with_glibc(version),
            None => Ok(found),
        }
    }

    /// Uses the C compiler at `driver` without a search; for C++ it uses the sibling (`g++` next to `gcc`).
    ///
    /// # Errors
    ///
    /// See [`Toolchain::find`].
    pub fn at(driver: &Path, target: Option<&str>) -> Result<Self, FindToolchainError> {
        Self::resolve(target, Some(driver.to_owned()))
    }

    fn resolve(target: Option<&str>, explicit: Option<PathBuf>) -> Result<Self, FindToolchainError> {
        let target = target.map_or_else(host_target, str::to_owned);
        let wanted = Wanted { target, glibc: None, explicit };
        let c = find::find(&wanted, Language::C)?;
        Ok(Self { wanted, c, cxx: OnceLock::new(), timeout: TIMEOUT, runner: Arc::new(Here) })
    }

    /// Sets the lowest version of glibc that the modules must run with, such as `2.28`. Only zig has other versions than
    /// the installed one.
    ///
    /// # Errors
    ///
    /// Fails if the compiler is not zig, the target has another C library, or zig does not know the version.
    pub fn with_glibc(mut self, version: &str) -> Result<Self, FindToolchainError> {
        let refuse =
            || FindToolchainError::Glibc { program: self.driver().to_owned(), version: version.to_owned() };
        let is_version =
            version.split('.').count() == 2 && version.split('.').all(|part| part.parse::<u16>().is_ok());
        if self.family() != Family::Zig || !self.target().ends_with("-gnu") || !is_version {
            return Err(refuse());
        }
        self.wanted.glibc = Some(version.to_owned());
        (self.c, self.cxx) = (find::find(&self.wanted, Language::C)?, OnceLock::new());
        Ok(self)
    }

    /// Sets the time limit for one run of the compiler or the linker; the default is 10 minutes.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets the runner of the compiler for units. Everything else still runs locally: finding and fingerprinting, the
    /// preprocessor for units that are not lean, `objcopy` and the linker.
    #[must_use]
    pub fn running_on(mut self, runner: Arc<dyn Runner>) -> Self {
        self.runner = runner;
        self
    }

    /// Returns the target triple in Rust's spelling.
    #[must_use]
    pub fn target(&self) -> &str {
        &self.wanted.target
    }

    /// Returns the compiler's name and version: `gcc 12.2.0`.
    #[must_use]
    pub fn description(&self) -> &str {
        &self.c.compiler.description
    }

    /// Returns the family of the compiler.
    #[must_use]
    pub fn family(&self) -> Family {
        self.c.compiler.family
    }

    /// Returns the C compiler's driver.
    #[must_use]
    pub fn driver(&self) -> &Path {
        &self.c.compiler.driver.program
    }

    /// Returns the C compiler as a command, for a program that is not a unit.
    #[must_use]
    pub fn command(&self) -> Command {
        let Compiler { driver, family, arguments, .. } = &self.c.compiler;
        let mut command = Command::new(&driver.program);
        match family {
            Family::Zig => command.args(["cc", "-target", &self.zig_target()]),
            _ => command.args(arguments.all()),
        };
        command
    }

    /// Returns the target in zig's spelling.
    fn zig_target(&self) -> String {
        zig::target(&self.wanted.target, self.wanted.glibc.as_deref())
    }

    /// Returns the arguments with which a linker finds the C library, if it does not find the one of the system.
    pub(crate) fn libraries(&self, language: Language) -> Result<Vec<String>, FindToolchainError> {
        let compiler = self.compiler(language)?;
        let mut found = compiler.arguments.link.clone();
        if compiler.family == Family::Zig {
            found.extend(zig::libraries(compiler, language, &self.zig_target())?);
        }
        Ok(found)
    }

    /// Returns the identity under which units of this language are compiled. The first call for C++ searches for the
    /// compiler.
    ///
    /// # Errors
    ///
    /// Fails if the C++ compiler is missing or does not work.
    pub fn id(&self, language: Language) -> Result<ToolchainId, FindToolchainError> {
        self.compiler(language).map(|compiler| compiler.id)
    }

    /// Returns the time limit for one run of a tool.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Lists the files that determine the identity for a language, and the places whose files would take precedence.
    /// Another host has this toolchain if all of these paths have the same content or are equally missing.
    ///
    /// # Errors
    ///
    /// See [`Toolchain::id`].
    pub fn files(&self, language: Language) -> Result<Vec<&Path>, FindToolchainError> {
        self.memo(language).map(Memo::files)
    }

    pub(crate) fn runner(&self) -> &dyn Runner {
        &*self.runner
    }

    /// Returns the compiler of a language.
    pub(crate) fn compiler(&self, language: Language) -> Result<&Compiler, FindToolchainError> {
        self.memo(language).map(|memo| &memo.compiler)
    }

    /// Returns the first file of a language's compiler that changed since its identity was computed. Units compiled in
    /// the meantime may have been compiled by a different compiler.
    pub(crate) fn changed(&self, language: Language) -> Result<Option<&Path>, FindToolchainError> {
        self.memo(language).map(Memo::changed)
    }

    fn memo(&self, language: Language) -> Result<&Memo, FindToolchainError> {
        match language {
            Language::C => Ok(&self.c),
            Language::Cxx => match self.cxx.get() {
                Some(memo) => Ok(memo),
                None => {
                    let found = find::find(&self.wanted, Language::Cxx)?;
                    Ok(self.cxx.get_or_init(|| found))
                }
            },
        }
    }
}

impl fmt::Debug for Toolchain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { wanted, c, cxx, timeout: _, runner } = self;
        let cxx = cxx.get().map(|memo| &memo.compiler);
        f.debug_struct("Toolchain")
            .field("wanted", wanted)
            .field("c", &c.compiler)
            .field("cxx", &cxx)
            .field("runner", runner)
            .finish()
    }
}
