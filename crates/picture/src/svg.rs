//! Renders a picture as SVG without scripts, external fonts or styles, so that any viewer can show it.

use std::fmt::Write as _;

use super::drawing::{Drawing, Rect, TITLE, draw};
use super::model::{Kind, NodeArtifact, Picture};
use super::{escape, short};

/// The most characters of a node's label.
pub(crate) const LABEL: usize = 34;

/// The margin around the picture, and above it for the title.
const MARGIN: f64 = 24.0;

/// Renders a picture as SVG.
#[must_use]
pub fn render(picture: &Picture) -> String {
    let drawing = draw(picture);
    let (width, height) = (drawing.width + 2.0 * MARGIN, drawing.height + 2.0 * MARGIN + TITLE + 22.0);
    let mut text = String::new();
    // Writing to a string cannot fail, here and below.
    let _ = writeln!(
        text,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" \
         height=\"{height:.0}\" font-family=\"ui-monospace, Menlo, Consolas, monospace\" font-size=\"12\">"
    );
    text.push_str(include_str!("style.svg"));
    let _ = writeln!(
        text,
        "<rect class=\"page\" width=\"100%\" height=\"100%\"/>\n<text class=\"title\" x=\"{MARGIN}\" y=\"30\">{}</text>",
        escape(&short(&picture.title, 160))
    );
    legend(&mut text, picture, height);
    let _ = writeln!(text, "<g transform=\"translate({MARGIN} {:.1})\">", MARGIN + TITLE);
    groups(&mut text, picture, &drawing);
    for edge in &picture.edges {
        let (from, to) = (drawing.nodes[edge.from], drawing.nodes[edge.to]);
        arrow(&mut text, edge.from, edge.to, from, to);
    }
    nodes(&mut text, picture, &drawing);
    text.push_str("</g>\n</svg>\n");
    text
}

fn class(served: &NodeArtifact) -> &'static str {
    match served {
        NodeArtifact::Artifact(_) => "hit",
        NodeArtifact::Missing => "miss",
        NodeArtifact::Unknown => "unknown",
    }
}

fn served(served: &NodeArtifact) -> &str {
    match served {
        NodeArtifact::Artifact(name) => name,
        NodeArtifact::Missing => "no artifact",
        NodeArtifact::Unknown => "",
    }
}

fn legend(text: &mut String, picture: &Picture, height: f64) {
    let fused = picture.groups.iter().filter(|group| group.size > 1).count();
    let count = |kind: Kind| picture.nodes.iter().filter(|node| node.kind == kind).count();
    let words = format!(
        "{} ops in {} module call(s), {fused} fused · {} input(s), {} output(s) · green: served by an artifact, red: missing",
        count(Kind::Op),
        picture.groups.len(),
        count(Kind::Input),
        count(Kind::Output),
    );
    let _ = writeln!(
        text,
        "<text class=\"small\" x=\"{MARGIN}\" y=\"{:.0}\">{}</text>",
        height - 10.0,
        escape(&words)
    );
}

fn groups(text: &mut String, picture: &Picture, drawing: &Drawing) {
    for (apply, rect) in &drawing.groups {
        let group = &picture.groups[*apply];
        let (x, y) = (rect.x - rect.width / 2.0, rect.y - rect.height / 2.0);
        let room = (rect.width / 7.0) as usize;
        let _ = writeln!(
            text,
            "<g class=\"group {}\" data-apply=\"{apply}\"><title>{}\n{}</title><rect x=\"{x:.1}\" y=\"{y:.1}\" \
             width=\"{:.1}\" height=\"{:.1}\" rx=\"10\"/><text x=\"{:.1}\" y=\"{:.1}\">{}</text><text class=\"small\" \
             x=\"{:.1}\" y=\"{:.1}\">{}</text></g>",
            class(&group.served),
            escape(&group.signature),
            escape(served(&group.served)),
            rect.width,
            rect.height,
            x + 10.0,
            y + 16.0,
            escape(&short(&format!("fused {apply} · {} ops", group.size), room.max(8))),
            x + 10.0,
            y + 30.0,
            escape(&short(served(&group.served), room.max(8))),
        );
    }
}

fn nodes(text: &mut String, picture: &Picture, drawing: &Drawing) {
    for (position, (node, rect)) in picture.nodes.iter().zip(&drawing.nodes).enumerate() {
        let (x, y) = (rect.x - rect.width / 2.0, rect.y - rect.height / 2.0);
        let group = node.apply.and_then(|apply| picture.groups.get(apply));
        let kind = match node.kind {
            Kind::Input => "input",
            Kind::Constant => "constant",
            Kind::Op => "op",
            Kind::Output => "output",
        };
        let state = group.map_or("", |group| class(&group.served));
        let hint = match group {
            Some(group) => format!("{}\n{}", group.signature, served(&group.served)),
            None => format!("{}: {}", node.label, node.ty),
        };
        let radius = if node.kind == Kind::Op { 5.0 } else { rect.height / 2.0 };
        let _ = write!(
            text,
            "<g class=\"node {kind} {state}\" data-node=\"{position}\"><title>{}</title><rect x=\"{x:.1}\" y=\"{y:.1}\" \
             width=\"{:.1}\" height=\"{:.1}\" rx=\"{radius:.1}\"/><text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            escape(&hint),
            rect.width,
            rect.height,
            rect.x,
            if node.ty.is_empty() { rect.y + 4.0 } else { rect.y - 3.0 },
            escape(&short(&node.label, LABEL)),
        );
        if !node.ty.is_empty() {
            let _ = write!(
                text,
                "<text class=\"small\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                rect.x,
                rect.y + 13.0,
                escape(&node.ty)
            );
        }
        text.push_str("</g>\n");
    }
}

/// Renders a curve from the lower edge of one node to the upper edge of another.
fn arrow(text: &mut String, a: usize, b: usize, from: Rect, to: Rect) {
    let (x1, y1) = (from.x, from.y + from.height / 2.0);
    let (x2, y2) = (to.x, to.y - to.height / 2.0 - 3.0);
    let bend = ((y2 - y1) / 2.0).clamp(12.0, 80.0);
    let _ = writeln!(
        text,
        "<path class=\"edge\" data-from=\"{a}\" data-to=\"{b}\" marker-end=\"url(#arrow)\" d=\"M{x1:.1} {y1:.1} C{x1:.1} {:.1} \
         {x2:.1} {:.1} {x2:.1} {y2:.1}\"/>",
        y1 + bend,
        y2 - bend,
    );
}
