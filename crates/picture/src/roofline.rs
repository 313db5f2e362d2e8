//! Renders a profile as a single page: each kernel below the machine's roofline, and a table. It loads nothing
//! external.

use std::fmt::Write as _;

use precast_runtime::profile::{Kernel, Measured, Profile};

use super::{escape, fill, quantity};

/// The size of the picture, in pixels.
const SIZE: (f64, f64) = (760.0, 380.0);
/// The ranges of the axes, as powers of ten: operations per byte, and operations per second.
const BYTES: (f64, f64) = (-3.0, 3.0);
const SECONDS: (f64, f64) = (6.0, 12.5);

/// Renders a profile as a page.
#[must_use]
pub fn render(title: &str, profile: &Profile) -> String {
    let sum = profile.kernels_seconds();
    let (mut rows, mut dots) = (String::new(), String::new());
    for kernel in &profile.kernels {
        rows.push_str(&row(kernel, sum));
        if let Ok(measured) = &kernel.measured {
            dots.push_str(&dot(kernel.apply, measured));
        }
    }
    let served: Vec<&str> =
        profile.served.iter().map(|isa| isa.as_deref().unwrap_or("interpreter")).collect();
    let summary = format!(
        "A call takes {}, of which kernels {}; served by {}. The machine does {:.1} Gop/s and moves {:.1} GB/s from \
         memory with {}.",
        quantity::short_time(profile.seconds),
        quantity::short_time(sum),
        served.join(", "),
        profile.operations_per_second / 1e9,
        profile.bytes_per_second / 1e9,
        quantity::count(profile.threads, "thread", "threads"),
    );
    let values = [
        ("TITLE", &*escape(title)),
        ("SUMMARY", &escape(&summary)),
        ("ROOF", &roof(profile)),
        ("DOTS", &dots),
        ("ROWS", &rows),
    ];
    fill(include_str!("roofline.html"), &values)
}

fn row(Kernel { apply, ops, shapes, measured, .. }: &Kernel, sum: f64) -> String {
    let ops = escape(&ops.join(" "));
    let measured = match measured {
        Err(reason) => {
            return format!(
                "<tr><td>{apply}</td><td colspan=\"8\">not measured: {}</td><td><code>{ops}</code></td></tr>\n",
                escape(reason)
            );
        }
        Ok(measured) => measured,
    };
    let share = 100.0 * measured.share();
    let advice: String = measured.advice.iter().map(|line| format!("<p>{}</p>", escape(line))).collect();
    let plan = measured.plan.as_ref().map_or_else(String::new, |plan| format!("<p>Loop: {plan}.</p>"));
    format!(
        "<tr><td>{apply}</td><td>{}</td><td>{:.0} %</td><td>{}</td><td>{:.2}</td><td>{:.2}</td><td><meter max=\"100\" \
         value=\"{share:.0}\"></meter> {share:.0} % of {}</td><td>{}</td><td>{}</td><td><code>{ops}</code> returns \
         {shapes:?}{plan}{advice}</td></tr>\n",
        quantity::short_time(measured.seconds),
        100.0 * measured.seconds / sum,
        quantity::size(measured.bytes),
        measured.bytes_per_second() / 1e9,
        measured.operations_per_second() / 1e9,
        measured.bound.name(),
        escape(measured.isa.as_deref().unwrap_or("interpreter")),
        measured.threads,
    )
}

/// Returns the position of a point; both axes are logarithmic.
fn place(operations_per_byte: f64, operations_per_second: f64) -> (f64, f64) {
    let on = |value: f64, (low, high): (f64, f64)| {
        ((value.max(f64::MIN_POSITIVE).log10() - low) / (high - low)).clamp(0.0, 1.0)
    };
    (SIZE.0 * on(operations_per_byte, BYTES), SIZE.1 * (1.0 - on(operations_per_second, SECONDS)))
}

fn roof(profile: &Profile) -> String {
    let roof = |intensity: f64| profile.operations_per_second.min(intensity * profile.bytes_per_second);
    let corner = profile.operations_per_second / profile.bytes_per_second;
    let points = [10_f64.powf(BYTES.0), corner, 10_f64.powf(BYTES.1)].map(|at| place(at, roof(at)));
    points.iter().fold(String::new(), |mut text, (x, y)| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{x:.1},{y:.1} ");
        text
    })
}

fn dot(apply: usize, measured: &Measured) -> String {
    let intensity = measured.operations / (measured.bytes as f64).max(1.0);
    let (x, y) = place(intensity, measured.operations_per_second());
    let (class, label) = (measured.bound.name(), format!("{:.0} % of the limit", 100.0 * measured.share()));
    format!(
        "<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"6\"><title>kernel {apply}: {label}</title></circle>\
         <text x=\"{:.1}\" y=\"{:.1}\">{apply}</text>\n",
        x + 9.0,
        y + 4.0
    )
}
