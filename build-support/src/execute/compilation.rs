//! A compiled unit and the reasons for compiling it.

use super::ExecuteError;
use super::job::Job;
use precast_acquire::{Reason, Reasons, UnitMiss};
use precast_compile::Toolchain;
use precast_core::event::join;
use precast_store::{ActionKey, Layer, Store};
use serde::{Deserialize, Serialize};

/// A compiled unit and the reasons for compiling it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compilation {
    /// The unit: the signature of its first module, the number of further modules, and the ISA level.
    pub title: String,
    /// The signature of the module that the reasons concern.
    pub signature: String,
    /// The reasons why the store could not serve the unit, in the order of the key table. Never empty.
    pub why: Vec<Reason>,
    /// The start of the compilation, in milliseconds since that of the first unit.
    pub start_millis: u64,
    /// The compile time, in milliseconds.
    pub millis: u64,
}

impl Compilation {
    /// Returns the reasons as text.
    #[must_use]
    pub fn reasons(&self) -> String {
        join(&self.texts(), "; ")
    }

    /// Returns the reasons with the module that they concern; units with the same causes have the same text.
    #[must_use]
    pub fn cause(&self) -> String {
        let (signature, mut texts) = (&self.signature, self.texts());
        match self.why.first() {
            Some(Reason::Nearest { signature: nearest, summary, .. }) if nearest == signature => {
                texts[0] = format!("`{signature}` changed: {summary}");
            }
            Some(Reason::Nearest { .. } | Reason::Version { .. } | Reason::New { .. }) => {
                texts.insert(0, format!("`{signature}` is new"));
            }
            _ => {}
        }
        join(&texts, "; ")
    }

    fn texts(&self) -> Vec<String> {
        self.why.iter().map(Reason::to_string).collect()
    }
}

/// Returns the compilations of missing jobs with their reasons, before anything is compiled or published.
pub(super) fn compilations(
    jobs: &[Job<'_>],
    missing: &[usize],
    store: Option<&Store>,
    toolchain: &Toolchain,
) -> Result<Vec<Compilation>, ExecuteError> {
    let layer = store.map(|store| Layer::from(store.clone()));
    let reasons = layer.as_ref().and_then(|layer| Reasons::new(layer, toolchain));
    let made = missing.iter().filter_map(|at| Some((&jobs[*at], jobs[*at].action?)));
    let of = |(job, action): (&Job<'_>, ActionKey)| {
        let miss = match &reasons {
            Some(reasons) => reasons.find(job.unit, job.variant, &action)?,
            None => {
                let signature = job.unit.first().signature.clone();
                UnitMiss { signature, reasons: vec![Reason::NoLayer] }
            }
        };
        Ok(Compilation {
            title: job.title(),
            signature: miss.signature,
            why: miss.reasons,
            start_millis: 0,
            millis: 0,
        })
    };
    made.map(of).collect()
}
