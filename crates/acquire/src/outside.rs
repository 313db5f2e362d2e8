//! Outdated records: a file outside of their sources changed, and this program can compile the module again.

use precast_store::{BuildKey, Layer, LayerError, Record};
use std::sync::Arc;

/// Returns the first outside file of a record whose content differs on this host, if `compiles` is set and a compiler
/// exists.
#[cfg(feature = "compile")]
#[must_use]
pub fn outdated(record: &Record, compiles: bool) -> Option<&str> {
    let can_compile = || compiles && precast_compile::Toolchain::find(None).is_ok();
    if record.outside.is_empty() || !can_compile() { None } else { precast_compile::changed_outside(record) }
}

/// Returns `None`: without a compiler, no record is outdated.
#[cfg(not(feature = "compile"))]
#[must_use]
pub fn outdated(_record: &Record, _compiles: bool) -> Option<&str> {
    None
}

/// Finds the records of a key in a layer that this host can run and that are not [`outdated`], best first.
/// `pass_over` is called for each outdated record, with the file that changed.
///
/// # Errors
/// Fails if the layer cannot be searched.
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
