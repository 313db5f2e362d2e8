//! The example of the page on production: spans in OpenTelemetry, counters in Prometheus.

#[path = "../examples/telemetry.rs"]
mod example;

#[test]
fn spans_and_counters_reach_their_exporters() {
    let store = tempfile::tempdir().unwrap();
    let (spans, counters) = example::run(&store.path().join("store")).unwrap();
    for name in ["resolve", "rewrite", "lookup", "compile", "load"] {
        assert!(spans.iter().any(|span| span == name), "no span `{name}`: {spans:?}");
    }
    for line in ["precast_misses_total 1", "precast_compiled_total 1", "precast_damaged_total 0"] {
        assert!(counters.lines().any(|found| found == line), "no `{line}`:\n{counters}");
    }
}
