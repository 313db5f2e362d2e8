//! Pictures, completions and manual pages.

use crate::place::Place;

const GRAPH: [&str; 8] =
    ["graph", "--expr", "out = sum(exp(-x*x)*y)", "--type", "x=f64[?]", "--type", "y=f64[?]", "--plain"];

#[test]
fn each_form_shows_every_op() {
    let place = Place::new();
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

#[test]
fn every_shell_and_every_command_has_its_text() {
    let place = Place::new();
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
