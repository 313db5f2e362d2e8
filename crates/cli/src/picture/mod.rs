//! Pictures of graphs: Applies, types, what is fused with what, and which artifact serves it.
//!
//! ```text
//! lowered graph ─▶ model (nodes, edges, groups) ─┬▶ dot    for Graphviz, groups as clusters
//!                  + who serves each Apply       └▶ drawing ─▶ svg ─▶ html (zoom, search, table)
//! ```
//! A profile is drawn too: `roofline`, its kernels below the roof of the machine.
//!
//! A group is an Apply of the lowered graph that fusion made of several: its steps are drawn inside one box.

mod dot;
mod drawing;
mod html;
mod model;
mod roofline;
mod svg;
#[cfg(test)]
mod tests;

pub(crate) use dot::render as dot;
pub(crate) use html::render as html;
pub(crate) use model::{Picture, Served};
pub(crate) use roofline::render as roofline;
pub(crate) use svg::render as svg;

/// Text with the characters that XML and HTML give a meaning replaced.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// At most `limit` characters of a text, the cut marked.
fn short(text: &str, limit: usize) -> String {
    if text.chars().count() <= limit {
        return text.to_owned();
    }
    text.chars().take(limit - 1).chain(['…']).collect()
}
