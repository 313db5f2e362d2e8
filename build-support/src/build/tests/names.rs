//! Tests of hostile names: none is interpreted as Rust code, as a Cargo directive, or as the name of another graph.

use super::{Package, names};
use crate::problem::ProblemKind;
use crate::{Build, BuildError};
use std::path::Path;

/// Returns a graph with one input of this name.
fn document(input: &str, output: &str) -> String {
    serde_json::json!({
        "precast_graph": 1,
        "inputs": [{"name": input, "type": "f64[?]"}],
        "outputs": [{"name": output, "value": input}],
    })
    .to_string()
}

fn refused(package: &Package) -> Vec<ProblemKind> {
    match package.build() {
        Err(BuildError::Declare(wrong)) => wrong.problems.into_iter().map(|problem| problem.kind).collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn hostile_graph_names_are_rejected() {
    let package = Package::new("[[graph]]\nname = \"f\"\nfile = \"f.json\"\n");
    let huge = "x".repeat(1 << 20);
    for name in [
        "x\npub fn injected() -> u32 { 7 }\n",
        "\0",
        "\x1b[2J",
        "\"",
        "*/",
        "</script>",
        "\u{202e}",
        "../x",
        "",
        "x\r",
        &huge,
    ] {
        for text in [document(name, "out"), document("x", name)] {
            package.write("f.json", &text);
            assert!(matches!(refused(&package)[..], [ProblemKind::Graph { .. }]), "{}", name.escape_debug());
        }
        let manifest =
            format!("[[graph]]\nname = \"f\"\njson = {}\n", toml::Value::String(document(name, "out")));
        assert!(matches!(refused(&Package::new(&manifest))[..], [ProblemKind::Graph { .. }]));
        let inline = format!("{}: f64", name);
        let manifest = format!(
            "[[graph]]\nname = \"f\"\ninputs = [{}]\noutputs = [\"1\"]\n",
            toml::Value::String(inline)
        );
        assert!(matches!(refused(&Package::new(&manifest))[..], [ProblemKind::Graph { .. }]));
        let manifest = format!(
            "[[graph]]\nname = {}\ninputs = [\"x: f64\"]\noutputs = [\"x\"]\n",
            toml::Value::String(name.to_owned())
        );
        assert!(matches!(refused(&Package::new(&manifest))[..], [ProblemKind::Name { .. }]));
    }
}

/// Creates a package that depends on `dep`, whose manifest declares these graphs.
fn with_dependency(own: &[&str], others: &[&str]) -> Package {
    let table = |kind: &str, name: &&str| {
        format!("[[{kind}]]\nname = \"{name}\"\ninputs = [\"x: f64[?]\"]\noutputs = [\"x + 1\"]\n")
    };
    let package = Package::new(&own.iter().map(|name| table("graph", name)).collect::<String>());
    let head =
        |name: &str| format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n");
    let declared: String = others.iter().map(|name| table("package.metadata.precast.graph", name)).collect();
    fs_err::create_dir_all(package.path("dep/src")).unwrap();
    package.write("dep/src/lib.rs", "");
    package.write("dep/Cargo.toml", &(head("dep") + &declared));
    package.write("Cargo.toml", &(head("app") + "[dependencies]\ndep = { path = \"dep\" }\n[workspace]\n"));
    package.lock();
    package
}

fn functions(package: &mut Package) -> (String, Vec<String>) {
    // Builds on docs.rs, which compile nothing, generate the same signatures.
    package.environment.is_docs_rs = true;
    let outcome = package.build().unwrap();
    (fs_err::read_to_string(&outcome.model).unwrap(), outcome.warnings)
}

#[test]
fn dependency_names_yield_to_the_package() {
    let mut package = with_dependency(&["a-b"], &["a_b", "c.d"]);
    let (text, warnings) = functions(&mut package);
    assert!(text.contains("pub fn a_b<'a>(") && text.contains("Handle::new(\"a-b\")"), "{text}");
    assert!(text.contains("pub fn c_d<'a>(") && !text.contains("Handle::new(\"a_b\")"), "{text}");
    assert_eq!(warnings.len(), 1);
}

#[test]
fn a_collision_within_the_package_does_not_compile() {
    let (text, warnings) = functions(&mut with_dependency(&["a-b", "a.b"], &["e"]));
    assert!(text.contains("\ncompile_error!(\"") && !text.contains("fn a_b"), "{text}");
    assert!(text.contains("pub fn e<'a>(") && warnings.is_empty(), "{text}");
}

#[test]
fn docs_rs_functions_have_signatures_without_code() {
    let score =
        "[[graph]]\nname = \"score\"\ninputs = [\"x: f64[?]\", \"n: i64\"]\noutputs = [\"out = x + n\"]\n";
    let mut package = Package::new(score);
    package.environment.is_docs_rs = true;
    let outcome = package.build().unwrap();
    assert_eq!((outcome.compiled, outcome.store), (0, None));
    assert!(names(&outcome.bundle).is_empty());
    assert!(fs_err::read_to_string(&outcome.index).unwrap().contains("NAMES: &[&str] = &[];"));
    let text = fs_err::read_to_string(&outcome.model).unwrap();
    let signature =
        "pub fn score<'a>(\n    x: impl Into<__precast::ndarray::ArrayView1<'a, f64>>,\n    n: i64,\n)";
    assert!(text.contains(signature), "{text}");
}

#[test]
fn line_break_in_file_name_emits_no_directive() {
    let name = "g\ncargo::rustc-env=INJECTED=1\n.json";
    let manifest = format!("[[graph]]\nname = \"f\"\nfile = {}\n", toml::Value::String(name.to_owned()));
    let package = Package::new(&manifest);
    package.write(name, &document("x", "out"));
    let outcome = crate::build::run::run(&Build::new(), &package.environment).unwrap();
    assert!(outcome.inputs.contains(&package.path(name)));
    let lines = outcome.directives();
    assert!(lines.iter().all(|line| !line.contains('\n') && !line.contains("INJECTED")), "{lines:?}");
    // The containing directory is watched instead.
    let directory =
        format!("cargo::rerun-if-changed={}", Path::new(&package.environment.manifest_dir).display());
    assert!(lines.contains(&directory), "{lines:?}");
}
