//! The examples of the crate `precast`. [`crate::reload`] and `cargo xtask hosts` run the other two.

#[path = "../../crates/precast/examples/build_graph.rs"]
mod build_graph;
#[path = "../../crates/precast/examples/native.rs"]
mod native;
#[path = "../../crates/precast/examples/policies.rs"]
mod policies;

#[test]
fn graph_built_in_rust_is_called() {
    let found = build_graph::probabilities().unwrap();
    let expected = [0.0f64, 2.0, -1.0].map(|margin| 1.0 / (1.0 + (-margin).exp()));
    assert!(found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-15), "{found}");
}

#[test]
fn policies_handle_misses_differently() {
    let (miss, total) = policies::both().unwrap();
    assert!(miss.contains("miss: ") && total == 14.0, "{miss}, {total}");
}

#[test]
fn graph_of_scalars_is_a_plain_function() {
    // The number of Dottie, OEIS A003957.
    assert!((native::fixed_point().unwrap() - 0.739_085_133_215_160_7).abs() < 1e-15);
}
