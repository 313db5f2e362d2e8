//! Outdated records: they were built from other headers or libraries than a build on this host would read, and this
//! program can compile the module again.

use precast_codegen::Module;
use precast_store::{BuildKey, Layer, LayerError, Record};
use std::sync::Arc;

/// Returns the reason if a record of a module is outdated, `compiles` is set and a compiler exists. `generate` is called
/// only for a record with outside files; without the module, such a record counts as outdated.
#[cfg(feature = "compile")]
#[must_use]
pub fn outdated(
    record: &Record,
    compiles: bool,
    generate: &mut dyn FnMut() -> Option<Arc<Module>>,
) -> Option<String> {
    use precast_codegen::Unit;
    use precast_compile::Toolchain;
    if !compiles || !record.has_outside() {
        return None;
    }
    let toolchain = Toolchain::find(None).ok()?;
    match generate() {
        Some(module) => precast_compile::outdated(record, &Unit::single(module), &toolchain),
        None => Some("it may have been built from other headers or libraries".to_owned()),
    }
}

/// Returns `None`: without a compiler, no record is outdated.
#[cfg(not(feature = "compile"))]
#[must_use]
pub fn outdated(
    _record: &Record,
    _compiles: bool,
    _generate: &mut dyn FnMut() -> Option<Arc<Module>>,
) -> Option<String> {
    None
}

/// Finds the records of a key in a layer that this host can run and that are not [`outdated`], best first.
/// `pass_over` is called for each outdated record, with the reason.
///
/// # Errors
/// Fails if the layer cannot be searched.
pub fn find(
    layer: &Layer,
    key: &BuildKey,
    compiles: bool,
    generate: &mut dyn FnMut() -> Option<Arc<Module>>,
    mut pass_over: impl FnMut(&Record, String),
) -> Result<Vec<Arc<Record>>, LayerError> {
    let mut records = layer.find(key)?;
    records.retain(|record| match outdated(record, compiles, generate) {
        None => true,
        Some(reason) => {
            pass_over(record, reason);
            false
        }
    });
    Ok(records)
}
