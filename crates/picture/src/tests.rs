//! Tests that pictures match their graphs, that nothing overlaps, and that names cannot break the markup.

use super::drawing::{Rect, draw};
use super::model::{Kind, NodeArtifact, Picture};
use super::{dot, html, svg};
use precast_graph::{FunctionGraph, text};
use precast_ops::{Ops, rewrite};

fn graph(outputs: &[&str]) -> FunctionGraph {
    let inputs =
        ["x", "y", "z"].map(|name| (name.to_owned(), "f64[?]".parse::<precast_graph::Type>().unwrap()));
    rewrite::lower(&text::parse(outputs, &inputs, &Ops::standard()).unwrap()).unwrap()
}

/// Returns a graph of about 200 ops: layers of an elementwise chain and a reduction each.
fn large() -> FunctionGraph {
    let layer = |i: usize| format!("v{i} = exp(-x*{i})*y + sum(z/(x + {i}))/(1 + abs(y - {i}))");
    let outputs: Vec<String> = (1..=20).map(layer).collect();
    graph(&outputs.iter().map(String::as_str).collect::<Vec<_>>())
}

fn overlap(a: &Rect, b: &Rect) -> bool {
    (a.x - b.x).abs() * 2.0 < a.width + b.width - 1.0 && (a.y - b.y).abs() * 2.0 < a.height + b.height - 1.0
}

#[test]
fn fused_steps_are_drawn_inside_their_group() {
    let graph = graph(&["out = sum(exp(-x*x)*y + z)"]);
    let picture = Picture::new("t", &graph, &[NodeArtifact::Artifact("1f3a".to_owned())]);
    let ops: Vec<&str> =
        picture.nodes.iter().filter(|node| node.kind == Kind::Op).map(|node| node.label.as_str()).collect();
    assert_eq!(ops, ["neg", "mul", "exp", "mul", "add", "sum"]);
    assert_eq!(picture.groups.len(), 1);
    assert_eq!(picture.groups[0].size, 6);
    // The edges: x twice into the first product, y, z, the chain, the output.
    assert_eq!(picture.edges.len(), 1 + 2 + 1 + 2 + 2 + 1 + 1);
}

#[test]
fn two_hundred_ops_do_not_overlap() {
    let graph = large();
    let picture = Picture::new("large", &graph, &[]);
    assert!(picture.nodes.iter().filter(|node| node.kind == Kind::Op).count() >= 150);
    let drawing = draw(&picture);
    let boxes: Vec<&Rect> = drawing.groups.values().collect();
    for (position, rect) in boxes.iter().enumerate() {
        assert!(boxes[..position].iter().all(|other| !overlap(rect, other)), "group {position}");
    }
    for (position, rect) in drawing.nodes.iter().enumerate() {
        let clear = drawing.nodes[..position].iter().all(|other| !overlap(rect, other));
        assert!(clear, "node {position}: {:?}", picture.nodes[position]);
        assert!(rect.x >= 0.0 && rect.x <= drawing.width && rect.y >= 0.0 && rect.y <= drawing.height);
    }
}

#[test]
fn arrows_run_downwards() {
    let picture = Picture::new("large", &large(), &[]);
    let drawing = draw(&picture);
    let rising =
        picture.edges.iter().filter(|edge| drawing.nodes[edge.from].y >= drawing.nodes[edge.to].y).count();
    assert_eq!(rising, 0);
}

#[test]
fn equal_graphs_give_equal_pictures() {
    let draw = || Picture::new("large", &large(), &[]);
    assert_eq!(svg(&draw()), svg(&draw()));
    assert_eq!(html(&draw()), html(&draw()));
    assert_eq!(dot(&draw()), dot(&draw()));
}

#[test]
fn names_are_escaped_in_the_markup() {
    let graph = graph(&["out = x + y"]);
    for hostile in [
        "<script>\"&'",
        "</title></script>",
        "*/ -->]]>",
        "x@SVG@y @ROWS@ @TITLE@",
        "a\nb\0\x1b[2J\u{202e}\r",
        "\\",
    ] {
        let picture = Picture::new(hostile, &graph, &[NodeArtifact::Artifact(hostile.to_owned())]);
        for text in [svg(&picture), html(&picture), dot(&picture)] {
            assert!(!text.contains(['\0', '\x1b', '\u{202e}', '\r']), "{}", text.escape_debug());
        }
        for text in [svg(&picture), html(&picture)] {
            assert!(
                !text.contains("<script>\"")
                    && !text.contains("</script></")
                    && text.contains(&super::escape(hostile))
            );
        }
        // The page contains one picture; all further titles belong to the picture.
        let page = html(&picture);
        assert_eq!(
            (page.matches("<svg ").count(), page.matches("<title>").count()),
            (1, 1 + svg(&picture).matches("<title>").count())
        );
        let title = format!("<title>{}</title>\n<style>", super::escape(hostile));
        assert!(page.contains(&title), "{page}");
    }
    let picture = Picture::new("<script>\"&'", &graph, &[]);
    assert!(svg(&picture).contains("&lt;script&gt;&quot;&amp;&#39;"));
    assert!(dot(&picture).contains("\\\"&'"));
}

#[test]
fn marks_are_filled_in_one_pass() {
    assert_eq!(super::fill("a@X@b@Y@@ @z@ c@d", &[("X", "@Y@"), ("Y", "2")]), "a@Y@b2@ @z@ c@d");
}
