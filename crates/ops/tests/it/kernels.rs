//! Compares compiled kernels with the reference `perform`: every op, dtype and layout, bit by bit.

use crate::agree::{check, check_at};
use crate::compiler::{self, highest};
use crate::machine::Call;
use precast_codegen::Unit;
use precast_graph::{Array, DType, FunctionGraph, Op, Type};
use precast_ops::rewrite::{Form, Passes};
use precast_ops::scalar::{self, ScalarOp};
use precast_ops::{DimShuffle, Dot, Elemwise, Ops, Reduce, ReduceKind, rewrite};
use precast_testkit::layout::Layout;
use precast_testkit::{Choices, arrays, is_in_share};
use std::sync::Arc;

/// The shapes of the operands of one call. They cover the edges: empty, one element, a vector and one more, a block
/// and one more, rows too short and long enough to be walked one by one, several dimensions.
const SHAPES: [&[usize]; 9] = [&[], &[0], &[1], &[17], &[513], &[3, 0], &[5, 3], &[3, 130], &[2, 3, 4]];

pub(crate) fn single(op: Arc<dyn Op>, types: &[Type]) -> Arc<FunctionGraph> {
    let mut graph = FunctionGraph::new();
    let inputs: Vec<_> =
        types.iter().enumerate().map(|(i, ty)| graph.input(&format!("x{i}"), ty.clone()).unwrap()).collect();
    for output in graph.apply(op, &inputs).unwrap() {
        graph.output(output, None).unwrap();
    }
    Arc::new(Form::Unfused.of(&graph, &Passes::default()).unwrap())
}

fn elementwise() -> Vec<(Arc<dyn ScalarOp>, Vec<DType>)> {
    let casts = DType::ALL.map(|to| Arc::new(scalar::Cast { to }) as Arc<dyn ScalarOp>);
    let all = scalar::names().into_iter().map(|name| scalar::find(name).unwrap()).chain(casts);
    all.flat_map(|op| scalar::signatures(&*op).into_iter().map(move |dtypes| (Arc::clone(&op), dtypes)))
        .collect()
}

fn elementwise_calls() -> Vec<Call> {
    let mut choices = Choices::seeded(2);
    let mut calls = Vec::new();
    for (at, (op, dtypes)) in (0..).zip(elementwise()) {
        // The driver, not the op, handles ranks, layouts and broadcasting. Two ops, with elements of every size,
        // therefore cover all of them; the rest use one rank, and one signature in six.
        let walks = ["add", "switch"].contains(&op.name());
        if !walks && !is_in_share(at, 6) {
            continue;
        }
        for ndim in if walks { 0..=3 } else { 1..=1 } {
            let types: Vec<Type> = dtypes.iter().map(|d| Type::tensor(*d, ndim)).collect();
            let graph = single(Arc::new(Elemwise::new(Arc::clone(&op))), &types);
            for shape in SHAPES.iter().filter(|shape| shape.len() == ndim && (walks || shape != &&[1])) {
                let inputs = |choices: &mut Choices, layout: Layout| {
                    dtypes.iter().map(|d| (arrays::draw(choices, *d, shape), layout)).collect::<Vec<_>>()
                };
                for layout in Layout::ALL {
                    let (graph, inputs) = (Arc::clone(&graph), inputs(&mut choices, layout));
                    calls.push(Call { graph, inputs, output: None, stretched: false });
                }
                let result = op.output(&dtypes).unwrap();
                for layout in [Layout::Fortran, Layout::Strided, Layout::Reversed] {
                    let output = Some((Array::zeros(result, shape), layout));
                    let (graph, inputs) = (Arc::clone(&graph), inputs(&mut choices, Layout::C));
                    calls.push(Call { graph, inputs, output, stretched: false });
                }
                if ndim > 0 {
                    let (graph, inputs) = (Arc::clone(&graph), inputs(&mut choices, Layout::C));
                    calls.push(Call { graph, inputs, output: None, stretched: true });
                }
            }
        }
        if let [dtype] = dtypes.as_slice() {
            let special = arrays::specials(*dtype);
            let graph = single(Arc::new(Elemwise::new(op)), &[Type::tensor(*dtype, 1)]);
            calls.push(Call { graph, inputs: vec![(special, Layout::C)], output: None, stretched: false });
        } else {
            calls.extend(broadcast_calls(&op, &dtypes, walks, &mut choices));
        }
    }
    calls
}

