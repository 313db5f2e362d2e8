//! Selected graphs and sizes: the boundaries of vectors, tiles and reduction blocks, zeros of both signs, strides of
//! 0.

use super::agreement::{Call, Form, Subject, assert_agree, calls, full};
use crate::compiled::{Granularity, levels};
use crate::graphs::{graph, outputs};
use precast::{Array, FunctionGraph};
use precast_graph::DType;
use precast_testkit::{Choices, arrays, is_in_share};

/// Returns a graph of inputs of one dtype, with calls for each of some shapes.
fn sized(graph: FunctionGraph, dtype: DType, shapes: &[[Vec<usize>; 2]], choices: &mut Choices) -> Subject {
    let mut all = Vec::new();
    for shapes in shapes {
        let drawn: Vec<Array> = shapes.iter().map(|shape| arrays::draw(choices, dtype, shape)).collect();
        all.extend(calls(&graph, &drawn, choices));
    }
    Subject { graph, calls: all }
}

fn boundaries() -> Vec<Subject> {
    let mut choices = Choices::seeded(3);
    let mut subjects = Vec::new();
    for dtype in [DType::F32, DType::F64] {
        let input = |name: &str, dims: &str| format!("{name}={dtype}[{dims}]");
        let (x, y) = (input("x", "?"), input("y", "?"));
        for texts in [
            &["sum(exp(-x*x)*y + x)"][..],
            &["a = tanh(x) + y", "b = max(x*y)"],
            &["mean(sigmoid(x) > y)"],
            &["log(x)/sqrt(y)"],
        ] {
            let shapes = [0, 1, 7, 16, 33, 255, 4095, 4096, 4097, 12_289].map(|n| [vec![n], vec![n]]);
            subjects.push(sized(outputs(texts, &[&x, &y]), dtype, &shapes, &mut choices));
        }
        let (x, y) = (input("x", "?,?"), input("y", "?"));
        for text in
            ["sum(x*y, axis=0)", "mean(exp(x) + y, axis=1)", "max(transpose(x), axis=0) + sum(y)", "x @ y"]
        {
            let shapes = [[0, 5], [5, 0], [1, 4097], [3, 4096], [513, 33], [4097, 2]];
            let shapes = shapes.map(|[n, m]| [vec![n, m], vec![m]]);
            subjects.push(sized(graph(text, &[&x, &y]), dtype, &shapes, &mut choices));
        }
    }
    subjects
}

#[test]
fn block_boundaries_have_equal_bits_at_every_level() {
    let subjects = boundaries();
    assert!(subjects.iter().all(|subject| subject.calls.len() > 4), "perform refuses too much");
    let parts = [Granularity::OpByOp, Granularity::Mixed(1)].map(Form::release);
    assert_halves_agree(subjects, whole_at_every_level().chain(parts));
}

/// gcc may replace a cast to an integer and back by the float's truncation, which can be -0.0.
#[test]
fn integer_casts_give_positive_zeros() {
    let mut choices = Choices::seeded(5);
    let mut subjects = Vec::new();
    for dtype in [DType::F32, DType::F64] {
        let input = format!("x={dtype}[?]");
        for text in ["f64(i64(x))", "f32(i64(x))", "1/f64(i64(x))", "1/f32(i64(x))", "maximum(i64(x)*0.5, x)"]
        {
            let graph = graph(text, &[&input]);
            let small = arrays::draw_plain(&mut choices, dtype, &[67]);
            let fractions = Array::from_bits(dtype, &[67], &[minus_half(dtype); 67]).unwrap();
            let call = |x| Call::new(&graph, vec![full(x)]);
            let calls: Vec<Call> =
                [small, fractions, arrays::specials(dtype)].into_iter().filter_map(call).collect();
            subjects.push(Subject { calls, graph });
        }
    }
    for isa in levels() {
        for granularity in [Granularity::Whole, Granularity::OpByOp] {
            assert_agree(&subjects, Form { isa, ..Form::release(granularity) });
        }
    }
}

fn minus_half(dtype: DType) -> u64 {
    if dtype == DType::F32 { u64::from((-0.5_f32).to_bits()) } else { (-0.5_f64).to_bits() }
}

#[test]
fn zero_strides_read_like_any_other() {
    let mut choices = Choices::seeded(11);
    let mut subjects = Vec::new();
    for (text, dtype) in [("sum(x*y + x, axis=0)", DType::F64), ("x - y", DType::F32)] {
        let inputs = ["x", "y"].map(|name| format!("{name}={dtype}[?,?]"));
        let graph = graph(text, &inputs.each_ref().map(String::as_str));
        let mut calls = Vec::new();
        for shape in [[3, 5], [17, 1], [0, 4], [2, 4097]] {
            let y = arrays::draw(&mut choices, dtype, &shape);
            for axis in [0, 1] {
                let mut one = shape;
                one[axis] = 1;
                let thin = (arrays::draw(&mut choices, dtype, &one), shape.to_vec());
                calls.push(Call::new(&graph, vec![thin, full(y.clone())]).expect("the shapes are equal"));
            }
        }
        subjects.push(Subject { graph, calls });
    }
    for granularity in [Granularity::Whole, Granularity::OpByOp] {
        assert_agree(&subjects, Form::release(granularity));
    }
}

