//! Renders a picture as a single page: the SVG, zoom and search, and a table of artifacts. It loads nothing external.

use std::fmt::Write as _;

use super::model::{NodeArtifact, Picture};
use super::{escape, fill, svg};

/// Renders a picture as a page.
#[must_use]
pub fn render(picture: &Picture) -> String {
    let mut rows = String::new();
    for (apply, group) in picture.groups.iter().enumerate() {
        let (class, served) = match &group.served {
            NodeArtifact::Artifact(name) => ("hit", name.as_str()),
            NodeArtifact::Missing => ("miss", "no artifact"),
            NodeArtifact::Unknown => ("", ""),
        };
        // Writing to a string cannot fail.
        let _ = write!(
            rows,
            "<tr class=\"{class}\"><td>{apply}</td><td><code>{}</code></td><td>{}</td></tr>",
            escape(&group.signature),
            escape(served)
        );
    }
    let values = [("TITLE", &*escape(&picture.title)), ("ROWS", &rows), ("SVG", &svg(picture))];
    fill(include_str!("page.html"), &values)
}
