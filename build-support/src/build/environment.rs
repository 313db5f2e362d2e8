//! The settings from Cargo and the user; this is the only file that reads the environment.

use precast_compile::host_target;
use precast_store::user_store;
use std::env;
use std::path::PathBuf;

/// The environment of a build script.
#[derive(Debug, Clone)]
pub(crate) struct Environment {
    /// The directory for all output.
    pub(crate) out_dir: PathBuf,
    /// The directory of the package being built.
    pub(crate) manifest_dir: PathBuf,
    /// The target of the build.
    pub(crate) target: String,
    /// Whether the program is linked statically and cannot load modules: `CARGO_CFG_TARGET_FEATURE` has `crt-static`.
    pub(crate) is_static: bool,
    /// The `cargo` executable.
    pub(crate) cargo: PathBuf,
    /// The enabled features of the package; `None` for the default features.
    pub(crate) features: Option<Vec<String>>,
    /// `PRECAST_STORE`
    pub(crate) store: Option<PathBuf>,
    /// The store that all packages of this user share; `None` if the user has no home directory.
    pub(crate) shared: Option<PathBuf>,
    /// `PRECAST_ISA`
    pub(crate) isa: Option<String>,
    /// `PRECAST_LOCKED`
    pub(crate) is_locked: bool,
    /// `PRECAST_LOCKED=frozen`: locked, and fail instead of compiling.
    pub(crate) is_frozen: bool,
    /// `PRECAST_LOCKED=update`: write the lock file.
    pub(crate) updates_lock: bool,
    /// `DOCS_RS`
    pub(crate) is_docs_rs: bool,
}

/// An invalid environment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EnvironmentError {
    /// A variable that Cargo sets is missing.
    #[error(
        "`{name}` is not set\nhint: call `precast_build::Build` from the `main` of a build.rs, which Cargo runs"
    )]
    Missing {
        /// The variable.
        name: &'static str,
    },
    /// A relative path, which depends on the working directory.
    #[error("`PRECAST_STORE` is `{}`, expected an absolute path\nhint: use an absolute path, because build scripts \
             run in the directory of their package", path.display())]
    Relative {
        /// The path.
        path: PathBuf,
    },
    /// An invalid flag.
    #[error("invalid `{name}` `{found}`: expected `1`, `0`, `frozen` or `update`")]
    Flag {
        /// The variable.
        name: &'static str,
        /// Its value.
        found: String,
    },
}

/// The variables that Cargo watches. `PATH` is not among them: its value in an editor differs from that in a shell,
/// and each change would rebuild the package for nothing. A changed compiler is detected whenever the script runs.
const WATCHED: [&str; 13] = [
    "PRECAST_STORE",
    "PRECAST_ISA",
    "PRECAST_LOCKED",
    "DOCS_RS",
    "CC",
    "HOST_CC",
    "TARGET_CC",
    "CXX",
    "HOST_CXX",
    "TARGET_CXX",
    "CROSS_COMPILE",
    "CC_SHELL_ESCAPED_FLAGS",
    "CC_KNOWN_WRAPPER_CUSTOM",
];

impl Environment {
    /// Reads the variables that Cargo sets.
    pub(crate) fn of_cargo() -> Result<Self, EnvironmentError> {
        let path = |name| env::var_os(name).map(PathBuf::from).ok_or(EnvironmentError::Missing { name });
        let features = env::var("CARGO_CFG_FEATURE").unwrap_or_default();
        Ok(Self {
            target: env::var("TARGET").map_err(|_| EnvironmentError::Missing { name: "TARGET" })?,
            is_static: env::var("CARGO_CFG_TARGET_FEATURE")
                .is_ok_and(|features| features.split(',').any(|feature| feature == "crt-static")),
            cargo: path("CARGO")?,
            features: Some(features.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect()),
            ..Self::of_package(path("CARGO_MANIFEST_DIR")?, path("OUT_DIR")?)?
        })
    }

    /// Reads the user's variables, for a package that is built for this host with its default features.
    pub(crate) fn of_package(manifest_dir: PathBuf, out_dir: PathBuf) -> Result<Self, EnvironmentError> {
        let store = env::var_os("PRECAST_STORE").filter(|store| !store.is_empty()).map(PathBuf::from);
        if let Some(path) = store.as_ref().filter(|store| !store.is_absolute()) {
            return Err(EnvironmentError::Relative { path: path.clone() });
        }
        let says = |word: &str| env::var("PRECAST_LOCKED").is_ok_and(|value| value == word);
        let (updates_lock, is_frozen) = (says("update"), says("frozen"));
        Ok(Self {
            out_dir,
            manifest_dir,
            target: host_target(),
            is_static: false,
            cargo: env::var_os("CARGO").map_or_else(|| "cargo".into(), PathBuf::from),
            features: None,
            store,
            shared: user_store(),
            isa: env::var("PRECAST_ISA").ok().filter(|isa| !isa.trim().is_empty()),
            is_locked: is_frozen || (!updates_lock && flag("PRECAST_LOCKED")?),
            is_frozen,
            updates_lock,
            is_docs_rs: env::var_os("DOCS_RS").is_some(),
        })
    }

    /// Returns the path of the package's lock file, which may not exist.
    pub(crate) fn lock(&self) -> PathBuf {
        self.manifest_dir.join(crate::lock::FILE)
    }

    /// Returns the names of the variables that Cargo watches.
    pub(crate) fn watched(&self) -> Vec<String> {
        let names = [self.target.clone(), self.target.replace('-', "_")];
        let own =
            ["CC", "CXX"].into_iter().flat_map(|kind| names.each_ref().map(|name| format!("{kind}_{name}")));
        WATCHED.iter().map(|name| (*name).to_owned()).chain(own).collect()
    }
}

fn flag(name: &'static str) -> Result<bool, EnvironmentError> {
    match env::var(name).unwrap_or_default().as_str() {
        "" | "0" => Ok(false),
        "1" => Ok(true),
        found => Err(EnvironmentError::Flag { name, found: found.to_owned() }),
    }
}
