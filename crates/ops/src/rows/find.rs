//! Lists all rows, and finds the row of a name.

use super::Row;
use crate::registry::{COMPOSED, STRUCTURAL};
use crate::scalar::LIBRARY;

/// Returns all rows.
pub(crate) fn all() -> impl Iterator<Item = &'static Row> {
    LIBRARY.iter().chain(STRUCTURAL).chain(COMPOSED)
}

/// Returns the row with this name or alias.
pub(crate) fn find(name: &str) -> Option<&'static Row> {
    all().find(|row| row.name == name || row.aliases.contains(&name))
}
