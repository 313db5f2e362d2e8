//! The other machines of a build, without the feature `remote`: there are none.

use std::num::NonZeroUsize;

use precast_compile::{Parallel, Toolchain};
use precast_store::{ActionCache, Store};

use super::Planned;
use crate::args::BuildArgs;
use crate::error::Failure;

/// No machines.
pub(super) struct Remotes;

#[allow(clippy::unused_self, clippy::unnecessary_wraps, reason = "as with the feature `remote`")]
impl Remotes {
    pub(super) fn new(_args: &BuildArgs) -> Result<Self, Failure> {
        Ok(Self)
    }

    pub(super) fn is_any(&self) -> bool {
        false
    }

    pub(super) fn compiling(&self, toolchain: Toolchain) -> Toolchain {
        toolchain
    }

    pub(super) fn cache(&self) -> Option<&dyn ActionCache> {
        None
    }

    pub(super) fn parallel(&self, jobs: Option<NonZeroUsize>) -> Parallel {
        jobs.map_or(Parallel::Auto, Parallel::Jobs)
    }

    pub(super) fn prefetch(&self, _planned: &Planned<'_>, _store: Option<&Store>) -> Result<(), Failure> {
        Ok(())
    }

    pub(super) fn tell(&self) {}
}
