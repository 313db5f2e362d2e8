//! Operands: an op reads the inputs that its graph specifies, regardless of the order of the declared inputs and of
//! unused ones. A call gives the same bits in every form: new or reused results, typed or untyped, with arrays in
//! place or in a frame.

use crate::compiled::{Granularity, try_bundle};
use crate::fuzz::agreement::{Call, Form, Subject, assert_agree, calls, full};
use crate::graphs::outputs;
use ndarray::{Array1, Array2, s};
use precast::{ArrayRef, Function, Policy, Runtime};
use precast_graph::{Array, DType, FunctionGraph};
use precast_ops::{Elemwise, Ops, Reduce, ReduceKind};
use precast_store::key::Profile;

use precast_testkit::ulp::same_bits;
use precast_testkit::{Choices, arrays, scalar_op};
use std::hint::black_box;
use std::sync::Arc;

/// The extent of the dimensions that operands share, in [`INPUTS`].
const N: usize = usize::MAX;

/// The type of each name, and the shape of its value.
const INPUTS: [(char, &str, DType, &[usize]); 9] = [
    ('x', "f64[?]", DType::F64, &[N]),
    ('y', "f64[?]", DType::F64, &[N]),
    ('w', "f64[?,?]", DType::F64, &[3, N]),
    ('v', "f64[?,?]", DType::F64, &[3, N]),
    ('s', "f64[]", DType::F64, &[]),
    ('m', "bool[?]", DType::Bool, &[N]),
    ('i', "i64[?]", DType::I64, &[N]),
    ('j', "u8[?]", DType::U8, &[N]),
    // No op reads it, and no other input has its shape.
    ('u', "i32[?]", DType::I32, &[7]),
];

/// The outputs of graphs, and their input names.
const TEXTS: &[(&[&str], &str)] = &[
    (&["y - x"], "xy"),
    (&["y / x"], "xy"),
    (&["arctan2(y, x)"], "xy"),
    (&["y ** x"], "xy"),
    (&["y % x"], "xy"),
    (&["y < x"], "xy"),
    (&["x * x"], "x"),
    (&["x * x - y"], "xy"),
    (&["exp(y) - x"], "xy"),
    (&["w - x"], "wx"),
    (&["x - w"], "wx"),
    (&["w - v"], "wv"),
    (&["s - x"], "sx"),
    (&["x - s"], "sx"),
    (&["s - s * s"], "s"),
    (&["i << j"], "ij"),
    (&["i // j"], "ij"),
    (&["where(m, x, y)"], "mxy"),
    (&["exp(where(m, x, y)) + x"], "mxy"),
    (&["clip(w, x, y)"], "wxy"),
    (&["where(y > x, y, x) / s"], "xys"),
    (&["sum(y - x)"], "xy"),
    (&["sum(x)"], "x"),
    (&["sum(w - v)"], "wv"),
    (&["sum(v - w, axis=0)", "max(v - w)"], "wv"),
    (&["cumsum(y - x) * s"], "xys"),
    // Reductions with a result that is read again.
    (&["x - sum(y - x)"], "xy"),
    (&["(x - mean(x)) / max(y)"], "xy"),
    (&["sum(s - x) - s"], "sx"),
    (&["prod(any(m) - i)"], "mi"),
    // Rows.
    (&["(w - mean(w, axis=1, keepdims=True)) / std(w, axis=1, keepdims=True)"], "w"),
    (&["softmax(w - v, axis=1) * x"], "wvx"),
    (&["sum(w, axis=1)", "w - max(w, axis=1, keepdims=True) * s"], "ws"),
    // Constants: some graphs differ only in them, and share a module.
    (&["2.5 - x * 1.25"], "x"),
    (&["1.25 - x * 2.5"], "x"),
    (&["x * x + 1.25", "y - 2.5"], "xy"),
    (&["x * x + 2.5", "y - 1.25"], "xy"),
    (&["sum(3.5 - x) - 0.5"], "x"),
    (&["sum(0.5 - x) - 3.5"], "x"),
    // Several outputs: in one loop and in several, one of them twice, or an input.
    (&["y - x", "sum(y * x)", "max(x)"], "xy"),
    (&["y - x", "y + x", "y - x"], "xy"),
    (&["x", "y - x"], "xy"),
    (&["y - x", "y", "sum(y)"], "xy"),
    (&["y - x", "exp(y - x)", "sum(exp(y - x))"], "xy"),
    (&["sum(x)", "sum(x) - s", "s"], "xs"),
    (&["y < x", "i - j", "sum(i)"], "xyij"),
];

/// Returns all permutations of some names.
fn orders(names: &str) -> Vec<String> {
    if names.is_empty() {
        return vec![String::new()];
    }
    let firsts = names.chars().flat_map(|first| {
        let rest: String = names.chars().filter(|name| *name != first).collect();
        orders(&rest).into_iter().map(move |rest| format!("{first}{rest}"))
    });
    firsts.collect()
}

