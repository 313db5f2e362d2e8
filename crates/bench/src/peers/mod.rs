//! Peers written in Python: a virtual environment of our own, and one process that runs them.
//!
//! ```text
//! python/requirements.lock ──pip, by hash──▶ <target>/bench-python/<digest of the lock>/     made once
//!                                                  │ python/peers.py
//! a case ──prepare(peer, case, inputs)──▶ process ─┴─▶ a runner: each round asks it for the time of one call
//! ```
//! Where there is no Python, or PyPI cannot be reached, every case goes without them and the report says why.

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

/// A peer: how the report calls it, and how `python/peers.py` does.
pub(crate) type Peer = (&'static str, &'static str);

/// The peers of every case about speed.
pub(crate) const PEERS: [Peer; 5] = [
    ("NumPy", "numpy"),
    ("numba", "numba"),
    ("JAX", "jax"),
    ("PyTensor, C", "pytensor-c"),
    ("PyTensor, numba", "pytensor-numba"),
];

/// Python and its peers, or why there are none.
pub(crate) struct Peers {
    /// What makes them.
    pub(crate) environment: Result<Environment, String>,
    process: Option<RefCell<Process>>,
    /// Versions, by what has them.
    pub(crate) versions: BTreeMap<String, String>,
}

impl Peers {
    /// Makes or finds the environment, and starts the process, whose peers have so many threads.
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

    /// Runners of some peers for a case, each after its result was compared with ours; what a peer cannot do goes to
    /// `skipped`.
    ///
    /// # Errors
    /// A peer whose result differs: what it is measured at would be something else.
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

/// Compares a result with what a peer says of its own: shape, and some elements.
///
/// Peers add in another order, and their functions have errors of a few ulp: sums of 10⁷ elements agree to 10⁻⁹ of the largest.
fn same(ours: &Array, theirs: &process::Prepared) -> Result<()> {
    ensure!(ours.shape() == theirs.shape, "its shape is {:?}, ours {:?}", theirs.shape, ours.shape());
    let tolerance = if ours.dtype() == precast::DType::F32 { 1e-5 } else { 1e-9 };
    // Where terms cancel, the error is one of the terms.
    let largest = theirs.probe.iter().fold(1.0_f64, |largest, b| largest.max(b.abs()));
    for (position, (a, b)) in inputs::probe(ours).into_iter().zip(&theirs.probe).enumerate() {
        let near = (a - b).abs() <= tolerance * largest;
        ensure!(near, "element {position} of what was compared is {b}, ours {a}");
    }
    Ok(())
}

#[cfg(test)]
mod tests;
