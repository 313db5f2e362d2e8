//! Draws the picture: the time of each peer relative to precast, on a logarithmic axis; a function of the report
//! alone.
//!
//! ```text
//!   line, our median │ precast = 1        ●NumPy      ▲numba              ■PyTensor
//!                    └──┬────────┬─────────┬──────────┬─── times
//! ```
//! The picture has no script and no external font or style, so it works on any page, light or dark.

use super::{Line, Report, time};
use std::fmt::Write as _;

/// The widths of labels and axis, and the height of a line, in pixels.
const LABELS: f64 = 430.0;
const AXIS: f64 = 500.0;
const STEP: f64 = 24.0;
/// The top of the axis, below a legend of at most three lines.
const TOP: f64 = 132.0;
const MARGIN: f64 = 24.0;

/// Colours that are distinct for any colour vision (Okabe and Ito, 2008), each with a shape. Peers beyond the last
/// are hollow, so twice as many peers have a distinct mark.
const MARKS: [(&str, Shape); 7] = [
    ("#0072b2", Shape::Circle),
    ("#d55e00", Shape::Triangle),
    ("#009e73", Shape::Square),
    ("#cc79a7", Shape::Diamond),
    ("#e69f00", Shape::Circle),
    ("#56b4e9", Shape::Square),
    ("#595959", Shape::Triangle),
];

#[derive(Clone, Copy)]
enum Shape {
    Circle,
    Triangle,
    Square,
    Diamond,
}

impl Report {
    /// Returns the picture of all lines marked for it, as SVG; `None` without such lines.
    pub(crate) fn picture(&self) -> Option<String> {
        let groups: Vec<(&str, Vec<&Line>)> = self
            .sections
            .iter()
            .map(|section| (section.title, section.lines.iter().filter(|line| line.is_shown()).collect()))
            .filter(|(_, lines): &(_, Vec<_>)| !lines.is_empty())
            .collect();
        let lines: Vec<&Line> = groups.iter().flat_map(|(_, lines)| lines.iter().copied()).collect();
        let axis = Axis::over(lines.iter().flat_map(|line| line.ratios().map(|(_, ratio)| ratio)))?;
        let names = names(&lines);
        let height = TOP + STEP * (lines.len() + groups.len()) as f64 + 56.0;
        let mut text = String::new();
        open(&mut text, height, &names);
        axis.draw(&mut text, height);
        let mut y = TOP;
        for (title, lines) in &groups {
            let _ = writeln!(
                text,
                "<text class=\"group\" x=\"{MARGIN}\" y=\"{:.1}\">{}</text>",
                y + 16.0,
                escape(title)
            );
            y += STEP;
            for line in lines {
                row(&mut text, line, &axis, &names, y);
                y += STEP;
            }
        }
        text += "</svg>\n";
        Some(text)
    }
}

impl Line {
    fn is_shown(&self) -> bool {
        self.pictured && self.ratios().next().is_some()
    }

    /// Returns the ratio of each peer's time to ours.
    fn ratios(&self) -> impl Iterator<Item = (&str, f64)> {
        let ratio = |theirs: f64| theirs / self.ours.median_ns;
        let ratios = self.peers.iter().map(move |(name, theirs)| (name.as_str(), ratio(theirs.median_ns)));
        ratios.filter(|(_, ratio)| ratio.is_finite() && *ratio > 0.0)
    }
}