/// Returns a value for an input. Shared dimensions have `n` elements, or one element if `is_one` is set.
fn value(name: char, n: usize, is_one: bool) -> Array {
    let (_, _, dtype, shape) = INPUTS.iter().find(|known| known.0 == name).unwrap();
    let n = if is_one { 1 } else { n };
    let shape: Vec<usize> = shape.iter().map(|extent| if *extent == N { n } else { *extent }).collect();
    arrays::draw_plain(&mut Choices::seeded(u64::from(name)), *dtype, &shape)
}

fn declared(names: &str) -> Vec<String> {
    let ty = |name| INPUTS.iter().find(|known| known.0 == name).unwrap().1;
    names.chars().map(|name| format!("{name}={}", ty(name))).collect()
}

/// Returns a graph with calls for operands of 5, 0, 1 and `more` elements.
///
/// Further calls mix operands of one element with operands of 5. Others have a single such operand among operands of
/// 512 and 513 elements, the sizes at and above the limit for expanding it at once.
fn subject(texts: &[&str], names: &str, more: &[usize]) -> Subject {
    let declared = declared(names);
    let graph = outputs(texts, &declared.iter().map(String::as_str).collect::<Vec<_>>());
    let mut choices = Choices::seeded(13);
    let values = |n| names.chars().map(|name| value(name, n, false)).collect::<Vec<_>>();
    let mut made = calls(&graph, &values(5), &mut choices);
    assert!(!made.is_empty(), "{texts:?} of {names}");
    for n in [0, 1].iter().chain(more) {
        made.extend(calls(&graph, &values(*n), &mut choices).into_iter().take(2));
    }
    for (ones, n) in (1_u32..1 << names.len()).flat_map(|ones| [5, 512, 513].map(|n| (ones, n))) {
        let is_one = |at: usize| ones >> at & 1 == 1;
        if n == 5 || ones.is_power_of_two() {
            let mixed = names.chars().enumerate().map(|(at, name)| full(value(name, n, is_one(at))));
            made.extend(Call::new(&graph, mixed.collect()));
        }
    }
    Subject { graph, calls: made }
}

#[test]
fn inputs_have_any_order_and_may_be_unused() {
    let names = TEXTS.iter().flat_map(|(texts, names)| {
        let unread = orders(&format!("{names}u"));
        orders(names).into_iter().chain(unread).map(move |names| (*texts, names))
    });
    let subjects: Vec<Subject> = names.map(|(texts, names)| subject(texts, &names, &[])).collect();
    for granularity in [Granularity::Whole, Granularity::Groups, Granularity::OpByOp] {
        assert_agree(&subjects, Form { profile: Profile::Debug, ..Form::release(granularity) });
    }
}

/// Sizes at and above the number of stack slots, and at and above a reduction block.
#[test]
fn operands_may_have_any_number_of_elements() {
    let more = [2, 63, 64, 65, 300, 1025, 4095, 4096, 4097, 9000];
    let subjects: Vec<Subject> = TEXTS.iter().map(|(texts, names)| subject(texts, names, &more)).collect();
    for granularity in [Granularity::Whole, Granularity::Groups, Granularity::OpByOp] {
        assert_agree(&subjects, Form::release(granularity));
    }
}

/// Returns the functions of graphs, from one bundle.
fn functions(graphs: &[(&[&str], &str)]) -> Vec<Function> {
    let graphs: Vec<_> = graphs
        .iter()
        .map(|(texts, names)| outputs(texts, &declared(names).iter().map(String::as_str).collect::<Vec<_>>()))
        .collect();
    let Form { granularity, isa, profile } = Form::release(Granularity::Whole);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("bundle");
    fs_err::write(&path, try_bundle(&graphs, granularity, isa, profile).unwrap()).unwrap();
    let ops = Ops::standard();
    let runtime = Runtime::builder().bundle_file(&path).policy(Policy::Strict).ops(ops).build().unwrap();
    graphs.iter().map(|graph| runtime.function(graph).unwrap()).collect()
}

fn vector(name: char, n: usize) -> Array1<f64> {
    let Array::F64(array) = value(name, n, false) else { unreachable!("a vector of f64") };
    array.into_dimensionality().unwrap()
}

