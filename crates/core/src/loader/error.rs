//! The reasons why an entry cannot be loaded.

use crate::bundle::Bundle;
use crate::cpu::LimitError;
use crate::function::CallError;
use crate::record::ParseRecordError;

/// The reason why an entry cannot be loaded.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum LoadEntryError {
    /// The bundle has no entry of this name.
    #[error("{bundle} has no entry `{name}`; available: {known}{}", lost(*unreadable))]
    Unknown {
        /// The bundle.
        bundle: String,
        /// The requested name.
        name: String,
        /// The existing names.
        known: String,
        /// The number of entries that cannot be read. The requested one may be among them.
        unreadable: usize,
    },
    /// The environment variable that limits the ISA level is invalid.
    #[error("cannot load entry `{name}`")]
    Limit {
        /// The entry.
        name: String,
        /// The reason.
        source: LimitError,
    },
    /// No module of the bundle can serve a step on this host.
    #[error("cannot load `{signature}` of entry `{name}`: {reason}")]
    Module {
        /// The entry.
        name: String,
        /// The module.
        signature: String,
        /// The reason for each variant.
        reason: String,
    },
    /// The program cannot be parsed, although its bytes are intact.
    #[error("cannot read the program of entry `{name}`")]
    Program {
        /// The entry.
        name: String,
        /// The reason.
        source: ParseRecordError,
    },
    /// The instance of a module cannot be created.
    #[error("cannot prepare entry `{name}` for calls")]
    Instance {
        /// The entry.
        name: String,
        /// The error of the op.
        source: CallError,
    },
}

crate::debug_as_chain!(LoadEntryError);

/// States that entries are damaged.
fn lost(unreadable: usize) -> String {
    match unreadable {
        0 => String::new(),
        1 => format!("; 1 entry cannot be read\n{}", Bundle::HINT),
        _ => format!("; {unreadable} entries cannot be read\n{}", Bundle::HINT),
    }
}
