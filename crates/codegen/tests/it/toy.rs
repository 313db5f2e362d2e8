//! Small ops for the tests: `add` and `mul` on C scalars, and `tadd` on tensors, which can fail.

use precast_codegen::{CLinkerObject, COp, Library, LinkError, Node, Sub};
use precast_graph::{Array, DType, FunctionGraph, MakeNodeError, Op, PerformError, Prop, Props, Type};
use std::sync::Arc;

/// An infix operation on two C scalars.
#[derive(Debug)]
pub(crate) struct Infix(pub &'static str, pub char);

impl Op for Infix {
    fn name(&self) -> &str {
        self.0
    }
    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        MakeNodeError::expect_inputs(self.0, 2, inputs)?;
        Ok(vec![inputs[0].clone()])
    }
    fn perform(&self, _: &[&Array]) -> Result<Vec<Array>, PerformError> {
        Err(PerformError::value(self.0, "not needed here"))
    }
}

impl CLinkerObject for Infix {}

impl COp for Infix {
    fn c_code(&self, _: &Node, _: &str, i: &[String], o: &[String], _: &Sub) -> Result<String, LinkError> {
        Ok(format!("{} = {} {} {};", o[0], i[0], self.1, i[1]))
    }
    fn content_id(&self) -> Option<String> {
        Some("infix".to_owned())
    }
}

/// Adds two tensors of the same shape; fails on different shapes or without memory. Has a struct member and a helper.
#[derive(Debug)]
pub(crate) struct TensorAdd {
    /// Part of the props, so that two ops of this type can differ.
    pub tag: i64,
    /// C++ uses a different module template.
    pub cxx: bool,
}

impl Op for TensorAdd {
    fn name(&self) -> &str {
        "tadd"
    }
    fn props(&self) -> Props {
        Props::from([("tag".to_owned(), Prop::Int(self.tag)), ("cxx".to_owned(), Prop::Bool(self.cxx))])
    }
    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        MakeNodeError::expect_inputs("tadd", 2, inputs)?;
        Ok(vec![inputs[0].clone()])
    }
    fn perform(&self, _: &[&Array]) -> Result<Vec<Array>, PerformError> {
        Err(PerformError::value("tadd", "not needed here"))
    }
}

impl CLinkerObject for TensorAdd {
    fn c_support_code(&self) -> Vec<String> {
        vec![include_str!("../c/tadd_support.c").to_owned()]
    }
    fn c_init_code(&self) -> Vec<String> {
        vec!["if (ctx == NULL) return 1;".to_owned()]
    }
    fn c_compiler(&self) -> Option<precast_codegen::CCompiler> {
        let language = precast_store::key::Language::Cxx;
        self.cxx.then_some(precast_codegen::CCompiler { language })
    }
}

impl COp for TensorAdd {
    fn c_code(
        &self,
        _: &Node,
        name: &str,
        i: &[String],
        o: &[String],
        sub: &Sub,
    ) -> Result<String, LinkError> {
        Ok(precast_codegen::template::render(
            include_str!("../c/tadd.c.in"),
            &[("NAME", name), ("X", &i[0]), ("Y", &i[1]), ("Z", &o[0]), ("FAIL", &sub.fail)],
        ))
    }
    fn c_code_cleanup(&self, _: &Node, name: &str, _: &[String], _: &[String], _: &Sub) -> String {
        format!("self->{name}_calls++;")
    }
    fn c_support_code_apply(&self, _: &Node, name: &str) -> Result<String, LinkError> {
        Ok(format!("static double {name}_scale(double x) {{ return x * {}; }}", self.tag))
    }
    fn c_support_code_struct(&self, _: &Node, name: &str) -> String {
        format!("long {name}_calls; void *{name}_memory;")
    }
    fn c_init_code_struct(&self, _: &Node, name: &str, sub: &Sub) -> String {
        let allocate = format!("self->{name}_memory = ctx->host->alloc(ctx, 16);");
        format!("{allocate}\nif (self->{name}_memory == NULL) {}", sub.fail)
    }
    fn c_cleanup_code_struct(&self, _: &Node, name: &str) -> String {
        format!("ctx->host->release(ctx, self->{name}_memory);")
    }
    fn content_id(&self) -> Option<String> {
        Some("tadd".to_owned())
    }
}

