//! Pictures, completions and manual pages.

use crate::sandbox::{ISA, Sandbox};

const GRAPH: [&str; 8] =
    ["graph", "--expr", "out = sum(exp(-x*x)*y)", "--type", "x=f64[?]", "--type", "y=f64[?]", "--plain"];

#[test]
fn each_form_shows_every_op() {
    let place = Sandbox::new();
    for (form, opening) in [("--svg", "<svg "), ("--dot", "digraph "), ("--html", "<!doctype html>")] {
        let text = place.run_bare(&[&GRAPH[..], &[form]].concat()).ok().out;
        assert!(text.starts_with(opening), "{text}");
        for part in ["exp", "neg", "mul", "sum", "f64[?]", "out"] {
            assert!(text.contains(part), "{form} lacks {part}");
        }
        place.run_bare(&[&GRAPH[..], &[form, "-o", "picture"]].concat()).ok();
        assert_eq!(fs_err::read_to_string(place.path("picture")).unwrap(), text);
    }
    place.run_bare(&GRAPH).fails(2, &["--svg", "--dot", "--html"]);
    place.run_bare(&["graph", "missing.json", "--svg"]).fails(1, &["`missing.json`"]);
}

/// Two groups: the sum of a product, and the maximum of a difference.
const TWO: [&str; 8] =
    ["--expr", "a = sum(x*y)", "--expr", "b = max(exp(x) - y)", "--type", "x=f64[?]", "--type", "y=f64[?]"];

#[test]
fn picture_names_every_artifact() {
    let ops = |names: &[&str]| -> String {
        names
            .iter()
            .map(|name| format!("[[op]]\nname = \"{name}\"\ndtypes = [\"f64\"]\nndim = [1]\n"))
            .collect()
    };
    let graph = |output: &str, serve: &str| {
        let inputs = "inputs = [\"x: f64[?]\", \"y: f64[?]\"]";
        format!("[[graph]]\nname = \"g\"\n{inputs}\noutputs = [{output}]\nserve = [\"{serve}\"]\n")
    };
    let both = "\"sum(x*y)\", \"max(exp(x) - y)\"";
    // The manifest, the number of boxes that then serve the graph, and the answer as a word.
    let cases = [
        (graph(both, "groups"), 2, "groups"),
        (graph("\"sum(x*y)\"", "whole") + &ops(&["exp", "sub", "max"]), 4, "mixed"),
        (ops(&["mul", "sum", "exp", "sub", "max"]), 5, "op by op"),
    ];
    for (manifest, artifacts, word) in cases {
        let place = Sandbox::new();
        place.write("precast.toml", format!("isa = [\"{ISA}\"]\n{manifest}"));
        place.run(&["build"]).ok();
        for name in ["x.npy", "y.npy"] {
            place.npy(name, &[2], vec![1.0, 2.0]);
        }
        let layers = ["--store", "artifacts"];
        let explained = place.run_bare(&[&["explain", "--json"], &TWO[..], &layers].concat()).ok().json();
        assert_eq!(explained["served"], word);
        let run = ["-i", "x=x.npy", "-i", "y=y.npy", "--policy", "strict", "--json"];
        let run = place.run_bare(&[&["run"], &TWO[..], &run, &layers].concat()).ok().json();
        let provenance = run["provenance"].as_array().unwrap();
        assert_eq!(provenance.len(), artifacts, "{word}");
        for form in ["--svg", "--dot", "--html"] {
            let picture = place.run_bare(&[&["graph"], &TWO[..], &layers, &[form]].concat()).ok().out;
            for part in provenance {
                let key = part["key"].as_str().unwrap();
                assert!(picture.contains(&key[..16]), "{word}, {form}: {} by {key}", part["ops"]);
            }
            assert!(!picture.contains("no artifact"), "{word}, {form}");
        }
    }
}

#[test]
fn picture_shows_missing_artifacts() {
    let place = Sandbox::new();
    place.write(
        "precast.toml",
        format!("isa = [\"{ISA}\"]\n[[op]]\nname = \"sub\"\ndtypes = [\"f64\"]\nndim = [1]\n"),
    );
    place.run(&["build"]).ok();
    let picture = ["graph", "--dot", "--store", "artifacts"];
    let text = place.run_bare(&[&picture[..], &TWO[..]].concat()).ok().out;
    assert!(text.contains("no artifact"), "{text}");
    // Without a layer the picture does not report missing artifacts.
    let text = place.run_bare(&[&picture[..2], &TWO[..]].concat()).ok().out;
    assert!(!text.contains("no artifact"), "{text}");
}

#[test]
fn every_shell_and_every_command_has_its_text() {
    let place = Sandbox::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(place.run_bare(&["completions", shell]).ok().out.contains("precast"), "{shell}");
    }
    assert!(place.run_bare(&["man"]).ok().out.contains(".TH precast"));
    place.run_bare(&["man", "--dir", "man1"]).ok();
    let pages = fs_err::read_dir(place.path("man1")).unwrap().count();
    assert!(pages > 8, "{pages} pages");
    let build = fs_err::read_to_string(place.path("man1/precast-build.1")).unwrap();
    assert!(build.contains("precast build") && build.contains("ISA"), "{build}");
}
