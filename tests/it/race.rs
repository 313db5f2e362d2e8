//! Races: processes that build into one store at once, while another reads it. Never a wrong result, never damage.

use crate::graphs::{values, vectors};
use crate::process::{self, answer};
use precast::{ArrayRef, CodeOrigin, FunctionGraph, Policy, Runtime};
use precast_graph::interpret;
use precast_store::Store;
use std::path::Path;
use std::process::Command;

/// Returns the graphs that both publishers build.
fn common() -> Vec<FunctionGraph> {
    ["x + y", "x*y - z", "exp(x)*y", "sum(x*y)", "x - y*z", "(x + y)*(y + z)"]
        .map(|text| vectors(text, "xyz"))
        .into()
}

/// Returns the graphs that only one publisher builds.
fn own(who: &str) -> Vec<FunctionGraph> {
    let texts = match who {
        "a" => ["x/y", "maximum(x, y)*z", "x + y + z"],
        _ => ["y/x", "minimum(x, y)*z", "x - y - z"],
    };
    texts.map(|text| vectors(text, "xyz")).into()
}

/// Loads a function, calls it, and compares its bits with `perform`; returns whether an artifact served it.
fn served(runtime: &Runtime, graph: &FunctionGraph) -> bool {
    let inputs = values(3, 65);
    let function = runtime.function(graph).unwrap();
    let found = function.call(&inputs.iter().map(ArrayRef::from).collect::<Vec<_>>()).unwrap();
    assert_eq!(found, interpret(graph, &inputs).unwrap(), "{graph}");
    !matches!(function.provenance()[0].served, CodeOrigin::Interpreted)
}

/// Builds all graphs of a publisher; the two publishers build the common ones in opposite order.
pub(crate) fn publish_role(place: &Path) -> String {
    let who = std::env::var("WHO").unwrap();
    let mut graphs = common();
    if who == "b" {
        graphs.reverse();
    }
    graphs.extend(own(&who));
    // A separate runtime for each graph reads the store again; compiled modules are published when it is dropped.
    for graph in &graphs {
        let store = place.join("../store");
        let runtime = Runtime::builder().writable(&store).policy(Policy::Jit).build().unwrap();
        assert!(served(&runtime, graph));
        assert_eq!(runtime.stats().damaged, 0);
        drop(runtime);
        let strict = Runtime::builder().store(&store).policy(Policy::Strict).build().unwrap();
        assert!(served(&strict, graph));
    }
    "published".to_owned()
}

/// Reads in a loop until every graph is served by an artifact.
pub(crate) fn read_role(place: &Path) -> String {
    let graphs: Vec<FunctionGraph> = [common(), own("a"), own("b")].concat();
    let mut rounds = 0;
    loop {
        let runtime =
            Runtime::builder().store(place.join("../store")).policy(Policy::Interpret).build().unwrap();
        let found = graphs.iter().filter(|graph| served(&runtime, graph)).count();
        assert_eq!(runtime.stats().damaged, 0, "{:?}", runtime.stats().events);
        rounds += 1;
        if found == graphs.len() {
            return format!("{rounds} rounds");
        }
    }
}

#[test]
fn two_builds_share_a_store_with_a_reader() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::create(directory.path().join("store")).unwrap();
    let start = |role: &str, who: &str| -> (Command, std::path::PathBuf) {
        let place = directory.path().join(format!("{role}-{who}"));
        fs_err::create_dir(&place).unwrap();
        let mut command = process::role(role, &place);
        command.env("WHO", who);
        (command, place)
    };
    let roles = [start("publish", "a"), start("publish", "b"), start("read", "r")];
    std::thread::scope(|scope| {
        for (command, place) in roles {
            scope.spawn(move || answer(command, &place));
        }
    });
    let verified = store.verify().unwrap();
    assert!(verified.is_intact(), "{verified:?}");
    let graphs = common().len() + own("a").len() + own("b").len();
    assert_eq!(
        (verified.objects, verified.records),
        (graphs, graphs),
        "one archive for a graph, no matter who built it"
    );
    assert!(verified.unreferenced.is_empty(), "{verified:?}");
}

#[test]
fn killed_publisher_leaves_a_usable_store() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::create(directory.path().join("store")).unwrap();
    for delay_ms in [40, 80, 120, 200] {
        let place = directory.path().join(format!("killed-{delay_ms}"));
        fs_err::create_dir(&place).unwrap();
        let mut child = process::role("publish", &place).env("WHO", "a").spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(delay_ms));
        child.kill().unwrap();
        child.wait().unwrap();
        let mut verified = store.verify().unwrap();
        verified.events.retain(|event| !event.is_repair());
        assert!(verified.is_intact(), "killed after {delay_ms} ms: {verified:?}");
        assert!(store.verify().unwrap().is_intact());
    }
    let place = directory.path().join("last");
    fs_err::create_dir(&place).unwrap();
    let mut command = process::role("publish", &place);
    command.env("WHO", "a");
    assert_eq!(answer(command, &place), "published");
    assert!(store.verify().unwrap().is_intact());
}
