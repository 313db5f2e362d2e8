//! Tests of the version of the generator, and of the headers that units include.

use crate::rewrite_rules::graph;
use precast_codegen::SourceSet;
use precast_ops::{GENERATOR, Ops, OtherVersion};

#[test]
fn versions_are_recognized_and_named() {
    assert!(GENERATOR.starts_with(concat!("precast ", env!("CARGO_PKG_VERSION"), "+")), "{GENERATOR}");
    assert_eq!(OtherVersion::of(&format!("{GENERATOR}, pytensor")), None);
    let found = |stated: &str| OtherVersion::of(stated).map(|other| other.found);
    assert_eq!(found("precast 0.0.9, pytensor"), Some(Some("0.0.9".to_owned())));
    assert_eq!(found("precast 0.0.9+ab"), Some(Some("0.0.9+ab".to_owned())));
    // Early versions wrote the digest alone.
    assert_eq!(found(&"a1".repeat(32)), Some(None));
    assert_eq!(found(""), Some(None));
}

/// Returns the headers of the unit of a graph.
fn headers(text: &str) -> SourceSet {
    precast_codegen::link(&graph(&[text], &["x=f64[?,?]"]), Ops::standard().c()).unwrap().sources
}

#[test]
fn units_have_all_and_only_included_headers() {
    let dot = headers("dot(x, x)");
    assert!(dot.contains_key("precast/output.h") && dot.contains_key("precast/context.h"));
    for set in [dot, headers("x + x")] {
        assert!(set.keys().all(|name| !name.starts_with("precast/ops/math")), "{:?}", set.keys());
    }
}
