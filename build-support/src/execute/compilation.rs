//! A compiled unit and the reason for compiling it.

use precast_acquire::Reason;
use serde::{Deserialize, Serialize};

/// A compiled unit and the reason for compiling it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compilation {
    /// The unit: the signature of its first module, the number of further modules, and the ISA level.
    pub title: String,
    /// The signature of the module that the reason concerns.
    pub signature: String,
    /// The reason why the store could not serve the unit.
    pub why: Reason,
    /// The compile time, in milliseconds.
    pub millis: u64,
}

impl Compilation {
    /// Returns the reason as a sentence; units with the same cause have the same text.
    #[must_use]
    pub fn cause(&self) -> String {
        match &self.why {
            Reason::Nearest { signature, summary, .. } if *signature == self.signature => {
                format!("`{signature}` changed: {summary}")
            }
            Reason::Nearest { .. } | Reason::Version { .. } | Reason::New { .. } => {
                format!("`{}` is new; {}", self.signature, self.why)
            }
            why => why.to_string(),
        }
    }
}
