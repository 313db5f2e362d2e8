//! Reads the results of a proof from its output, and renders the closing table.
//!
//! Counts come from the closing lines of the test runners: libtest's `test result: ok. 3 passed; 0 failed; …` and
//! pytest's `1097 passed, 8 skipped in 111.85s`. Our own proofs end with a line of the first form. A line `skipped:
//! …` is a reason.

use super::child::End;
use std::fmt::Write as _;
use std::time::Duration;

/// The results of one proof.
pub(super) struct Outcome {
    name: &'static str,
    end: End,
    counts: Counts,
    /// The reasons for skipping, without duplicates.
    reasons: Vec<String>,
    pub(super) took: Duration,
}

/// The counts of tests, or of cases in our own proofs.
#[derive(Default, PartialEq, Eq, Debug, Clone, Copy)]
struct Counts {
    passed: u64,
    failed: u64,
    skipped: u64,
}

impl Outcome {
    pub(super) fn read(name: &'static str, log: &str, end: End, took: Duration) -> Self {
        let mut counts = Counts::default();
        let mut reasons: Vec<String> = Vec::new();
        for line in log.lines() {
            counts.add(line);
            if let Some(reason) = line.trim_start().strip_prefix("skipped: ")
                && !reasons.iter().any(|known| known == reason)
            {
                reasons.push(reason.to_owned());
            }
        }
        Self { name, end, counts, reasons, took }
    }

    pub(super) fn has_failed(&self) -> bool {
        self.end != End::Passed || self.counts.failed > 0
    }

    pub(super) fn verdict(&self) -> &'static str {
        match self.end {
            End::Hung => "HUNG",
            _ if self.has_failed() => "FAILED",
            _ if self.counts.passed == 0 && !self.reasons.is_empty() => "skipped",
            _ => "passed",
        }
    }
}

impl Counts {
    /// Adds the counts of a runner's closing line.
    fn add(&mut self, line: &str) {
        let libtest =
            line.strip_prefix("test result: ").map(|rest| rest.split([';', '.']).collect::<Vec<_>>());
        let pytest = || {
            let (counts, seconds) = line.trim_matches(['=', ' ']).rsplit_once(" in ")?;
            seconds.starts_with(|first: char| first.is_ascii_digit()).then(|| counts.split(", ").collect())
        };
        for part in libtest.or_else(pytest).unwrap_or_default() {
            let mut words = part.split_whitespace();
            let (Some(Ok(count)), Some(what)) = (words.next().map(str::parse::<u64>), words.next()) else {
                continue;
            };
            match what {
                "passed" => self.passed += count,
                "failed" | "error" | "errors" => self.failed += count,
                "skipped" | "ignored" => self.skipped += count,
                _ => {}
            }
        }
    }
}

/// Renders a line for each proof, the reasons for skipping, and the totals.
pub(super) fn table(outcomes: &[Outcome], took: Duration) -> String {
    let mut text = format!(
        "\n{:<14} {:<8} {:>9} {:>7} {:>8} {:>8}\n",
        "proof", "result", "passed", "failed", "skipped", "time"
    );
    for outcome in outcomes {
        let Counts { passed, failed, skipped } = outcome.counts;
        let seconds = outcome.took.as_secs();
        let (name, verdict) = (outcome.name, outcome.verdict());
        let _ = writeln!(
            text,
            "{name:<14} {verdict:<8} {passed:>9} {failed:>7} {skipped:>8} {:>5}:{:02}",
            seconds / 60,
            seconds % 60
        );
    }
    for outcome in outcomes {
        for reason in &outcome.reasons {
            let _ = writeln!(text, "{}: skipped: {reason}", outcome.name);
        }
    }
    let failed = outcomes.iter().filter(|outcome| outcome.has_failed()).count();
    let _ = writeln!(text, "{} proofs, {failed} failed, {} min", outcomes.len(), took.as_secs() / 60);
    text
}

#[cfg(test)]
mod tests {
    use super::{Counts, End, Outcome, table};
    use std::time::Duration;

    fn read(log: &str, end: End) -> Outcome {
        Outcome::read("digest", log, end, Duration::from_secs(61))
    }

    #[test]
    fn summary_lines_of_test_runners_are_counted() {
        let mut counts = Counts::default();
        counts.add("test result: FAILED. 3 passed; 2 failed; 1 ignored; 0 measured; 5 filtered out; finished in 2.33s");
        counts.add("===== 1 failed, 1097 passed, 8 skipped, 2 warnings in 111.85s (0:01:51) =====");
        counts.add("a line with 5 passed that closes nothing");
        assert_eq!(counts, Counts { passed: 1100, failed: 3, skipped: 9 });
    }

    #[test]
    fn verdict_needs_status_and_counts() {
        let passed = "test result: ok. 3 passed; 0 failed";
        assert_eq!(read(passed, End::Passed).verdict(), "passed");
        assert_eq!(read(passed, End::Failed).verdict(), "FAILED");
        assert_eq!(read(passed, End::Hung).verdict(), "HUNG");
        assert_eq!(read("1 failed in 2.0s", End::Passed).verdict(), "FAILED");
        assert_eq!(read("skipped: no compiler", End::Passed).verdict(), "skipped");
    }

    #[test]
    fn table_lists_each_reason_once() {
        let outcome = read("skipped: no compiler\nskipped: no compiler\n", End::Passed);
        let text = table(&[outcome], Duration::from_secs(120));
        assert_eq!(text.matches("no compiler").count(), 1, "{text}");
        assert!(text.ends_with("1 proofs, 0 failed, 2 min\n"), "{text}");
    }
}