/// `x * tag + y` like [`TensorAdd`], without members.
#[derive(Debug, Clone)]
pub(crate) struct Plain {
    pub tag: i64,
    /// An op whose C code comes from an author has no ID.
    pub own: bool,
}

impl Op for Plain {
    fn name(&self) -> &str {
        "plain"
    }
    fn props(&self) -> Props {
        Props::from([("tag".to_owned(), Prop::Int(self.tag))])
    }
    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        MakeNodeError::expect_inputs("plain", 2, inputs)?;
        Ok(vec![inputs[0].clone()])
    }
    fn perform(&self, _: &[&Array]) -> Result<Vec<Array>, PerformError> {
        Err(PerformError::value("plain", "not needed here"))
    }
}

impl CLinkerObject for Plain {}

impl COp for Plain {
    fn c_code(
        &self,
        _: &Node,
        name: &str,
        i: &[String],
        o: &[String],
        sub: &Sub,
    ) -> Result<String, LinkError> {
        Ok(precast_codegen::template::render(
            &include_str!("../c/tadd.c.in").replace("tadd_same_shape", "@NAME@_same_shape"),
            &[("NAME", name), ("X", &i[0]), ("Y", &i[1]), ("Z", &o[0]), ("FAIL", &sub.fail)],
        ))
    }
    fn c_support_code_apply(&self, _: &Node, name: &str) -> Result<String, LinkError> {
        let same_shape = include_str!("../c/tadd_support.c").replace("tadd", name);
        Ok(format!("{same_shape}static double {name}_scale(double x) {{ return x * {}; }}", self.tag))
    }
    fn content_id(&self) -> Option<String> {
        (!self.own).then(|| "plain".to_owned())
    }
}

/// Returns the library of these ops.
pub(crate) fn library() -> Library {
    Library::new().with_c::<Infix>().with_c::<TensorAdd>().with_c::<Plain>()
}

/// Builds a chain of `n` [`Plain`] Applies with factors 1 and 2 in turn; every value is an output.
pub(crate) fn plain_chain(n: usize) -> FunctionGraph {
    let mut graph = FunctionGraph::new();
    let x = graph.input("x", Type::tensor(DType::F64, 1)).unwrap();
    let mut last = x;
    for at in 0..n {
        let op = Plain { tag: (at % 2) as i64 + 1, own: false };
        last = graph.apply(Arc::new(op), &[last, x]).unwrap()[0];
        graph.output(last, None).unwrap();
    }
    graph
}

/// Builds `(x + y) * z` on C scalars: the example of Aesara's CType document.
pub(crate) fn seed_graph() -> FunctionGraph {
    let mut graph = FunctionGraph::new();
    let [x, y, z] = ["x", "y", "z"].map(|name| graph.input(name, Type::Scalar(DType::F64)).unwrap());
    let a = graph.apply(Arc::new(Infix("add", '+')), &[x, y]).unwrap()[0];
    let b = graph.apply(Arc::new(Infix("mul", '*')), &[a, z]).unwrap()[0];
    graph.output(b, Some("b")).unwrap();
    graph
}

/// Builds a chain of `n` Applies, each of which adds `x` to the previous result, starting with a constant.
pub(crate) fn chain(n: usize, cxx: bool) -> FunctionGraph {
    let mut graph = FunctionGraph::new();
    let x = graph.input("x", Type::tensor(DType::F64, 1)).unwrap();
    let ones = ndarray_ones();
    let mut last = graph.constant_of(ones, Type::tensor(DType::F64, 1));
    for tag in 0..n {
        let op = TensorAdd { tag: (tag % 2) as i64 + 1, cxx };
        last = graph.apply(Arc::new(op), &[last, x]).unwrap()[0];
    }
    graph.output(last, Some("out")).unwrap();
    graph
}

fn ndarray_ones() -> Array {
    Array::from_bits(DType::F64, &[3], &[1.0_f64.to_bits(); 3]).unwrap()
}
