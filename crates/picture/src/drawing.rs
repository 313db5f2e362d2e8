//! Computes the layout: each group by itself, then the groups as boxes of the resulting size.
//!
//! # Source
//! Layers by Sugiyama, Tagawa and Toda (1981), coordinates by Brandes and Köpf (2001), as implemented by the crate
//! `rust-sugiyama`.

use std::collections::BTreeMap;

use rust_sugiyama::configure::Config;
use rust_sugiyama::from_vertices_and_edges;

use super::model::Picture;

/// A rectangle: its center, width and height, in pixels; y grows downwards.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Rect {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

/// The positions of nodes and groups.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Drawing {
    pub(crate) nodes: Vec<Rect>,
    /// The rectangle of each Apply with several nodes.
    pub(crate) groups: BTreeMap<usize, Rect>,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

/// The distance between a group's nodes and its frame; the title is above.
const PAD: f64 = 14.0;
/// The height of a group's title.
pub(crate) const TITLE: f64 = 30.0;
/// The distance between boxes.
const GAP: f64 = 34.0;
/// The width of a label's character.
const CHARACTER: f64 = 7.3;

/// Computes the layout of a picture.
pub(crate) fn draw(picture: &Picture) -> Drawing {
    let size = |position: usize| {
        let node = &picture.nodes[position];
        let longest = node.label.chars().count().min(super::svg::LABEL).max(node.ty.chars().count());
        (longest as f64 * CHARACTER + 18.0, if node.ty.is_empty() { 26.0 } else { 40.0 })
    };
    // A box is a single node or a group.
    let mut boxes: Vec<Vec<usize>> = Vec::new();
    let mut of_apply: BTreeMap<usize, usize> = BTreeMap::new();
    let mut of_node = Vec::new();
    for (position, node) in picture.nodes.iter().enumerate() {
        let here = match node.apply {
            Some(apply) => *of_apply.entry(apply).or_insert(boxes.len()),
            None => boxes.len(),
        };
        if here == boxes.len() {
            boxes.push(Vec::new());
        }
        boxes[here].push(position);
        of_node.push(here);
    }
    let inner: Vec<Placed> = boxes
        .iter()
        .map(|members| {
            let local = |node: usize| members.iter().position(|member| *member == node);
            let edges = picture.edges.iter().filter_map(|edge| Some((local(edge.from)?, local(edge.to)?)));
            place(&members.iter().map(|node| size(*node)).collect::<Vec<_>>(), &edges.collect::<Vec<_>>())
        })
        .collect();
    let framed = |here: usize| boxes[here].len() > 1;
    let sizes: Vec<(f64, f64)> = inner
        .iter()
        .enumerate()
        .map(|(here, placed)| match framed(here) {
            true => ((placed.width + 2.0 * PAD).max(170.0), placed.height + 2.0 * PAD + TITLE),
            false => (placed.width, placed.height),
        })
        .collect();
    let mut edges: Vec<(usize, usize)> =
        picture.edges.iter().map(|edge| (of_node[edge.from], of_node[edge.to])).collect();
    edges.retain(|(from, to)| from != to);
    edges.sort_unstable();
    edges.dedup();
    let outer = place(&sizes, &edges);
    let mut drawing = Drawing {
        nodes: vec![Rect::default(); picture.nodes.len()],
        groups: BTreeMap::new(),
        width: outer.width,
        height: outer.height,
    };
    for (here, members) in boxes.iter().enumerate() {
        let ((x, y), (width, height)) = (outer.middles[here], sizes[here]);
        let shift = if framed(here) { TITLE / 2.0 } else { 0.0 };
        for (node, (dx, dy)) in members.iter().zip(&inner[here].middles) {
            let (left, top) = (x - inner[here].width / 2.0, y + shift - inner[here].height / 2.0);
            let (width, height) = size(*node);
            drawing.nodes[*node] = Rect { x: left + dx, y: top + dy, width, height };
        }
        if let (true, Some(apply)) = (framed(here), picture.nodes[members[0]].apply) {
            drawing.groups.insert(apply, Rect { x, y, width, height });
        }
    }
    drawing
}

/// The centers of boxes, in an area from (0, 0) to (width, height).
struct Placed {
    middles: Vec<(f64, f64)>,
    width: f64,
    height: f64,
}

/// Places boxes of these sizes so that edges run downwards; disconnected parts are placed side by side.
fn place(sizes: &[(f64, f64)], edges: &[(usize, usize)]) -> Placed {
    let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let vertices: Vec<(u32, (f64, f64))> =
        sizes.iter().enumerate().map(|(position, size)| (number(position), *size)).collect();
    let edges: Vec<(u32, u32)> = edges.iter().map(|(from, to)| (number(*from), number(*to))).collect();
    let config = Config { vertex_spacing: GAP, ..Config::default() };
    let mut parts = from_vertices_and_edges(&vertices, &edges, &config);
    parts.sort_by_key(|(members, ..)| members.iter().map(|(vertex, _)| *vertex).min());
    let mut placed = Placed { middles: vec![(0.0, 0.0); sizes.len()], width: 0.0, height: 0.0 };
    for (mut members, ..) in parts {
        members.sort_by_key(|(vertex, _)| *vertex);
        let at: BTreeMap<usize, (f64, f64)> = members.iter().copied().collect();
        // The crate may number layers in either direction; here the source of an edge must be above its target.
        let inside = |n: &u32| at.get(&(*n as usize));
        let rising =
            edges.iter().filter_map(|(from, to)| Some(inside(to)?.1 - inside(from)?.1)).sum::<f64>() < 0.0;
        let sign = if rising { -1.0 } else { 1.0 };
        let extreme = |pick: fn(f64, f64) -> f64, edge: &dyn Fn(usize, (f64, f64)) -> f64| {
            members.iter().map(|(v, at)| edge(*v, *at)).reduce(pick).unwrap_or(0.0)
        };
        let left = extreme(f64::min, &|v, (x, _)| x - sizes[v].0 / 2.0);
        let right = extreme(f64::max, &|v, (x, _)| x + sizes[v].0 / 2.0);
        let top = extreme(f64::min, &|v, (_, y)| sign * y - sizes[v].1 / 2.0);
        let bottom = extreme(f64::max, &|v, (_, y)| sign * y + sizes[v].1 / 2.0);
        let offset = if placed.width == 0.0 { 0.0 } else { placed.width + GAP };
        for (vertex, (x, y)) in &members {
            placed.middles[*vertex] = (x - left + offset, sign * y - top);
        }
        placed.width = offset + right - left;
        placed.height = placed.height.max(bottom - top);
    }
    placed
}
