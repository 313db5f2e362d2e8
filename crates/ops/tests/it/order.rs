//! Tests of ops that sort elements or select them by a mask: compiled C against `perform`, bit by bit, in every
//! layout.

use crate::agree::check;
use crate::structural::{Case, calls};
use precast_graph::{Array, DType, Op};
use precast_ops::index::{BooleanIndex, Nonzero};
use precast_ops::scalar::{Cast, ScalarOp};
use precast_ops::{Argmax, Composite, Reduce, ReduceKind, SearchSorted, Sort};
use precast_testkit::{Choices, arrays};
use std::sync::Arc;

/// The shapes: no elements, one, an odd number, the limit of insertion sort and one more, enough for every byte of a
/// key, and lines for several vectors and one more.
const LINES: [&[usize]; 10] =
    [&[0], &[1], &[7], &[64], &[65], &[700], &[3, 0], &[5, 3], &[2, 66, 3], &[33, 18]];

/// Returns elements of a dtype: with special values, with few repeated values, and all equal.
fn drawn(choices: &mut Choices, dtype: DType, shape: &[usize]) -> [Array; 3] {
    let few = arrays::draw(choices, dtype, &[4]);
    let (words, bits) = (dtype.words(), few.bits());
    let count: usize = shape.iter().product();
    let often = (0..count).flat_map(|_| {
        let at = choices.below(4) * words;
        bits[at..at + words].to_vec()
    });
    let often = Array::from_bits(dtype, shape, &often.collect::<Vec<_>>()).unwrap();
    [arrays::draw(choices, dtype, shape), often, Array::zeros(dtype, shape)]
}

fn sort_cases() -> Vec<Case> {
    let mut choices = Choices::seeded(31);
    let mut cases: Vec<Case> = Vec::new();
    for dtype in DType::ALL {
        for shape in LINES {
            for x in drawn(&mut choices, dtype, shape) {
                for axis in 0..shape.len() {
                    cases.extend(
                        [false, true].map(|positions| -> Case {
                            (Arc::new(Sort { positions, axis }), vec![x.clone()])
                        }),
                    );
                }
            }
        }
        let specials = arrays::specials(dtype);
        cases
            .extend([false, true].map(|positions| -> Case {
                (Arc::new(Sort { positions, axis: 0 }), vec![specials.clone()])
            }));
    }
    cases
}

fn search_cases() -> Vec<Case> {
    let mut choices = Choices::seeded(32);
    let mut cases: Vec<Case> = Vec::new();
    for dtype in DType::ALL {
        for n in [0, 1, 5, 300] {
            for sorted in drawn(&mut choices, dtype, &[n]) {
                // The elements in sorted order, and unchanged.
                let ascending = Op::perform(&Sort { positions: false, axis: 0 }, &[&sorted]);
                for sorted in [sorted.clone(), ascending.unwrap().remove(0)] {
                    for x in [arrays::specials(dtype), sorted.clone(), Array::zeros(dtype, &[2, 0, 3])] {
                        cases.extend([false, true].map(|right| -> Case {
                            (Arc::new(SearchSorted { right }), vec![sorted.clone(), x.clone()])
                        }));
                    }
                }
                let x = arrays::draw(&mut choices, dtype, &[3, 5]);
                cases.push((Arc::new(SearchSorted { right: false }), vec![sorted, x]));
            }
        }
    }
    cases
}

fn mask_cases() -> Vec<Case> {
    let mut choices = Choices::seeded(33);
    let mut cases: Vec<Case> = Vec::new();
    let shapes: [&[usize]; 10] =
        [&[], &[0], &[1], &[17], &[513], &[3, 0], &[5, 3], &[3, 300], &[2, 3, 4], &[2, 1, 3, 5]];
    for shape in shapes {
        let mut masks = drawn(&mut choices, DType::Bool, shape).to_vec();
        let count: usize = shape.iter().product();
        masks.push(Array::from_bits(DType::Bool, shape, &vec![1; count]).unwrap());
        let runs: Vec<u64> = (0..count).map(|i| u64::from(i / 29 % 2 == 1)).collect();
        masks.push(Array::from_bits(DType::Bool, shape, &runs).unwrap());
        for mask in masks {
            cases.push((Arc::new(Nonzero), vec![mask.clone()]));
            for dtype in DType::ALL {
                for rest in [&[][..], &[1], &[3, 2], &[0]] {
                    let x = arrays::draw(&mut choices, dtype, &[shape, rest].concat());
                    cases.push((Arc::new(BooleanIndex), vec![x, mask.clone()]));
                }
            }
        }
    }
    for (whole, mask) in [([3, 4], [3, 5]), ([3, 4], [2, 4]), ([3, 0], [3, 1]), ([1, 4], [3, 4])] {
        let (x, mask) = (Array::zeros(DType::F64, &whole), Array::zeros(DType::Bool, &mask));
        cases.push((Arc::new(BooleanIndex), vec![x, mask]));
    }
    cases
}

