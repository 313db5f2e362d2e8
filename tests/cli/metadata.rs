//! Documentation of graphs: from the manifest into stores, bundles and exports, and out of them by every command.

use serde_json::{Value, json};

use crate::release::{SUM, built};
use crate::sandbox::{ISA, Sandbox};

/// The graph `sum` with documentation.
fn documented() -> Sandbox {
    built(&[&SUM.replace("inputs", "doc = \"\"\"\nAdds *two* vectors.\n\"\"\"\ninputs")])
}

fn parsed(place: &Sandbox, arguments: &[&str]) -> Value {
    place.run_bare(arguments).ok().json()
}

#[test]
fn documentation_travels_from_the_manifest_to_every_layer() {
    let place = documented();
    place.run_bare(&["export", "--store", "artifacts", "--out", "all.export"]).ok();
    place.run_bare(&["import", "all.export", "--unsigned", "--store", "imported"]).ok();
    place.run_bare(&["gc", "--store", "imported", "--grace", "0", "precast.toml"]).ok();
    for layer in [["--bundle", "model.precast"], ["--store", "artifacts"], ["--store", "imported"]] {
        let listed = parsed(&place, &[&["ls", "--json"], &layer[..]].concat());
        let expected = json!({"documentation": "Adds *two* vectors."});
        assert_eq!(listed["entries"][0]["metadata"], expected, "{layer:?}");
        let shown = parsed(&place, &[&["show", "sum", "--json"], &layer[..]].concat());
        assert_eq!(shown["metadata"], expected, "{layer:?}");
        let text = place.run_bare(&[&["show", "sum"], &layer[..]].concat()).ok().out;
        assert!(text.contains("about       Adds *two* vectors.\n"), "{text}");
    }
    let bill = place.run_bare(&["sbom", "model.precast"]).ok().out;
    assert!(bill.contains("Adds *two* vectors."), "{bill}");
}

#[test]
fn documentation_changes_only_the_bundle() {
    let place = built(&[SUM]);
    let read = |name| fs_err::read(place.path(name)).unwrap();
    place.run_bare(&["update"]).ok();
    let (lock, bundle) = (read("precast.lock"), read("model.precast"));
    let manifest = format!("isa = [\"{ISA}\"]\n{SUM}doc = \"Adds\"\n");
    place.write("precast.toml", manifest);
    let built = place.run(&["build", "--locked", "--bundle", "model.precast", "--json"]).ok().json();
    assert_eq!(built["compiled"], 0, "{built:#}");
    assert_eq!(read("precast.lock"), lock);
    assert_ne!(read("model.precast"), bundle);
    let removed = format!("isa = [\"{ISA}\"]\n{SUM}");
    place.write("precast.toml", removed);
    place.run(&["build", "--bundle", "model.precast"]).ok();
    assert_eq!(read("model.precast"), bundle);
}