#[test]
fn typed_calls_match_untyped_calls() {
    type Vector = Array1<f64>;
    let graphs: [(&[&str], &str); 8] = [
        (&["sum(x)", "max(x)"], "x"),
        (&["y - x"], "xy"),
        (&["sum(y - x)"], "xy"),
        (&["x - s"], "sx"),
        (&["x - x"], "xu"),
        (&["y - x", "sum(y)", "x"], "xy"),
        (&["w - v"], "wv"),
        (&["s * 2.5"], "s"),
    ];
    let [numbers, sub, sum, scalar, unread, several, matrix, number] = &functions(&graphs)[..] else {
        unreachable!("as many functions")
    };
    let same = |typed: Array, function: &Function, inputs: &[ArrayRef<'_>]| {
        let expected = function.call(inputs).unwrap().remove(0);
        assert!(same_bits(&typed, &expected), "{typed:?}, expected {expected:?}");
    };
    let sub_typed = sub.typed::<(Vector, Vector), Vector>().unwrap();
    let sum_typed = sum.typed::<(Vector, Vector), f64>().unwrap();
    let scalar_typed = scalar.typed::<(f64, Vector), Vector>().unwrap();
    let unread_typed = unread.typed::<(Vector, Array1<i32>), Vector>().unwrap();
    let several_typed = several.typed::<(Vector, Vector), (Vector, f64, Vector)>().unwrap();
    let matrix_typed = matrix.typed::<(Array2<f64>, Array2<f64>), Array2<f64>>().unwrap();
    let number_typed = number.typed::<(f64,), f64>().unwrap();
    let numbers_typed = numbers.typed::<(Vector,), (f64, f64)>().unwrap();
    let (mut reused, mut total, mut third) = (Vector::zeros(4), 0.0, Vector::zeros(4));
    for n in [0, 1, 4, 4, 5, 10_000] {
        let (x, y) = (vector('x', 2 * n), vector('y', 2 * n));
        let many = Array1::from_elem(3, 7_i32);
        for (x, y) in [
            (x.slice(s![..n]), y.slice(s![n..])),
            (x.slice(s![..;2]), y.slice(s![..n])),
            (x.slice(s![n..]), y.slice(s![..n;-1])),
        ] {
            let refs: [ArrayRef<'_>; 2] = [x.into(), y.into()];
            same(sub_typed.call((x, y)).unwrap().into(), sub, &refs);
            sub_typed.call_into((x, y), &mut reused).unwrap();
            same(reused.clone().into(), sub, &refs);
            same(sum_typed.call((x, y)).unwrap().into(), sum, &refs);
            let number: f64 = 0.5;
            let refs = [ndarray::aview0(&number).into(), x.into()];
            same(scalar_typed.call((number, x)).unwrap().into(), scalar, &refs);
            same(unread_typed.call((x, many.view())).unwrap().into(), unread, &[x.into(), (&many).into()]);
            let expected = (&y - &x, sum_of(several, x, y), x.to_owned());
            assert_eq!(several_typed.call((x, y)).unwrap(), expected);
            several_typed.call_into((x, y), (&mut reused, &mut total, &mut third)).unwrap();
            assert_eq!((&reused, total, &third), (&expected.0, expected.1, &expected.2));
            let (sum, most) = numbers_typed.call((x,)).unwrap_or_default();
            let expected = numbers.call(&[x.into()]);
            assert_eq!(expected.is_ok(), n > 0, "there is no largest of no numbers");
            for (at, found) in [sum, most].into_iter().enumerate().filter(|_| n > 0) {
                assert!(same_bits(&found.into(), &expected.as_ref().unwrap()[at]), "{n}");
            }
            let (w, v) = (x.to_shape((1, n)).unwrap(), y.to_shape((1, n)).unwrap());
            same(
                matrix_typed.call((w.view(), v.view())).unwrap().into(),
                matrix,
                &[w.view().into(), v.view().into()],
            );
        }
    }
    assert_eq!(number_typed.call((3.0,)).unwrap(), 7.5);
    // One operand is broadcast, and then both have too many elements.
    let (one, five) = (vector('x', 1), vector('y', 5));
    assert_eq!(sub_typed.call((one.view(), five.view())).unwrap(), &five - one[0]);
    let (two, five) = (vector('x', 2), vector('y', 5));
    let error = sub_typed.call((two.view(), five.view())).unwrap_err().to_string();
    assert_eq!(error, sub.call(&[two.view().into(), five.view().into()]).unwrap_err().to_string());
}

/// Returns the second result of a function.
fn sum_of(function: &Function, x: ndarray::ArrayView1<'_, f64>, y: ndarray::ArrayView1<'_, f64>) -> f64 {
    let Array::F64(sum) = &function.call(&[x.into(), y.into()]).unwrap()[1] else {
        unreachable!("a sum of f64")
    };
    sum.sum()
}

/// The code of an author's scalar op is inlined in a kernel, which could run without its module. The module still
/// restores the thread's state.
#[test]
#[cfg(target_arch = "x86_64")]
fn thread_changes_of_scalar_ops_are_undone() {
    let upwards = "{ __builtin_ia32_ldmxcsr((__builtin_ia32_stmxcsr() & ~0x6000u) | 0x4000u); @Y@ = @X@; }";
    let op = Elemwise::new(scalar_op("upwards", Ok, upwards));
    let mut graph = FunctionGraph::new();
    let x = graph.input("x", "f64[?]".parse().unwrap()).unwrap();
    let y = graph.apply(Arc::new(op), &[x]).unwrap()[0];
    let sum = graph.apply(Arc::new(Reduce::new(ReduceKind::Sum, None)), &[y]).unwrap()[0];
    graph.output(y, None).unwrap();
    graph.output(sum, None).unwrap();
    let runtime = Runtime::builder().policy(Policy::Jit).build().unwrap();
    let function = runtime.function(&graph).unwrap();
    let x = vector('x', 3);
    let found = function.call(&[(&x).into()]).unwrap();
    assert_eq!(found[0], x.into());
    assert_eq!(black_box(1.0) + black_box(1e-20), 1.0, "rounded to the nearest");
}
