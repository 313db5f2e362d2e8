//! Tests of debug mode on ops that keep their contract, and on one with a wrong reference. `tests/cli/check_op` has
//! ops in C that violate it.

use super::call::graph;
use precast_graph::{DType, OpLibrary as _, Type};
use precast_ops::scalar::find;
use precast_ops::{Elemwise, Row, combinations};
use precast_runtime::{Array, ArrayRef, FunctionGraph, Ops, Policy, Runtime, debug};
use precast_testkit::scalar_op;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Expressions for functions without declared combinations, or with features beyond them; `T` is the sampled dtype.
const EXPRESSIONS: &[(&str, &str, &[&str])] = &[
    ("alloc", "alloc(x, 2, 3)", &["x=T[]"]),
    ("arange", "arange(n)", &["n=i64[]"]),
    ("assert", "assert(x, (sum(x) >= sum(x)) | (sum(x) != sum(x)))", &["x=f64[?]"]),
    ("cast", "cast(x, dtype=f32)", &["x=f64[?,?]"]),
    ("cholesky", "cholesky(dot(x, transpose(x)), on_error='nan')", &["x=f64[2,2]"]),
    ("concatenate", "concatenate(x, y, axis=0)", &["x=T[?,?]", "y=T[?,?]"]),
    ("dimshuffle", "dimshuffle(x, order=(1, -1, 0)) + y", &["x=f64[?,?]", "y=f64[?,?,?]"]),
    ("eye", "eye(n, 3)", &["n=i64[]"]),
    ("flatten", "flatten(x)", &["x=T[?,?]"]),
    ("inc_subtensor", "inc_subtensor(x[1:3], y)", &["x=f64[?]", "y=f64[?]"]),
    ("join", "join(x, y, axis=1)", &["x=T[?,?]", "y=T[?,?]"]),
    ("make_vector", "make_vector(x, y)", &["x=T[]", "y=T[]"]),
    ("ones", "ones(n, 2)", &["n=i64[]"]),
    ("pow", "pow(x, 3)", &["x=f64[?]"]),
    ("reshape", "reshape(x, 1, -1)", &["x=T[?,?]"]),
    ("set_subtensor", "set_subtensor(x[v], y)", &["x=T[?]", "v=i64[?]", "y=T[?]"]),
    ("shape_i", "shape_i(x, i=0)", &["x=T[?,?]"]),
    ("split", "split(x, sizes=(1, 2), axis=0, piece=1)", &["x=T[?]"]),
    ("stack", "stack(x, y)", &["x=T[?]", "y=T[?]"]),
    ("subtensor", "x[::-1, 0:2]", &["x=T[?,?]"]),
    ("take", "take(x, v, axis=0)", &["x=T[?,?]", "v=i64[?]"]),
    ("transpose", "transpose(x)", &["x=T[?,?]"]),
    ("zeros", "zeros(n, 2)", &["n=i64[]"]),
    ("append", "append(x, y)", &["x=T[?]", "y=T[?]"]),
    ("argtopk", "argtopk(x, 1)", &["x=T[?]"]),
    ("array", "array([x, y])", &["x=T[]", "y=T[]"]),
    ("asarray", "asarray([x, y])", &["x=T[]", "y=T[]"]),
    ("broadcast_to", "broadcast_to(x, (2, 3))", &["x=T[]"]),
    ("compress", "compress(c, x)", &["c=bool[?]", "x=T[?]"]),
    ("diagonal", "diagonal(x)", &["x=T[?,?]"]),
    ("einsum", "einsum('ij,kj', x, y)", &["x=f64[?,?]", "y=f64[?,?]"]),
    ("empty", "empty(n, 2)", &["n=i64[]"]),
    ("expand_dims", "expand_dims(x, 0)", &["x=T[?,?]"]),
    ("extract", "extract(c, x)", &["c=bool[?]", "x=T[?]"]),
    ("fliplr", "fliplr(x)", &["x=T[?,?]"]),
    ("full", "full((n, 2), x)", &["n=i64[]", "x=T[]"]),
    ("full_like", "full_like(x, y)", &["x=T[?,?]", "y=T[]"]),
    ("hstack", "hstack(x, y)", &["x=T[?,?]", "y=T[?,?]"]),
    ("linspace", "linspace(x, y, 4)", &["x=f64[]", "y=f64[]"]),
    ("pivot_to_permutation", "pivot_to_permutation(lu_factor(x)[1])", &["x=f64[2,2]"]),
    ("lu_factor", "lu_factor(x)[0]", &["x=f64[2,2]"]),
    ("qr", "qr(x)[0]", &["x=f64[2,2]"]),
    ("eigh", "eigh(x)[1]", &["x=f64[2,2]"]),
    ("eig", "eig(x)[1]", &["x=f64[2,2]"]),
    ("schur", "schur(x)[0]", &["x=f64[2,2]"]),
    ("qz", "qz(x, y)[0]", &["x=f64[2,2]", "y=f64[2,2]"]),
    ("ordqz", "ordqz(x, y)[3]", &["x=f64[2,2]", "y=f64[2,2]"]),
    ("fft", "fft(x)", &["x=c128[?]"]),
    ("svd", "svd(x)[0]", &["x=f64[2,2]"]),
    ("solve", "solve(x, y, on_error='nan')", &["x=f64[2,2]", "y=f64[2,3]"]),
    ("solve_banded", "solve_banded((1, 0), x, y, on_error='nan')", &["x=f64[2,2]", "y=f64[2,3]"]),
    ("solve_triangular", "solve_triangular(x, y, on_error='nan')", &["x=f64[2,2]", "y=f64[2,3]"]),
    ("matrix_transpose", "matrix_transpose(x)", &["x=T[?,?]"]),
    ("moveaxis", "moveaxis(x, 0, 1)", &["x=T[?,?]"]),
    ("percentile", "percentile(x, 25)", &["x=f64[?]"]),
    ("quantile", "quantile(x, 0.25)", &["x=f64[?]"]),
    ("nanpercentile", "nanpercentile(x, 25)", &["x=f64[?]"]),
    ("nanquantile", "nanquantile(x, 0.25)", &["x=f64[?]"]),
    ("repeat", "repeat(x, 2)", &["x=T[?]"]),
    ("roll", "roll(x, 1)", &["x=T[?,?]"]),
    ("squeeze", "squeeze(x, axis=0)", &["x=T[1,?]"]),
    ("swapaxes", "swapaxes(x, 0, 1)", &["x=T[?,?]"]),
    ("tensordot", "tensordot(x, y, 1)", &["x=f64[?,?]", "y=f64[?,?]"]),
    ("tile", "tile(x, 2)", &["x=T[?]"]),
    ("topk", "topk(x, 1)", &["x=T[?]"]),
    ("trace", "trace(x)", &["x=f64[?,?]"]),
    ("tri", "tri(n)", &["n=i64[]"]),
    ("vstack", "vstack(x, y)", &["x=T[?]", "y=T[?]"]),
    ("sum_to", "sum_to(x, (1, x.shape[1]))", &["x=f64[?,?]"]),
    ("jvp", "jvp(exp(x), x, x)", &["x=f64[?]"]),
    ("hvp", "hvp(sum(x * x * x), x, x)", &["x=f64[?]"]),
    ("jacobian", "jacobian(exp(x) * x, x)", &["x=f64[?]"]),
    ("hessian", "hessian(sum(x * x * x), x)", &["x=f64[?]"]),
    ("branch", "branch(n, [lambda: x * 2, lambda: x + 1])", &["n=i64[]", "x=T[?]"]),
    ("custom_gradient", "custom_gradient(x * 2, lambda g, x: g * x, x)", &["x=f64[?]"]),
    ("matrix_power", "matrix_power(x, 3)", &["x=f64[2,2]"]),
    ("fused", "sum(exp(-x*x)*y + 2, axis=0)", &["x=f64[?,?]", "y=f64[?,?]"]),
    ("in place", "dot(x, x)*2 + inc_subtensor((x*3)[0:1], 5)", &["x=f64[?,?]"]),
];

