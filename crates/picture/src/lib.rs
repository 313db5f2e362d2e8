//! Pictures of graphs: ops, types, fused groups, and the artifact that serves each group.
//!
//! ```text
//! lowered graph ─▶ model (nodes, edges, groups) ─┬▶ dot    for Graphviz, groups as clusters
//!                  + artifact of each Apply      └▶ drawing ─▶ svg ─▶ html (zoom, search, table)
//! profile ────────▶ roofline ─▶ html: its kernels below the roof of the machine
//! times of a build ▶ timings ─▶ html: a bar for each unit
//! ```
//! A group is a fused Apply of the lowered graph; its steps are drawn inside one box.
//!
//! `svg` is the only renderer with a layout. The page of `html` embeds its output, and `dot` leaves the layout to
//! Graphviz.

mod dot;
mod drawing;
mod html;
mod model;
pub mod quantity;
mod roofline;
mod svg;
#[cfg(test)]
mod tests;
mod timings;

use precast_core::names::visible;

pub use dot::render as dot;
pub use html::render as html;
pub use model::{NodeArtifact, Picture};
pub use roofline::render as roofline;
pub use svg::render as svg;
pub use timings::{Timing, render as timings};

/// Escapes text for XML and HTML, and spells out invalid and invisible characters.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in visible(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// Replaces the placeholders of a page, `@NAME@`, in one pass: placeholders inside values are not replaced.
fn fill(page: &str, values: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(page.len());
    let mut rest = page;
    while let Some(start) = rest.find('@') {
        out.push_str(&rest[..start]);
        rest = &rest[start + 1..];
        let value = rest.split_once('@').and_then(|(name, behind)| {
            values.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value, behind))
        });
        match value {
            Some((value, behind)) => {
                out.push_str(value);
                rest = behind;
            }
            None => out.push('@'),
        }
    }
    out + rest
}

/// Truncates a text to `limit` characters and marks the cut.
fn short(text: &str, limit: usize) -> String {
    if text.chars().count() <= limit {
        return text.to_owned();
    }
    text.chars().take(limit - 1).chain(['…']).collect()
}
