//! The place of a declaration, for error messages.

use std::fmt;
use std::path::{Path, PathBuf};

/// The place of a declaration.
///
/// Rendered as `precast.toml:12: [[op]] 2 (`add`), key `dtypes``; unknown parts are left out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SourceLocation {
    /// The manifest; `None` for declarations of a `build.rs`.
    pub file: Option<PathBuf>,
    /// The line, counted from 1.
    pub line: Option<usize>,
    /// The table, such as ``[[op]] 2 (`add`)``, counted from 1.
    pub table: Option<String>,
    /// The key in the table.
    pub key: Option<String>,
}

/// The offsets at which the lines of a text begin, so that a lookup does not read the text again.
#[derive(Debug, Clone)]
pub(crate) struct Lines(Vec<usize>);

impl Lines {
    pub(crate) fn of(text: &str) -> Self {
        Self(text.match_indices('\n').map(|(newline, _)| newline + 1).collect())
    }

    /// Returns the number of the line that contains a byte, counted from 1.
    pub(crate) fn number(&self, offset: usize) -> usize {
        1 + self.0.partition_point(|start| *start <= offset)
    }
}

impl SourceLocation {
    /// Returns the place of a whole file.
    #[must_use]
    pub fn in_file(file: &Path) -> Self {
        Self { file: Some(file.to_owned()), ..Self::default() }
    }

    /// Returns the place of a [`crate::Build`] call, such as ``op `add` ``.
    #[must_use]
    pub fn in_build(what: &str, name: &str) -> Self {
        Self { table: Some(format!("{what} `{name}`")), ..Self::default() }
    }

    /// Returns the same place, narrowed to a key.
    #[must_use]
    pub fn key(&self, key: &str) -> Self {
        Self { key: Some(key.to_owned()), ..self.clone() }
    }
}

impl fmt::Display for SourceLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(f, "{}:{line}", file.display())?,
            (Some(file), None) => write!(f, "{}", file.display())?,
            (None, _) => f.write_str("in `Build`")?,
        }
        let mut gap = ": ";
        if let Some(table) = &self.table {
            write!(f, "{gap}{table}")?;
            gap = ", ";
        }
        self.key.as_ref().map_or(Ok(()), |key| write!(f, "{gap}key `{key}`"))
    }
}
