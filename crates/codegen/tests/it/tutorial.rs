//! The type `double` of the tutorials with their C code, word for word; `%(name)s` marks the values that their Python
//! code fills in. The compat headers provide the CPython functions that it calls.

use crate::run::{opwise, whole};
use crate::toy::Infix;
use precast_codegen::{CCompiler, CLinkerObject, CType, Library, Sub, link, segments};
use precast_graph::{Array, FunctionGraph, Type, TypeRules};
use precast_store::key::Language;
use std::sync::Arc;

struct Double(Language);

/// Emulates Python's `%` with a dictionary.
fn python(template: &str, name: &str, fail: &str) -> String {
    template.replace("%(name)s", name).replace("%(fail)s", fail).replace("%%", "%")
}

impl TypeRules for Double {}

impl CLinkerObject for Double {
    fn c_headers(&self) -> Vec<String> {
        vec!["Python.h".to_owned()]
    }
    fn c_compiler(&self) -> Option<CCompiler> {
        Some(CCompiler { language: self.0 })
    }
    fn c_sources(&self) -> precast_codegen::SourceSet {
        precast_abi::HEADERS.iter().map(|(name, text)| ((*name).to_owned(), (*text).into())).collect()
    }
}

impl CType for Double {
    fn c_declare(&self, name: &str, _: &Sub, _: bool) -> String {
        python("\n        double %(name)s;\n        ", name, "")
    }
    fn c_init(&self, name: &str, _: &Sub) -> String {
        python("\n    %(name)s = 0.0;\n    ", name, "")
    }
    fn c_extract(&self, name: &str, sub: &Sub, _: bool) -> String {
        python(include_str!("../c/double/verbatim/extract.c.in"), name, &sub.fail)
    }
    fn c_sync(&self, name: &str, _: &Sub) -> String {
        python(include_str!("../c/double/verbatim/sync.c.in"), name, "")
    }
    fn c_is_simple(&self) -> bool {
        true
    }
}

fn library(language: Language) -> Library {
    Library::new().with_c::<Infix>().with_type("double", Arc::new(Double(language)))
}

/// Builds `b = (x + y) * z`.
fn graph() -> FunctionGraph {
    let ty: Type = "double<f64[]>".parse().unwrap();
    let mut graph = FunctionGraph::new();
    let [x, y, z] = ["x", "y", "z"].map(|name| graph.input(name, ty.clone()).unwrap());
    let a = graph.apply(Arc::new(Infix("add", '+')), &[x, y]).unwrap()[0];
    let b = graph.apply(Arc::new(Infix("mul", '*')), &[a, z]).unwrap()[0];
    graph.output(b, Some("b")).unwrap();
    graph
}

/// Checks the nested blocks that the tutorial shows, in its order, for one of its ops: `V0` to `V2` are x, y and x + y.
#[test]
fn blocks_follow_the_tutorial_order() {
    let graph = graph();
    let parts = segments(&graph, &library(Language::C)).unwrap();
    let body = link(&parts[0].graph, &library(Language::C)).unwrap().body;
    let run = body.split("_run(void *pc_self").nth(1).unwrap();
    let mut at = 0;
    for step in [
        "double V0;",
        "V0 = PyFloat_AsDouble(py_V0);",
        "double V1;",
        "V1 = PyFloat_AsDouble(py_V1);",
        "double V2;",
        "V2 = 0.0;",
        "V2 = V0 + V1;",
        "label_5: ;",
        "py_V2 = PyFloat_FromDouble(V2);",
        "label_3: ;",
        "label_2: ;",
        "label_1: ;",
    ] {
        let found =
            run[at..].find(step).unwrap_or_else(|| panic!("`{step}` is not behind the rest in:\n{run}"));
        at += found + step.len();
    }
}

#[test]
fn tutorial_code_computes_and_fails_as_documented() {
    let inputs = [1.0, 2.0, 3.0].map(Array::from);
    for language in [Language::C, Language::Cxx] {
        let outcome = whole(&graph(), &library(language), &inputs);
        assert_eq!(outcome.f64s(), [9.0]);
        // Each op creates a float. If that fails, the tutorial's code prints a message and continues with None, but the
        // module reports an error.
        let (said, failures): (Vec<_>, Vec<_>) =
            outcome.failures.iter().cloned().partition(|line| line.starts_with("PyFloat_FromDouble failed"));
        assert_eq!(said, [3, 9].map(|x| format!("PyFloat_FromDouble failed on: {x}.000000")));
        assert_eq!(failures[0], "refused extract 0 code 0 sync 2 struct 0");
        let expected = [(0, 0), (1, 1), (2, 1)];
        let expected = expected.map(|(i, v)| format!("input {i}: task 1 of V{v}: expected a float"));
        assert_eq!(failures[2..], expected);
    }
    assert_eq!(opwise(&graph(), &library(Language::C), &inputs).f64s(), [9.0]);
}
