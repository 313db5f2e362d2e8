//! A compiled unit and the reasons for compiling it.

use precast_acquire::Reason;
use precast_core::event::join;
use serde::{Deserialize, Serialize};

/// A compiled unit and the reasons for compiling it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compilation {
    /// The unit: the signature of its first module, the number of further modules, and the ISA level.
    pub title: String,
    /// The signature of the module that the reasons concern.
    pub signature: String,
    /// The reasons why the store could not serve the unit, in the order of the key table. Never empty.
    pub why: Vec<Reason>,
    /// The compile time, in milliseconds.
    pub millis: u64,
}

impl Compilation {
    /// Returns the reasons as text.
    #[must_use]
    pub fn reasons(&self) -> String {
        join(&self.texts(), "; ")
    }

    /// Returns the reasons with the module that they concern; units with the same causes have the same text.
    #[must_use]
    pub fn cause(&self) -> String {
        let (signature, mut texts) = (&self.signature, self.texts());
        match self.why.first() {
            Some(Reason::Nearest { signature: nearest, summary, .. }) if nearest == signature => {
                texts[0] = format!("`{signature}` changed: {summary}");
            }
            Some(Reason::Nearest { .. } | Reason::Version { .. } | Reason::New { .. }) => {
                texts.insert(0, format!("`{signature}` is new"));
            }
            _ => {}
        }
        join(&texts, "; ")
    }

    fn texts(&self) -> Vec<String> {
        self.why.iter().map(Reason::to_string).collect()
    }
}
