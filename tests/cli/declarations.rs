//! Invalid manifests, expressions and graph files: each error names the place, and nothing is written.

use crate::sandbox::{ISA, Sandbox, args};

/// Builds a manifest and checks that it is rejected before a store is created.
fn refused(manifest: &str, named: &[&str]) {
    let place = Sandbox::new();
    place.write("precast.toml", manifest);
    place.run(&["build", "--store", "cache", "--bundle", "b.precast"]).fails(1, named);
    assert_eq!(place.names(), ["precast.toml"]);
}

fn graph(name: &str, inputs: &str, outputs: &str) -> String {
    format!("[[graph]]\nname = \"{name}\"\ninputs = [{inputs}]\noutputs = [{outputs}]\n")
}

#[test]
fn unknown_ops_are_rejected_with_the_nearest() {
    refused("[[op]]\nname = \"ad\"\ndtypes = [\"f64\"]\nndim = [1]\n", &["precast.toml:2", "`ad`", "`add`"]);
    refused(&graph("g", r#""x: f64[?]""#, r#""sgimoid(x)""#), &["precast.toml:4", "`sgimoid`", "`sigmoid`"]);
}

#[test]
fn unknown_dtypes_and_shapes_are_rejected() {
    refused("[[op]]\nname = \"add\"\ndtypes = [\"f65\"]\nndim = [1]\n", &["precast.toml:3", "`f65`", "f64"]);
    refused(
        "[[op]]\nname = \"add\"\ndtypes = [\"f64\"]\nndim = [99]\n",
        &["precast.toml:4", "99 dimensions"],
    );
    refused(&graph("g", r#""x: f64[2a]""#, r#""x+x""#), &["precast.toml:3", "`2a`"]);
    refused(&graph("g", r#""x: f99[?]""#, r#""x+x""#), &["precast.toml:3", "`f99`"]);
    refused(&graph("g", r#""x: f64[2]", "y: f64[3]""#, r#""x+y""#), &["precast.toml:4", "broadcast"]);
}

#[test]
fn unsupported_combinations_are_all_listed() {
    let manifest = "[[op]]\nname = \"dot\"\ndtypes = [\"f64\", \"bool\"]\nndim = [1, 4]\n";
    refused(manifest, &["precast.toml:2", "`dot`", "bool, rank 4", "f64, rank 4"]);
    let manifest = "[[op]]\nname = \"bitwise_and\"\ndtypes = [\"f64\", \"i8\", \"c64\"]\nndim = [1, 4]\n";
    refused(manifest, &["`bitwise_and`", "f64, rank 1, 4: ", "c64, rank 1, 4: "]);
}

#[test]
fn all_manifest_mistakes_are_reported_at_once() {
    let manifest = format!(
        "{}{}[[op]]\nname = \"mull\"\ndtypes = [\"f64\"]\nndim = [1]\n",
        graph("a", r#""x: f64[?]""#, r#""x +""#),
        graph("b", r#""x: f64[?]""#, r#""y""#)
    );
    // Ops are resolved only after all graphs are read.
    refused(&manifest, &["`a`", "`b`", "column 4", "unknown name `y`"]);
}

#[test]
fn duplicate_names_are_rejected() {
    let one = graph("g", r#""x: f64[?]""#, r#""x+x""#);
    refused(&format!("{one}{one}"), &["precast.toml:6", "duplicate graph `g`"]);
    refused(&graph("g", r#""x: f64[?]", "x: f32[?]""#, r#""x+x""#), &["`x`"]);
    refused(&graph("g", r#""x: f64[?]""#, r#""a = x+x", "a = x-x""#), &["duplicate", "`a`"]);
    refused(&graph("no/slash", r#""x: f64[?]""#, r#""x+x""#), &["no/slash"]);
}

#[test]
fn invalid_manifests_are_rejected() {
    refused("[[op]\n", &["precast.toml:1"]);
    refused("[[op]]\nname = \"add\"\ndtype = [\"f64\"]\nndim = [1]\n", &["precast.toml", "`dtype`"]);
    refused("isa = [\"native\"]\n[[op]]\nname = \"add\"\ndtypes = [\"f64\"]\nndim = [1]\n", &["native"]);
    refused("[[graph]]\nname = \"g\"\nfile = \"none.json\"\n", &["`none.json`"]);
    let place = Sandbox::new();
    place.run(&["build", "other.toml"]).fails(1, &["`other.toml`", "hint: "]);
    place.write("bytes.toml", b"\xff\xfe");
    place.run(&["build", "bytes.toml"]).fails(1, &["bytes.toml"]);
    assert_eq!(place.names(), ["bytes.toml"]);
}

#[test]
fn targets_and_levels_must_match() {
    let (place, _) = Sandbox::scored();
    let other = if ISA == "aarch64" { "x86-64-v3" } else { "aarch64" };
    place.run(&["build", "--isa", other]).fails(2, &[&format!("`{other}`"), "--target"]);
    place.run(&["build", "--isa", "x86-64-v9"]).fails(2, &["x86-64-v9", "x86-64-v3"]);
    place.run(&["build", "--isa", "native"]).fails(2, &["native"]);
    place.run(&["build", "--target", "pdp11-none"]).fails(2, &["pdp11", ISA]);
    place.write("precast.toml", "[[op]]\nname = \"add\"\ndtypes = [\"f64\"]\nndim = [1]\n");
    place.run(&["build", "--target", "pdp11-none"]).fails(1, &["pdp11", "hint: "]);
    assert!(!place.path("artifacts").exists());
}

#[test]
fn build_without_compiler_is_one_error() {
    let (place, _) = Sandbox::scored();
    place.run_bare(&["build"]).fails(1, &["cannot find a C compiler", "hint: install one"]);
    assert!(!place.path("artifacts").exists());
}

#[test]
fn invalid_expressions_are_shown_with_a_caret() {
    let place = Sandbox::new();
    let check = |arguments: &[&str], code, named: &[&str]| {
        place.run_bare(&args(&[&["check"], arguments])).fails(code, named);
    };
    check(&["--expr", "x +", "--type", "x=f64[?]"], 1, &["column 4", "x +\n", "^"]);
    check(&["--expr", "eggs(x)", "--type", "x=f64"], 1, &["unknown function `eggs`"]);
    check(&["--expr", "exq(x)", "--type", "x=f64[?]"], 1, &["nearest `exp`"]);
    check(&["--expr", "x and x", "--type", "x=bool[?]"], 1, &["hint: write `&`"]);
    check(&["--expr", "x", "--type", "x=f63[?]"], 2, &["--type x=f63[?]", "`f63`"]);
    check(&["--expr", "x", "--type", "x=f64[?]", "--type", "x=f64[?]"], 1, &["`x`", "twice"]);
    check(&["--expr", &"(".repeat(100_000)], 1, &["nesting"]);
    check(&[], 2, &["--expr"]);
    check(&["--expr", "1", "--entry", "score"], 2, &["--entry"]);
}

#[test]
fn invalid_graph_files_are_rejected_with_position() {
    let place = Sandbox::new();
    let apply = |op: &str, inputs: &str, output: &str| {
        format!(
            r#"{{"op":"elemwise","props":{{"scalar":"{op}"}},"inputs":{inputs},"outputs":[{{"id":"{output}"}}]}}"#
        )
    };
    let document = |version: u32, applies: &[String], output: &str| {
        format!(
            r#"{{"precast_graph":{version},"inputs":[{{"name":"x","type":"f64[?]"}}],"applies":[{}],"outputs":[{{"name":"out","value":"{output}"}}]}}"#,
            applies.join(",")
        )
    };
    let refused = |content: &str, named: &[&str]| {
        place.write("g.json", content);
        let arguments = ["run", "--graph", "g.json", "-o", "out=out.npy", "--policy", "interpret"];
        place.run_bare(&arguments).fails(1, &args(&[&["`g.json`"], named]));
    };
    refused(&document(2, &[], "x"), &["version 2", "hint: "]);
    refused(&document(1, &[apply("ad", r#"["x","x"]"#, "v0")], "v0"), &["applies[0]", "`ad`"]);
    let unknown = r#"{"op":"elemwis","inputs":["x"],"outputs":[{"id":"v0"}]}"#.to_owned();
    refused(&document(1, &[unknown], "v0"), &["applies[0]", "`elemwis`"]);
    refused(&document(1, &[apply("add", r#"["x","y"]"#, "v0")], "v0"), &["applies[0]", "`y`"]);
    let cycle = [apply("add", r#"["x","v1"]"#, "v0"), apply("add", r#"["x","v0"]"#, "v1")];
    refused(&document(1, &cycle, "v1"), &["cycle", "applies[0]"]);
    refused(&document(1, &[apply("add", r#"["x","x"]"#, "x")], "x"), &["duplicate name `x`"]);
    refused("{", &["not JSON"]);
    refused("[]", &["precast_graph"]);
    place.run_bare(&["run", "--graph", "none.json"]).fails(1, &["`none.json`"]);
    assert_eq!(place.names(), ["g.json"]);
}