/// Names that only JSON contains, used by functions with other names; and loops, which are checked on given inputs.
const JSON_ONLY: [&str; 4] = ["advanced_inc_subtensor1", "advanced_subtensor1", "external", "scan"];

/// Returns graphs that check a function with one supported dtype: the first from position `at` on in the list of all
/// dtypes. `None` if there are neither combinations nor an expression.
fn graphs(name: &str, at: usize, ops: &Ops) -> Option<Vec<FunctionGraph>> {
    let dtypes = (0..DType::ALL.len()).map(|i| DType::ALL[(at + i) % DType::ALL.len()]);
    if let Some((_, text, inputs)) = EXPRESSIONS.iter().find(|(known, ..)| *known == name) {
        let dtype = dtypes.into_iter().next().unwrap().name();
        let inputs: Vec<String> =
            inputs.iter().map(|input| input.replace("=T[", &format!("={dtype}["))).collect();
        return Some(vec![graph(text, &inputs.iter().map(String::as_str).collect::<Vec<_>>())]);
    }
    let found = dtypes.into_iter().find_map(|dtype| combinations(name, &[dtype], &[2], ops).ok())?;
    Some(found.into_iter().map(|combination| combination.graph).collect())
}

/// Returns the names to check.
fn names(ops: &Ops) -> Vec<String> {
    let is_cast = |name: &str| name.parse::<DType>().is_ok();
    // The ops that a composed function calls are checked under their own names.
    let is_composed = |name: &str| Ops::row(name).is_some_and(Row::is_composed);
    let is_left_out = |name: &str| is_cast(name) || JSON_ONLY.contains(&name) || is_composed(name);
    let names = ops.names().into_iter().filter(|name| !is_left_out(name));
    names.chain(["fused", "in place"].map(str::to_owned)).collect()
}

