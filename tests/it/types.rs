//! User types through the runtime: the tutorials' `double`, its copies by its registered C code, and the parts of a
//! key.

use crate::external::{call, chain};
use precast::{Array, DType, Function, FunctionGraph, Ops, Policy, Runtime};
use precast_codegen::template::render;
use precast_codegen::{CDataType, CLinkerObject, COp, CType, LinkError, Node, SourceSet, Sub, TypeOps, link};
use precast_graph::Complex;
use precast_graph::{MakeNodeError, Op, PerformError, Type, TypeRules};
use precast_ops::shape::{DeepCopy, Shape, ShapeI, View};
use precast_ops::{fingerprint, rewrite};
use std::path::Path;
use std::sync::Arc;

/// A float in a C variable, with the initial value `zero`.
struct Double {
    zero: &'static str,
}

impl TypeRules for Double {}

impl CLinkerObject for Double {
    fn c_headers(&self) -> Vec<String> {
        vec!["precast/link.h".to_owned()]
    }
    fn c_sources(&self) -> SourceSet {
        let scalar = precast_codegen::c_type(&Type::Scalar(DType::F64), Ops::standard().c()).unwrap();
        scalar.c_sources()
    }
}

impl CType for Double {
    fn c_declare(&self, name: &str, _: &Sub, _: bool) -> String {
        format!("double {name};\n")
    }
    fn c_init(&self, name: &str, _: &Sub) -> String {
        format!("{name} = {};\n", self.zero)
    }
    fn c_extract(&self, name: &str, sub: &Sub, _: bool) -> String {
        let values = [("NAME", name), ("PY", &sub.py_ptr), ("FAIL", &sub.fail)];
        render(include_str!("../../crates/codegen/tests/c/double/extract.c.in"), &values)
    }
    fn c_sync(&self, name: &str, sub: &Sub) -> String {
        let values = [("NAME", name), ("PY", &sub.py_ptr), ("FAIL", &sub.fail)];
        render(include_str!("../../crates/codegen/tests/c/double/sync.c.in"), &values)
    }
    fn c_is_simple(&self) -> bool {
        true
    }
}

/// Returns type ops whose copy adds a half, so that a copy is visible, and whose shapes are arbitrary.
fn type_ops() -> TypeOps {
    let shape = include_str!("c/types/shape.c.in");
    let shape_i = include_str!("c/types/shape_i.c.in");
    TypeOps::new()
        .deep_copy("@ONAME@ = @INAME@ + 0.5;", &[1])
        .view("@ONAME@ = @INAME@;", &[1])
        .shape(shape, &[1])
        .shape_i(
            shape_i,
            "if (@INAME@ < 0) { pc_error_set(ctx, PC_ERROR_INDEX, \"no dimension @I@\"); @FAIL@ }",
            &[1],
        )
}

fn ops() -> Ops {
    Ops::standard().with_type("double", Arc::new(Double { zero: "0.0" })).with_type_ops("double", type_ops())
}

fn ty() -> Type {
    "double<f64[]>".parse().unwrap()
}

/// Returns a graph of one op on one input; without an op, the output is the input.
fn graph(op: Option<Arc<dyn Op>>, ty: Type) -> FunctionGraph {
    let mut graph = FunctionGraph::new();
    let x = graph.input("x", ty).unwrap();
    let y = op.map_or(x, |op| graph.apply(op, &[x]).unwrap()[0]);
    graph.output(y, None).unwrap();
    graph
}

fn compiled(graph: &FunctionGraph) -> Function {
    Runtime::builder().ops(ops()).policy(Policy::Jit).build().unwrap().function(graph).unwrap()
}

#[test]
fn aliased_output_is_copied_by_its_type() {
    let function = compiled(&graph(None, ty()));
    assert_eq!(call(&function, &[Array::from(2.0)]).unwrap(), [Array::from(2.5)]);
    assert_eq!(call(&function, &[Array::from(3.0)]).unwrap(), [Array::from(3.5)]);
    // By the default rules of a type, a value that promotes to its carrier is accepted.
    assert_eq!(call(&function, &[Array::from(2_i64)]).unwrap(), [Array::from(2.5)]);
    let error = call(&function, &[Array::from(Complex::new(2.0, 1.0))]).unwrap_err();
    assert!(chain(&error).contains("double<f64[]>"), "{}", chain(&error));
}

#[test]
fn types_define_views_and_shapes() {
    let function = compiled(&graph(Some(Arc::new(Shape)), ty()));
    assert_eq!(call(&function, &[Array::from(1.0)]).unwrap()[0].shape(), [0]);
    // An output that is a view of an input is copied.
    let function = compiled(&graph(Some(Arc::new(View)), ty()));
    assert_eq!(call(&function, &[Array::from(1.0)]).unwrap(), [Array::from(1.5)]);
    assert!(Arc::new(ShapeI { axis: 0 }).make_node(&[ty()]).is_err(), "a double has no dimension");
    let row: Type = "double<f64[?]>".parse().unwrap();
    let module = link(&graph(Some(Arc::new(ShapeI { axis: 0 })), row), ops().c()).unwrap();
    assert!(module.body.contains("\"no dimension 0\""), "{}", module.body);
}

