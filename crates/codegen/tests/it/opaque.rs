//! Tests that opaque values, created by one op and used by several, are freed exactly once. AddressSanitizer detects a
//! double free, LeakSanitizer a missing one.

use crate::run::{opwise, whole};
use precast_codegen::template::render;
use precast_codegen::{
    CCompiler, CDataType, CLinkerObject, COp, CacheVersion, Library, LinkError, Node, Sub, link,
};
use precast_graph::{Array, DType, FunctionGraph, MakeNodeError, Op, PerformError, Prop, Props, Type};
use precast_store::key::Language;
use std::sync::Arc;

/// Creates a plan from a number, or forgets to.
#[derive(Debug)]
struct Make {
    forgets: bool,
    cxx: bool,
}

/// Scales a number by a plan.
#[derive(Debug)]
struct Use;

fn plan() -> Type {
    "plan<opaque>".parse().unwrap()
}

impl Op for Make {
    fn name(&self) -> &str {
        "make"
    }
    fn props(&self) -> Props {
        [("forgets", Prop::Bool(self.forgets)), ("cxx", Prop::Bool(self.cxx))]
            .map(|(n, p)| (n.to_owned(), p))
            .into()
    }
    fn make_node(&self, _: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        Ok(vec![plan()])
    }
    fn perform(&self, _: &[&Array]) -> Result<Vec<Array>, PerformError> {
        Err(PerformError::value("make", "makes no array"))
    }
}

impl CLinkerObject for Make {
    fn c_compiler(&self) -> Option<CCompiler> {
        self.cxx.then_some(CCompiler { language: Language::Cxx })
    }
}

impl COp for Make {
    fn c_code(&self, _: &Node, _: &str, i: &[String], o: &[String], _: &Sub) -> Result<String, LinkError> {
        let condition = if self.forgets { "1 < 0" } else { "1" };
        Ok(format!("if ({condition}) {} = plan_new({});", o[0], i[0]))
    }
}

impl Op for Use {
    fn name(&self) -> &str {
        "use"
    }
    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        Ok(vec![inputs[1].clone()])
    }
    fn perform(&self, _: &[&Array]) -> Result<Vec<Array>, PerformError> {
        Err(PerformError::value("use", "takes no array"))
    }
}

impl CLinkerObject for Use {}

impl COp for Use {
    fn c_code(&self, _: &Node, _: &str, i: &[String], o: &[String], sub: &Sub) -> Result<String, LinkError> {
        let values = [("P", &*i[0]), ("X", &i[1]), ("Z", &o[0]), ("FAIL", &sub.fail)];
        Ok(render(include_str!("../c/plan/use.c.in"), &values))
    }
}

fn library() -> Library {
    let plan = CDataType::new("plan", "plan *").free_func("plan_free").header("plan.h");
    let plan = plan.source("plan.h", include_str!("../c/plan/plan.h"));
    Library::new().with_c::<Make>().with_c::<Use>().with_type("plan", Arc::new(plan))
}

/// Builds a graph whose output is a plan.
fn plan_of(forgets: bool) -> FunctionGraph {
    let mut g = FunctionGraph::new();
    let x = g.input("x", Type::Scalar(DType::F64)).unwrap();
    let plan = g.apply(Arc::new(Make { forgets, cxx: false }), &[x]).unwrap()[0];
    g.output(plan, None).unwrap();
    g
}

/// Builds a graph with two plans, each used twice.
fn graph(forgets: bool, cxx: bool) -> FunctionGraph {
    let mut g = FunctionGraph::new();
    let x = g.input("x", Type::Scalar(DType::F64)).unwrap();
    let mut last = x;
    for _ in 0..2 {
        let plan = g.apply(Arc::new(Make { forgets, cxx }), &[x]).unwrap()[0];
        for _ in 0..2 {
            last = g.apply(Arc::new(Use), &[plan, last]).unwrap()[0];
        }
    }
    g.output(last, None).unwrap();
    g
}

#[test]
fn values_are_freed_once_in_whole_graphs() {
    for cxx in [false, true] {
        let outcome = whole(&graph(false, cxx), &library(), &[Array::from(3.0)]);
        assert_eq!(outcome.f64s(), [3.0_f64.powi(5)]);
        // Each use requests scratch memory and a result; each plan requests a capsule.
        assert_eq!(outcome.failures[0], "refused extract 0 code 4 sync 6 struct 0");
    }
}

#[test]
fn values_are_freed_once_op_by_op() {
    let outcome = opwise(&graph(false, false), &library(), &[Array::from(3.0)]);
    assert_eq!(outcome.f64s(), [3.0_f64.powi(5)]);
    assert_eq!(outcome.failures[0], "refused extract 0 code 4 sync 6 struct 0");
}

#[test]
fn op_without_output_is_detected_op_by_op() {
    let outcome = opwise(&plan_of(true), &library(), &[Array::from(3.0)]);
    assert_eq!(outcome.outputs, Err("V1: the op left its output empty".to_owned()));
}

#[test]
fn type_build_settings_reach_the_module() {
    let plan = CDataType::new("plan", "plan *")
        .header("plan.h")
        .header_dir("include")
        .library("plan")
        .lib_dir("lib")
        .compile_arg("-DPLAN")
        .support_code("/* shared */")
        .version(CacheVersion::Never);
    let module = link(&plan_of(false), &library().with_type("plan", Arc::new(plan))).unwrap();
    assert!(
        module.includes.contains(&"plan.h".to_owned())
            && module.includes.contains(&"precast/capsule.h".to_owned())
    );
    assert_eq!(
        (module.header_dirs.join(","), module.libraries.join(",")),
        ("include".to_owned(), "plan".to_owned())
    );
    assert_eq!((module.lib_dirs.join(","), module.flags.join(",")), ("lib".to_owned(), "-DPLAN".to_owned()));
    assert_eq!(module.body.matches("/* shared */").count(), 1);
    assert!(module.unpublished, "a type may keep modules in the process");
    assert!(!link(&plan_of(false), &library()).unwrap().unpublished);
}
