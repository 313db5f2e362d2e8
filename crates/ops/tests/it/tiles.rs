//! Compares elementwise kernels on transposed operands, which are processed in tiles, with the bits of `perform`.

use crate::agree::check;
use crate::kernels::single;
use crate::machine::Call;
use precast_graph::{Array, DType, Type};
use precast_ops::{Elemwise, scalar};
use precast_testkit::layout::Layout;
use precast_testkit::{Choices, arrays};
use std::sync::Arc;

/// Returns operands with different axis orders, large enough for tiles: whole tiles, partial tiles, and remaining
/// rows.
fn tiled_calls() -> Vec<Call> {
    let shapes: [&[usize]; 6] = [&[8, 128], &[9, 300], &[300, 9], &[67, 130], &[9, 2, 140], &[3, 10, 130]];
    let outputs = [None, Some(Layout::Fortran), Some(Layout::Strided), Some(Layout::Reversed)];
    let mut choices = Choices::seeded(7);
    let mut calls = Vec::new();
    for dtype in [DType::I8, DType::Bf16, DType::F32, DType::F64, DType::C128] {
        for shape in shapes {
            let types = [Type::tensor(dtype, shape.len()), Type::tensor(dtype, shape.len())];
            let graph = single(Arc::new(Elemwise::new(scalar::find("sub").unwrap())), &types);
            for first in Layout::ALL {
                for second in Layout::ALL {
                    let mut draw = || arrays::draw_plain(&mut choices, dtype, shape);
                    let inputs = vec![(draw(), first), (draw(), second)];
                    let output = outputs[calls.len() % outputs.len()]
                        .map(|layout| (Array::zeros(dtype, shape), layout));
                    calls.push(Call { graph: Arc::clone(&graph), inputs, output, stretched: false });
                }
            }
        }
    }
    calls
}

/// Returns rows too long for a block, so that tiles lie side by side, and operands too large for any cache, which are
/// prefetched.
fn wide_calls() -> Vec<Call> {
    let mut choices = Choices::seeded(8);
    let mut calls = Vec::new();
    for (dtype, shape) in [(DType::F64, [41, 9001]), (DType::F32, [81, 9002])] {
        let types = [Type::tensor(dtype, 2), Type::tensor(dtype, 2)];
        let graph = single(Arc::new(Elemwise::new(scalar::find("sub").unwrap())), &types);
        let runs = [(Layout::Fortran, Layout::C), (Layout::C, Layout::Fortran)];
        for (first, second) in runs {
            for output in [None, Some(Layout::Fortran)] {
                let mut draw = || arrays::draw_plain(&mut choices, dtype, &shape);
                let inputs = vec![(draw(), first), (draw(), second)];
                let output = output.map(|layout| (Array::zeros(dtype, &shape), layout));
                calls.push(Call { graph: Arc::clone(&graph), inputs, output, stretched: false });
            }
        }
    }
    calls
}

#[test]
fn differently_ordered_operands_match_perform() {
    check("gnu11", &tiled_calls());
}

#[test]
fn wide_differently_ordered_operands_match_perform() {
    check("gnu11", &wide_calls());
}
