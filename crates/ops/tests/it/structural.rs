//! Tests of ops that move elements: compiled C against `perform`, bit by bit and message by message, in every layout.

use crate::agree::check;
use crate::machine::Call;
use precast_core::native::ErrorKind;
use precast_graph::{Array, DType, FunctionGraph, Op, Type, interpret};
use precast_ops::index::{AdvancedIncSubtensor1, AdvancedSubtensor1, IncSubtensor, Selector, Subtensor};
use precast_ops::rewrite::{Form, Passes};
use precast_ops::shape::{
    ARange, Alloc, Assert, DeepCopy, EinsumOperand, Eye, Join, MakeVector, Pair, Reshape, Shape, ShapeI,
    Split, SumTo, View,
};
use precast_ops::{Argmax, BatchedDot, CumOp, Dot};
use precast_testkit::layout::Layout;
use precast_testkit::{Choices, arrays};
use std::sync::Arc;

/// An op and the inputs of some of its calls.
pub(crate) type Case = (Arc<dyn Op>, Vec<Array>);

/// A graph of one op on inputs of some types.
type Known = (Arc<dyn Op>, Vec<Type>, Arc<FunctionGraph>);

/// Returns the calls of some cases, each in every layout, also with outputs in a given layout.
pub(crate) fn calls(cases: Vec<Case>) -> Vec<Call> {
    let mut graphs: Vec<Known> = Vec::new();
    let mut calls = Vec::new();
    for (op, inputs) in cases {
        let types: Vec<Type> = inputs.iter().map(|a| Type::tensor(a.dtype(), a.shape().len())).collect();
        let known = graphs.iter().find(|(other, its, _)| **other == *op && *its == types);
        let graph = known.map(|(_, _, graph)| Arc::clone(graph)).unwrap_or_else(|| {
            let graph = single(&op, &types);
            graphs.push((op, types, Arc::clone(&graph)));
            graph
        });
        for layout in Layout::ALL {
            let inputs = inputs.iter().map(|a| (a.clone(), layout)).collect();
            calls.push(Call { graph: Arc::clone(&graph), inputs, output: None, stretched: false });
        }
        if let Ok([result]) = interpret(&graph, &inputs).as_deref() {
            for layout in [Layout::Fortran, Layout::Strided, Layout::Reversed] {
                let output = Some((Array::zeros(result.dtype(), result.shape()), layout));
                let inputs = inputs.iter().map(|a| (a.clone(), Layout::C)).collect();
                calls.push(Call { graph: Arc::clone(&graph), inputs, output, stretched: false });
            }
        }
    }
    calls
}

fn single(op: &Arc<dyn Op>, types: &[Type]) -> Arc<FunctionGraph> {
    let mut graph = FunctionGraph::new();
    let inputs: Vec<_> =
        types.iter().enumerate().map(|(i, ty)| graph.input(&format!("x{i}"), ty.clone()).unwrap()).collect();
    for output in graph.apply(Arc::clone(op), &inputs).unwrap() {
        graph.output(output, None).unwrap();
    }
    Arc::new(Form::Unfused.of(&graph, &Passes::default()).unwrap())
}

pub(crate) fn numbers(values: &[i64]) -> Array {
    Array::from(ndarray::Array1::from(values.to_vec()))
}

fn case(op: impl Op, inputs: Vec<Array>) -> Case {
    (Arc::new(op), inputs)
}

const SHAPES: [&[usize]; 8] = [&[], &[0], &[1], &[17], &[3, 0], &[5, 3], &[2, 3, 4], &[2, 1, 3, 5]];

