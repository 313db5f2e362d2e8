//! Files outside of a module's sources that changed, where the program could compile with them: `precast_compile` finds them.

use crate::policy::Policy;
use precast_store::Record;

/// Finds the first file of a record that this host has with another content, if it could compile with that.
#[cfg(feature = "jit")]
pub(crate) fn changed(record: &Record, policy: Option<Policy>) -> Option<&str> {
    let compiles = || policy.is_none_or(Policy::compiles) && precast_compile::Toolchain::find(None).is_ok();
    if record.outside.is_empty() || !compiles() { None } else { precast_compile::changed_outside(record) }
}

/// Nothing can be compiled.
#[cfg(not(feature = "jit"))]
pub(crate) fn changed(_record: &Record, _policy: Option<Policy>) -> Option<&str> {
    None
}
