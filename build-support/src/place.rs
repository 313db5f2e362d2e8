//! Where a declaration stands, so that every complaint about it can be found by its reader.

use std::fmt;
use std::path::{Path, PathBuf};

/// Where something is declared.
///
/// Rendered as `precast.toml:12: [[op]] 2 (`add`), key `dtypes``, leaving out what is not known.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Place {
    /// The manifest; none for what a `build.rs` declares itself.
    pub file: Option<PathBuf>,
    /// The line, counted from 1.
    pub line: Option<usize>,
    /// The table, such as ``[[op]] 2 (`add`)``, counted from 1.
    pub table: Option<String>,
    /// The key in the table.
    pub key: Option<String>,
}

/// Where the lines of a text begin, so that finding one does not read the text again.
#[derive(Debug, Clone)]
pub(crate) struct Lines(Vec<usize>);

impl Lines {
    pub(crate) fn of(text: &str) -> Self {
        Self(text.match_indices('\n').map(|(newline, _)| newline + 1).collect())
    }

    /// The number of the line, from 1, that a byte is in.
    pub(crate) fn number(&self, offset: usize) -> usize {
        1 + self.0.partition_point(|start| *start <= offset)
    }
}

impl Place {
    /// A place in a file.
    #[must_use]
    pub fn in_file(file: &Path) -> Self {
        Self { file: Some(file.to_owned()), ..Self::default() }
    }

    /// A call of [`crate::Build`], such as ``op `add` ``.
    #[must_use]
    pub fn in_build(what: &str, name: &str) -> Self {
        Self { table: Some(format!("{what} `{name}`")), ..Self::default() }
    }

    /// The same place, narrowed to a key.
    #[must_use]
    pub fn key(&self, key: &str) -> Self {
        Self { key: Some(key.to_owned()), ..self.clone() }
    }
}

impl fmt::Display for Place {
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