fn shape_cases() -> Vec<Case> {
    let mut choices = Choices::seeded(21);
    let mut cases = Vec::new();
    for dtype in DType::ALL {
        for shape in SHAPES {
            let x = arrays::draw(&mut choices, dtype, shape);
            let x = || x.clone();
            let size: usize = shape.iter().product();
            for to in [
                &[-1][..],
                &[1, -1],
                &[size as i64],
                &[-1, 5],
                &[3, 5],
                &[2, 2, 6],
                &[5, 1, 3],
                &[0, 3],
                &[0, -1],
            ] {
                cases.push(case(Reshape { ndim: to.len() }, vec![x(), numbers(to)]));
            }
            cases.push(case(Shape, vec![x()]));
            cases.push(case(DeepCopy, vec![x()]));
            cases.push(case(View, vec![x()]));
            cases.extend((0..shape.len()).map(|axis| case(ShapeI { axis }, vec![x()])));
            for axis in 0..shape.len() {
                cases.push(case(Join { axis }, vec![x()]));
                let mut other = shape.to_vec();
                other[axis] += 2;
                let y = arrays::draw(&mut choices, dtype, &other);
                cases.push(case(Join { axis }, vec![x(), y, x()]));
                let n = shape[axis] as i64;
                for sizes in [[n, 0], [0, n], [n / 2, n - n / 2], [n + 1, -1], [n, 1]] {
                    cases.push(case(Split { axis, pieces: 2 }, vec![x(), numbers(&sizes)]));
                }
            }
            for extents in [[2_i64, 3, 4], [0, 5, 3], [3, -1, 1], [1, 1, 17]] {
                let extents = extents.map(Array::from);
                if shape.len() <= 3 {
                    cases.push(case(Alloc, std::iter::once(x()).chain(extents).collect()));
                }
            }
        }
        let mut number = || arrays::draw(&mut choices, dtype, &[]);
        cases.push(case(MakeVector { dtype }, vec![number(), number(), number()]));
        for eye in
            [[3_i64, 3, 0], [2, 4, 1], [4, 2, -3], [0, 3, 0], [3, 3, i64::MAX], [3, 3, i64::MIN], [2, -1, 0]]
        {
            cases.push(case(Eye { dtype }, eye.map(Array::from).to_vec()));
        }
    }
    // Nothing is summed, so zeros keep their signs.
    for shape in [&[3_i64][..], &[1, 3], &[1, 1]] {
        let whole = if shape.len() == 1 { &[3][..] } else { &[1, 3] };
        let zeros = Array::from_bits(DType::F64, whole, &[1 << 63; 3]).unwrap();
        cases
            .push(case(SumTo, std::iter::once(zeros).chain(shape.iter().map(|n| Array::from(*n))).collect()));
    }
    let x = arrays::draw(&mut choices, DType::F64, &[2, 3]);
    cases.push(case(Join { axis: 0 }, vec![x.clone(), arrays::draw(&mut choices, DType::F64, &[2, 4])]));
    cases.extend(einsum_cases());
    cases.push(case(Reshape { ndim: 2 }, vec![x.clone(), numbers(&[-1, -1])]));
    cases.push(case(Reshape { ndim: 2 }, vec![x.clone(), numbers(&[-2, 3])]));
    cases.push(case(Reshape { ndim: 2 }, vec![x.clone(), numbers(&[1 << 40, 1 << 40])]));
    cases.push(case(Reshape { ndim: 2 }, vec![x.clone(), numbers(&[6])]));
    for condition in [vec![true, true], vec![true, false], vec![]] {
        let conditions = [Array::from(true), Array::from(ndarray::Array1::from(condition))];
        let message = "x must be \"small\", not\n\\ @M@ ä".to_owned();
        let kind = ErrorKind::Value;
        cases.push(case(Assert { message, kind }, std::iter::once(x.clone()).chain(conditions).collect()));
    }
    cases
}

fn einsum_cases() -> Vec<Case> {
    let mut choices = Choices::seeded(22);
    let pair = |axes, label, stretch| Pair { axes, label, operands: [0, 1], stretch };
    let op = EinsumOperand { pairs: vec![pair([0, 1], 'i', true), pair([1, 0], 'j', false)] };
    let shapes = [[[2, 3], [3, 2]], [[1, 3], [3, 2]], [[1, 1], [4, 0]], [[1, 3], [1, 5]], [[2, 3], [3, 5]]];
    let draw = |choices: &mut Choices, shape: [usize; 2]| arrays::draw(choices, DType::F32, &shape);
    shapes
        .map(|[own, other]| case(op.clone(), vec![draw(&mut choices, own), draw(&mut choices, other)]))
        .to_vec()
}

fn arange_cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let (low, high) = (i64::MIN, i64::MAX);
    for dtype in DType::ALL.into_iter().filter(|dtype| ARange::supports(*dtype)) {
        for numbers in [[0, 5, 1], [5, 0, -2], [0, 5, -1], [3, 3, 1], [1, 8, 3], [0, 1, 0], [100, 127, 9]] {
            let number = |n: i64| precast_ops::scalar::Value::I64(n).cast(dtype).into_array();
            cases.push(case(ARange { dtype }, numbers.map(number).to_vec()));
        }
    }
    for numbers in
        [[low, high, high], [high, low, low], [low, high, 1], [high, low, -1], [high - 1, high, high]]
    {
        cases.push(case(ARange { dtype: DType::I64 }, numbers.map(Array::from).to_vec()));
    }
    let float =
        [[0.0, 1.0, 0.1], [1.0, 0.0, -0.3], [0.0, f64::NAN, 1.0], [0.0, f64::INFINITY, 1.0], [0.5, 0.4, 1.0]];
    for numbers in float {
        cases.push(case(ARange { dtype: DType::F64 }, numbers.map(Array::from).to_vec()));
        cases.push(case(ARange { dtype: DType::F32 }, numbers.map(|x| Array::from(x as f32)).to_vec()));
    }
    cases
}