/// Returns the names of peers in order of appearance; the position selects the mark.
fn names<'r>(lines: &[&'r Line]) -> Vec<&'r str> {
    let mut names = Vec::new();
    for (name, _) in lines.iter().flat_map(|line| line.ratios()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// The powers of ten from the first to the last.
struct Axis {
    first: i32,
    last: i32,
}

impl Axis {
    fn over(ratios: impl Iterator<Item = f64>) -> Option<Self> {
        let logs: Vec<f64> = ratios.map(f64::log10).collect();
        let least = logs.iter().copied().reduce(f64::min)?.min(0.0);
        let most = logs.iter().copied().reduce(f64::max)?;
        let first = least.floor() as i32;
        Some(Self { first, last: (most.ceil() as i32).max(first + 1) })
    }

    fn x(&self, ratio: f64) -> f64 {
        LABELS + AXIS * (ratio.log10() - f64::from(self.first)) / f64::from(self.last - self.first)
    }

    fn draw(&self, text: &mut String, height: f64) {
        let bottom = height - 44.0;
        for power in self.first..=self.last {
            let x = self.x(10_f64.powi(power));
            let class = if power == 0 { "one" } else { "grid" };
            let _ = writeln!(
                text,
                "<line class=\"{class}\" x1=\"{x:.1}\" y1=\"{TOP}\" x2=\"{x:.1}\" y2=\"{bottom:.1}\"/>"
            );
            let label = if power < 0 {
                format!("1/{}", 10_u64.pow(power.unsigned_abs()))
            } else {
                10_u64.pow(power.unsigned_abs()).to_string()
            };
            let _ = writeln!(
                text,
                "<text class=\"tick\" x=\"{x:.1}\" y=\"{:.1}\">×{label}</text>",
                bottom + 16.0
            );
        }
        let (x, y) = (LABELS + AXIS / 2.0, bottom + 34.0);
        let _ = writeln!(
            text,
            "<text class=\"tick\" x=\"{x:.1}\" y=\"{y:.1}\">peer's median ÷ precast's median, same run (logarithmic)</text>"
        );
    }
}

fn open(text: &mut String, height: f64, names: &[&str]) {
    let width = LABELS + AXIS + 2.0 * MARGIN;
    let _ = writeln!(
        text,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" height=\"{height:.0}\" \
         font-family=\"system-ui, Helvetica, Arial, sans-serif\" font-size=\"12\">"
    );
    text.push_str(include_str!("style.svg"));
    let _ = writeln!(text, "<rect class=\"page\" width=\"100%\" height=\"100%\"/>");
    let title = "Times of peers relative to precast";
    let _ = writeln!(text, "<text class=\"title\" x=\"{MARGIN}\" y=\"30\">{title}</text>");
    let note = "right of the line: precast is faster; beside each name: precast's median";
    let _ = writeln!(text, "<text class=\"note\" x=\"{MARGIN}\" y=\"50\">{note}</text>");
    let (mut x, mut y) = (MARGIN + 6.0, 72.0);
    for (position, name) in names.iter().enumerate() {
        let needed = 34.0 + 6.6 * name.chars().count() as f64;
        if x + needed > width {
            (x, y) = (MARGIN + 6.0, y + 18.0);
        }
        mark(text, position, x, y, name);
        let _ = writeln!(text, "<text x=\"{:.1}\" y=\"{:.1}\">{}</text>", x + 11.0, y + 4.0, escape(name));
        x += needed;
    }
}

fn row(text: &mut String, line: &Line, axis: &Axis, names: &[&str], y: f64) {
    let middle = y + STEP / 2.0;
    let (end, label) = (LABELS - 14.0, MARGIN + 12.0);
    let _ = writeln!(text, "<text x=\"{label}\" y=\"{:.1}\">{}</text>", middle + 4.0, escape(&line.what));
    let ours = time(line.ours.median_ns);
    let _ = writeln!(text, "<text class=\"ours\" x=\"{end}\" y=\"{:.1}\">{ours}</text>", middle + 4.0);
    let _ = writeln!(
        text,
        "<line class=\"grid\" x1=\"{LABELS}\" y1=\"{middle:.1}\" x2=\"{:.1}\" y2=\"{middle:.1}\"/>",
        LABELS + AXIS
    );
    for (name, ratio) in line.ratios() {
        let Some(position) = names.iter().position(|known| *known == name) else { continue };
        mark(text, position, axis.x(ratio), middle, &format!("{name}: ×{}", super::three_digits(ratio)));
    }
}

/// Draws the mark of a peer; `title` is shown on hover.
fn mark(text: &mut String, position: usize, x: f64, y: f64, title: &str) {
    let (colour, shape) = MARKS[position % MARKS.len()];
    let shape = match shape {
        Shape::Circle => format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"5\""),
        Shape::Square => format!("<path d=\"M{:.1} {:.1}h9v9h-9z\"", x - 4.5, y - 4.5),
        Shape::Triangle => format!("<path d=\"M{x:.1} {:.1}l5.5 10h-11z\"", y - 6.0),
        Shape::Diamond => format!("<path d=\"M{x:.1} {:.1}l6 6l-6 6l-6 -6z\"", y - 6.0),
    };
    let paint = if (position / MARKS.len()).is_multiple_of(2) {
        format!("fill=\"{colour}\"")
    } else {
        format!("fill=\"#ffffff\" style=\"stroke:{colour};stroke-width:2\"")
    };
    let _ = writeln!(text, "{shape} {paint}><title>{}</title>{}", escape(title), close(&shape));
}

fn close(shape: &str) -> &'static str {
    if shape.starts_with("<circle") { "</circle>" } else { "</path>" }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
