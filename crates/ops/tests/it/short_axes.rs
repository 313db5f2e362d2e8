//! Compares loops over short axes with the bits of `perform`: rows, columns and slices that are broadcast, transposed
//! or spread out, every shape from 0 to 5 along three axes, and longer shapes whose chunks end within rows.

use crate::agree::check;
use crate::kernels::{parse, single};
use crate::machine::Call;
use precast_graph::{Array, DType, FunctionGraph, Op, Type};
use precast_ops::{Elemwise, Reduce, ReduceKind, scalar};
use precast_testkit::layout::Layout;
use precast_testkit::{Choices, arrays};
use std::sync::Arc;

/// Elements of every size.
const DTYPES: [DType; 5] = [DType::I8, DType::Bf16, DType::F32, DType::F64, DType::C128];

/// Returns every shape from 0 to 5 along three axes.
fn small_shapes() -> Vec<Vec<usize>> {
    (0..216).map(|n| vec![n / 36, n / 6 % 6, n % 6]).collect()
}

/// Returns shapes of many short rows, and of a few long ones: chunks end within rows, and within planes.
fn long_shapes() -> Vec<Vec<usize>> {
    let shapes: [[usize; 3]; 12] = [
        [1, 700, 2],
        [1, 301, 3],
        [300, 3, 3],
        [90, 5, 7],
        [40, 17, 1],
        [2, 65, 16],
        [1, 40, 127],
        [3, 9, 128],
        [5, 2, 400],
        [2, 600, 2],
        [700, 1, 2],
        [17, 16, 15],
    ];
    shapes.iter().map(|shape| shape.to_vec()).collect()
}

/// Returns the shape with some extents 1, and maybe without its first axes.
fn stretched(choices: &mut Choices, shape: &[usize]) -> Vec<usize> {
    let extents = shape.iter().map(|n| if choices.below(3) == 0 { 1 } else { *n }).collect::<Vec<_>>();
    extents[choices.below(4).saturating_sub(1).min(2)..].to_vec()
}

fn layout(choices: &mut Choices) -> Layout {
    Layout::ALL[choices.below(Layout::ALL.len())]
}

/// A graph of one op, with the op and the types of its operands.
type Known = (Arc<dyn Op>, Vec<Type>, Arc<FunctionGraph>);

/// Graphs by their op and the ranks of its operands: each is compiled once.
#[derive(Default)]
struct Graphs(Vec<Known>);

impl Graphs {
    fn get(&mut self, op: &Arc<dyn Op>, types: Vec<Type>) -> Arc<FunctionGraph> {
        let known = self.0.iter().find(|(other, its, _)| **other == **op && *its == types);
        if let Some((_, _, graph)) = known {
            return Arc::clone(graph);
        }
        let graph = single(Arc::clone(op), &types);
        self.0.push((Arc::clone(op), types, Arc::clone(&graph)));
        graph
    }
}

fn elementwise_calls(shapes: &[Vec<usize>]) -> Vec<Call> {
    let mut choices = Choices::seeded(46);
    let (mut graphs, mut calls) = (Graphs::default(), Vec::new());
    let op: Arc<dyn Op> = Arc::new(Elemwise::new(scalar::find("sub").unwrap()));
    for shape in shapes {
        for dtype in DTYPES {
            let both = [stretched(&mut choices, shape), stretched(&mut choices, shape)];
            let types = both.iter().map(|own| Type::tensor(dtype, own.len())).collect();
            let graph = graphs.get(&op, types);
            let inputs: Vec<_> = both
                .iter()
                .map(|own| (arrays::draw_plain(&mut choices, dtype, own), layout(&mut choices)))
                .collect();
            let rank = both[0].len().max(both[1].len());
            let extent = |own: &[usize], d: usize| (d + own.len()).checked_sub(rank).map_or(1, |at| own[at]);
            let common: Vec<usize> = (0..rank)
                .map(|d| match extent(&both[0], d) {
                    1 => extent(&both[1], d),
                    n => n,
                })
                .collect();
            let output =
                (choices.below(2) == 0).then(|| (Array::zeros(dtype, &common), layout(&mut choices)));
            calls.push(Call { graph, inputs, output, stretched: false });
        }
    }
    calls
}

