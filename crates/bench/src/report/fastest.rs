//! Compares lines with the fastest peer of each and with their targets: the mean of all, and the lines with a faster
//! peer or a missed target, with reasons.

use super::reasons::reason;
use super::{Line, three_digits};

/// A peer is ahead if the ratio of its time to ours is below this.
const AHEAD: f64 = 0.95;

/// Returns the fastest peer of a line, and the ratio of its time to ours.
fn fastest(line: &Line) -> Option<(&str, f64)> {
    let times = line.peers.iter().map(|(name, peer)| (name.as_str(), peer.median_ns / line.ours.median_ns));
    times.min_by(|a, b| a.1.total_cmp(&b.1))
}

/// Returns a sentence about the lines of a group: their geometric mean, and the number with a faster peer.
pub(crate) fn summary(group: &str, lines: &[Line]) -> Option<String> {
    let ratios: Vec<f64> = lines.iter().filter_map(|line| Some(fastest(line)?.1)).collect();
    let ahead = ratios.iter().filter(|times| **times < AHEAD).count();
    let mean = three_digits(geometric_mean(ratios.iter().copied())?);
    Some(format!(
        "{group}: the fastest peer of each line takes ×{mean} as long (geometric mean of {} lines); below ×{AHEAD}: {ahead}.",
        ratios.len()
    ))
}

/// Returns the geometric mean of numbers; `None` without any.
pub(super) fn geometric_mean(numbers: impl ExactSizeIterator<Item = f64>) -> Option<f64> {
    let count = numbers.len();
    (count > 0).then(|| (numbers.map(f64::ln).sum::<f64>() / count as f64).exp())
}

/// Returns the geometric mean over lines, and for each line with a faster peer its name and the reason.
pub(crate) fn against_fastest(lines: &[Line]) -> Vec<String> {
    let found: Vec<(&Line, (&str, f64))> =
        lines.iter().filter_map(|line| Some((line, fastest(line)?))).collect();
    let Some(mean) = geometric_mean(found.iter().map(|(_, (_, times))| *times)) else {
        return Vec::new();
    };
    let ahead: Vec<String> = found
        .iter()
        .filter(|(_, (_, times))| *times < AHEAD)
        .map(|(line, (name, times))| {
            let why = reason(&line.what).unwrap_or("reason unknown");
            format!("{}: {name} ×{}; {why}.", line.what, three_digits(*times))
        })
        .collect();
    let mut facts = vec![format!(
        "The fastest peer of each line takes ×{} as long (geometric mean of {} lines).",
        three_digits(mean),
        found.len()
    )];
    facts.push(match ahead.len() {
        0 => "No peer is faster by more than 5 %.".to_owned(),
        1 => "In 1 line a peer is faster by more than 5 %:".to_owned(),
        n => format!("In {n} lines a peer is faster by more than 5 %:"),
    });
    facts.extend(ahead);
    facts
}

/// Returns the lines that miss their target, with reasons.
pub(crate) fn missed(lines: &[Line]) -> Vec<String> {
    let lines: Vec<&Line> = lines.iter().filter(|line| line.is_met() == Some(false)).collect();
    let head = match lines.len() {
        0 => return Vec::new(),
        1 => "1 target is missed:".to_owned(),
        n => format!("{n} targets are missed:"),
    };
    let why = |line: &&Line| format!("{}: {}.", line.what, reason(&line.what).unwrap_or("reason unknown"));
    std::iter::once(head).chain(lines.iter().map(why)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::Target;
    use super::super::tests::line;
    use super::{against_fastest, missed, summary};

    #[test]
    fn mean_uses_fastest_peer_of_each_line() {
        let lines = [
            line("a", 1.0, &[("NumPy", 9.0), ("numba", 4.0)]),
            line("b", 2.0, &[("NumPy", 2.0), ("numba", 8.0)]),
            line("alone", 5.0, &[]),
        ];
        let facts = against_fastest(&lines);
        assert_eq!(
            facts[0],
            "The fastest peer of each line takes ×2.00 as long (geometric mean of 2 lines)."
        );
        assert_eq!(facts[1], "No peer is faster by more than 5 %.");
        let facts = against_fastest(&[line("c", 2.0, &[("JAX", 1.0)])]);
        assert_eq!(
            facts[1..],
            ["In 1 line a peer is faster by more than 5 %:", "c: JAX ×0.50; reason unknown."]
        );
        let facts = against_fastest(&[line("tanh(x) of 1e6", 2.0, &[("JAX", 1.0)])]);
        assert!(!facts[2].contains("unknown"), "{}", facts[2]);
        assert!(against_fastest(&lines[2..]).is_empty());
    }

    #[test]
    fn summary_counts_lines_with_a_faster_peer() {
        let lines = [line("a", 1.0, &[("NumPy", 8.0)]), line("b", 2.0, &[("NumPy", 1.0), ("JAX", 9.0)])];
        assert_eq!(
            summary("f64", &lines).unwrap(),
            "f64: the fastest peer of each line takes ×2.00 as long (geometric mean of 2 lines); below ×0.95: 1."
        );
        assert_eq!(summary("f32", &[line("alone", 1.0, &[])]), None);
    }

    #[test]
    fn each_missed_target_has_a_reason() {
        let lines = [
            line("sum(x) of 1e7", 3.0, &[("a triad", 2.0)]).target(Target::TimesPeer(1.11)),
            line("sum(x) of 2e7", 2.0, &[("a triad", 2.0)]).target(Target::TimesPeer(1.11)),
            line("another", 2.0, &[]).target(Target::Below(1.0)),
            line("without", 2.0, &[]),
        ];
        let told = missed(&lines);
        assert_eq!((told.len(), told[0].as_str()), (3, "2 targets are missed:"));
        assert!(told[1].starts_with("sum(x) of 1e7: ") && !told[1].contains("unknown"), "{told:?}");
        assert_eq!(told[2], "another: reason unknown.");
        assert!(missed(&lines[3..]).is_empty());
    }
}
