//! The model as functions: four precompiled graphs, called with views.
//!
//! precast.toml declares the graphs; model/train.py wrote the numbers.

use ndarray::{Array1, ArrayView1, ArrayView2, Axis, aview1};
use precast::model::ModelError;

include!(concat!(env!("OUT_DIR"), "/model.rs"));

/// A Rust function for each graph of precast.toml, typed by the rank and dtype of its arguments.
mod graphs {
    precast::include_model!();
}

/// The fit of scores to the truth.
pub(crate) struct Figures {
    /// The mean log loss, in nats.
    pub(crate) log_loss: f64,
    /// The area under the ROC curve.
    pub(crate) auc: f64,
    /// Good wines classified as good.
    pub(crate) true_positives: f64,
    /// Bad wines classified as good.
    pub(crate) false_positives: f64,
    /// Good wines classified as bad.
    pub(crate) false_negatives: f64,
    /// Bad wines classified as bad.
    pub(crate) true_negatives: f64,
    /// The share of correct classifications.
    pub(crate) accuracy: f64,
    /// The share of good wines among those classified as good.
    pub(crate) precision: f64,
    /// The share of good wines that are classified as good.
    pub(crate) recall: f64,
}

/// Returns the probability that each wine is good; one wine per row, with any strides.
pub(crate) fn score(measurements: ArrayView2<'_, f64>) -> Result<Array1<f64>, ModelError> {
    graphs::score(measurements, aview1(&MEAN), aview1(&SCALE), aview1(&WEIGHTS), BIAS)
}

/// Compares scores with the truth: 1 for good, 0 for bad.
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

/// Returns the number of modules in the embedded bundle that serve the graphs.
pub(crate) fn modules() -> Result<usize, Box<dyn std::error::Error>> {
    let loader = graphs::loader()?;
    let mut modules = 0;
    for name in loader.entries() {
        modules += loader.entry(&name)?.provenance().len();
    }
    Ok(modules)
}
