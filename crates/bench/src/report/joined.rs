//! Joins the lines of one subject under several conditions, such as a function over ranges of operands, to one line.

use super::fastest::geometric_mean;
use super::{Figure, Line, three_digits};

impl Line {
    /// Joins lines, each with the name of its condition: geometric means of our times and of the ratios of the peers'
    /// times, and a note with the smallest ratio. A peer may be missing in some lines. `None` without lines.
    pub(crate) fn joined(what: &str, parts: &[(String, Self)]) -> Option<Self> {
        let ours = mean(parts.iter().map(|(_, line)| line.ours).collect())?;
        let mut names: Vec<&String> = Vec::new();
        let (mut worst, mut note) = (f64::INFINITY, None);
        for (condition, line) in parts {
            for (name, theirs) in &line.peers {
                if !names.contains(&name) {
                    names.push(name);
                }
                let ratio = theirs.median_ns / line.ours.median_ns;
                if ratio < worst {
                    worst = ratio;
                    note = Some(format!("×{}: {name}, {condition}", three_digits(ratio)));
                }
            }
        }
        let peer = |name: &String| -> Option<(String, Figure)> {
            let both = parts.iter().filter_map(|(_, line)| {
                let (_, theirs) = line.peers.iter().find(|(peer, _)| peer == name)?;
                Some((line.ours, *theirs))
            });
            let (with, theirs): (Vec<Figure>, Vec<Figure>) = both.unzip();
            let (with, theirs) = (mean(with)?, mean(theirs)?);
            let figure = Figure {
                min_ns: theirs.min_ns / with.min_ns * ours.min_ns,
                median_ns: theirs.median_ns / with.median_ns * ours.median_ns,
                ..theirs
            };
            Some((name.clone(), figure))
        };
        let peers = names.into_iter().filter_map(peer).collect();
        Some(Self { what: what.to_owned(), ours, target: None, peers, note, pictured: false })
    }

    /// Adds sentences to the note.
    pub(crate) fn noting(mut self, notes: &[String]) -> Self {
        let all: Vec<String> = self.note.into_iter().chain(notes.iter().cloned()).collect();
        self.note = (!all.is_empty()).then(|| all.join("; "));
        self
    }
}

/// Returns the geometric means of times, and the mean spread; `None` without figures.
fn mean(figures: Vec<Figure>) -> Option<Figure> {
    Some(Figure {
        min_ns: geometric_mean(figures.iter().map(|figure| figure.min_ns))?,
        median_ns: geometric_mean(figures.iter().map(|figure| figure.median_ns))?,
        spread: figures.iter().map(|figure| figure.spread).sum::<f64>() / figures.len() as f64,
        rounds: figures.iter().map(|figure| figure.rounds).sum(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::Line;
    use super::super::tests::line;

    #[test]
    fn joined_ratio_is_the_mean_of_ratios() {
        let parts = [
            ("small".to_owned(), line("part", 1.0, &[("NumPy", 8.0), ("SciPy", 3.0)])),
            ("large".to_owned(), line("part", 16.0, &[("NumPy", 8.0)])),
        ];
        let joined = Line::joined("f", &parts).unwrap();
        assert_eq!(joined.ours.median_ns, 4.0);
        let times = |name: &str| joined.peers.iter().find(|(peer, _)| peer == name).unwrap().1.median_ns;
        assert!((times("NumPy") - 4.0 * 2.0).abs() < 1e-12, "ratios 8 and 1/2");
        assert!((times("SciPy") - 4.0 * 3.0).abs() < 1e-12, "measured in one part only");
        let noted = joined.noting(&["SciPy errs by 9 ulp".to_owned()]).note;
        assert_eq!(noted.unwrap(), "×0.50: NumPy, large; SciPy errs by 9 ulp");
        assert!(Line::joined("f", &[]).is_none());
    }
}
