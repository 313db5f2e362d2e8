//! Versions are promises that are checked. A source that changed without a new version is reported and never served
//! stale. An empty version keeps the code in its process.

use super::{call, graph, op};
use precast::{Array, Event, FunctionGraph, Policy, Runtime};
use precast_build::{Declared, SourceLocation, plan};
use precast_codegen::external::Declaration;
use precast_store::Store;
use std::path::Path;

/// Returns the op `x + more`, with `more` in a header.
fn shift(more: u32, version: Option<&[u32]>) -> FunctionGraph {
    let text = "#section support_code\n#include \"more.h\"\n#section code\nOUTPUT_0 = INPUT_0 + MORE;\n";
    let declaration =
        Declaration::new("shift").file("shift.c", text).source("more.h", &format!("#define MORE {more}\n"));
    let version = version.map(<[u32]>::to_vec);
    graph(&op(Declaration { version, ..declaration.input("f64").output("f64") }), &["f64"])
}

/// Compiles into a store or loads from it; returns the value at 1 and the events.
fn served(store: &Path, graph: &FunctionGraph) -> (f64, Vec<Event>) {
    let runtime = Runtime::builder().writable(store).policy(Policy::Jit).build().unwrap();
    let outputs = call(&runtime.function(graph).unwrap(), &[Array::from(1.0)]).unwrap();
    (outputs[0].numbers()[0].parts().0, runtime.stats().events)
}

fn stale(events: &[Event]) -> Vec<String> {
    let stale = |event: &Event| matches!(event, Event::Stale(_)).then(|| event.to_string());
    events.iter().filter_map(stale).collect()
}

fn hits(events: &[Event]) -> usize {
    events.iter().filter(|event| matches!(event, Event::Hit { .. })).count()
}

#[test]
fn changed_source_under_one_version_is_reported() {
    let store = tempfile::tempdir().unwrap();
    let (value, events) = served(store.path(), &shift(1, Some(&[3, 1])));
    assert_eq!((value, stale(&events)), (2.0, vec![]));
    let changed = shift(10, Some(&[3, 1]));
    let explained = {
        let runtime = Runtime::builder().store(store.path()).policy(Policy::Strict).build().unwrap();
        [runtime.explain(&changed).unwrap().to_string(), runtime.function(&changed).unwrap_err().to_string()]
    };
    let (value, events) = served(store.path(), &changed);
    assert_eq!((value, hits(&events)), (11.0, 0));
    let [report] = &stale(&events)[..] else { panic!("{events:?}") };
    let told = "the C of `shift(f64) -> f64` changed under version `3.1`: `shift/more.h` was `";
    assert!(report.starts_with(told) && report.contains("hint: raise the version"), "{report}");
    assert!(!report.contains("shift/shift.c"), "{report}");
    assert!(explained.iter().all(|text| text.contains(told)), "{explained:?}");
    // Both exist now, so neither causes an event.
    for (more, expected) in [(10, 11.0), (1, 2.0)] {
        let (value, events) = served(store.path(), &shift(more, Some(&[3, 1])));
        assert_eq!((value, stale(&events), hits(&events)), (expected, vec![], 1));
    }
}

#[test]
fn raised_or_missing_versions_are_not_reported() {
    let store = tempfile::tempdir().unwrap();
    for (more, version) in [(1, Some(&[1][..])), (2, Some(&[2])), (3, None), (4, None)] {
        let (value, events) = served(store.path(), &shift(more, version));
        assert_eq!((value, stale(&events), hits(&events)), (1.0 + f64::from(more), vec![], 0));
    }
    // The content decides: the same source with another version is the same code.
    let (value, events) = served(store.path(), &shift(2, Some(&[9])));
    assert_eq!((value, stale(&events), hits(&events)), (3.0, vec![], 1));
}

#[test]
fn an_empty_version_stays_in_its_process() {
    let store = tempfile::tempdir().unwrap();
    let never = shift(5, Some(&[]));
    for _ in 0..2 {
        let (value, events) = served(store.path(), &never);
        assert_eq!((value, hits(&events)), (6.0, 0));
        let private = |event: &&Event| matches!(event, Event::Private { .. });
        assert_eq!(events.iter().filter(private).count(), 1, "{events:?}");
    }
    assert_eq!(Store::open(store.path()).unwrap().records().count(), 0);
    assert!(
        !fs_err::exists(store.path().join("objects")).unwrap() || is_empty(&store.path().join("objects"))
    );
    // The same source without a version is published.
    served(store.path(), &shift(5, None));
    assert_eq!(Store::open(store.path()).unwrap().records().count(), 1);
}

#[test]
fn an_empty_version_is_declared_and_not_precompiled() {
    let mut declared = Declared::default();
    declared.graph("shift", shift(5, Some(&[])), SourceLocation::default()).unwrap();
    let plan = plan(&declared).unwrap();
    assert_eq!((plan.units.len(), plan.entries.len(), plan.entries[0].program.steps.len()), (0, 1, 1));
    let warnings: Vec<String> = plan.warnings().collect();
    assert!(
        warnings[0].starts_with("`shift(f64) -> f64` contains an op with an empty cache version"),
        "{warnings:?}"
    );
}

fn is_empty(directory: &Path) -> bool {
    walkdir::WalkDir::new(directory).into_iter().all(|entry| entry.unwrap().file_type().is_dir())
}

#[test]
fn an_empty_version_is_not_recorded() {
    let directory = tempfile::tempdir().unwrap();
    let (store, manifest) = (directory.path().join("store"), directory.path().join("precast.toml"));
    let runtime =
        || Runtime::builder().writable(&store).policy(Policy::Jit).record(&manifest).build().unwrap();
    let function = runtime().function(&shift(5, Some(&[]))).unwrap();
    assert_eq!(call(&function, &[Array::from(1.0)]).unwrap(), [Array::from(6.0)]);
    assert!(!fs_err::exists(&manifest).unwrap(), "{}", fs_err::read_to_string(&manifest).unwrap());
    // An op that may be cached is recorded.
    runtime().function(&shift(5, None)).unwrap();
    assert!(fs_err::read_to_string(&manifest).unwrap().contains("[[graph]]"));
}
