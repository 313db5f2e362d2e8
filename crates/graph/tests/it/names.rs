//! Tests of hostile names, for every way into a graph.

use super::graph;
use precast_graph::json::{ParseJsonError, parse as parse_json};
use precast_graph::text::{parse, parse_input};
use precast_graph::{BuildError, FunctionGraph};
use precast_testkit::toy::ToyLibrary;
use serde_json::json;

/// Returns names that a later stage could misinterpret.
fn hostile() -> Vec<String> {
    let short = [
        "",
        "a\nb",
        "\0",
        "\x1b[2J",
        "\"",
        "'",
        "`",
        "*/",
        "//",
        "</script>",
        "\u{202e}x",
        "a\u{200b}b",
        "../x",
        "a b",
        ".",
        "x\r",
    ];
    short.into_iter().map(str::to_owned).chain(["x".repeat(1 << 20)]).collect()
}

#[test]
fn builders_reject_hostile_names() {
    for name in hostile() {
        let mut graph = FunctionGraph::new();
        assert!(matches!(graph.input(&name, "f64".parse().unwrap()), Err(BuildError::Name(_))));
        let x = graph.input("x", "f64".parse().unwrap()).unwrap();
        assert!(matches!(graph.output(x, Some(&name)), Err(BuildError::Name(_))));
        assert!(matches!(graph.name(x, &name), Err(BuildError::Name(_))));
    }
}

#[test]
fn json_rejects_hostile_names_with_position() {
    for name in hostile() {
        let constant =
            json!({"id": "c", "type": "f64", "shape": [], "bits": ["0000000000000000"], "name": name});
        let apply = json!({"op": "exp", "inputs": ["x"], "outputs": [{"id": "v", "name": name}]});
        for (input, constants, applies, output, expected) in [
            (name.as_str(), json!([]), json!([]), "out", "inputs[0].name"),
            ("x", json!([constant]), json!([]), "out", "constants[0].name"),
            ("x", json!([]), json!([apply]), "out", "applies[0].outputs[0].name"),
            ("x", json!([]), json!([]), name.as_str(), "outputs[0].name"),
        ] {
            let document = json!({
                "precast_graph": 1,
                "inputs": [{"name": input, "type": "f64[?]"}],
                "constants": constants,
                "applies": applies,
                "outputs": [{"name": output, "value": input}],
            });
            match parse_json(&document.to_string(), &ToyLibrary) {
                Err(ParseJsonError::Name { place, source }) => {
                    assert_eq!(place, expected);
                    assert!(source.name.len() < 500);
                }
                other => panic!("{expected}: {other:?}"),
            }
        }
    }
}

#[test]
fn texts_reject_hostile_names() {
    for name in hostile() {
        // White space around a name is not part of the name.
        let read = parse_input(&format!("{name}: f64"));
        assert!(read.is_err() || name.trim() != name, "{}", name.escape_debug());
        let inputs = [(name.clone(), "f64".parse::<precast_graph::Type>().unwrap())];
        let error = parse(&["1.0"], &inputs, &ToyLibrary).unwrap_err().to_string();
        assert!(error.len() < 700 && !error.contains(['\n', '\0', '\x1b', '\u{202e}']), "{error}");
    }
    let long = format!("{} = x", "y".repeat(256));
    assert!(
        parse(&[&long], &[("x".to_owned(), "f64".parse::<precast_graph::Type>().unwrap())], &ToyLibrary)
            .is_err()
    );
}

#[test]
fn keywords_are_valid_names() {
    let words = graph(&["größe: f64", "__MODEL: f64"], &["fn = größe + __MODEL"]);
    let names = [words.input_name(0), words.input_name(1), &words.output_name(0)].map(str::to_owned);
    assert_eq!(names, ["größe", "__MODEL", "fn"]);
}
