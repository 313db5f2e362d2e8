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
pub(crate) use inputs::{Input, Kind, inputs};
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
        let Some(process) = &self.process else { return Ok(Vec::new()) };
        let mut runners = Vec::new();
        for (name, peer) in peers {
            match process.borrow_mut().prepare(peer, case, inputs)? {
                Err(why) => skipped.push(format!("{name} at `{case}`: {why}")),
                Ok(prepared) => {
                    let what = || format!("{name} computes something else at `{case}`");
                    same(ours, &prepared).with_context(what)?;
                    let id = prepared.id;
                    let round = move || process.borrow_mut().time(id);
                    runners.push(Runner { name: (*name).to_owned(), round: Box::new(round) });
                }
            }
        }
        Ok(runners)
    }
}

/// Compares our result with a peer's: the shape and some elements.
///
/// Peers add in another order, and their functions have errors of a few ulp. Sums of 10⁷ elements agree to 10⁻⁹ of
/// the largest.
fn same(ours: &Array, theirs: &process::Prepared) -> Result<()> {
    ensure!(ours.shape() == theirs.shape, "its shape is {:?}, ours {:?}", theirs.shape, ours.shape());
    let tolerance = if ours.dtype() == precast::DType::F32 { 1e-5 } else { 1e-9 };
    // Where terms cancel, the error is relative to the terms.
    let largest = theirs.probe.iter().fold(1.0_f64, |largest, b| largest.max(b.abs()));
    for (position, (a, b)) in inputs::probe(ours).into_iter().zip(&theirs.probe).enumerate() {
        let near = (a - b).abs() <= tolerance * largest;
        ensure!(near, "element {position} of what was compared is {b}, ours {a}");
    }
    Ok(())
}

#[cfg(test)]
mod tests;
