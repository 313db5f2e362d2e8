//! A miss: the module that is wanted, and the reasons why there is none.
//!
//! A new reason is a variant of [`Reason`] and its text in `Display`. [`Inventory`](crate::Inventory) finds the reasons. Errors,
//! `explain`, JSON, the history of builds and Python all show these.

use precast_ops::OtherVersion;
use precast_store::BuildKey;
use precast_store::key::StaleVersion;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A module that no layer has, or that no layer can serve here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Miss {
    /// Printable signature of the module.
    pub signature: String,
    /// Its key.
    pub key: BuildKey,
    /// The reasons, the most certain first. Never empty.
    pub reasons: Vec<Reason>,
    /// Ops whose C changed while their version did not: modules that layers have of them are not used.
    pub stale: Vec<StaleVersion>,
}

/// A reason why a module is missing, to people as text and to programs as an object with a key `reason`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Reason {
    /// There is no store and no other layer.
    NoLayer,
    /// This host cannot run a variant of the module.
    Inadmissible {
        /// The ISA level of the variant.
        isa: String,
        /// What the host lacks.
        unmet: String,
    },
    /// A layer has the module and cannot serve it: damage, a lost archive, a refusal of the dynamic linker.
    Unusable {
        /// The problem, to stand after "a layer has it, but".
        problem: String,
    },
    /// It was compiled for other targets only.
    Target {
        /// Those targets.
        found: Vec<String>,
    },
    /// It was compiled for other ISA levels only.
    Isa {
        /// Those levels.
        found: Vec<String>,
    },
    /// Another compiler made it, or the same compiler before an update.
    Compiler,
    /// Other flags made it, or other libraries or headers of the system.
    Flags,
    /// It was compiled together with other modules.
    Neighbours,
    /// Another version of precast made the nearest module, and that may be all that differs.
    Version {
        /// The layer with that module.
        layer: String,
        /// The other version, where it is recorded.
        found: Option<String>,
    },
    /// The nearest module differs.
    Nearest {
        /// Its signature.
        signature: String,
        /// The differences in one sentence: it begins with the module or op that differs, or with "differs in".
        summary: String,
        /// Each difference.
        differences: Vec<String>,
    },
    /// No module is near.
    New {
        /// The number of modules that the layers hold.
        known: usize,
    },
}

impl Reason {
    /// Whether the reason concerns a module that is there: then the nearest other module is of no interest.
    #[must_use]
    pub const fn is_present(&self) -> bool {
        !matches!(self, Self::NoLayer | Self::Version { .. } | Self::Nearest { .. } | Self::New { .. })
    }
}

/// Renders the reason, to stand after the module and `; `.
impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoLayer => f.write_str("there is no store and no other layer"),
            Self::Inadmissible { isa, unmet } => write!(f, "the `{isa}` variant {unmet}"),
            Self::Unusable { problem } => write!(f, "a layer has it, but {problem}"),
            Self::Target { found } | Self::Isa { found } => {
                write!(f, "the store has it for `{}` only", found.join("`, `"))
            }
            Self::Compiler => f.write_str("another compiler made the one in the store"),
            Self::Flags => f.write_str(
                "the one in the store was made with other flags, or other libraries or headers of the system",
            ),
            Self::Neighbours => f.write_str("it is compiled together with other modules"),
            Self::Version { layer, found } => {
                let other = OtherVersion { found: found.clone() };
                write!(f, "the nearest in {layer} was made by {other}\n{}", OtherVersion::HINT)
            }
            // A difference in an op names it already.
            Self::Nearest { signature, summary, .. } if summary.starts_with(&format!("`{signature}`")) => {
                write!(f, "nearest {summary}")
            }
            Self::Nearest { signature, summary, .. } if summary.is_empty() => {
                write!(f, "nearest `{signature}`")
            }
            Self::Nearest { signature, summary, .. } => write!(f, "nearest `{signature}`: {summary}"),
            Self::New { known: 0 } => f.write_str("the layers hold no module at all"),
            Self::New { known } => write!(f, "none of the {known} modules in the layers is near"),
        }
    }
}

impl Miss {
    /// The reasons in one text, with notes about ops whose version was not raised on lines of their own.
    #[must_use]
    pub fn reasons(&self) -> String {
        let reasons: Vec<String> = self.reasons.iter().map(Reason::to_string).collect();
        let lines = std::iter::once(reasons.join("; ")).chain(self.stale.iter().map(ToString::to_string));
        lines.collect::<Vec<_>>().join("\n")
    }
}

impl fmt::Display for Miss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "miss: `{}`; {}", self.signature, self.reasons())
    }
}