#[test]
fn every_built_in_op_has_graphs() {
    let ops = Ops::standard();
    let missing: Vec<String> =
        names(&ops).into_iter().filter(|name| graphs(name, 0, &ops).is_none()).collect();
    assert!(missing.is_empty(), "without combinations and expressions: {missing:?}");
}

#[test]
fn first_twelfth_of_built_in_ops_keeps_contracts() {
    keep_their_contract(0, 12);
}

#[test]
fn seventh_twelfth_of_built_in_ops_keeps_contracts() {
    keep_their_contract(6, 12);
}

#[test]
#[ignore = "long, run by `cargo xtask contracts`"]
fn every_built_in_op_keeps_its_contract() {
    keep_their_contract(0, 1);
}

/// Checks every `step`-th name, from `first` on.
fn keep_their_contract(first: usize, step: usize) {
    // The store keeps modules, so only the first run compiles unchanged ones.
    let store = concat!(env!("CARGO_TARGET_TMPDIR"), "/debug-store");
    let runtime = Runtime::builder().writable(store).policy(Policy::Jit).build().unwrap();
    let ops = Ops::standard();
    let names = names(&ops);
    let (mut problems, mut checked) = (String::new(), 0);
    // A composition may call an op with numbers unlike any generated ones, so each of these ops must succeed in at least
    // one graph.
    let (mut tried, mut untried) = (BTreeSet::new(), BTreeMap::new());
    let selected: Vec<(usize, &String)> = names.iter().enumerate().skip(first).step_by(step).collect();
    for (at, name) in selected.iter().copied() {
        for graph in graphs(name, at * 7, &ops).unwrap_or_default() {
            for apply in debug::check(&runtime, &graph, &debug::Options::default()).unwrap().applies {
                checked += 1;
                apply.violations.iter().for_each(|violation| problems += &format!("{name}: {violation}\n"));
                let op = apply.signature.split(['(', '{']).next().unwrap_or_default().to_owned();
                if op == "scan" {
                    continue;
                }
                if !apply.has_reference {
                    problems += &format!("{name}: {apply:?}\n");
                } else if apply.accepted > 0 {
                    tried.insert(op);
                } else {
                    untried.insert(op, format!("{name}: {apply:?}\n"));
                }
            }
        }
    }
    untried.retain(|op, _| !tried.contains(op) && selected.iter().any(|(_, name)| *name == op));
    problems.extend(untried.into_values());
    assert!(problems.is_empty(), "{problems}");
    assert!(checked > selected.len(), "{checked} Applies of {} names", selected.len());
}

#[test]
fn loops_keep_their_contract_on_given_inputs() {
    let runtime = Runtime::builder().policy(Policy::Jit).build().unwrap();
    let inputs = ["x=f64[?,?]", "y=f64[?]"];
    let values = [
        Array::from(ndarray::Array2::from_elem((5, 3), 0.5).into_dyn()),
        Array::from(ndarray::arr1(&[0.25, 1.5, -2.0]).into_dyn()),
    ];
    for text in [
        "scan(lambda c, r: (c * 0.5 + r, c), y, x)[1]",
        "scan(lambda c, r: (c + r.sum(), c, c > 2.0), 0.0, x * y, until=True)[1]",
        "scan(lambda c, r: (c * 0.5 + r, c), 1.0, y, reverse=True)[1] + x.sum()",
        "while_loop(lambda c: c.sum() < 20.0, lambda c: abs(c) * 2 + y, x)",
    ] {
        let graph = graph(text, &inputs);
        let findings = debug::check_on(&runtime, &graph, &values, &debug::Options::default()).unwrap();
        let loops: Vec<_> =
            findings.applies.iter().filter(|apply| apply.signature.starts_with("scan")).collect();
        assert!(!loops.is_empty() && loops.iter().all(|apply| apply.accepted > 0), "{text}: {loops:?}");
        findings.into_result().unwrap();
    }
    let generated = debug::check(
        &runtime,
        &graph("fori_loop(0, n, lambda i, c: c + i, 0)", &["n=i64[]"]),
        &debug::Options::default(),
    );
    let skipped = generated.unwrap().applies.into_iter().find(|apply| apply.signature.starts_with("scan"));
    assert!(skipped.unwrap().skipped.is_some());
}

