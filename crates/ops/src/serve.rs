//! How much of a graph has a module of its own.

use std::fmt;
use std::str::FromStr;

/// The keys of a manifest, `precast.toml`. Who reads it in part, as `precast record` does, knows a manifest by them.
pub const MANIFEST_KEYS: [&str; 5] = ["isa", "target", "op", "graph", "external"];

/// How much of a graph a module of its own is compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Serve {
    /// The graph: one module. What a call by name wants.
    Whole,
    /// Each group that fusion makes: modules that other graphs with such a group use too.
    Groups,
    /// Each op: modules that every graph of these ops uses.
    Ops,
}

impl Serve {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Whole, Self::Groups, Self::Ops];

    /// The word in a manifest.
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

/// A word that is not one of [`Serve`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown word `{found}`; known: whole, groups, ops")]
pub struct ParseServeError {
    /// What was found.
    pub found: String,
}

impl FromStr for Serve {
    type Err = ParseServeError;

    fn from_str(text: &str) -> Result<Self, ParseServeError> {
        let found = Self::ALL.into_iter().find(|serve| serve.name() == text);
        found.ok_or_else(|| ParseServeError { found: text.to_owned() })
    }
}