/// Returns sums of bools, whose map has another result dtype than the sum: few elements, more than a block, and along
/// each axis.
fn count_cases() -> Vec<Case> {
    let mut choices = Choices::seeded(34);
    let cast = |to| -> Arc<dyn ScalarOp> { Arc::new(Cast { to }) };
    let shapes: [&[usize]; 9] =
        [&[], &[0], &[1], &[64], &[9000], &[3, 300], &[300, 3], &[5000, 9], &[70, 9, 2]];
    let mut cases: Vec<Case> = Vec::new();
    for shape in shapes {
        let all = (0..shape.len()).map(|axis| Some(vec![axis]));
        for axes in all.chain([None]) {
            let sum = Reduce::new(ReduceKind::Sum, axes);
            let steps = vec![(cast(DType::Bool), vec![0]), (cast(DType::I64), vec![1])];
            let of_floats: Arc<dyn Op> = Arc::new(sum.fused(Arc::new(Composite::new(1, steps, vec![2]))));
            let of_bools: Arc<dyn Op> = Arc::new(sum.fused(cast(DType::I64)));
            for x in drawn(&mut choices, DType::F32, shape) {
                cases.push((Arc::clone(&of_floats), vec![x]));
            }
            let ones = vec![1; shape.iter().product()];
            let full = Array::from_bits(DType::Bool, shape, &ones).unwrap();
            for x in drawn(&mut choices, DType::Bool, shape).into_iter().chain([full]) {
                cases.push((Arc::clone(&of_bools), vec![x]));
            }
        }
    }
    cases
}

/// Returns searches for the best element: without a block, with the edges of one, and with several, of every kind of
/// elements, and with one special value at the end of a line.
fn argmax_cases() -> Vec<Case> {
    let mut choices = Choices::seeded(35);
    let mut cases: Vec<Case> = Vec::new();
    let shapes: [&[usize]; 11] =
        [&[], &[0], &[1], &[2], &[33], &[257], &[600], &[0, 3], &[70, 5], &[5, 70], &[2, 34, 3]];
    for dtype in DType::ALL.into_iter().filter(|dtype| Argmax::supports(*dtype)) {
        for shape in shapes {
            let mut drawn = drawn(&mut choices, dtype, shape).to_vec();
            let ends = if shape == [257] { arrays::specials(dtype).bits() } else { Vec::new() };
            for special in ends {
                let mut bits = drawn[2].bits();
                if let Some(end) = bits.last_mut() {
                    *end = special;
                }
                drawn.push(Array::from_bits(dtype, shape, &bits).unwrap());
            }
            for x in drawn {
                for axis in (0..shape.len()).map(Some).chain([None]) {
                    cases.extend(
                        [false, true]
                            .map(|least| -> Case { (Arc::new(Argmax { least, axis }), vec![x.clone()]) }),
                    );
                }
            }
        }
    }
    cases
}

/// Returns `any` and `all` of bools in which one element decides, at the edges of blocks.
fn decided_cases() -> Vec<Case> {
    let kinds = [ReduceKind::Any, ReduceKind::All];
    let mut cases: Vec<Case> = Vec::new();
    for (rows, n) in [(1, 1), (1, 4096), (1, 8193), (2, 4097)] {
        for at in [0, 4096, n * rows - 1] {
            for most in [0, 1] {
                let mut bits = vec![most; rows * n];
                if let Some(bit) = bits.get_mut(at) {
                    *bit = 1 - most;
                }
                let x = Array::from_bits(DType::Bool, &[rows, n], &bits).unwrap();
                for kind in kinds {
                    for axes in [Some(vec![1]), None] {
                        let plain = Reduce::new(kind, axes);
                        let steps: Vec<(Arc<dyn ScalarOp>, Vec<usize>)> = vec![
                            (Arc::new(Cast { to: DType::I16 }), vec![0]),
                            (Arc::new(Cast { to: DType::Bool }), vec![1]),
                        ];
                        let fused = plain.fused(Arc::new(Composite::new(1, steps, vec![2])));
                        cases.push((Arc::new(plain), vec![x.clone()]));
                        cases.push((Arc::new(fused), vec![x.clone()]));
                    }
                }
            }
        }
    }
    cases
}

#[test]
fn argmax_and_argmin_match_perform() {
    check("gnu11", &calls(argmax_cases()));
    check("c++17", &calls(argmax_cases().into_iter().step_by(53).collect()));
}

#[test]
fn decided_reductions_match_perform() {
    check("gnu11", &calls(decided_cases()));
}

#[test]
fn bool_sums_match_perform() {
    check("gnu11", &calls(count_cases()));
    check("c++17", &calls(count_cases().into_iter().step_by(7).collect()));
}

#[test]
fn sort_and_argsort_match_perform() {
    check("gnu11", &calls(sort_cases()));
    check("c++17", &calls(sort_cases().into_iter().step_by(53).collect()));
}

#[test]
fn searchsorted_matches_perform() {
    check("gnu11", &calls(search_cases()));
    check("c++17", &calls(search_cases().into_iter().step_by(41).collect()));
}

#[test]
fn mask_selection_matches_perform() {
    check("gnu11", &calls(mask_cases()));
    check("c++17", &calls(mask_cases().into_iter().step_by(37).collect()));
}
