//! Records that are out of date: a file outside of their sources changed, and the program can compile with the new one.

use precast_store::{BuildKey, Layer, LayerError, Record};
use std::sync::Arc;

/// The first file of a record that this host has with another content, if `compiles` and there is a compiler.
#[cfg(feature = "compile")]
#[must_use]
pub fn outdated(record: &Record, compiles: bool) -> Option<&str> {
    let can_compile = || compiles && precast_compile::Toolchain::find(None).is_ok();
    if record.outside.is_empty() || !can_compile() { None } else { precast_compile::changed_outside(record) }
}

/// Nothing can be compiled, so no record is out of date.
#[cfg(not(feature = "compile"))]
#[must_use]
pub fn outdated(_record: &Record, _compiles: bool) -> Option<&str> {
    None
}

/// Finds the records of a key in a layer that this host can run and that are not [`outdated`], best first. `pass_over` is told of
/// those that are, with the file that changed.
///
/// # Errors
/// The layer cannot be searched.
pub fn find(
    layer: &Layer,
    key: &BuildKey,
    compiles: bool,
    mut pass_over: impl FnMut(&Record, &str),
) -> Result<Vec<Arc<Record>>, LayerError> {
    let mut records = layer.find(key)?;
    records.retain(|record| match outdated(record, compiles) {
        None => true,
        Some(file) => {
            pass_over(record, file);
            false
        }
    });
    Ok(records)
}