/// Returns reductions over each set of axes, plain or of the difference of two operands.
fn reduce_calls(shapes: &[Vec<usize>]) -> Vec<Call> {
    let mut choices = Choices::seeded(47);
    let (mut graphs, mut calls) = (Graphs::default(), Vec::new());
    let kinds = [
        (ReduceKind::Sum, DType::F64),
        (ReduceKind::Sum, DType::F32),
        (ReduceKind::Mean, DType::F64),
        (ReduceKind::Max, DType::F64),
        (ReduceKind::Max, DType::I8),
        (ReduceKind::Min, DType::I16),
        (ReduceKind::Sum, DType::C128),
    ];
    for shape in shapes {
        for axes in [vec![0], vec![1], vec![2], vec![0, 1], vec![0, 2], vec![1, 2]] {
            let (kind, dtype) = kinds[choices.below(kinds.len())];
            let mut draw = |shape: &[usize]| arrays::draw_plain(&mut choices, dtype, shape);
            let whole = draw(shape);
            let reduce = Reduce::new(kind, Some(axes));
            let is_mapped = !matches!(dtype, DType::I8 | DType::I16);
            let mut inputs = vec![whole];
            let op: Arc<dyn Op> = if is_mapped && calls.len() % 2 == 0 {
                let own: Vec<usize> = shape
                    .iter()
                    .enumerate()
                    .map(|(d, n)| if (calls.len() + d) % 3 == 0 { *n } else { 1 })
                    .collect();
                inputs.push(draw(&own));
                Arc::new(reduce.fused(scalar::find("sub").unwrap()))
            } else {
                Arc::new(reduce)
            };
            let graph = graphs.get(&op, inputs.iter().map(|_| Type::tensor(dtype, 3)).collect());
            let inputs = inputs.into_iter().map(|array| (array, layout(&mut choices))).collect();
            calls.push(Call { graph, inputs, output: None, stretched: false });
        }
    }
    calls
}

/// Returns calls on slices, whose rows are contiguous and lie apart.
fn slice_calls() -> Vec<Call> {
    let texts = [
        "out = x[:,1:] - x[:,:-1]",
        "out = sum(x[:,1:] * y[:,:-1], axis=1)",
        "out = max(x[:,:-1], axis=1)",
        "out = x[:,0] * x[:,1]",
        "out = softmax(x[:,1:], axis=-1)",
    ];
    let mut choices = Choices::seeded(48);
    let mut calls = Vec::new();
    for text in texts {
        for dtype in [DType::F32, DType::F64] {
            let graph = parse(text, dtype);
            for shape in [[300, 2], [90, 4], [41, 33], [19, 66], [9, 129], [5, 300]] {
                for layout in [Layout::C, Layout::Fortran] {
                    let inputs = graph
                        .inputs()
                        .iter()
                        .map(|_| (arrays::draw_plain(&mut choices, dtype, &shape), layout))
                        .collect();
                    calls.push(Call { graph: Arc::clone(&graph), inputs, output: None, stretched: false });
                }
            }
        }
    }
    calls
}

#[test]
fn loops_over_slices_give_the_bits_of_perform() {
    check("gnu11", &slice_calls());
}

#[test]
fn loops_over_small_shapes_match_perform() {
    check("gnu11", &elementwise_calls(&small_shapes()));
}

#[test]
fn loops_over_short_axes_match_perform() {
    let shapes = long_shapes().into_iter().cycle().take(180).collect::<Vec<_>>();
    check("gnu11", &elementwise_calls(&shapes));
}

#[test]
fn reductions_of_small_shapes_match_perform() {
    check("gnu11", &reduce_calls(&small_shapes()));
}

#[test]
fn reductions_over_short_axes_match_perform() {
    let shapes = long_shapes().into_iter().cycle().take(96).collect::<Vec<_>>();
    check("gnu11", &reduce_calls(&shapes));
}