/// Returns operands of several ranks and with extents of 1, some incompatible ones, and all pairs of special values.
fn broadcast_calls(
    op: &Arc<dyn ScalarOp>,
    dtypes: &[DType],
    walks: bool,
    choices: &mut Choices,
) -> Vec<Call> {
    let shapes: [[&[usize]; 3]; 6] = [
        [&[5, 3], &[3], &[5, 3]],
        [&[5, 1], &[1, 300], &[300]],
        [&[2, 1, 4], &[3, 1], &[]],
        [&[4], &[0], &[4]],
        [&[4], &[5], &[4]],
        [&[1], &[0], &[1]],
    ];
    let call = |inputs: Vec<(Array, Layout)>| {
        let types: Vec<Type> = inputs.iter().map(|(a, _)| Type::tensor(a.dtype(), a.shape().len())).collect();
        let graph = single(Arc::new(Elemwise::new(Arc::clone(op))), &types);
        Call { graph, inputs, output: None, stretched: false }
    };
    let mut calls: Vec<Call> = Vec::new();
    for shapes in shapes.into_iter().filter(|_| walks) {
        for layout in [Layout::C, Layout::Reversed] {
            let inputs =
                dtypes.iter().zip(shapes).map(|(d, shape)| (arrays::draw(choices, *d, shape), layout));
            calls.push(call(inputs.collect()));
        }
    }
    let [before, special] = [2, 1].map(|back| arrays::specials(dtypes[dtypes.len() - back]));
    let (m, n) = (before.shape()[0], special.shape()[0]);
    let column = Array::from_bits(before.dtype(), &[m, 1], &before.bits()).unwrap();
    let front = dtypes[..dtypes.len() - 2].iter().map(|d| (arrays::draw(choices, *d, &[m, n]), Layout::C));
    let front: Vec<_> = front.collect();
    let pair = [(column, Layout::C), (special, Layout::C)];
    calls.push(call(front.into_iter().chain(pair).collect()));
    calls
}

fn reduce_calls() -> Vec<Call> {
    let mut choices = Choices::seeded(3);
    let mut calls = Vec::new();
    let shapes: [&[usize]; 10] =
        [&[], &[0], &[1], &[4095], &[9000], &[3, 0], &[0, 3], &[7, 150], &[300, 20], &[5, 6, 70]];
    for (at, kind) in (0..).zip(ReduceKind::LIST) {
        for (dtype, _) in kind.dtypes().iter().zip(at..).filter(|(_, at)| is_in_share(*at, 2)) {
            for shape in shapes {
                let axes =
                    [None, Some(vec![1]), Some(vec![]), Some(vec![0]), Some(vec![0, 2]), Some(vec![1, 2])];
                // The driver, not the kind, handles the axes, so one kind covers all of them.
                let axes = axes.into_iter().take(if kind == ReduceKind::Sum { 6 } else { 2 });
                for axes in axes.filter(|a| a.as_ref().is_none_or(|a| a.iter().all(|d| *d < shape.len()))) {
                    let ty = Type::tensor(*dtype, shape.len());
                    let graph = single(Arc::new(Reduce::new(kind, axes)), &[ty]);
                    let plain = arrays::draw_plain(&mut choices, *dtype, shape);
                    for layout in Layout::ALL {
                        let (graph, inputs) = (Arc::clone(&graph), vec![(plain.clone(), layout)]);
                        calls.push(Call { graph, inputs, output: None, stretched: false });
                    }
                    let inputs = vec![(arrays::draw(&mut choices, *dtype, shape), Layout::C)];
                    calls.push(Call { graph, inputs, output: None, stretched: !shape.is_empty() });
                }
            }
        }
    }
    calls
}

