//! The toolchain: compiler, assembler and linker, identified by content.
//!
//! ```text
//! compiler.rs     the description of a compiler
//! find.rs         finds the program: CC and similar variables, cross prefixes (crate `cc`), PATH
//! probe.rs        identifies it: family, version, machine, location of its parts
//! search.rs       every place where a driver looks for a part
//! fingerprint.rs  the contents of its parts ──▶ ToolchainId
//! watch.rs        whether a file changed, or appeared, since it was read
//! memo.rs         remembers the result while no file changes
//! ```
//! The C compiler is found immediately, the C++ compiler when the first unit needs it.

mod compiler;
mod error;
mod find;
mod fingerprint;
mod memo;
mod probe;
mod search;
mod watch;

#[cfg(test)]
mod tests;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use precast_store::ToolchainId;
use precast_store::key::Language;

pub(crate) use compiler::Compiler;
pub use compiler::{Family, host_target};
pub use error::FindToolchainError;
use memo::Memo;
pub(crate) use watch::{Watched, changed};

use crate::runner::{Here, Runner};

/// The time limit for one run of a tool, unless set by [`Toolchain::with_timeout`].
const TIMEOUT: Duration = Duration::from_secs(600);

/// A resolved compiler, assembler and linker.
pub struct Toolchain {
    target: String,
    /// The path given by the caller instead of a search.
    explicit: Option<PathBuf>,
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
        let c = find::find(&target, Language::C, explicit.as_deref())?;
        Ok(Self { target, explicit, c, cxx: OnceLock::new(), timeout: TIMEOUT, runner: Arc::new(Here) })
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
        &self.target
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
        &self.c.compiler.driver
    }

    /// Returns the linker.
    #[must_use]
    pub fn linker(&self) -> &Path {
        &self.c.compiler.ld
    }

    /// Returns the tool that localizes symbols.
    #[must_use]
    pub fn objcopy(&self) -> &Path {
        &self.c.compiler.objcopy
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
                    let found = find::find(&self.target, Language::Cxx, self.explicit.as_deref())?;
                    Ok(self.cxx.get_or_init(|| found))
                }
            },
        }
    }
}

impl fmt::Debug for Toolchain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { target, explicit: _, c, cxx, timeout: _, runner } = self;
        let cxx = cxx.get().map(|memo| &memo.compiler);
        f.debug_struct("Toolchain")
            .field("target", target)
            .field("c", &c.compiler)
            .field("cxx", &cxx)
            .field("runner", runner)
            .finish()
    }
}
