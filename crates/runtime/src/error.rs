//! Errors of runtimes, functions and entries.

use precast_acquire::Miss;
use precast_codegen::LinkError;
use precast_core::CallError;
use precast_core::cpu::LimitError;
use precast_graph::BuildError;
use precast_graph::json::ParseJsonError;
use precast_store::{CreateError, KeyringError, LayerError, OpenBundleError, OpenError, OpenSignedError};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The reason why a runtime could not be built.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum BuildRuntimeError {
    /// A bundle could not be read.
    #[error("cannot open {name}")]
    Bundle {
        /// The bundle's path, or `embedded bundle`.
        name: String,
        /// The reason.
        source: OpenBundleError,
    },
    /// A bundle lacks the required signatures.
    #[error("cannot use a layer")]
    Signed(#[source] OpenSignedError),
    /// The keyring could not be used.
    #[error("cannot determine the required signatures")]
    Keyring(#[from] KeyringError),
    /// A store could not be opened.
    #[error("cannot open store `{path}`")]
    Store {
        /// The directory.
        path: PathBuf,
        /// The reason.
        source: OpenError,
    },
    /// A store could not be created or written.
    #[error("cannot open store `{path}` for writing")]
    Writable {
        /// The directory.
        path: PathBuf,
        /// The reason.
        source: CreateError,
    },
    /// A remote needs a keyring, since its artifacts are trusted only by their signatures.
    #[cfg(feature = "remote")]
    #[error(
        "a remote needs a keyring\nhint: use `Builder::keyring` or `--keyring FILE`; `precast trust` creates a \
         keyring"
    )]
    NoKeyring,
    /// A remote could not be opened.
    #[cfg(feature = "remote")]
    #[error("cannot use a remote")]
    Remote(#[from] precast_remote::OpenRemoteError),
    /// An environment variable that limits the ISA level has an invalid value.
    #[error(transparent)]
    Limit(#[from] LimitError),
    /// The manifest for recorded misses could not be used.
    #[cfg(feature = "record")]
    #[error("cannot record misses")]
    Record(#[from] crate::recording::RecordError),
}

precast_core::debug_as_chain!(BuildRuntimeError);

/// The reason why a graph could not be resolved to a function.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum FunctionError {
    /// The graph is not valid.
    #[error("the graph is invalid")]
    Graph(#[from] BuildError),
    /// Generating code for the graph failed.
    #[error("cannot generate code for the graph")]
    Link(#[from] LinkError),
    /// Reading a layer failed.
    #[error("cannot look up the graph")]
    Layer(#[from] LayerError),
    /// A miss under the policy `strict`, or without a policy and a compiler.
    #[error("{}", missed(misses, no_compiler.as_deref(), recorded.as_deref()))]
    Miss {
        /// The whole graph, then the Applies whose modules are missing too.
        misses: Vec<Miss>,
        /// The reason for the missing compiler, with a hint, if the policy could have compiled.
        no_compiler: Option<String>,
        /// The manifest that now declares the graph, if misses are recorded.
        recorded: Option<PathBuf>,
    },
    /// A miss without a compiler.
    #[error("{miss}, and it cannot be compiled: {problem}")]
    NoCompiler {
        /// The miss.
        miss: Box<Miss>,
        /// The reason, with a hint.
        problem: String,
    },
    /// The compiler rejected the module.
    #[error("cannot compile `{signature}`")]
    Compile {
        /// The module.
        signature: String,
        /// The compiler's message; shared, because failures are cached in the process.
        source: Arc<dyn std::error::Error + Send + Sync>,
    },
    /// A module that was just compiled could not be loaded.
    #[error("cannot load the module compiled for `{signature}`: {problem}")]
    Load {
        /// The module.
        signature: String,
        /// The reason.
        problem: String,
    },
    /// This process cannot load any module.
    #[error("cannot load a module for `{signature}` or any other module: {problem}")]
    Stage {
        /// The module.
        signature: String,
        /// The missing requirement, with a hint.
        problem: String,
    },
    /// Creating an instance of a module failed.
    #[error("cannot create an instance")]
    Instance(#[from] CallError),
}

precast_core::debug_as_chain!(FunctionError);

fn missed(misses: &[Miss], no_compiler: Option<&str>, recorded: Option<&Path>) -> String {
    let lines: Vec<String> = misses.iter().map(Miss::to_string).collect();
    let mut text = lines.join("\n  ");
    if let Some(problem) = no_compiler {
        text = format!("{text}\n  and no compiler is available: {problem}");
    }
    match recorded.map(Path::display) {
        Some(path) => format!("{text}\nhint: run `precast build {path}` to compile the recorded graph"),
        None => text,
    }
}

/// The reason why a named graph could not be resolved to a function.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum EntryError {
    /// No layer has an entry with this name.
    #[error("entry `{name}` not found; available: {known}")]
    Unknown {
        /// The name.
        name: String,
        /// The known names.
        known: String,
    },
    /// No combination of the entry accepts these inputs.
    #[error(
        "no combination of entry `{name}` accepts `{found}`: {problem}\nhint: run `precast ls` to list the available \
         combinations, and declare more in the manifest"
    )]
    Combination {
        /// The name.
        name: String,
        /// The types of the inputs.
        found: String,
        /// The input that does not match, in words.
        problem: String,
    },
    /// Reading a layer failed.
    #[error("cannot look up entry `{name}`")]
    Layer {
        /// The name.
        name: String,
        /// The layer's error.
        source: LayerError,
    },
    /// The entry's graph is invalid.
    #[error("cannot parse the graph of entry `{name}`")]
    Graph {
        /// The name.
        name: String,
        /// The reason.
        source: Box<ParseJsonError>,
    },
    /// The graph could not be resolved to a function.
    #[error("entry `{name}`")]
    Function {
        /// The name.
        name: String,
        /// The reason.
        source: Box<FunctionError>,
    },
}

precast_core::debug_as_chain!(EntryError);
