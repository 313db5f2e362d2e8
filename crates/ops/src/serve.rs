//! The granularity at which modules serve a graph.

use std::fmt;
use std::str::FromStr;

/// The keys of a manifest, `precast.toml`. Programs that read only a part of it, such as `precast record`, recognise
/// a manifest by these keys.
pub const MANIFEST_KEYS: [&str; 7] = ["isa", "target", "glibc", "json", "op", "graph", "external"];

/// The parts of a graph for which modules are compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Serve {
    /// The whole graph, in one module. Calls by name require this.
    Whole,
    /// Each fused group. Other graphs with the same group share its module.
    Groups,
    /// Each op. All graphs with these ops share the modules.
    Ops,
}

impl Serve {
    /// All values.
    pub const ALL: [Self; 3] = [Self::Whole, Self::Groups, Self::Ops];

    /// Returns the word for a manifest.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::Groups => "groups",
            Self::Ops => "ops",
        }
    }
}

impl fmt::Display for Serve {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// An unknown word for [`Serve`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown value `{found}`, expected one of whole, groups, ops")]
pub struct ParseServeError {
    /// The word found.
    pub found: String,
}

impl FromStr for Serve {
    type Err = ParseServeError;

    fn from_str(text: &str) -> Result<Self, ParseServeError> {
        let found = Self::ALL.into_iter().find(|serve| serve.name() == text);
        found.ok_or_else(|| ParseServeError { found: text.to_owned() })
    }
}
