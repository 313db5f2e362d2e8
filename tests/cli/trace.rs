//! `explain --trace`: the steps of a lookup, as text and as JSON.

use crate::sandbox::{ISA, Sandbox, args};

/// Returns the names of spans, each followed by those of its inner spans.
fn names(spans: &serde_json::Value) -> Vec<String> {
    let spans = spans.as_array().unwrap().iter();
    let of = |span: &serde_json::Value| {
        [vec![span["span"].as_str().unwrap().to_owned()], names(&span["spans"])].concat()
    };
    spans.flat_map(of).collect()
}

#[test]
fn explain_traces_a_lookup_with_times() {
    let (place, _) = Sandbox::scored();
    place.run(&["build", "--bundle", "score.precast"]).ok();
    let hit = ["explain", "--trace", "--bundle", "score.precast", "--entry", "score"];
    let json = place.run_bare(&args(&[&hit, &["--json"]])).ok().json();
    let trace = &json["trace"];
    assert_eq!(names(trace), ["resolve", "rewrite", "lookup", "verify", "load", "call"], "{trace:#}");
    let lookup = &trace[0]["spans"][1];
    assert_eq!((&lookup["outcome"], &lookup["variant"]), (&"hit".into(), &ISA.into()), "{trace:#}");
    assert_eq!(lookup["layer"], "bundle `score.precast`");
    let (verify, load) = (&lookup["spans"][0], &lookup["spans"][1]);
    assert!(verify["bytes"].as_u64().unwrap() > 1000 && verify["bytes"] == load["bytes"], "{trace:#}");
    let ms = |span: &serde_json::Value| span["ms"].as_f64().unwrap();
    assert!(ms(&trace[0]) >= ms(lookup) && ms(lookup) >= ms(verify) + ms(load), "{trace:#}");
    let text = place.run_bare(&hit).ok().out;
    let (_, tree) = text.split_once("\ntrace\n").unwrap();
    let steps: Vec<&str> = tree.lines().map(|line| line.split_whitespace().next().unwrap()).collect();
    assert_eq!(steps, ["resolve", "rewrite", "lookup", "verify", "load", "call"], "{tree}");
    assert!(tree.lines().all(|line| line.ends_with(" ms")), "{tree}");
    // Without `--trace` nothing is loaded, and the trace is null.
    assert!(place.run_bare(&args(&[&["explain"], &hit[2..], &["--json"]])).ok().json()["trace"].is_null());
}

#[test]
fn explain_traces_misses_damage_and_compilations() {
    let (place, _) = Sandbox::scored();
    place.run(&["build"]).ok();
    let wanted = [
        "--trace",
        "--json",
        "--store",
        "artifacts",
        "--expr",
        "a*a - b",
        "--type",
        "a=f64[?]",
        "--type",
        "b=f64[?]",
    ];
    let traced =
        |policy: &[&str]| place.run(&args(&[&["explain"], &wanted, policy])).ok().json()["trace"].clone();
    let strict = traced(&[]);
    assert_eq!(strict[0]["outcome"], "miss");
    assert!(
        names(&strict).iter().all(|name| !["load", "call", "compile"].contains(&name.as_str())),
        "{strict:#}"
    );
    let jit = traced(&["--policy", "jit"]);
    let found = names(&jit);
    for name in ["resolve", "generate", "lookup", "compile", "load", "publish", "call"] {
        assert!(found.contains(&name.to_owned()), "{name}: {jit:#}");
    }
    assert_eq!(
        names(&traced(&["--policy", "jit"])),
        ["resolve", "rewrite", "lookup", "verify", "load", "call"]
    );
    let objects = files(&place.path("artifacts/objects"));
    objects.iter().for_each(|path| {
        fs_err::remove_file(path).unwrap();
        fs_err::write(path, b"damaged").unwrap();
    });
    let damaged = traced(&[]);
    let lookup = &damaged[0]["spans"]
        .as_array()
        .unwrap()
        .iter()
        .find(|span| span["span"] == "lookup")
        .unwrap()
        .clone();
    assert_eq!((&lookup["outcome"], &lookup["spans"][0]["outcome"]), (&"miss".into(), &"failed".into()));
    place.run(&["explain", "--expr", "a", "--type", "a=f64[?]", "--policy", "jit"]).fails(2, &["--trace"]);
}

/// Lists the files below a directory.
fn files(directory: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = fs_err::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

#[test]
fn explain_traces_background_compiles_of_tiered() {
    let place = Sandbox::new();
    place.npy("v.npy", &[3], vec![1.0, 2.0, 3.0]);
    for part in ["v + w", "v*w"] {
        let inputs = ["-i", "v=v.npy", "-i", "w=v.npy"];
        let run = ["run", "--expr", part, "--policy", "jit", "--writable", "store"];
        place.run(&args(&[&run, &inputs])).ok();
    }
    let graph = ["--expr", "(v + w)*v", "--type", "v=f64[?]", "--type", "w=f64[?]", "--store", "store"];
    let json =
        place.run(&args(&[&["explain", "--trace", "--json", "--policy", "tiered"], &graph])).ok().json();
    assert_eq!(json["served"], "op by op");
    let found = names(&json["trace"]);
    assert_eq!(found.iter().filter(|name| **name == "call").count(), 2, "{found:?}");
    assert!(found.contains(&"compile".to_owned()) && found.contains(&"publish".to_owned()), "{found:?}");
    assert_eq!(place.run(&args(&[&["check", "--json"], &graph])).ok().json()["served"], "whole");
}
