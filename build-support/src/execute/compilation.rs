//! A unit that was compiled, and the reason.

use precast_acquire::Reason;
use serde::{Deserialize, Serialize};

/// A unit that was compiled, and the reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compilation {
    /// The unit: the signature of its first module, and how many more there are; and the ISA level.
    pub title: String,
    /// The signature of the module that the reason is about.
    pub signature: String,
    /// The reason why the store did not serve it.
    pub why: Reason,
    /// The time that the compiler took, in milliseconds.
    pub millis: u64,
}

impl Compilation {
    /// The reason as a sentence of its own. Units that one cause made necessary have the same.
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
