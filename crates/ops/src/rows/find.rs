//! All rows, and the row of a name.

use super::Row;
use crate::registry::{COMPOSED, STRUCTURAL};
use crate::scalar::LIBRARY;

/// All rows.
pub(crate) fn all() -> impl Iterator<Item = &'static Row> {
    LIBRARY.iter().chain(STRUCTURAL).chain(COMPOSED)
}

/// The row of a name, which may be another name of it.
pub(crate) fn find(name: &str) -> Option<&'static Row> {
    all().find(|row| row.name == name || row.aliases.contains(&name))
}