/// Returns columns with as many elements as the lanes, fewer and more, including special elements. They are read
/// along rows and across them, directly and through a map with broadcast operands, so that the elements gathered for
/// a tile are read again.
fn few_calls() -> Vec<Call> {
    let counts = [1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65];
    let mut choices = Choices::seeded(9);
    let mut calls = Vec::new();
    for (at, kind) in (0..).zip(ReduceKind::LIST) {
        for (dtype, at) in kind.dtypes().iter().zip(at..) {
            for axis in [0, 1] {
                if !is_in_share(at + axis as u64, 2) {
                    continue;
                }
                let graph = single(Arc::new(Reduce::new(kind, Some(vec![axis]))), &[Type::tensor(*dtype, 2)]);
                for (count, turn) in counts.into_iter().zip(0..) {
                    let shape = if axis == 0 { [count, 37] } else { [37, count] };
                    let inputs = vec![(
                        arrays::draw(&mut choices, *dtype, &shape),
                        Layout::ALL[turn % Layout::ALL.len()],
                    )];
                    calls.push(Call { graph: Arc::clone(&graph), inputs, output: None, stretched: false });
                }
            }
        }
    }
    for (text, dtype) in [
        ("out = sum((x[:, None, :] - y[None, :, :])**2, axis=2)", DType::F64),
        ("out = mean(x[:, None, :] * y[None, :, :], axis=2)", DType::F32),
        ("out = max(x[:, None, :] + y[None, :, :], axis=2)", DType::F32),
        ("out = prod(x[:, None, :] - y[None, :, :], axis=2)", DType::F64),
        ("out = sum(x[:, None, :] * y[None, :, :], axis=2)", DType::C128),
        ("out = all(x[:, None, :] > y[None, :, :], axis=2)", DType::I16),
    ] {
        let graph = parse(text, dtype);
        for count in counts {
            // Two tiles and a remainder.
            let mut draw = |rows| (arrays::draw(&mut choices, dtype, &[rows, count]), Layout::C);
            let inputs = vec![draw(3), draw(1100)];
            calls.push(Call { graph: Arc::clone(&graph), inputs, output: None, stretched: false });
        }
    }
    calls
}

/// Returns calls of texts whose graphs are fused: chains, reductions of chains, inner broadcasting, constants, mixed
/// dtypes.
fn fused_calls() -> Vec<Call> {
    calls_of(
        &[
            "out = (x + y) * z",
            "out = sum(exp(-x*x)*y + z)",
            "out = sum(exp(-x*x)*y + z, axis=0)",
            "out = mean(x*y - 2.5, axis=1)",
            "out = max(where(x > 0, y, z))",
            "out = sum((x - mean(x, axis=1, keepdims=True))*y, axis=1)",
            "a = sigmoid(x) + tanh(y); b = sqrt(abs(z)) * 3; out = log(abs(a) + 1) / b",
            "out = log1p(exp(tanh(x)))*y + z",
            "out = sum(sin(exp(x*y))*log(abs(z)), axis=1)",
            "out = transpose(x)",
            "out = sum(x > y)",
            LONG,
        ],
        &[DType::F32, DType::F64],
    )
}

/// Returns calls of kernels that call block functions: with loops before, between and after them, scalar operands, more
/// buffers than blocks of the usual size allow, reductions and rows.
fn block_calls(dtypes: &[DType]) -> Vec<Call> {
    let many: Vec<String> = (1..24).map(|k| format!("sin(x*{k}.5)*y")).collect();
    let many = format!("out = {}", many.join(" + "));
    calls_of(
        &[
            &many,
            "out = tan(x)",
            "out = sin(x)*y + cos(x)",
            "out = x**2.5 + sin(x)",
            "out = 2.5**x",
            "out = gammaln(x + y) - gammaln(x) - gammaln(y)",
            "out = where(x > y, digamma(exp(x)), sin(exp(y)))",
            "out = sum(sin(x)*exp(y), axis=1)",
            "out = x - mean(cos(x), axis=1, keepdims=True)",
            "out = sin(x)*sin(y) + cos(x*y)*tan(y + z) + gammaln(x)*sin(z) + cos(x + z)*exp(y)",
        ],
        dtypes,
    )
}

