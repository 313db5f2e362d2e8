//! The toolchain: which compiler, assembler and linker, and what they are by content.
//!
//! ```text
//! compiler.rs     what is known of a compiler
//! find.rs         which program: CC and its like, cross prefixes (crate `cc`), PATH
//! probe.rs        what it is: family, version, machine, where its parts are
//! search.rs       every place where a driver looks for a part
//! fingerprint.rs  the contents of its parts ──▶ ToolchainId
//! watch.rs        whether a file changed, or appeared, since it was read
//! memo.rs         all of this again for free while no file changed
//! ```
//! The C compiler is found at once, the C++ compiler when a unit first asks for it.

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

/// How long one run of a tool may take unless [`Toolchain::with_timeout`] says otherwise.
const TIMEOUT: Duration = Duration::from_secs(600);

/// A resolved compiler, assembler and linker.
pub struct Toolchain {
    target: String,
    /// The path the caller gave, instead of a search.
    explicit: Option<PathBuf>,
    c: Memo,
    cxx: OnceLock<Memo>,
    timeout: Duration,
    runner: Arc<dyn Runner>,
}

impl Toolchain {
    /// Finds the C compiler for a target triple as Rust spells it; `None` is the machine this program was built for.
    ///
    /// The variables of the crate `cc` count (`CC_<target>`, `TARGET_CC` or `HOST_CC`, `CC`), then the names that it
    /// tries for the target, such as `aarch64-linux-gnu-gcc`. Contents are hashed once and remembered by device, inode,
    /// size and times of each file: in [`precast_store::user_cache`], else in this process only.
    ///
    /// # Errors
    ///
    /// There is no compiler, it does not work, or it compiles for another architecture.
    pub fn find(target: Option<&str>) -> Result<Self, FindToolchainError> {
        Self::resolve(target, None)
    }

    /// Takes the C compiler at `driver`, searching nothing; for C++ it takes its sibling (`g++` beside `gcc`).
    ///
    /// # Errors
    ///
    /// As [`Toolchain::find`].
    pub fn at(driver: &Path, target: Option<&str>) -> Result<Self, FindToolchainError> {
        Self::resolve(target, Some(driver.to_owned()))
    }

    fn resolve(target: Option<&str>, explicit: Option<PathBuf>) -> Result<Self, FindToolchainError> {
        let target = target.map_or_else(host_target, str::to_owned);
        let c = find::find(&target, Language::C, explicit.as_deref())?;
        Ok(Self { target, explicit, c, cxx: OnceLock::new(), timeout: TIMEOUT, runner: Arc::new(Here) })
    }

    /// Limits how long one run of the compiler or the linker may take; 10 minutes unless set.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Has the compiler run by `runner` when it compiles a unit. All else stays here: finding and fingerprinting, the
    /// preprocessor of units that are not lean, `objcopy`, the linker.
    #[must_use]
    pub fn running_on(mut self, runner: Arc<dyn Runner>) -> Self {
        self.runner = runner;
        self
    }

    /// Gives the target triple, as Rust spells it.
    #[must_use]
    pub fn target(&self) -> &str {
        &self.target
    }

    /// Gives the compiler's name and version: `gcc 12.2.0`.
    #[must_use]
    pub fn description(&self) -> &str {
        &self.c.compiler.description
    }

    /// Gives the family of the compiler.
    #[must_use]
    pub fn family(&self) -> Family {
        self.c.compiler.family
    }

    /// Gives the C compiler's driver.
    #[must_use]
    pub fn driver(&self) -> &Path {
        &self.c.compiler.driver
    }

    /// Gives the linker.
    #[must_use]
    pub fn linker(&self) -> &Path {
        &self.c.compiler.ld
    }

    /// Gives the tool that localises symbols.
    #[must_use]
    pub fn objcopy(&self) -> &Path {
        &self.c.compiler.objcopy
    }

    /// Gives the identity that units of this language are compiled under. C++ is looked for on the first call.
    ///
    /// # Errors
    ///
    /// There is no C++ compiler, or it does not work.
    pub fn id(&self, language: Language) -> Result<ToolchainId, FindToolchainError> {
        self.compiler(language).map(|compiler| compiler.id)
    }

    /// Gives how long one run of a tool may take.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Lists the files that the identity for a language was made of, and the places where one would be taken instead:
    /// another host where all of these hold the same, or nothing, has this toolchain.
    ///
    /// # Errors
    ///
    /// As [`Toolchain::id`].
    pub fn files(&self, language: Language) -> Result<Vec<&Path>, FindToolchainError> {
        self.memo(language).map(Memo::files)
    }

    pub(crate) fn runner(&self) -> &dyn Runner {
        &*self.runner
    }

    /// Gives the compiler of a language.
    pub(crate) fn compiler(&self, language: Language) -> Result<&Compiler, FindToolchainError> {
        self.memo(language).map(|memo| &memo.compiler)
    }

    /// Finds the first file of a language's compiler that is no longer what its identity was made of: what is compiled
    /// meanwhile may be another compiler's work.
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
