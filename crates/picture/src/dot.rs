//! Renders a picture in the Graphviz language: `dot -Tsvg`.

use std::fmt::Write as _;

use precast_core::names::visible;

use super::model::{Kind, Node, NodeArtifact, Picture};
use super::short;

/// Renders a picture for Graphviz.
#[must_use]
pub fn render(picture: &Picture) -> String {
    let mut text = String::from("digraph precast {\n  node [fontname=\"monospace\", fontsize=11];\n");
    let _ = writeln!(text, "  label={};\n  labelloc=t;", quoted(&picture.title));
    for (apply, group) in picture.groups.iter().enumerate() {
        if group.size < 2 {
            continue;
        }
        let served = served(&group.served);
        let _ = writeln!(
            text,
            "  subgraph cluster_{apply} {{\n    label={};",
            quoted(&format!("fused {apply}  {served}"))
        );
        let _ = writeln!(text, "    style=\"rounded,dashed\";\n    tooltip={};", quoted(&group.signature));
        for (position, node) in members(picture, apply) {
            let _ = writeln!(text, "    {}", declaration(position, node, ""));
        }
        text.push_str("  }\n");
    }
    for (position, node) in picture.nodes.iter().enumerate() {
        let group = node.apply.map(|apply| &picture.groups[apply]);
        if group.is_none_or(|group| group.size < 2) {
            let served = group.map_or("", |group| served(&group.served));
            let _ = writeln!(text, "  {}", declaration(position, node, served));
        }
    }
    for edge in &picture.edges {
        let _ = writeln!(text, "  n{} -> n{};", edge.from, edge.to);
    }
    text.push_str("}\n");
    text
}

fn members(picture: &Picture, apply: usize) -> impl Iterator<Item = (usize, &Node)> {
    picture.nodes.iter().enumerate().filter(move |(_, node)| node.apply == Some(apply))
}

fn served(served: &NodeArtifact) -> &str {
    match served {
        NodeArtifact::Artifact(name) => name,
        NodeArtifact::Missing => "no artifact",
        NodeArtifact::Unknown => "",
    }
}

/// Renders a node; a node that is a module call by itself shows its artifact.
fn declaration(position: usize, node: &Node, served: &str) -> String {
    let shape = match node.kind {
        Kind::Input | Kind::Output => "ellipse",
        Kind::Constant => "plaintext",
        Kind::Op => "box",
    };
    let label = short(&node.label, super::svg::LABEL);
    let lines = [&label, &node.ty, served].map(str::to_owned);
    let label = lines.into_iter().filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n");
    format!("n{position} [shape={shape}, label={}];", quoted(&label))
}

/// Renders a Graphviz string.
fn quoted(text: &str) -> String {
    let text = visible(text);
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}