/// Returns graphs in which each op of truth values and 64-bit elements, and each cast of narrow elements to f64, is beside
/// a function, so that kernels widen its narrow operands and results.
fn wide_graphs() -> Vec<Arc<FunctionGraph>> {
    let apply = |graph: &mut FunctionGraph, op: &Arc<dyn ScalarOp>, inputs: &[_]| {
        graph.apply(Arc::new(Elemwise::new(Arc::clone(op))), inputs).unwrap()[0]
    };
    let cast = |to| Arc::new(scalar::Cast { to }) as Arc<dyn ScalarOp>;
    let find = |name| scalar::find(name).unwrap();
    let is_wide = |dtype: &DType| matches!(dtype, DType::Bool | DType::F64 | DType::I64 | DType::U64);
    let is_narrow = |dtypes: &[DType]| dtypes[0] != DType::Bool && dtypes[0].itemsize_bytes() == 1;
    let fits = |op: &Arc<dyn ScalarOp>, dtypes: &[DType]| {
        let result = op.output(dtypes).unwrap();
        let narrow = op.name() == "cast" && is_narrow(dtypes) && result == DType::F64;
        let has_truth = dtypes.contains(&DType::Bool) || result == DType::Bool;
        narrow || has_truth && dtypes.iter().chain([&result]).all(is_wide)
    };
    let mut graphs = Vec::new();
    for (op, dtypes) in elementwise().into_iter().filter(|(op, dtypes)| fits(op, dtypes)) {
        let mut graph = FunctionGraph::new();
        let input = |graph: &mut FunctionGraph, k: usize, dtype: DType| {
            graph.input(&format!("x{k}"), Type::tensor(dtype, 1)).unwrap()
        };
        let operands: Vec<_> = dtypes.iter().enumerate().map(|(k, d)| input(&mut graph, k, *d)).collect();
        let (y, z) = (input(&mut graph, 8, DType::F64), input(&mut graph, 9, DType::F64));
        let value = apply(&mut graph, &op, &operands);
        let power = apply(&mut graph, &find("exp"), &[y]);
        let result = op.output(&dtypes).unwrap();
        let out = if result == DType::Bool {
            graph.output(value, None).unwrap();
            let order = apply(&mut graph, &find("lt"), &[power, z]);
            let both = apply(&mut graph, &find("logical_xor"), &[value, order]);
            apply(&mut graph, &find("switch"), &[both, power, z])
        } else {
            let value =
                if result == DType::F64 { value } else { apply(&mut graph, &cast(DType::F64), &[value]) };
            apply(&mut graph, &find("mul"), &[value, power])
        };
        graph.output(out, None).unwrap();
        graphs.push(Arc::new(rewrite::lower(&graph).unwrap()));
    }
    graphs
}

fn calls_of(texts: &[&str], dtypes: &[DType]) -> Vec<Call> {
    let mut choices = Choices::seeded(4);
    let mut calls = Vec::new();
    for (text, at) in texts.iter().zip(0..) {
        // A third of the texts, and other ones for the next dtype.
        for (dtype, _) in dtypes.iter().copied().zip(at..).filter(|(_, at)| is_in_share(*at, 3)) {
            let graph = parse(text, dtype);
            for shape in [[0, 3], [1, 1], [9, 4], [3, 1000], [700, 33]] {
                let drawn = graph.inputs().iter().map(|_| arrays::draw_plain(&mut choices, dtype, &shape));
                let drawn: Vec<Array> = drawn.collect();
                for layout in Layout::ALL {
                    let inputs = drawn.iter().map(|array| (array.clone(), layout)).collect();
                    calls.push(Call { graph: Arc::clone(&graph), inputs, output: None, stretched: false });
                }
            }
        }
    }
    calls
}

/// A text with so many functions that the kernel only computes whole vectors.
const LONG: &str = "out = where(x > y, tanh(exp(-x*x)), log(abs(y))) * sigmoid(z)";

/// Returns calls of each function between two functions, the last of which has more digits. Intermediate rounding
/// must be preserved.
fn rounded_calls() -> Vec<Call> {
    let (mut choices, mut calls, mut tried) = (Choices::seeded(8), Vec::new(), 0);
    for (dtype, wide, turn) in [(DType::F32, DType::F64, "neg"), (DType::C64, DType::C128, "conj")] {
        let functions = scalar::names().into_iter().map(|name| scalar::find(name).unwrap());
        let keeps = |op: &Arc<dyn ScalarOp>| {
            scalar::signatures(&**op).contains(&vec![dtype]) && op.output(&[dtype]) == Some(dtype)
        };
        for (op, at) in functions.filter(keeps).zip(0..) {
            tried += 1;
            if !is_in_share(at, 2) {
                continue;
            }
            let mut graph = FunctionGraph::new();
            let mut value = graph.input("x", Type::tensor(dtype, 1)).unwrap();
            for link in [scalar::find(turn).unwrap(), op, Arc::new(scalar::Cast { to: wide })] {
                value = graph.apply(Arc::new(Elemwise::new(link)), &[value]).unwrap()[0];
            }
            graph.output(value, None).unwrap();
            let graph = Arc::new(rewrite::lower(&graph).unwrap());
            for extent in [3, 37] {
                let inputs = vec![(arrays::draw_plain(&mut choices, dtype, &[extent]), Layout::C)];
                calls.push(Call { graph: Arc::clone(&graph), inputs, output: None, stretched: false });
            }
        }
    }
    assert!(2 * tried > 80, "{tried} functions");
    calls
}

