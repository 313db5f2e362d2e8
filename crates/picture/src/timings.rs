//! Renders the times of a build as a single page: a bar for each compiled unit, and a table. It loads nothing external.

use std::fmt::Write as _;

use super::{escape, fill, quantity};

/// The width of the picture and the height of a bar, in pixels.
const WIDTH: f64 = 760.0;
const BAR: f64 = 16.0;

/// The time that a unit took to compile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timing {
    /// The unit: the signature of its first module, the number of further modules, and the ISA level.
    pub title: String,
    /// The start, in milliseconds since the start of the first unit.
    pub start: u64,
    /// The duration, in milliseconds.
    pub duration: u64,
}

/// Renders the times of a build as a page; the slowest unit comes first in the table.
#[must_use]
pub fn render(title: &str, timings: &[Timing]) -> String {
    let end = timings.iter().map(|one| one.start + one.duration).max().unwrap_or_default();
    let sum: u64 = timings.iter().map(|one| one.duration).sum();
    let mut by_start: Vec<&Timing> = timings.iter().collect();
    by_start.sort_by_key(|one| one.start);
    let mut bars = String::new();
    for (row, one) in by_start.into_iter().enumerate() {
        let scale = |millis: u64| WIDTH * millis as f64 / end.max(1) as f64;
        let (x, width, y) = (scale(one.start), scale(one.duration).max(1.0), row as f64 * (BAR + 4.0));
        let label = escape(&format!("{}: {}", one.title, time(one.duration)));
        // Writing to a string cannot fail.
        let _ = writeln!(
            bars,
            "<rect x=\"{x:.1}\" y=\"{y:.0}\" width=\"{width:.1}\" height=\"{BAR}\"><title>{label}</title></rect>"
        );
    }
    let mut slowest: Vec<&Timing> = timings.iter().collect();
    slowest.sort_by_key(|one| std::cmp::Reverse(one.duration));
    let rows: String = slowest.into_iter().map(|one| row(one, sum)).collect();
    let units = quantity::count(timings.len(), "unit", "units");
    let summary = format!("{units} took {} of compilation in {}.", time(sum), time(end));
    let values = [
        ("TITLE", &*escape(title)),
        ("SUMMARY", &summary),
        ("HEIGHT", &format!("{:.0}", timings.len() as f64 * (BAR + 4.0))),
        ("BARS", &bars),
        ("ROWS", &rows),
    ];
    fill(include_str!("timings.html"), &values)
}

fn row(one: &Timing, sum: u64) -> String {
    let share = 100.0 * one.duration as f64 / sum.max(1) as f64;
    format!(
        "<tr><td>{}</td><td>{share:.0} %</td><td>{}</td><td><code>{}</code></td></tr>\n",
        time(one.duration),
        time(one.start),
        escape(&one.title)
    )
}

fn time(millis: u64) -> String {
    quantity::short_time(millis as f64 / 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_has_bar_and_row_per_unit() {
        let one = |title: &str, start, duration| Timing { title: title.to_owned(), start, duration };
        let page = render("a <build>", &[one("f & g", 0, 40), one("h", 10, 90)]);
        assert_eq!(page.matches("<rect ").count(), 2);
        assert!(page.contains("<title>a &lt;build&gt;</title>") && page.contains("<code>f &amp; g</code>"));
        let (first, second) = (page.find("<code>h<").unwrap(), page.find("<code>f ").unwrap());
        assert!(first < second, "the slowest unit is first");
        assert!(!page.contains('@'));
    }

    #[test]
    fn page_without_units_is_valid() {
        assert!(render("nothing", &[]).contains("0 units took"));
    }
}