/// Functions with results whose length depends on the data, functions that sort by bytes above 64 elements, and
/// functions that random graphs do not call.
#[test]
fn results_of_any_length_have_equal_bits() {
    let mut choices = Choices::seeded(9);
    let mut subjects = Vec::new();
    for dtype in [DType::F64, DType::I16, DType::C64] {
        let (x, y) = (format!("x={dtype}[?]"), format!("y={dtype}[?]"));
        let shapes = [0, 1, 7, 64, 65, 300].map(|n| [vec![n], vec![n]]);
        for texts in [
            &["x[x != y] + 1"][..],
            &["unique(x)", "sum(unique(y))"],
            &["sort(x)", "argsort(x + y)", "searchsorted(sort(x), y, 'right')"],
            &["nonzero(x == y)[0]", "flatnonzero(x) * 2"],
            &["set_subtensor(x[x == y], 0)"],
            &["einsum('i,i', x, y)", "einsum('i,j->ji', x, y[:3])"],
            &["topk(x, x.shape[0] // 2)", "repeat(x, argsort(y) % 3)"],
        ] {
            subjects.push(sized(outputs(texts, &[&x, &y]), dtype, &shapes, &mut choices));
        }
        let (x, y) = (format!("x={dtype}[?,?]"), format!("y={dtype}[?,?]"));
        let shapes = [[0, 3], [1, 1], [3, 5], [65, 2]].map(|[n, m]| [vec![n, m], vec![n, m]]);
        for texts in [
            &["einsum('ij,ij->', x, y)", "einsum('ij,kj->ik', x, y)", "einsum('ij->j', x)"][..],
            &["x[x != y]", "y[:, sum(x != y, axis=0) > 1]", "x[sum(x != y, axis=1) > 1].T"],
            &["set_subtensor(x[x == x], 2)", "inc_subtensor(x[any(x == y, axis=1)], 1)"],
            &["sort(x, axis=0)", "argsort(x.T, axis=0)", "sort(x[::-1, ::-1])"],
            &["tril(x) + triu(y, 1)", "trace(x)", "tile(x, (2, 1))", "roll(x, 1, axis=0)"],
        ] {
            subjects.push(sized(outputs(texts, &[&x, &y]), dtype, &shapes, &mut choices));
        }
    }
    assert!(subjects.iter().all(|subject| subject.calls.len() > 4), "perform refuses too much");
    let cuts = [Granularity::Whole, Granularity::Groups, Granularity::OpByOp, Granularity::Mixed(1)];
    assert_halves_agree(subjects, cuts.map(Form::release));
}

fn whole_at_every_level() -> impl Iterator<Item = Form> {
    levels().into_iter().map(|isa| Form { isa, ..Form::release(Granularity::Whole) })
}

/// Tests half of the subjects in each form, and the other half in the next one.
fn assert_halves_agree(subjects: Vec<Subject>, forms: impl IntoIterator<Item = Form>) {
    let mut halves = [Vec::new(), Vec::new()];
    for (at, subject) in subjects.into_iter().enumerate() {
        halves[at % 2].push(subject);
    }
    for (form, way) in forms.into_iter().zip(0..) {
        for (half, _) in halves.iter().zip(way..).filter(|(_, at)| is_in_share(*at, 2)) {
            assert_agree(half, form);
        }
    }
}

/// Matrices of fewer rows than a vector, of one block, and of several blocks.
#[test]
fn decompositions_have_equal_bits_at_every_level() {
    let mut choices = Choices::seeded(13);
    let mut subjects = Vec::new();
    for dtype in [DType::F32, DType::F64] {
        let (x, y) = (format!("x={dtype}[?,?]"), format!("y={dtype}[?,?]"));
        let shapes = [0, 1, 3, 17, 40].map(|n| [vec![n, n], vec![n, n]]);
        for texts in [
            &["cholesky(x, on_error='nan')", "inv(x, on_error='nan') + y"][..],
            &["lu_factor(x)[0]", "det(x)", "slogdet(x)[1]"],
            &["solve(x, y, on_error='nan')", "solve_triangular(x, y, lower=True, on_error='nan')"],
            &["tridiagonal_solve(x[0], x[1], x[2], y, on_error='nan')"],
        ] {
            subjects.push(sized(outputs(texts, &[&x, &y]), dtype, &shapes, &mut choices));
        }
    }
    assert!(subjects.iter().all(|subject| subject.calls.len() > 4), "perform refuses too much");
    assert_halves_agree(subjects, whole_at_every_level().chain([Form::release(Granularity::OpByOp)]));
}