pub(crate) fn parse(text: &str, dtype: DType) -> Arc<FunctionGraph> {
    let inputs: Vec<(String, Type)> = ["x", "y", "z"]
        .iter()
        .filter(|name| text.split(|c: char| !c.is_alphanumeric()).any(|word| word == **name))
        .map(|name| ((*name).to_owned(), Type::tensor(dtype, 2)))
        .collect();
    let graph =
        precast_graph::text::parse(&text.split("; ").collect::<Vec<_>>(), &inputs, &Ops::standard()).unwrap();
    Arc::new(rewrite::lower(&graph).unwrap())
}

/// Returns integers so small that every order of summation gives the same bits.
fn integers(choices: &mut Choices, dtype: DType, shape: &[usize]) -> Array {
    let n = shape.iter().product();
    let mut number = || (choices.below(17) as i64 - 8) as f64;
    let bits: Vec<u64> = (0..n)
        .map(|_| match dtype {
            DType::F32 => u64::from((number() as f32).to_bits()),
            _ => number().to_bits(),
        })
        .collect();
    Array::from_bits(dtype, shape, &bits).unwrap()
}

fn view_calls() -> Vec<Call> {
    let mut choices = Choices::seeded(5);
    let mut calls = Vec::new();
    let pairs: [[&[usize]; 2]; 8] = [
        [&[5], &[5]],
        [&[5], &[5, 3]],
        [&[4, 5], &[5]],
        [&[4, 5], &[5, 3]],
        [&[0], &[0]],
        [&[2, 0], &[0, 3]],
        [&[0, 2], &[2, 3]],
        [&[2, 3], &[4, 3]],
    ];
    for dtype in [DType::F32, DType::F64] {
        for shapes in pairs {
            let types = shapes.map(|shape| Type::tensor(dtype, shape.len()));
            let graph = single(Arc::new(Dot), &types);
            for layout in Layout::ALL {
                let inputs =
                    shapes.iter().map(|shape| (integers(&mut choices, dtype, shape), layout)).collect();
                calls.push(Call { graph: Arc::clone(&graph), inputs, output: None, stretched: false });
            }
        }
    }
    for (order, shape) in [
        (vec![Some(1), None, Some(0)], &[3, 4][..]),
        (vec![Some(0)], &[3, 1]),
        (vec![], &[1]),
        (vec![Some(0)], &[3, 2]),
    ] {
        for dtype in DType::ALL {
            let graph = single(Arc::new(DimShuffle::new(order.clone())), &[Type::tensor(dtype, shape.len())]);
            for layout in Layout::ALL {
                let inputs = vec![(arrays::draw(&mut choices, dtype, shape), layout)];
                calls.push(Call { graph: Arc::clone(&graph), inputs, output: None, stretched: false });
            }
        }
    }
    calls
}

#[test]
fn elementwise_kernels_match_perform() {
    check("gnu11", &elementwise_calls());
}

#[test]
fn short_columns_match_perform() {
    check("gnu11", &few_calls());
}

#[test]
fn intermediate_roundings_are_kept() {
    check_at(&[compiler::levels()[0], highest()], "gnu11", &rounded_calls());
}

/// Covers code in which compilers tend to contract products and sums, and conversions that some levels could do
/// differently.
#[test]
fn complex_and_half_kernels_match_at_every_level() {
    let tempting = |call: &Call| {
        let signature = call.graph.to_string();
        let complex = call.inputs.iter().any(|(a, _)| a.dtype().is_complex());
        let names = ["mul(", "div(", "square(", "reciprocal(", "sign("];
        let small = signature.contains("16}") || call.inputs[0].0.dtype().itemsize_bytes() == 2;
        complex && names.iter().any(|name| signature.contains(name)) || small && signature.contains("cast{")
    };
    let levels = compiler::levels();
    let calls: Vec<Call> = elementwise_calls().into_iter().filter(tempting).collect();
    check_at(&levels[..levels.len() - 1], "gnu11", &calls);
}

