//! A miss: the requested module, and the reasons why no layer serves it.
//!
//! A new reason needs a variant of [`Reason`] and its text in `Display`. [`Inventory`](crate::Inventory) finds the
//! reasons. Errors, `explain`, JSON, the history of builds and Python all show them.

use precast_ops::OtherVersion;
use precast_store::BuildKey;
use precast_store::key::StaleVersion;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A module that no layer has, or that no layer can serve on this host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Miss {
    /// Printable signature of the module.
    pub signature: String,
    /// Its key.
    pub key: BuildKey,
    /// The reasons, the most certain first. Never empty.
    pub reasons: Vec<Reason>,
    /// Ops whose C changed without a new version: their modules in the layers are not used.
    pub stale: Vec<StaleVersion>,
}

/// A reason for a miss: displayed as text, serialized as an object with the key `reason`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Reason {
    /// No layer is configured.
    NoLayer,
    /// This host cannot run a variant of the module.
    Inadmissible {
        /// The ISA level of the variant.
        isa: String,
        /// The missing requirement of the host.
        unmet: String,
    },
    /// A layer has the module but cannot serve it: it is corrupt, its archive is missing, or the dynamic linker
    /// rejected it.
    Unusable {
        /// The problem, phrased to follow "a layer has it, but".
        problem: String,
    },
    /// The module was compiled for other targets only.
    Target {
        /// Those targets.
        found: Vec<String>,
    },
    /// The module was compiled for other ISA levels only.
    Isa {
        /// Those levels.
        found: Vec<String>,
    },
    /// A different compiler built it, or the same compiler before an update.
    Compiler,
    /// It was built with different flags, or with different system libraries or headers.
    Flags,
    /// It was compiled together with other modules.
    Neighbours,
    /// A different version of precast built the nearest module, which may be the only difference.
    Version {
        /// The layer with that module.
        layer: String,
        /// The other version, if recorded.
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
    /// No similar module exists.
    New {
        /// The number of modules that the layers hold.
        known: usize,
    },
}

impl Reason {
    /// Returns whether the reason concerns an existing module; if so, the nearest other module is irrelevant.
    #[must_use]
    pub const fn is_present(&self) -> bool {
        !matches!(self, Self::NoLayer | Self::Version { .. } | Self::Nearest { .. } | Self::New { .. })
    }
}

/// Renders the reason, phrased to follow the module and `; `.
impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoLayer => f.write_str("no store or other layer is configured"),
            Self::Inadmissible { isa, unmet } => write!(f, "the `{isa}` variant {unmet}"),
            Self::Unusable { problem } => write!(f, "a layer has it, but {problem}"),
            Self::Target { found } | Self::Isa { found } => {
                write!(f, "the store has it only for `{}`", found.join("`, `"))
            }
            Self::Compiler => f.write_str("the one in the store was built with another compiler"),
            Self::Flags => f.write_str(
                "the one in the store was built with other flags, or other system libraries or headers",
            ),
            Self::Neighbours => f.write_str("it is compiled together with other modules"),
            Self::Version { layer, found } => {
                let other = OtherVersion { found: found.clone() };
                write!(f, "the nearest in {layer} was built by {other}\n{}", OtherVersion::HINT)
            }
            // A difference in an op already names the module.
            Self::Nearest { signature, summary, .. } if summary.starts_with(&format!("`{signature}`")) => {
                write!(f, "nearest {summary}")
            }
            Self::Nearest { signature, summary, .. } if summary.is_empty() => {
                write!(f, "nearest `{signature}`")
            }
            Self::Nearest { signature, summary, .. } => write!(f, "nearest `{signature}`: {summary}"),
            Self::New { known: 0 } => f.write_str("the layers contain no modules"),
            Self::New { known } => write!(f, "no similar module among the {known} in the layers"),
        }
    }
}

impl Miss {
    /// Returns the reasons as one text, with notes about ops without a new version on separate lines.
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
