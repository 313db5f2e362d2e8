//! The model as functions: four precompiled graphs, called with views.
//!
//! precast.toml declares the graphs; model/train.py wrote the numbers.

use ndarray::{Array1, ArrayView1, ArrayView2, Axis, aview1};
use precast::model::ModelError;

include!(concat!(env!("OUT_DIR"), "/model.rs"));

/// A Rust function for each graph of precast.toml; rank and dtype of its arguments are in its type.
mod graphs {
    precast::include_model!();
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

/// Gives the probability that each wine is good; one wine a row, any strides.
pub(crate) fn score(measurements: ArrayView2<'_, f64>) -> Result<Array1<f64>, ModelError> {
    graphs::score(measurements, aview1(&MEAN), aview1(&SCALE), aview1(&WEIGHTS), BIAS)
}

/// Compares scores with the truth, 1 for good and 0 for not.
pub(crate) fn evaluate(
    scores: ArrayView1<'_, f64>,
    truth: ArrayView1<'_, f64>,
) -> Result<Figures, ModelError> {
    let log_loss = graphs::loss(scores, truth)?;
    let (true_positives, false_positives, false_negatives, true_negatives, accuracy, precision, recall) =
        graphs::metrics(scores, truth)?;
    let [p, y] = [scores, truth].map(|column| column.insert_axis(Axis(1)));
    let [q, z] = [scores, truth].map(|row| row.insert_axis(Axis(0)));
    let auc = graphs::auc(p, y, q, z)?;
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

/// How many modules of the embedded bundle serve the graphs.
pub(crate) fn modules() -> Result<usize, Box<dyn std::error::Error>> {
    let loader = graphs::loader()?;
    let mut modules = 0;
    for name in loader.entries() {
        modules += loader.entry(&name)?.provenance().len();
    }
    Ok(modules)
}
