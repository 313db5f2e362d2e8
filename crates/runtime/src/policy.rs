//! What to do about a miss.

use std::fmt;
use std::str::FromStr;

/// What to do when neither the graph nor all of its ops are in a layer. A graph served op by op is a hit under each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Policy {
    /// A miss is a typed error that names the nearest key and what differs.
    Strict,
    /// The reference `perform` of the ops computes the graph: slow, always right.
    Interpret,
    /// The graph is compiled, and published to the first writable layer. No compiler is a typed error, never silently
    /// something else.
    Jit,
    /// What layers have answers at once, op by op if need be. A module for the whole is compiled meanwhile, published as under
    /// `jit`, and serves the calls from then on; that this fails is an event, and no error of calls. A graph of which layers
    /// lack an op is compiled first, as under `jit`.
    Tiered,
}

impl Policy {
    /// All policies.
    pub const ALL: [Self; 4] = [Self::Strict, Self::Interpret, Self::Jit, Self::Tiered];

    /// The name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Strict => "strict",
            Self::Interpret => "interpret",
            Self::Jit => "jit",
            Self::Tiered => "tiered",
        }
    }

    /// Whether it has modules compiled.
    #[must_use]
    pub const fn compiles(self) -> bool {
        matches!(self, Self::Jit | Self::Tiered)
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A policy name that is not one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown policy `{found}`; known: {}", Policy::ALL.map(Policy::name).join(", "))]
pub struct ParsePolicyError {
    /// What was found.
    pub found: String,
}

impl FromStr for Policy {
    type Err = ParsePolicyError;

    fn from_str(text: &str) -> Result<Self, ParsePolicyError> {
        let found = Self::ALL.into_iter().find(|policy| policy.name() == text);
        found.ok_or_else(|| ParsePolicyError { found: text.to_owned() })
    }
}