#[test]
fn small_graphs_keep_their_contract_on_given_inputs() {
    let runtime = Runtime::builder().policy(Policy::Jit).build().unwrap();
    let values = [
        Array::from(ndarray::arr2(&[[3.0, 0.5], [-1.0, 2.0]]).into_dyn()),
        Array::from(ndarray::arr1(&[0.25, -2.0]).into_dyn()),
    ];
    for text in ["exp(y)/sum(y) + solve(x, y) + cumsum(y)", "concatenate([x[:, 0], y]) * sum(x @ y)"] {
        let graph = graph(text, &["x=f64[2,2]", "y=f64[2]"]);
        let findings = debug::check_on(&runtime, &graph, &values, &debug::Options::default()).unwrap();
        let small = findings.applies.iter().find(|apply| apply.signature.starts_with("small_graph"));
        assert!(small.is_some_and(|apply| apply.accepted > 0), "{text}: {small:?}");
        findings.into_result().unwrap();
    }
}

#[test]
fn debug_graph_checks_every_apply() {
    let graph = graph("out = sum(exp(-x*x)*y + z)", &["x=f64[?]", "y=f64[?]", "z=f64[?]"]);
    let inputs = [0.5, 1.5, 2.5].map(|v| Array::from(ndarray::Array1::linspace(-v, v, 33).into_dyn()));
    let borrowed: Vec<ArrayRef<'_>> = inputs.iter().map(ArrayRef::from).collect();
    let call = |debug: bool| {
        let runtime = Runtime::builder().policy(Policy::Jit).debug(debug).build().unwrap();
        let function = runtime.function(&graph).unwrap();
        (function.call(&borrowed).unwrap(), precast_runtime::debug_findings(&function))
    };
    let (plain, none) = call(false);
    let (checked, findings) = call(true);
    assert_eq!(plain[0].bits(), checked[0].bits());
    assert!(none.is_none());
    let signatures: Vec<String> = findings.unwrap().applies.into_iter().map(|a| a.signature).collect();
    assert!(signatures.iter().any(|s| s.starts_with("exp(")), "{signatures:?}");
    assert!(signatures.len() >= 6, "{signatures:?}");
}

#[test]
fn different_reference_is_reported_with_smallest_inputs() {
    let mut graph = FunctionGraph::new();
    let x = graph.input("x", Type::tensor(DType::F64, 1)).unwrap();
    let torn = scalar_op("torn", |x| Ok(3.0 * x), "@Y@ = 2 * @X@;");
    let torn = graph.apply(Arc::new(Elemwise::new(torn)), &[x]).unwrap();
    let moved = graph.apply(Arc::new(Elemwise::new(find("neg").unwrap())), &torn).unwrap();
    graph.output(moved[0], None).unwrap();
    let runtime = Runtime::builder().policy(Policy::Jit).debug(true).build().unwrap();
    let function = runtime.function(&graph).unwrap();
    let call = |values: Vec<f64>| function.call(&[ndarray::Array1::from(values).view().into()]);
    let error = call((0..100).map(f64::from).collect()).unwrap_err();
    let violation = error.cause::<debug::Violation>().expect("a violation");
    assert_eq!(violation.kind, debug::ViolationKind::DiffersFromPerform);
    assert_eq!((violation.op.as_str(), violation.apply), ("torn", 0));
    assert!(violation.detail.contains("is 2.0, perform returns 3.0"), "{violation}");
    assert!(violation.inputs[0].shape()[0] < 4, "{violation}");
    // If both agree, the graph runs.
    assert!(call(vec![0.0, 0.0]).is_ok());
    let findings = debug::check(&runtime, &graph, &debug::Options::default()).unwrap();
    assert!(findings.into_result().is_err());
}

#[test]
fn strict_skips_missing_modules_with_notice() {
    let graph = graph("exp(x)", &["x=f64[?]"]);
    let runtime = Runtime::builder().policy(Policy::Interpret).debug(true).build().unwrap();
    let function = runtime.function(&graph).unwrap();
    function.call(&[ndarray::array![1.0].view().into()]).unwrap();
    let findings = precast_runtime::debug_findings(&function).unwrap();
    assert!(
        findings.applies[0].skipped.as_ref().unwrap().contains("no layer has a separate module"),
        "{findings:?}"
    );
}
