//! Compares one digest of results over all ways to run a graph: the compiler and the level of its artifacts, the cut,
//! and the number of threads. All NaNs count as equal.
//!
//! ```text
//! graphs ─┬▶ perform ──────────────────────────────────────────────────────────────────────────────▶ digest ──┐
//!         ├▶ compilers × every level × whole, groups, op by op ─▶ strict ─▶ 1, 2, 3 threads ─▶ digests ───────┼▶ all equal
//!         └▶ gcc for aarch64 ─▶ an emulator ([`crate::cross`]) ─▶ digest ─────────────────────────────────────┘
//! ```
//! Some graphs have arrays long enough to be split among threads; the rest are random. Products of matrices are left
//! out, except in [`products_have_equal_bits_on_any_threads`], because their bits are only the same
//! within a class of CPU. Compilers are all that are on `PATH`, and zig. `cargo xtask digest` runs everything (`PRECAST_DIGEST_COUNT`); otherwise only a part runs,
//! without the emulator.

#![allow(clippy::print_stdout, reason = "long runs say what they compared")]

use crate::compiled::{Granularity, levels, toolchain, try_bundle_by};
use crate::cross::emulated;
use crate::graphs::{graph, random};
use precast::{Array, ArrayRef, CodeOrigin, DType, FunctionGraph, Policy, Runtime, threads};
use precast_compile::{Isa, Toolchain, list_compilers};
use precast_graph::{interpret, with_array};
use precast_store::key::{ContentId, Language, Profile};
use precast_testkit::compiler::zig;
use precast_testkit::layout::{Layout, lay_out_any};
use precast_testkit::{Choices, arrays};
use std::time::Instant;

/// Expressions with long operands; `m` and `n` are matrices, `v` is a row of them.
const LONG: [&str; 16] = [
    "(m + n) * m",
    "exp(-m*m) * n + v",
    "tanh(m - 0.5) / (1 + abs(n))",
    "log1p(exp(tanh(m))) * n + v / 2",
    "sum(cos(exp(m*n)) * n, axis=1)",
    "sum(exp(-m*m)*n + v)",
    "sum(m)",
    "max(m - n)",
    "mean(m, axis=0)",
    "sum(m * n, axis=1)",
    "prod(1 + 0.001*n, axis=0)",
    "softmax(m, axis=1)",
    "softmax(m, axis=0)",
    "(m - mean(m, axis=1, keepdims=True)) / sqrt(var(m, axis=1, keepdims=True) + 0.1)",
    "log(sum(exp(m - max(m)))) + max(m)",
    "var(n)",
];

/// The shape of a matrix that is long enough for several threads, with uneven extents.
const SHAPE: [usize; 2] = [301, 503];

/// A graph and its inputs.
struct Case {
    graph: FunctionGraph,
    inputs: Vec<Array>,
}

fn long(expression: &str, dtype: DType, choices: &mut Choices) -> Case {
    let types = [format!("m={dtype}[?,?]"), format!("n={dtype}[?,?]"), format!("v={dtype}[?]")];
    let graph = graph(expression, &[&types[0], &types[1], &types[2]]);
    let mut drawn = |shape: &[usize], layout| lay_out_any(&arrays::draw_plain(choices, dtype, shape), layout);
    // Transposed and with gaps, so that cuts reach every path through the drivers.
    let inputs =
        vec![drawn(&SHAPE, Layout::C), drawn(&SHAPE, Layout::Fortran), drawn(&SHAPE[1..], Layout::C)];
    Case { graph, inputs }
}

/// Returns the number of random graphs. If it is set, everything runs, otherwise a part.
fn count() -> Option<u64> {
    std::env::var("PRECAST_DIGEST_COUNT").ok().map(|count| count.parse().unwrap())
}

fn cases() -> Vec<Case> {
    let mut choices = Choices::seeded(5);
    let dtypes: &[DType] =
        if count().is_some() { &[DType::F64, DType::F32, DType::I64] } else { &[DType::F64] };
    let wanted = |expression: &&str, dtype| {
        dtype != DType::I64
            || !["exp", "tanh", "max", "var", "prod", "/"].iter().any(|word| expression.contains(word))
    };
    let mut cases: Vec<Case> = dtypes
        .iter()
        .flat_map(|dtype| LONG.iter().filter(|e| wanted(e, *dtype)).map(|e| (*e, *dtype)))
        .map(|(expression, dtype)| long(expression, dtype, &mut choices))
        .collect();
    let drawn = (0..count().unwrap_or(4)).map(|seed| random(seed, 12));
    let drawn = drawn.filter(|case| !case.graph.to_string().contains("dot("));
    cases.extend(drawn.map(|case| Case { graph: case.graph, inputs: case.inputs }));
    cases
}

/// Returns the digest of results: dtypes, shapes and elements in C order, with all NaNs equal. A rejection counts as
/// a separate result.
fn digest(results: &[Option<Vec<Array>>]) -> ContentId {
    let mut bytes = Vec::new();
    for results in results {
        let Some(results) = results else {
            bytes.extend(b"refused");
            continue;
        };
        for array in results {
            bytes.extend(format!("{} {:?} ", array.dtype(), array.shape()).into_bytes());
            with_array!(array, a => a.iter().for_each(|x| {
                // True for NaN alone; `==` compares numbers, so a zero keeps its sign in the text.
                #[allow(clippy::eq_op, reason = "how a NaN is told")]
                let text = if x != x { "NaN".to_owned() } else { format!("{x:?}") };
                bytes.extend(text.into_bytes());
                bytes.push(b' ');
            }));
        }
    }
    ContentId::of(&bytes)
}

