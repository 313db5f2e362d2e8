//! Computes the inputs of a unit's [`ActionKey`](precast_store::ActionKey), which determine the bytes of its archive.
//!
//! The key of a lean unit requires no process. For any other unit, one run of the preprocessor and one of the linker
//! determine the headers and libraries it uses ([`crate::system`]).

use precast_codegen::Unit;
use precast_store::key::ActionInputs;

use crate::error::CompileError;
use crate::isa::Variant;
use crate::prepared::Prepared;
use crate::system;
use crate::toolchain::Toolchain;

/// Returns the inputs that determine the bytes of a unit's archive, without compiling it.
///
/// For a lean unit, no process is started. If the unit uses system headers or libraries, the preprocessor runs, and the
/// linker lists the files of the libraries.
///
/// # Errors
///
/// Fails like [`compile`](crate::compile()), except for errors of the later steps.
pub fn action(unit: &Unit, toolchain: &Toolchain, variant: &Variant) -> Result<ActionInputs, CompileError> {
    let prepared = Prepared::new(unit, toolchain, variant)?;
    if prepared.lean && !prepared.flags.hosted_link {
        return Ok(prepared.inputs(Vec::new()));
    }
    let scratch = prepared.unpack()?;
    let system = system::read(&prepared, &scratch)?;
    Ok(prepared.inputs(system.linked))
}
