//! A picture in the language of Graphviz: `dot -Tsvg`.

use std::fmt::Write as _;

use super::model::{Kind, Node, Picture, Served};
use super::short;

/// Renders a picture for Graphviz.
pub(crate) fn render(picture: &Picture) -> String {
    let mut text = String::from("digraph precast {\n  node [fontname=\"monospace\", fontsize=11];\n");
    let _ = writeln!(text, "  label={};\n  labelloc=t;", quoted(&picture.title));
    for (apply, group) in picture.groups.iter().enumerate() {
        if group.size < 2 {
            continue;
        }
        let served = match &group.served {
            Served::Artifact(name) => name.as_str(),
            Served::Missing => "no artifact",
            Served::Unknown => "",
        };
        let _ = writeln!(
            text,
            "  subgraph cluster_{apply} {{\n    label={};",
            quoted(&format!("fused {apply}  {served}"))
        );
        let _ = writeln!(text, "    style=\"rounded,dashed\";\n    tooltip={};", quoted(&group.signature));
        for (position, node) in members(picture, apply) {
            let _ = writeln!(text, "    {}", declaration(position, node));
        }
        text.push_str("  }\n");
    }
    for (position, node) in picture.nodes.iter().enumerate() {
        if node.apply.is_none_or(|apply| picture.groups[apply].size < 2) {
            let _ = writeln!(text, "  {}", declaration(position, node));
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

fn declaration(position: usize, node: &Node) -> String {
    let shape = match node.kind {
        Kind::Input | Kind::Output => "ellipse",
        Kind::Constant => "plaintext",
        Kind::Op => "box",
    };
    let label = short(&node.label, super::svg::LABEL);
    let label = if node.ty.is_empty() { label } else { format!("{label}\n{}", node.ty) };
    format!("n{position} [shape={shape}, label={}];", quoted(&label))
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}