#[test]
fn reductions_match_perform_in_every_layout() {
    check("gnu11", &reduce_calls());
}

/// Uses enough elements that whole rows of lanes are worth their memory, in one tile and in two.
#[test]
fn sums_of_many_columns_match_perform() {
    let mut choices = Choices::seeded(14);
    let mut calls = Vec::new();
    for (dtype, shape) in [(DType::F64, [131, 1003]), (DType::F64, [39, 3601]), (DType::F32, [80, 3601])] {
        let graph = single(Arc::new(Reduce::new(ReduceKind::Sum, Some(vec![0]))), &[Type::tensor(dtype, 2)]);
        let inputs = vec![(arrays::draw_plain(&mut choices, dtype, &shape), Layout::C)];
        calls.push(Call { graph, inputs, output: None, stretched: false });
    }
    check("gnu11", &calls);
}

#[test]
fn long_bodies_are_compiled_once() {
    let whole = |text: &str| {
        let module = precast_codegen::link(&parse(text, DType::F64), Ops::standard().c()).unwrap();
        Unit::single(Arc::new(module)).text().contains("pc_whole(")
    };
    assert!(whole(LONG));
    assert!(!whole("out = exp(x) + tanh(y) + sigmoid(z)"));
    assert!(!whole(&format!("{LONG} + gammaln(y)")));
    let (folded, compared) = (LONG.replace("out = ", "out = sum(") + ", axis=1)", format!("{LONG} > y"));
    check("gnu11", &calls_of(&[&folded, &compared], &[DType::F32]));
}

#[test]
fn fused_graphs_match_perform_at_every_level() {
    check_at(&compiler::levels(), "gnu11", &fused_calls());
}

#[test]
fn kernels_with_block_functions_match_perform() {
    check_at(&compiler::levels(), "gnu11", &block_calls(&[DType::F64]));
    check("gnu11", &block_calls(&[DType::F16, DType::F32]));
    let cast = ["out = x**2.5", "out = sin(x)", "out = gammaln(x)*y", "out = sin(x) + cos(y)"];
    check("gnu11", &calls_of(&cast, &[DType::I8, DType::U8, DType::I64]));
    check_at(&compiler::levels()[..1], "c++17", &block_calls(&[DType::F64]));
    let text = |text: &str, dtype| {
        let module = precast_codegen::link(&parse(text, dtype), Ops::standard().c()).unwrap();
        Unit::single(Arc::new(module)).text()
    };
    let half = text("out = sin(x)", DType::F16);
    assert!(half.contains("pc_sin_f32_block(m, b0, b1);"), "{half}");
    let plain = text("out = sin(x)", DType::F64);
    assert!(plain.contains("pc_sin_f64_block(n, x0, y0);") && !plain.contains("PC_LIGHT"), "{plain}");
}

#[test]
fn kernels_that_widen_operands_match_perform() {
    let (graphs, mut choices, mut calls) = (wide_graphs(), Choices::seeded(21), Vec::new());
    let text = |graph: &FunctionGraph| {
        let module = precast_codegen::link(graph, Ops::standard().c()).unwrap();
        Unit::single(Arc::new(module)).text()
    };
    let widened = graphs.iter().filter(|graph| text(graph).contains("for (int64_t at = 0;"));
    assert!(widened.count() * 10 > graphs.len() * 9 && graphs.len() > 50, "{}", graphs.len());
    for graph in &graphs {
        for extent in [0, 1, 17, 700] {
            let draw = |id: &_| (arrays::draw(&mut choices, graph.ty(*id).dtype(), &[extent]), Layout::C);
            let inputs = graph.inputs().iter().map(draw).collect();
            calls.push(Call { graph: Arc::clone(graph), inputs, output: None, stretched: false });
        }
    }
    check_at(&[compiler::levels()[0], highest()], "gnu11", &calls);
}

#[test]
fn views_and_products_match_perform() {
    check("gnu11", &view_calls());
}

#[test]
fn kernels_are_valid_cxx() {
    check_at(&compiler::levels()[..1], "c++17", &fused_calls());
    check_at(&compiler::levels()[..1], "c++17", &view_calls());
}