/// Creates a plan from a number.
#[derive(Debug)]
struct Make;

/// Scales a number by a plan.
#[derive(Debug)]
struct Scale;

impl Op for Make {
    fn name(&self) -> &str {
        "make"
    }
    fn make_node(&self, _: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        Ok(vec!["plan<opaque>".parse().unwrap()])
    }
    fn perform(&self, _: &[&Array]) -> Result<Vec<Array>, PerformError> {
        Err(PerformError::NoReference { op: "make".to_owned() })
    }
}

impl CLinkerObject for Make {}

impl COp for Make {
    fn c_code(&self, _: &Node, _: &str, i: &[String], o: &[String], _: &Sub) -> Result<String, LinkError> {
        Ok(format!("{} = plan_new({});", o[0], i[0]))
    }
}

impl Op for Scale {
    fn name(&self) -> &str {
        "scale"
    }
    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        Ok(vec![inputs[1].clone()])
    }
    fn perform(&self, _: &[&Array]) -> Result<Vec<Array>, PerformError> {
        Err(PerformError::NoReference { op: "scale".to_owned() })
    }
}

impl CLinkerObject for Scale {}

impl COp for Scale {
    fn c_code(&self, _: &Node, _: &str, i: &[String], o: &[String], _: &Sub) -> Result<String, LinkError> {
        Ok(format!("{} = {}->scale * {};", o[0], i[0], i[1]))
    }
}

/// Each op has its own module; the value is passed between them as an object that frees it.
#[test]
fn opaque_values_pass_between_modules() {
    let plan = CDataType::new("plan", "plan *").free_func("plan_free").header("plan.h");
    let plan = plan.source("plan.h", include_str!("../../crates/codegen/tests/c/plan/plan.h"));
    let ops = Ops::standard().with("make", |_| Ok(Make)).unwrap();
    let ops = ops.with("scale", |_| Ok(Scale)).unwrap().with_type("plan", Arc::new(plan));
    let mut graph = FunctionGraph::new();
    let x = graph.input("x", Type::Scalar(DType::F64)).unwrap();
    let mut last = x;
    for _ in 0..2 {
        let plan = graph.apply(Arc::new(Make), &[x]).unwrap()[0];
        for _ in 0..2 {
            last = graph.apply(Arc::new(Scale), &[plan, last]).unwrap()[0];
        }
    }
    graph.output(last, None).unwrap();
    let function = Runtime::builder().ops(ops).policy(Policy::Jit).build().unwrap().function(&graph).unwrap();
    for x in [3.0, -2.0, 3.0] {
        assert_eq!(call(&function, &[Array::from(x)]).unwrap(), [Array::from(f64::powi(x, 5))]);
    }
}

#[test]
fn unregistered_type_is_named() {
    let ops = Ops::standard().with_type("double", Arc::new(Double { zero: "0.0" }));
    let runtime = Runtime::builder().ops(ops).policy(Policy::Jit).build().unwrap();
    let error = chain(&runtime.function(&graph(None, ty())).unwrap_err());
    assert!(error.contains("no ops are registered for type `double`"), "{error}");
}

#[test]
fn registration_changes_only_its_own_keys() {
    let store = tempfile::tempdir().unwrap();
    let value = |ops: &Ops, store: &Path| {
        let runtime =
            Runtime::builder().ops(ops.clone()).writable(store).policy(Policy::Jit).build().unwrap();
        let outputs = call(&runtime.function(&graph(None, ty())).unwrap(), &[Array::from(1.0)]).unwrap();
        (outputs, runtime.stats().hits)
    };
    assert_eq!(value(&ops(), store.path()), (vec![Array::from(1.5)], 0));
    // A change of another type in the library keeps this type's artifact valid.
    let other = TypeOps::new().deep_copy("@ONAME@ = 7;", &[1]);
    let more = ops().with_type("other", Arc::new(Double { zero: "1.0" })).with_type_ops("other", other);
    assert_eq!(value(&more, store.path()), (vec![Array::from(1.5)], 1));
    // A change of this type's own code does not, whatever its version.
    let changed = ops().with_type_ops("double", TypeOps::new().deep_copy("@ONAME@ = @INAME@ + 2;", &[1]));
    assert_eq!(value(&changed, store.path()), (vec![Array::from(3.0)], 0));
    let key = |ops: &Ops, ty: &str| {
        let lowered = rewrite::lower(&graph(Some(Arc::new(DeepCopy)), ty.parse().unwrap())).unwrap();
        (link(&lowered, ops.c()).unwrap().key(), fingerprint(&lowered, ops).is_some())
    };
    for plain in ["f64[?]", "i64[?,?]"] {
        assert_eq!(key(&Ops::standard(), plain), key(&changed, plain), "{plain}");
        assert!(key(&changed, plain).1, "{plain}");
    }
    assert!(!key(&changed, "double<f64[]>").1, "its C is not the generator's");
}