fn selector(text: &str) -> Selector {
    Selector::parse(text).unwrap()
}

/// Returns every kind of slice with numbers at the edges, and indices, for an axis of 5 elements.
fn parts() -> Vec<(Vec<Selector>, Vec<i64>)> {
    let edges = [0, 1, 4, 5, 6, -1, -5, -6, i64::MAX, i64::MIN];
    let mut parts: Vec<(Vec<Selector>, Vec<i64>)> = vec![(vec![], vec![]), (vec![selector("")], vec![])];
    for n in edges {
        for text in ["i", "b", "e", "s"] {
            parts.push((vec![selector(text)], vec![n]));
        }
        for (start, stop) in [(0, 5), (4, 0), (-1, -6), (3, 3)] {
            parts.push((vec![selector("bes")], vec![start, stop, n]));
            parts.push((vec![selector("bs")], vec![start, n]));
            parts.push((vec![selector("es")], vec![stop, n]));
            parts.push((vec![selector("be")], vec![start, n]));
        }
    }
    parts
}

/// Returns whether the library can add elements of this dtype.
fn adds(dtype: DType) -> bool {
    precast_ops::scalar::find("add").unwrap().output(&[dtype; 2]).is_some()
}

fn index_cases() -> Vec<Case> {
    let mut choices = Choices::seeded(22);
    let mut cases = Vec::new();
    let with = |arrays: &[&Array], integers: &[i64]| {
        let arrays = arrays.iter().map(|a| (*a).clone());
        arrays.chain(integers.iter().map(|n| Array::from(*n))).collect::<Vec<_>>()
    };
    for (index, integers) in parts() {
        let x = arrays::draw(&mut choices, DType::I64, &[5, 2]);
        cases.push(case(Subtensor { index: index.clone() }, with(&[&x], &integers)));
        let y = arrays::draw(&mut choices, DType::I64, &[2]);
        for set in [true, false] {
            let op = IncSubtensor { index: index.clone(), set, in_place: false };
            cases.push(case(op, with(&[&x, &y], &integers)));
        }
    }
    for dtype in DType::ALL {
        let x = arrays::draw(&mut choices, dtype, &[4, 5, 3]);
        let index = vec![selector("s"), selector("i"), selector("be")];
        let integers = [-2, -1, 1, 9];
        cases.push(case(Subtensor { index: index.clone() }, with(&[&x], &integers)));
        for shape in [&[][..], &[2], &[2, 1], &[2, 2], &[3]] {
            let y = arrays::draw(&mut choices, dtype, shape);
            for set in [true, false].into_iter().filter(|set| *set || adds(dtype)) {
                let op = IncSubtensor { index: index.clone(), set, in_place: false };
                cases.push(case(op, with(&[&x, &y], &integers)));
            }
        }
        // Uses more indices than are checked at once; the first invalid index is reported, at any position.
        let flat = arrays::draw(&mut choices, dtype, &[40]);
        let many: Vec<i64> = (0..1300).map(|i| i * 7 % 80 - 40).collect();
        let outside = |at: usize, index: i64| {
            let mut many = many.clone();
            (many[at], many[1299]) = (index, 99);
            many
        };
        for rows in [many.clone(), outside(0, 40), outside(511, i64::MIN), outside(700, -41)] {
            cases.push(case(AdvancedSubtensor1, vec![flat.clone(), numbers(&rows)]));
        }
        if dtype == DType::F64 {
            // The array is larger than a first-level cache, so rows are prefetched.
            let far = arrays::draw(&mut choices, dtype, &[140_000]);
            let scattered: Vec<i64> = (0..1300).map(|i| i * 7919 % 280_000 - 140_000).collect();
            let mut outside = scattered.clone();
            outside[700] = 140_000;
            for rows in [scattered, outside] {
                cases.push(case(AdvancedSubtensor1, vec![far.clone(), numbers(&rows)]));
            }
        }
        for rows in [&[0, 3, -1, 0, 0][..], &[], &[4], &[0, -5]] {
            cases.push(case(AdvancedSubtensor1, vec![x.clone(), numbers(rows)]));
            let flat = arrays::draw(&mut choices, dtype, &[4]);
            cases.push(case(AdvancedSubtensor1, vec![flat.clone(), numbers(rows)]));
            for set in [true, false].into_iter().filter(|set| *set || adds(dtype)) {
                let op = AdvancedIncSubtensor1 { set, in_place: false };
                let y = arrays::draw(&mut choices, dtype, &[rows.len(), 1, 3]);
                cases.push(case(op, vec![x.clone(), y, numbers(rows)]));
                let y = arrays::draw(&mut choices, dtype, &[rows.len()]);
                cases.push(case(op, vec![flat.clone(), y, numbers(rows)]));
                let y = arrays::draw(&mut choices, dtype, &[2, 2]);
                cases.push(case(op, vec![x.clone(), y, numbers(rows)]));
            }
        }
    }
    cases
}

