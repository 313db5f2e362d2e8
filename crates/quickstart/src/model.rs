//! The model as a service: four precompiled graphs, found once, called with views.
//!
//! precast.toml declares the graphs; model/train.py wrote the numbers.

use ndarray::{Array1, ArrayView1, ArrayView2, Axis, aview0, aview1};
use precast::{Array, Function, Runtime};
use std::error::Error;

include!(concat!(env!("OUT_DIR"), "/model.rs"));

/// Any of the errors of precast's verbs.
type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The graphs, ready to be called from any thread.
pub(crate) struct Service {
    score: Function,
    loss: Function,
    metrics: Function,
    auc: Function,
}

/// How well scores fit the truth.
pub(crate) struct Figures {
    /// Mean log loss, in nats.
    pub(crate) log_loss: f64,
    /// Area under the ROC curve.
    pub(crate) auc: f64,
    /// Good wines called good.
    pub(crate) true_positives: f64,
    /// Others called good.
    pub(crate) false_positives: f64,
    /// Good wines not called good.
    pub(crate) false_negatives: f64,
    /// Others not called good.
    pub(crate) true_negatives: f64,
    /// Share of right calls.
    pub(crate) accuracy: f64,
    /// Share of good wines among those called good.
    pub(crate) precision: f64,
    /// Share of good wines that are called good.
    pub(crate) recall: f64,
}

impl Service {
    /// Finds the graphs.
    pub(crate) fn load(runtime: &Runtime) -> Result<Self> {
        Ok(Self {
            score: runtime.entry("score")?,
            loss: runtime.entry("loss")?,
            metrics: runtime.entry("metrics")?,
            auc: runtime.entry("auc")?,
        })
    }

    /// Gives the probability that each wine is good; one wine a row, any strides.
    pub(crate) fn score(&self, measurements: ArrayView2<'_, f64>) -> Result<Array1<f64>> {
        let (mean, scale, weights, bias) = (aview1(&MEAN), aview1(&SCALE), aview1(&WEIGHTS), aview0(&BIAS));
        let args = [measurements.into(), mean.into(), scale.into(), weights.into(), bias.into()];
        let outputs = self.score.call(&args)?;
        match outputs.into_iter().next() {
            Some(Array::F64(p)) => Ok(p.into_dimensionality()?),
            other => Err(format!("`score` gave {other:?}, not an array of f64").into()),
        }
    }

    /// Compares scores with the truth, 1 for good and 0 for not.
    pub(crate) fn evaluate(
        &self,
        scores: ArrayView1<'_, f64>,
        truth: ArrayView1<'_, f64>,
    ) -> Result<Figures> {
        let [log_loss] = numbers(&self.loss.call(&[scores.into(), truth.into()])?)?;
        let counts = numbers(&self.metrics.call(&[scores.into(), truth.into()])?)?;
        let [true_positives, false_positives, false_negatives, true_negatives, accuracy, precision, recall] =
            counts;
        let columns = [scores.insert_axis(Axis(1)), truth.insert_axis(Axis(1))];
        let rows = [scores.insert_axis(Axis(0)), truth.insert_axis(Axis(0))];
        let pairs = [columns[0].into(), columns[1].into(), rows[0].into(), rows[1].into()];
        let [auc] = numbers(&self.auc.call(&pairs)?)?;
        Ok(Figures {
            log_loss,
            auc,
            true_positives,
            false_positives,
            false_negatives,
            true_negatives,
            accuracy,
            precision,
            recall,
        })
    }
}

/// Takes outputs that are one number each.
fn numbers<const N: usize>(outputs: &[Array]) -> Result<[f64; N]> {
    let number = |output: &Array| match output {
        Array::F64(array) => array.first().copied(),
        _ => None,
    };
    let found: Vec<f64> = outputs.iter().filter_map(number).collect();
    found.try_into().map_err(|found| format!("a graph gave {found:?}, not {N} numbers").into())
}
