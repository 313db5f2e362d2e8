//! Declared combinations serve every use of an op: graphs of such ops run under `strict` with no other modules.

use crate::compiled::{pack, toolchain, variant};
use crate::graphs::graph;
use precast::{Array, ArrayRef, CodeOrigin, Policy, Runtime};
use precast_codegen::{Unit, link};
use precast_compile::{Isa, Parallel, compile_all};
use precast_graph::{DType, interpret};
use precast_ops::{GENERATOR, Ops, combinations};
use precast_store::write_bundle;
use precast_testkit::{Choices, arrays};
use std::sync::Arc;

/// The declared ops, each with a graph that uses it in several ways.
const USES: [(&str, &[&str]); 16] = [
    ("join", &["join(x, x + 0, axis=1)", "concatenate(y, y)"]),
    ("take", &["take(x, v, axis=1)", "take(x, v)", "take(y, v)"]),
    ("subtensor", &["x[1]", "x[0:2]", "y[n]", "y[:n]", "x[v]"]),
    ("set_subtensor", &["set_subtensor(x[1], y)", "set_subtensor(y[0:n], y[n:2])", "set_subtensor(x[v], y)"]),
    ("inc_subtensor", &["inc_subtensor(x[n], y)", "inc_subtensor(y[v], 1)"]),
    ("reshape", &["reshape(x, shape=(1, -1))", "reshape(y, -1)"]),
    ("alloc", &["alloc(1.5, n, 2)", "zeros(3)"]),
    ("arange", &["arange(3.0)", "arange(1.0, 4.0, 0.5)"]),
    ("eye", &["eye(2)", "eye(n, 3, k=1)"]),
    ("add", &["x + y"]),
    ("transpose", &["transpose(x)"]),
    ("shape", &["shape(x)"]),
    ("argmax", &["argmax(x, axis=1)", "argmax(y)"]),
    ("cumsum", &["cumsum(x, axis=0)", "cumsum(y)"]),
    ("var", &["var(x, axis=1)", "var(y)"]),
    ("dot", &["x @ y", "x @ x", "y @ y"]),
];

#[test]
fn declared_combination_serves_every_use() {
    let ops = Ops::standard();
    let declared = USES.iter().flat_map(|(op, _)| combinations(op, &[DType::F64], &[1, 2], &ops).unwrap());
    let mut modules: Vec<_> = declared.map(|c| Arc::new(link(&c.graph, ops.c()).unwrap())).collect();
    modules.sort_by_key(|module| module.key());
    modules.dedup_by_key(|module| module.key());
    let jobs: Vec<_> =
        Unit::batches(modules).into_iter().map(|unit| (unit, variant(Isa::native().unwrap()))).collect();
    let compiled = compile_all(&jobs, &toolchain(), Parallel::Auto, &|_| {});
    let records: Vec<_> = compiled.into_iter().map(|result| pack(result.unwrap())).collect();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("ops.bundle");
    fs_err::write(&path, write_bundle(&records, &[], GENERATOR).unwrap()).unwrap();
    let runtime = Runtime::builder().bundle_file(&path).policy(Policy::Strict).build().unwrap();

    let mut choices = Choices::seeded(1);
    let all = [
        ("x=f64[?,?]", arrays::draw(&mut choices, DType::F64, &[2, 2])),
        ("y=f64[?]", arrays::draw(&mut choices, DType::F64, &[2])),
        ("v=i64[?]", Array::from(ndarray::array![1_i64, 0])),
        ("n=i64[]", Array::from(1_i64)),
    ];
    for text in USES.iter().flat_map(|(_, uses)| *uses) {
        let used = |input: &str| text.split(|c: char| !c.is_alphanumeric()).any(|word| word == &input[..1]);
        let (types, inputs): (Vec<&str>, Vec<Array>) = all.iter().filter(|(ty, _)| used(ty)).cloned().unzip();
        let graph = graph(text, &types);
        let function = runtime.function(&graph).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert!(
            function.provenance().iter().all(|p| matches!(p.served, CodeOrigin::Artifact { .. })),
            "{text}"
        );
        let arguments: Vec<ArrayRef<'_>> = inputs.iter().map(ArrayRef::from).collect();
        assert_eq!(function.call(&arguments).unwrap(), interpret(&graph, &inputs).unwrap(), "{text}");
    }
}
