//! The type `double` of Aesara's CType document, as a user's crate would implement it: a C variable that holds a float.

use crate::run::{opwise, whole};
use crate::toy::Infix;
use precast_codegen::template::render;
use precast_codegen::{CLinkerObject, CType, Library, LinkError, Sub, link, segments};
use precast_graph::{Array, DType, FilterError, FunctionGraph, Type, TypeRules};
use std::sync::Arc;

/// Values are floats, carried as `f64[]`.
pub(crate) struct Double;

impl TypeRules for Double {
    fn filter(&self, ty: &Type, x: Array, strict: bool, _: Option<bool>) -> Result<Array, FilterError> {
        if (strict && x.dtype() != DType::F64) || !x.shape().is_empty() {
            let problem = "expected a float".to_owned();
            return Err(FilterError::Value { ty: ty.to_string(), problem });
        }
        Ok(x.cast(DType::F64))
    }

    fn values_eq_approx(&self, a: &Array, b: &Array) -> bool {
        let number = |x: &Array| x.numbers()[0].parts().0;
        let (a, b) = (number(a), number(b));
        (a - b).abs() / (a + b) < 1e-4
    }
}

impl CLinkerObject for Double {
    fn c_headers(&self) -> Vec<String> {
        vec!["precast/module.h".to_owned()]
    }
    fn c_sources(&self) -> precast_codegen::SourceSet {
        precast_abi::HEADERS.iter().map(|(name, text)| ((*name).to_owned(), (*text).into())).collect()
    }
}

impl CType for Double {
    fn c_declare(&self, name: &str, _: &Sub, _: bool) -> String {
        format!("double {name};\n")
    }

    fn c_init(&self, name: &str, _: &Sub) -> String {
        format!("{name} = 0.0;\n")
    }

    fn c_extract(&self, name: &str, sub: &Sub, _: bool) -> String {
        let values = [("NAME", name), ("PY", &sub.py_ptr), ("FAIL", &sub.fail)];
        render(include_str!("../c/double/extract.c.in"), &values)
    }

    fn c_sync(&self, name: &str, sub: &Sub) -> String {
        let values = [("NAME", name), ("PY", &sub.py_ptr), ("FAIL", &sub.fail)];
        render(include_str!("../c/double/sync.c.in"), &values)
    }

    fn c_is_simple(&self) -> bool {
        true
    }

    fn c_is_number(&self) -> bool {
        true
    }
}

pub(crate) fn library() -> Library {
    Library::new().with_c::<Infix>().with_type("double", Arc::new(Double))
}

fn ty() -> Type {
    "double<f64[]>".parse().unwrap()
}

/// Builds `x + y`.
fn sum() -> FunctionGraph {
    let mut graph = FunctionGraph::new();
    let [x, y] = ["x", "y"].map(|name| graph.input(name, ty()).unwrap());
    let z = graph.apply(Arc::new(Infix("add", '+')), &[x, y]).unwrap()[0];
    graph.output(z, None).unwrap();
    graph
}

/// Builds `b = (x + y) * z`.
fn graph() -> FunctionGraph {
    let mut graph = FunctionGraph::new();
    let [x, y, z] = ["x", "y", "z"].map(|name| graph.input(name, ty()).unwrap());
    let a = graph.apply(Arc::new(Infix("add", '+')), &[x, y]).unwrap()[0];
    let b = graph.apply(Arc::new(Infix("mul", '*')), &[a, z]).unwrap()[0];
    graph.output(b, Some("b")).unwrap();
    graph
}

#[test]
fn blocks_match_the_ctype_document() {
    let module = link(&sum(), &library()).unwrap();
    assert_eq!(module.signature, "add(double<f64[]>, double<f64[]>) -> double<f64[]>");
    assert!(module.body.contains("\"dd)d~\"") && module.is_alone);
    let run = module.body.split("_run(void *pc_self").nth(1).unwrap().split("\n/* Computes").next().unwrap();
    insta::assert_snapshot!(run.split("(void)pc_args;\n").nth(1).unwrap());
}

#[test]
fn ctype_example_is_a_plain_function() {
    let mut graph = FunctionGraph::new();
    let [x, y, z] = ["x", "y", "z"].map(|name| graph.input(name, Type::Scalar(DType::F64)).unwrap());
    let a = graph.apply(Arc::new(Infix("add", '+')), &[x, y]).unwrap()[0];
    let b = graph.apply(Arc::new(Infix("mul", '*')), &[a, z]).unwrap()[0];
    graph.output(b, Some("b")).unwrap();
    assert_eq!(link(&graph, &library()).unwrap().native, Ok("ddd)d~".to_owned()));
    // An op on the document's own type also has a native function, because the type declares that its values are
    // numbers.
    let module = link(&sum(), &library()).unwrap();
    assert_eq!(module.native, Ok("dd)d~".to_owned()));
    let native = module.body.split("@M@_native(").nth(1).unwrap();
    let native = native.split("static const pc_task").next().unwrap();
    insta::assert_snapshot!(native);
}

#[test]
fn ops_of_two_authors_need_separate_modules() {
    let error = link(&graph(), &library()).unwrap_err();
    assert_eq!(error, LinkError::Crowded { apply: 0, op: "add".into() });
    let graph = graph();
    let signatures = segments(&graph, &library()).unwrap().into_iter();
    let signatures = signatures.map(|segment| link(&segment.graph, &library()).unwrap().signature);
    let [ty, one] = ["double<f64[]>", "double<f64[]>, double<f64[]>"];
    assert_eq!(
        signatures.collect::<Vec<_>>(),
        [format!("add({one}) -> {ty}"), format!("mul({one}) -> {ty}")]
    );
}

#[test]
fn failing_extract_names_its_variable() {
    let inputs = [1.0, 2.0, 3.0].map(Array::from);
    for outcome in [whole(&graph(), &library(), &inputs), opwise(&graph(), &library(), &inputs)] {
        assert_eq!(outcome.f64s(), [9.0]);
        assert_eq!(outcome.failures[1], "wrong accepted 0 extract 3 code 0 sync 0 struct 0");
    }
    let outcome = whole(&graph(), &library(), &inputs);
    // The third failure is the second input of the second module.
    let expected = [0, 1, 1].iter().enumerate();
    let expected: Vec<String> =
        expected.map(|(i, v)| format!("input {i}: task 1 of V{v}: expected a float")).collect();
    assert_eq!(outcome.failures[2..], expected);
}

#[test]
fn type_rules_come_from_the_type() {
    let filter = |x: Array, strict| Double.filter(&ty(), x, strict, None);
    assert_eq!(filter(Array::from(2_i64), false), Ok(Array::from(2.0)));
    let error = filter(Array::from(2_i64), true).unwrap_err();
    assert_eq!(error.to_string(), "`double<f64[]>`: expected a float");
    assert!(Double.values_eq_approx(&Array::from(1.0), &Array::from(1.0001)));
    assert!(!Double.values_eq_approx(&Array::from(1.0), &Array::from(1.001)));
    assert!(!Double.values_eq(&Array::from(1.0), &Array::from(1.0001)));
}

#[test]
fn unknown_type_is_named() {
    let error = link(&sum(), &Library::new().with_c::<Infix>()).unwrap_err();
    assert_eq!(error, LinkError::NoType { ty: "double<f64[]>".into(), name: "double".into() });
    let message = "no C code for values of type `double<f64[]>`: unknown type `double`\nhint: add it with \
                   `Library::with_type`";
    assert_eq!(error.to_string(), message);
}
