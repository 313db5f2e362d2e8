//! Peers in Python: a private virtual environment, and one process that runs them.
//!
//! ```text
//! python/requirements.lock ──pip, by hash──▶ <target>/bench-python/<digest of the lock>/     created once
//!                                                  │ python/peers.py
//! a case ──prepare(peer, case, inputs)──▶ process ─┴─▶ a runner: each round requests the time of one call
//! ```
//! Without Python or PyPI, every case runs without these peers and the report states the reason.

mod environment;
mod inputs;
mod process;

use crate::measure::Runner;
use anyhow::{Context as _, Result, ensure};
pub(crate) use environment::{Environment, caches};
pub(crate) use inputs::{Input, Kind, Range, Spread, inputs};
use precast::Array;
use process::Process;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// A peer: its name in the report, and its name in `python/peers.py`.
pub(crate) type Peer = (&'static str, &'static str);

/// The peers of every case about speed.
pub(crate) const PEERS: [Peer; 5] = [
    ("NumPy", "numpy"),
    ("numba", "numba"),
    ("JAX", "jax"),
    ("PyTensor, C", "pytensor-c"),
    ("PyTensor, numba", "pytensor-numba"),
];

/// Python and its peers, or the reason for not having them.
pub(crate) struct Peers {
    /// The environment of the peers.
    pub(crate) environment: Result<Environment, String>,
    process: Option<RefCell<Process>>,
    /// The versions of the peers, by name.
    pub(crate) versions: BTreeMap<String, String>,
}

impl Peers {
    /// Finds or creates the environment and starts the process with `threads` threads for its peers.
    pub(crate) fn start(threads: usize) -> Result<Self> {
        let environment = Environment::find()?;
        let (mut process, mut versions) = (None, BTreeMap::new());
        if let Ok(environment) = &environment {
            let mut started = Process::start(environment, threads)?;
            versions = started.versions()?;
            process = Some(RefCell::new(started));
        }
        Ok(Self { environment, process, versions })
    }

    /// Returns runners of some peers for a case, after comparing each peer's result with ours. Unsupported peers are
    /// added to `skipped`.
    ///
    /// # Errors
    /// Fails if a peer's result differs, since its time would then measure a different computation.
    pub(crate) fn runners(
        &self,
        peers: &[Peer],
        case: &str,
        inputs: &[Input],
        ours: &Array,
        skipped: &mut Vec<String>,
    ) -> Result<Vec<Runner<'_>>> {
        let mut runners = Vec::new();
        for (name, peer) in peers {
            match self.prepare(peer, case, inputs)? {
                None => {}
                Some(Err(why)) => {
                    skipped.push(format!("{name} at `{}`: {why}", case.lines().next().unwrap_or_default()));
                }
                Some(Ok(ready)) => {
                    let what = || format!("{name} computes something else at `{case}`");
                    ready.agrees(ours, None).with_context(what)?;
                    runners.push(ready.runner(name));
                }
            }
        }
        Ok(runners)
    }

    /// Prepares a peer for a case; `None` without Python. The inner error is the reason why the peer cannot run it.
    pub(crate) fn prepare(
        &self,
        peer: &str,
        case: &str,
        inputs: &[Input],
    ) -> Result<Option<Result<Ready<'_>, String>>> {
        let Some(process) = &self.process else { return Ok(None) };
        let prepared = process.borrow_mut().prepare(peer, case, inputs)?;
        Ok(Some(prepared.map(|prepared| Ready { process, prepared })))
    }
}

/// A peer that is ready to run a case. Its process keeps the arrays of the case as long as this exists.
pub(crate) struct Ready<'a> {
    process: &'a RefCell<Process>,
    prepared: process::Prepared,
}

impl<'a> Ready<'a> {
    /// Checks that the peer's result is ours, within the tolerance of the dtype or the given one.
    pub(crate) fn agrees(&self, ours: &Array, tolerance: Option<f64>) -> Result<()> {
        same(ours, &self.prepared, tolerance)
    }

    /// Returns the largest error of the peer's function in ulp, if it is known.
    pub(crate) fn ulp(&self) -> Option<f64> {
        self.prepared.ulp
    }

    /// Returns the size of the peer's compiled code, if it is known.
    pub(crate) fn code_bytes(&self) -> Option<u64> {
        self.prepared.code_bytes
    }

    pub(crate) fn runner(self, name: &str) -> Runner<'a> {
        let ready = self;
        let round = move || {
            // Captures `ready` as a whole, so that it is dropped with the runner.
            let Self { process, prepared } = &ready;
            process.borrow_mut().time(prepared.id)
        };
        Runner { name: name.to_owned(), round: Box::new(round) }
    }
}

impl Drop for Ready<'_> {
    fn drop(&mut self) {
        // A process that has ended keeps no arrays.
        let _ = self.process.borrow_mut().forget(self.prepared.id);
    }
}

/// Compares our result with a peer's: the shape and some elements.
///
/// Peers add in another order, and their functions have errors of a few ulp. Sums of 10⁷ elements agree to 10⁻⁹ of
/// the largest.
fn same(ours: &Array, theirs: &process::Prepared, tolerance: Option<f64>) -> Result<()> {
    ensure!(ours.shape() == theirs.shape, "its shape is {:?}, ours {:?}", theirs.shape, ours.shape());
    let usual = if ours.dtype() == precast::DType::F32 { 1e-5 } else { 1e-9 };
    let tolerance = tolerance.unwrap_or(usual);
    // Where terms cancel, the error is relative to the terms.
    let finite = theirs.probe.iter().filter(|b| b.is_finite());
    let largest = finite.fold(1.0_f64, |largest, b| largest.max(b.abs()));
    for (position, (a, b)) in inputs::probe(ours).into_iter().zip(&theirs.probe).enumerate() {
        let near = a == *b || (a - b).abs() <= tolerance * largest;
        ensure!(near, "element {position} of what was compared is {b}, ours {a}");
    }
    Ok(())
}

#[cfg(test)]
mod tests;
