//! Policies for a miss.

use std::fmt;
use std::str::FromStr;

/// The handling of a graph if neither it nor all of its ops are in a layer. A graph served op by op is a hit for each
/// policy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Policy {
    /// Like `jit` if the program has the feature `jit` and a compiler is installed, else like `strict`.
    #[default]
    Auto,
    /// Fails with a typed error that names the nearest key and the differences.
    Strict,
    /// Computes the graph with the reference `perform` of its ops: slow, but always correct.
    Interpret,
    /// Compiles the graph, and publishes it to the first writable layer. A missing compiler is a typed error; precast
    /// never falls back silently.
    Jit,
    /// Serves calls at once from the layers, op by op if necessary, and compiles a module for the whole graph in the
    /// background. The module is published as under `jit`, and serves later calls. A failure is an event, not an
    /// error of calls. If the layers lack an op, the graph is compiled first, as under `jit`.
    Tiered,
}

impl Policy {
    /// All policies.
    pub const ALL: [Self; 5] = [Self::Auto, Self::Strict, Self::Interpret, Self::Jit, Self::Tiered];

    /// Returns the policy's name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Strict => "strict",
            Self::Interpret => "interpret",
            Self::Jit => "jit",
            Self::Tiered => "tiered",
        }
    }

    /// Returns whether the policy compiles modules if a compiler is installed.
    #[must_use]
    pub const fn compiles(self) -> bool {
        matches!(self, Self::Auto | Self::Jit | Self::Tiered)
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// An unknown policy name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown policy `{found}`, expected one of {}", Policy::ALL.map(Policy::name).join(", "))]
pub struct ParsePolicyError {
    /// The invalid name.
    pub found: String,
}

impl FromStr for Policy {
    type Err = ParsePolicyError;

    fn from_str(text: &str) -> Result<Self, ParsePolicyError> {
        let found = Self::ALL.into_iter().find(|policy| policy.name() == text);
        found.ok_or_else(|| ParsePolicyError { found: text.to_owned() })
    }
}
