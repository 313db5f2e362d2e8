//! Tests each failure of a user type whose every step can fail, used by ops with params, struct members and scratch
//! memory.

use crate::run::{Outcome, opwise, whole};
use precast_codegen::template::render;
use precast_codegen::{CCompiler, CLinkerObject, COp, CType, Library, LinkError, Node, Sub, c_type};
use precast_graph::{Array, FunctionGraph, MakeNodeError, Op, PerformError, Prop, Props, Type, TypeRules};
use precast_store::key::Language;
use std::sync::Arc;

/// An f64 in heap memory: allocated by init and extract, freed by cleanup.
struct Boxed;

impl TypeRules for Boxed {}

impl CLinkerObject for Boxed {
    fn c_headers(&self) -> Vec<String> {
        vec!["precast/link.h".to_owned()]
    }
    fn c_sources(&self) -> precast_codegen::SourceSet {
        c_type(&"f64[]".parse().unwrap(), &Library::new()).unwrap().c_sources()
    }
}

impl Boxed {
    fn render(template: &str, name: &str, sub: &Sub) -> String {
        let init = render(include_str!("../c/boxed/init.c.in"), &[("NAME", name), ("FAIL", &sub.fail)]);
        let values = [("NAME", name), ("PY", &*sub.py_ptr), ("FAIL", &sub.fail), ("INIT", &init)];
        render(template, &values)
    }
}

impl CType for Boxed {
    fn c_declare(&self, name: &str, _: &Sub, _: bool) -> String {
        format!("double *{name};\n{name} = NULL;\n")
    }
    fn c_init(&self, name: &str, sub: &Sub) -> String {
        Self::render(include_str!("../c/boxed/init.c.in"), name, sub)
    }
    fn c_extract(&self, name: &str, sub: &Sub, _: bool) -> String {
        Self::render(include_str!("../c/boxed/extract.c.in"), name, sub)
    }
    fn c_sync(&self, name: &str, sub: &Sub) -> String {
        Self::render(include_str!("../c/boxed/sync.c.in"), name, sub)
    }
    fn c_cleanup(&self, name: &str, _: &Sub) -> String {
        format!("ctx->host->release(ctx, {name});\n")
    }
}

/// Computes `x + alpha * y + 100 * alpha`; `alpha` is a param, the last term a struct member.
#[derive(Debug)]
struct Axpy {
    alpha: f64,
    cxx: bool,
}

impl Op for Axpy {
    fn name(&self) -> &str {
        "axpy"
    }
    fn props(&self) -> Props {
        [("alpha", Prop::Float(self.alpha)), ("cxx", Prop::Bool(self.cxx))]
            .map(|(n, p)| (n.to_owned(), p))
            .into()
    }
    fn params(&self) -> Vec<String> {
        vec!["alpha".to_owned()]
    }
    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        MakeNodeError::expect_inputs("axpy", 2, inputs)?;
        Ok(vec![inputs[0].clone()])
    }
    fn perform(&self, _: &[&Array]) -> Result<Vec<Array>, PerformError> {
        Err(PerformError::value("axpy", "not needed here"))
    }
}

impl CLinkerObject for Axpy {
    fn c_compiler(&self) -> Option<CCompiler> {
        self.cxx.then_some(CCompiler { language: Language::Cxx })
    }
}

impl COp for Axpy {
    fn c_support_code_struct(&self, _: &Node, name: &str) -> String {
        format!("double *{name}_offset; void *{name}_scratch;")
    }
    fn c_init_code_struct(&self, _: &Node, name: &str, sub: &Sub) -> String {
        let values = [("NAME", name), ("P", sub.params.as_ref().unwrap()), ("FAIL", &sub.fail)];
        render(include_str!("../c/boxed/init_struct.c.in"), &values)
    }
    fn c_cleanup_code_struct(&self, _: &Node, name: &str) -> String {
        format!("ctx->host->release(ctx, self->{name}_offset);")
    }
    fn c_code(
        &self,
        _: &Node,
        name: &str,
        i: &[String],
        o: &[String],
        sub: &Sub,
    ) -> Result<String, LinkError> {
        let p = sub.params.as_ref().unwrap();
        let values =
            [("NAME", name), ("X", &*i[0]), ("Y", &i[1]), ("Z", &o[0]), ("P", p), ("FAIL", &sub.fail)];
        Ok(render(include_str!("../c/boxed/code.c.in"), &values))
    }
    fn c_code_cleanup(&self, _: &Node, name: &str, _: &[String], _: &[String], _: &Sub) -> String {
        format!("ctx->host->release(ctx, self->{name}_scratch); self->{name}_scratch = NULL;")
    }
}

/// Builds a chain of `n` Applies, each on the previous result and `x`.
fn chain(n: usize, cxx: bool) -> FunctionGraph {
    let mut graph = FunctionGraph::new();
    let x = graph.input("x", "boxed<f64[]>".parse().unwrap()).unwrap();
    let mut last = x;
    for i in 0..n {
        last = graph.apply(Arc::new(Axpy { alpha: i as f64 + 1.0, cxx }), &[last, x]).unwrap()[0];
    }
    graph.output(last, None).unwrap();
    graph
}

fn library() -> Library {
    Library::new().with_c::<Axpy>().with_type("boxed", Arc::new(Boxed))
}

fn check(outcome: &Outcome, n: usize, extracts: usize) {
    let sum = (1..=n).sum::<usize>() as f64;
    assert_eq!(outcome.f64s(), [2.0 + 2.0 * sum + 100.0 * sum]);
    assert_eq!(outcome.failures[0], format!("refused extract {extracts} code {n} sync {n} struct {n}"));
    assert_eq!(outcome.failures[1], format!("wrong accepted 0 extract 1 code 0 sync 0 struct {n}"));
    assert_eq!(
        outcome.failures[2],
        "input 0: task 1 of V0: V0: expected a tensor of dtype number 12, found dtype number 1"
    );
}

#[test]
fn user_type_steps_may_fail_in_c() {
    for n in [1, 3, 20] {
        // Each Apply has its own module, so it has two inputs and an output.
        check(&whole(&chain(n, false), &library(), &[Array::from(2.0)]), n, 3 * n);
    }
}

#[test]
fn user_type_steps_may_fail_in_cxx() {
    check(&whole(&chain(3, true), &library(), &[Array::from(2.0)]), 3, 9);
}

#[test]
fn user_type_steps_may_fail_op_by_op() {
    check(&opwise(&chain(3, false), &library(), &[Array::from(2.0)]), 3, 9);
}