fn scan_cases() -> Vec<Case> {
    let mut choices = Choices::seeded(23);
    let mut cases = Vec::new();
    let shapes: [&[usize]; 8] = [&[], &[0], &[1], &[600], &[3, 0], &[5, 3], &[4, 130], &[2, 70, 3]];
    for dtype in DType::ALL {
        for shape in shapes {
            // The elements include special values such as NaN, or are all equal.
            let drawn = [arrays::draw(&mut choices, dtype, shape), Array::zeros(dtype, shape)];
            let plain = arrays::draw_plain(&mut choices, dtype, shape);
            for x in drawn.into_iter().chain([plain]) {
                for axis in std::iter::once(None).chain((0..shape.len()).map(Some)) {
                    if Argmax::supports(dtype) {
                        cases
                            .extend([false, true].map(|least| case(Argmax { least, axis }, vec![x.clone()])));
                    }
                    if adds(dtype) && dtype != DType::Bool {
                        cases.extend(
                            [false, true].map(|product| case(CumOp { product, axis }, vec![x.clone()])),
                        );
                    }
                }
            }
        }
    }
    cases
}

/// Returns products of small integers, for which every order of sums gives the same bits.
fn product_cases() -> Vec<Case> {
    let mut choices = Choices::seeded(24);
    let mut cases = Vec::new();
    let shapes: [&[usize]; 9] =
        [&[3], &[0], &[2, 3], &[3, 2], &[0, 3], &[2, 3, 4], &[4, 2, 3], &[2, 4, 3], &[2, 0, 3]];
    for dtype in DType::ALL.into_iter().filter(|dtype| adds(*dtype)) {
        let mut draw = |shape: &[usize]| {
            let all: Vec<_> = (0..shape.iter().product()).map(|_| choices.below(9) as i64).collect();
            let all = Array::from(ndarray::ArrayD::from_shape_vec(shape, all).unwrap());
            let to = precast_ops::scalar::Cast { to: dtype };
            precast_ops::Elemwise::new(Arc::new(to)).perform(&[&all]).unwrap().remove(0)
        };
        for a in shapes {
            for b in shapes {
                cases.push(case(Dot, vec![draw(a), draw(b)]));
                if a.len() > 1 && b.len() > 1 {
                    cases.push(case(BatchedDot, vec![draw(a), draw(b)]));
                }
            }
        }
    }
    cases
}

#[test]
fn entries_of_an_index_are_written_and_read_back() {
    for text in ["i", "", "b", "e", "s", "be", "bs", "es", "bes"] {
        assert_eq!(Selector::parse(text).map(Selector::text).as_deref(), Some(text));
    }
    assert!(["eb", "x", "ib", "bb"].iter().all(|text| Selector::parse(text).is_none()));
}

#[test]
fn products_of_all_ranks_match_perform() {
    check("gnu11", &calls(product_cases()));
    check("c++17", &calls(product_cases().into_iter().step_by(37).collect()));
}

#[test]
fn extreme_positions_and_running_sums_match_perform() {
    check("gnu11", &calls(scan_cases()));
    check("c++17", &calls(scan_cases().into_iter().step_by(37).collect()));
}

#[test]
fn shape_ops_match_bits_and_messages_of_perform() {
    check("gnu11", &calls(shape_cases()));
    check("gnu11", &calls(arange_cases()));
}

#[test]
fn tensor_slices_match_perform() {
    check("gnu11", &calls(index_cases()));
}

#[test]
fn structural_ops_are_valid_cxx() {
    check("c++17", &calls(shape_cases().into_iter().step_by(23).collect()));
    check("c++17", &calls(index_cases().into_iter().step_by(23).collect()));
}
