//! Checks that the extents of one name are equal among the arguments and results of a call.
//!
//! The first axis of a name, inputs before outputs, defines its value. Direct calls check the same in
//! `native/call/direct/assembly.rs`, where most of these comparisons are implied by the common shape of the operands.

use super::{CallError, ExtentError};
use crate::native::{ArrayRef, Targets};
use crate::program::Port;

/// Checks the named extents of inputs that have the declared ranks.
pub(super) fn check_inputs(ports: &[Port], inputs: &[ArrayRef<'_>]) -> Result<(), CallError> {
    let extent = |(port, axis): Axis| inputs.get(port).and_then(|input| input.shape().get(axis)).copied();
    check(&[ports], 0, extent)
}

/// Checks the named extents of results that have the declared ranks. The inputs have been checked.
pub(super) fn check_results(
    (inputs, outputs): (&[Port], &[Port]),
    arguments: &[ArrayRef<'_>],
    targets: &Targets<'_, '_>,
) -> Result<(), CallError> {
    let extent = |(port, axis): Axis| match port.checked_sub(inputs.len()) {
        None => arguments.get(port).and_then(|input| input.shape().get(axis)).copied(),
        Some(output) => targets.array(output).and_then(|(_, shape)| shape.get(axis).copied()),
    };
    check(&[inputs, outputs], inputs.len(), extent)
}

/// The position of a port, where outputs follow the inputs, and an axis of it.
type Axis = (usize, usize);

/// Compares each named extent of the ports from `start` on with the first extent of its name.
#[inline]
fn check(ports: &[&[Port]], start: usize, extent: impl Fn(Axis) -> Option<usize>) -> Result<(), CallError> {
    let all = || ports.iter().copied().flatten().enumerate();
    for (position, port) in all().skip(start).filter(|(_, port)| port.ty.has_names()) {
        for (axis, name) in port.ty.names() {
            let first = all().find_map(|(at, port)| port.axis(name).map(|axis| (at, axis)));
            let (other, own) = (first.unwrap_or((position, axis)), (position, axis));
            if other != own && extent(other) != extent(own) {
                return Err(error(ports, name, (own, extent(own)), (other, extent(other))));
            }
        }
    }
    Ok(())
}

#[cold]
fn error(
    ports: &[&[Port]],
    name: &str,
    (own, found): (Axis, Option<usize>),
    (other, expected): (Axis, Option<usize>),
) -> CallError {
    let inputs = ports.first().map_or(0, |inputs| inputs.len());
    let port = |(at, _): Axis| {
        let port = ports.iter().copied().flatten().nth(at);
        let kind = if at < inputs { "input" } else { "output" };
        format!("{kind} `{}`", port.map_or("", |port| &port.name))
    };
    CallError::Extent(Box::new(ExtentError {
        name: name.to_owned(),
        port: port(own),
        axis: own.1,
        found: found.unwrap_or_default(),
        first: port(other),
        first_axis: other.1,
        expected: expected.unwrap_or_default(),
    }))
}
