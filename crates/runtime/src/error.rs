//! Why a runtime, a function or an entry cannot be had.

use precast_acquire::Miss;
use precast_codegen::LinkError;
use precast_core::CallError;
use precast_core::cpu::LimitError;
use precast_graph::BuildError;
use precast_graph::json::ParseJsonError;
use precast_store::{CreateError, KeyringError, LayerError, OpenBundleError, OpenError, OpenSignedError};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Why a runtime cannot be built.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum BuildRuntimeError {
    /// A bundle cannot be read.
    #[error("cannot open {name}")]
    Bundle {
        /// `embedded bundle`, or its path.
        name: String,
        /// What is wrong with it.
        source: OpenBundleError,
    },
    /// A bundle is not signed as it has to be.
    #[error("cannot use a layer")]
    Signed(#[source] OpenSignedError),
    /// The keyring cannot be used.
    #[error("cannot tell whose signatures to believe")]
    Keyring(#[from] KeyringError),
    /// A store cannot be opened.
    #[error("cannot open store `{path}`")]
    Store {
        /// The directory.
        path: PathBuf,
        /// What is wrong with it.
        source: OpenError,
    },
    /// A store cannot be made or written.
    #[error("cannot open store `{path}` for writing")]
    Writable {
        /// The directory.
        path: PathBuf,
        /// What is wrong with it.
        source: CreateError,
    },
    /// A remote is no layer without signatures.
    #[cfg(feature = "remote")]
    #[error(
        "a remote is believed for its signatures only, and no keyring says whose count\nhint: `Builder::keyring`, or `--keyring FILE`; `precast trust` makes a keyring"
    )]
    NoKeyring,
    /// A remote cannot be used.
    #[cfg(feature = "remote")]
    #[error("cannot use a remote")]
    Remote(#[from] precast_remote::OpenRemoteError),
    /// The environment limits what may be loaded in words that mean nothing.
    #[error(transparent)]
    Limit(#[from] LimitError),
    /// Misses cannot be recorded where they should be.
    #[cfg(feature = "record")]
    #[error("cannot record misses")]
    Record(#[from] crate::recording::RecordError),
}

precast_core::debug_as_chain!(BuildRuntimeError);

/// Why a graph cannot be made a function.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum FunctionError {
    /// The graph is not valid.
    #[error("the graph is not valid")]
    Graph(#[from] BuildError),
    /// No code can be generated for it.
    #[error("cannot generate code for the graph")]
    Link(#[from] LinkError),
    /// A layer could not be read.
    #[error("cannot look up the graph")]
    Layer(#[from] LayerError),
    /// No layer has it, and the policy is `strict`; or there is none, and no compiler.
    #[error("{}", missed(misses, no_compiler.as_deref(), recorded.as_deref()))]
    Miss {
        /// The whole graph, then the Applies that have no module either.
        misses: Vec<Miss>,
        /// Where a compiler would have been asked, why there is none, with a hint.
        no_compiler: Option<String>,
        /// The manifest that declares the graph now, where misses are recorded.
        recorded: Option<PathBuf>,
    },
    /// No layer has it, and there is no compiler.
    #[error("{miss}, and it cannot be compiled here: {problem}")]
    NoCompiler {
        /// What no layer has.
        miss: Box<Miss>,
        /// Why not, with a hint.
        problem: String,
    },
    /// The compiler refused.
    #[error("cannot compile `{signature}`")]
    Compile {
        /// The module.
        signature: String,
        /// What the compiler said; shared, because failures are remembered in the process.
        source: Arc<dyn std::error::Error + Send + Sync>,
    },
    /// A module that was just compiled cannot be loaded.
    #[error("cannot load the module compiled for `{signature}`: {problem}")]
    Load {
        /// The module.
        signature: String,
        /// Why not.
        problem: String,
    },
    /// No module can be loaded in this process.
    #[error("cannot load a module for `{signature}`, nor any other: {problem}")]
    Stage {
        /// The module.
        signature: String,
        /// What is missing, and what helps.
        problem: String,
    },
    /// A module refused to make an instance.
    #[error("cannot make an instance")]
    Instance(#[from] CallError),
}

precast_core::debug_as_chain!(FunctionError);

fn missed(misses: &[Miss], no_compiler: Option<&str>, recorded: Option<&Path>) -> String {
    let lines: Vec<String> = misses.iter().map(Miss::to_string).collect();
    let mut text = lines.join("\n  ");
    if let Some(problem) = no_compiler {
        text = format!("{text}\n  and nothing can be compiled here: {problem}");
    }
    match recorded.map(Path::display) {
        Some(path) => format!("{text}\nhint: it is recorded: `precast build {path}` compiles it"),
        None => text,
    }
}

/// Why a named graph cannot be made a function.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum EntryError {
    /// No layer names such a graph.
    #[error("no layer has an entry `{name}`; known: {known}")]
    Unknown {
        /// The name.
        name: String,
        /// The names there are.
        known: String,
    },
    /// No combination of an entry takes these inputs.
    #[error(
        "no combination of entry `{name}` takes `{found}`: {problem}\nhint: `precast ls` lists what is built; the manifest says what shall be"
    )]
    Combination {
        /// The name.
        name: String,
        /// Types of the inputs.
        found: String,
        /// Which input is to blame, in words.
        problem: String,
    },
    /// A layer could not be read.
    #[error("cannot look up entry `{name}`")]
    Layer {
        /// The name.
        name: String,
        /// What went wrong.
        source: LayerError,
    },
    /// The entry's graph cannot be read.
    #[error("cannot read the graph of entry `{name}`")]
    Graph {
        /// The name.
        name: String,
        /// What is wrong with it.
        source: Box<ParseJsonError>,
    },
    /// The graph cannot be made a function.
    #[error("entry `{name}`")]
    Function {
        /// The name.
        name: String,
        /// Why not.
        source: Box<FunctionError>,
    },
}

precast_core::debug_as_chain!(EntryError);
