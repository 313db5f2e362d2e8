//! What decides the bytes of a unit's archive: the inputs of its [`ActionKey`](precast_store::ActionKey).
//!
//! A lean unit's key needs no process. What another unit includes and links is found by running the preprocessor and the
//! linker once ([`crate::system`]).

use precast_codegen::Unit;
use precast_store::key::ActionInputs;

use crate::error::CompileError;
use crate::isa::Variant;
use crate::prepared::Prepared;
use crate::system;
use crate::toolchain::Toolchain;

/// Gives what decides the bytes of a unit's archive, without compiling it.
///
/// For a lean unit nothing is started. Where system headers or libraries are used, the preprocessor runs, and the linker
/// names the libraries' files.
///
/// # Errors
///
/// As [`compile`](crate::compile()), as far as it gets.
pub fn action(unit: &Unit, toolchain: &Toolchain, variant: &Variant) -> Result<ActionInputs, CompileError> {
    let prepared = Prepared::new(unit, toolchain, variant)?;
    if prepared.lean && !prepared.flags.hosted_link {
        return Ok(prepared.inputs(Vec::new()));
    }
    let scratch = prepared.unpack()?;
    let system = system::read(&prepared, &scratch)?;
    Ok(prepared.inputs(system.linked))
}
