//! Formats the report: one figure per line, each f64 with `{}`, which preserves its bits.

use crate::model::{Figures, GOOD_FROM_GRADE, HELD_OUT_EVERY, MEAN};
use std::fmt;
use std::time::Duration;

/// The number of scores to print.
const FIRST: usize = 5;

/// The content of the report.
pub(crate) struct Report<'a> {
    /// The number of wines in the data set.
    pub(crate) rows: usize,
    /// The scores of the held-out wines.
    pub(crate) scores: &'a [f64],
    /// The number of good wines among them.
    pub(crate) good: f64,
    /// The fit of the scores.
    pub(crate) figures: &'a Figures,
    /// The number of modules in the embedded bundle that serve the graphs.
    pub(crate) modules: usize,
    /// The time from the first instruction of `main` to the scores.
    pub(crate) first: Duration,
    /// The time from there to the last figure.
    pub(crate) all: Duration,
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let figures = self.figures;
        writeln!(
            f,
            "Is a red wine good (graded {GOOD_FROM_GRADE} or above)? A logistic model of {} measurements.",
            MEAN.len()
        )?;
        writeln!(f, "data          winequality-red, Cortez et al. 2009")?;
        writeln!(f, "rows          {}", self.rows)?;
        writeln!(f, "held out      {}", self.scores.len())?;
        writeln!(f, "good          {}", self.good)?;
        writeln!(f, "modules       {} from the embedded bundle", self.modules)?;
        writeln!(f)?;
        writeln!(f, "log loss      {}", figures.log_loss)?;
        writeln!(f, "accuracy      {}", figures.accuracy)?;
        writeln!(f, "precision     {}", figures.precision)?;
        writeln!(f, "recall        {}", figures.recall)?;
        writeln!(f, "auc           {}", figures.auc)?;
        writeln!(f)?;
        writeln!(f, "              called good   not called good")?;
        writeln!(f, "is good       {:<13} {}", figures.true_positives, figures.false_negatives)?;
        writeln!(f, "is not        {:<13} {}", figures.false_positives, figures.true_negatives)?;
        writeln!(f)?;
        for (number, score) in self.scores.iter().take(FIRST).enumerate() {
            writeln!(f, "wine {:<8} {score}", number * HELD_OUT_EVERY)?;
        }
        writeln!(f)?;
        writeln!(
            f,
            "first result  {:.3} ms after main began, scores of all wines held out",
            millis(self.first)
        )?;
        writeln!(f, "all figures   {:.3} ms after main began", millis(self.all))
    }
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