/// The digests of all graphs' results on one, two and three threads, and what compiling them took.
struct Compared {
    digests: Vec<ContentId>,
    seconds: f64,
    /// The size of the bundle in bytes.
    size: usize,
}

/// Compiles all graphs and computes their results from the artifacts.
fn digests(cases: &[Case], compiler: &Toolchain, granularity: Granularity, isa: Isa) -> Compared {
    let start = Instant::now();
    let graphs: Vec<FunctionGraph> = cases.iter().map(|case| case.graph.clone()).collect();
    let bytes = try_bundle_by(compiler, &graphs, granularity, isa, Profile::Release).unwrap();
    let (seconds, size) = (start.elapsed().as_secs_f64(), bytes.len());
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("digest.bundle");
    fs_err::write(&path, bytes).unwrap();
    let runtime = Runtime::builder().bundle_file(&path).policy(Policy::Strict).build().unwrap();
    let all = |n: usize| {
        threads::limit(n);
        let results: Vec<_> = cases
            .iter()
            .map(|case| {
                let function = runtime.function(&case.graph).unwrap();
                assert!(
                    function.provenance().iter().all(|p| matches!(p.served, CodeOrigin::Artifact { .. }))
                );
                function.call(&case.inputs.iter().map(ArrayRef::from).collect::<Vec<_>>()).ok()
            })
            .collect();
        digest(&results)
    };
    Compared { digests: (1..=3).map(all).collect(), seconds, size }
}

/// Returns every compiler that is installed, if everything runs; otherwise the default one, and one of another family.
fn compilers() -> Vec<Toolchain> {
    let own = toolchain();
    let listed = list_compilers(None).into_iter().filter_map(|listed| listed.found.ok());
    let mut others: Vec<Toolchain> =
        listed.filter(|other| other.id(Language::C).ok() != own.id(Language::C).ok()).collect();
    others.extend(zig(None));
    if count().is_none() {
        let first = others.iter().position(|other| other.family() != own.family());
        others = first.map(|at| others.swap_remove(at)).into_iter().collect();
    }
    if others.is_empty() {
        println!("skipped: a second compiler: no other of gcc, clang and zig is installed");
    }
    [own].into_iter().chain(others).collect()
}

#[test]
fn digest_is_equal_everywhere() {
    let cases = cases();
    let performed: Vec<_> = cases.iter().map(|case| interpret(&case.graph, &case.inputs).ok()).collect();
    let expected = digest(&performed);
    let (compilers, all) = (compilers(), levels());
    let whole = count().is_some();
    let isas = if whole { &all[..] } else { &all[all.len() - 1..] };
    let mut table =
        vec!["| compiler | level | cut | seconds | bytes |".to_owned(), "|---|---|---|---|---|".to_owned()];
    let granularities = [Granularity::Whole, Granularity::OpByOp, Granularity::Groups];
    for (compiler, isa) in compilers.iter().flat_map(|compiler| isas.iter().map(move |isa| (compiler, *isa)))
    {
        for granularity in granularities.into_iter().take(if whole { 3 } else { 1 }) {
            let Compared { digests: found, seconds, size } = digests(&cases, compiler, granularity, isa);
            let how = format!("{} {isa} {granularity:?}", compiler.driver().display());
            table.push(format!(
                "| {} | {isa} | {granularity:?} | {seconds:.1} | {size} |",
                compiler.description()
            ));
            println!("{how}, 1 to 3 threads: {}", found[0]);
            assert!(found.iter().all(|found| *found == expected), "{how}: {found:?}, not {expected}");
        }
    }
    println!("{}", table.join("\n"));
    if whole {
        let graphs: Vec<_> = cases.iter().map(|case| (&case.graph, &case.inputs[..])).collect();
        match emulated(&graphs).as_deref().map(digest) {
            Ok(found) => {
                println!("aarch64 under an emulator, 1 thread: {found}");
                assert_eq!(found, expected, "aarch64");
            }
            Err(why) => println!("skipped: aarch64: {why}"),
        }
    }
    println!("{} graphs, perform: {expected}", cases.len());
}

/// Rows and columns are split among threads, but a single row is not: it would be a product with a vector.
#[test]
fn products_have_equal_bits_on_any_threads() {
    let cases: Vec<Case> = [[97, 200, 97], [145, 64, 300], [300, 64, 145], [1, 4000, 333], [2000, 700, 1]]
        .into_iter()
        .flat_map(|[m, k, n]| [DType::F64, DType::F32, DType::C128].map(|dtype| (m, k, n, dtype)))
        .map(|(m, k, n, dtype)| {
            let types = [format!("a={dtype}[?,?]"), format!("b={dtype}[?,?]")];
            let mut choices = Choices::seeded((m * k * n) as u64);
            let mut drawn = |shape: [usize; 2]| arrays::draw_plain(&mut choices, dtype, &shape);
            let inputs = vec![drawn([m, k]), drawn([k, n])];
            Case { graph: graph("a @ b", &[&types[0], &types[1]]), inputs }
        })
        .collect();
    let found = digests(&cases, &toolchain(), Granularity::Whole, *levels().last().unwrap()).digests;
    assert!(found.iter().all(|one| *one == found[0]), "{found:?}");
}
