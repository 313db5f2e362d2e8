//! Tests of the messages for invalid arguments, when a graph is built or run.

use precast_core::event::chain;
use precast_graph::text::{parse, parse_input};
use precast_graph::{Array, interpret};
use precast_ops::Ops;

/// Returns the matrices (2, 3) and (3, 2), a number, and vectors of 3.
fn inputs() -> [(&'static str, Array); 5] {
    let zeros = |shape: &[usize]| Array::zeros(precast_graph::DType::F64, shape);
    let v = Array::from(ndarray::Array1::from(vec![3.0, 1.0, 2.0]));
    let m = Array::from(ndarray::Array1::from(vec![true, false, true]));
    [
        ("x: f64[?,?]", zeros(&[2, 3])),
        ("y: f64[?,?]", zeros(&[3, 2])),
        ("s: f64[]", zeros(&[])),
        ("v: f64[?]", v),
        ("m: bool[?]", m),
    ]
}

/// Returns the error message of a text, with all causes.
fn said(text: &str) -> String {
    let (names, values): (Vec<_>, Vec<_>) =
        inputs().into_iter().filter(|(name, _)| text.contains(&name[..1])).unzip();
    let types: Vec<_> = names.iter().map(|name| parse_input(name).unwrap()).collect();
    match parse(&[text], &types, &Ops::standard()) {
        Err(error) => chain(&error),
        Ok(graph) => match interpret(&graph, &values) {
            Err(error) => chain(&error),
            Ok(values) => format!("{values:?}"),
        },
    }
}

#[test]
fn mistakes_have_readable_messages() {
    let mistakes = [
        ("topk(v, 4)", "topk: there are not that many elements along the axis"),
        ("argtopk(v, -1)", "argtopk: there are not that many elements along the axis"),
        ("topk(v, 1.5)", "an integer without dimensions"),
        ("gradient(v, [0, 1])", "gradient: each element along the axis needs a position"),
        ("gradient(v, [0, 1, 3, 7])", "gradient: each element along the axis needs a position"),
        ("fftfreq(-1)", "a number of samples cannot be negative"),
        ("rfftfreq(i64(s) - 3)", "a number of samples cannot be negative"),
        ("ptp(v > 0)", "`ptp`: `sub` does not support"),
        ("cross(v > 0, v > 0)", "`cross`: `"),
        ("quantile(v, 0.5, method='middle')", "prop `method` is `\"middle\"`, expected one of `linear`"),
        ("quantile(v, 0.5, weights=v)", "takes weights only with the method `inverted_cdf`"),
        (
            "quantile(v, 0.5, 0, weights=v[None], method='inverted_cdf')",
            "cannot match weights of 2 dimension(s)",
        ),
        ("sort(v, 1)", "out of range for 1 dimension(s)"),
        ("sort(s)", "out of range for 0 dimension(s)"),
        ("sort(v, kind='quick')", "`quicksort`, `heapsort`, `mergesort` or `stable`"),
        ("searchsorted(v, 1, side='middle')", "`left` or `right`"),
        ("searchsorted(x, 1)", "expected a vector"),
        ("nonzero(s)", "hint: use `x != 0` for a number"),
        ("boolean_index(v, v)", "a tensor of bool"),
        ("boolean_index(x, m)", "boolean index did not match indexed array along axis 0; size of axis is 2"),
        ("set_subtensor(x[m], 0)", "boolean index did not match"),
        ("compress(x > 0, x)", "the condition must be a vector"),
        ("squeeze(x)", "hint: name the axis, `squeeze(x, axis=0)`"),
        ("squeeze(x[None], 1)", "extent"),
        ("expand_dims(x)", "an axis or a list of axes"),
        ("moveaxis(x, (0, 1), 0)", "found 2 axes for 1 destinations"),
        ("roll(x, (1, 2, 3), axis=(0, 1))", "3 shifts do not match 2 axes"),
        ("repeat(v, -1)", "repeats may not contain negative values."),
        ("repeat(v, [1, 2])", "could not broadcast"),
        ("linspace(0, 1, -1)", "must not be negative"),
        ("linspace(v, 1)", "start and stop must be numbers"),
        ("broadcast_to(x, 3)", "cannot broadcast 2 dimension(s) to 1"),
        ("diagonal(v)", "at least 2 dimensions"),
        ("diagonal(x, axis1=0, axis2=0)", "cannot be the same"),
        ("tril(s)", "at least 1 dimension"),
        ("norm(x, 3)", "unsupported order 3 of a matrix norm"),
        ("diff(x, 1000000)", "prop `n` is `1000000`, expected at most 1000"),
        ("norm(x, 'nucl')", "unsupported order \"nucl\" of a matrix norm"),
        ("norm(x[None], 1)", "hint: set `axis`"),
        ("softmax(x * 1j)", "real numbers"),
        ("median(x * 1j)", "real numbers"),
        ("quantile(v, 1.5)", "quantile: fractions lie between 0 and 1"),
        ("einsum(x, x)", "expected a string such as \"ij,jk->ik\""),
        ("einsum('ij,jk', x)", "names 2 tensors, found 1"),
        ("einsum('i', x)", "has 1 labels for 2 dimension(s)"),
        ("einsum('i1', x)", "has invalid label `1`"),
        ("einsum('ij->k', x)", "the result has unknown label `k`"),
        ("einsum('ij->ii', x)", "the result has label `i` twice"),
        ("einsum('ii', x)", "einsum: extents of `i` differ"),
        // The operands have equal sizes, but different axes.
        ("einsum('ij,ij->', x, y)", "einsum_operand"),
        ("einsum('ij,ij->', x, y)", "extents of `i` differ: 2 in operand 0, 3 in operand 1"),
        ("einsum('ij,kj', x, y)", "einsum_operand"),
        ("einsum('ij,ij->ij', x, y)", "einsum_operand"),
        ("concatenate(v)", "zero-dimensional arrays cannot be concatenated"),
        ("stack(s)", "found a number"),
        ("tensordot(x, y, axes=([0, 1], [0, 1]))", "extents that are summed over differ"),
        ("tensordot(x, y, 3)", "a number of axes, or two lists of them"),
        ("tensordot(x, y, axes=([0], [0, 1]))", "a number of axes, or two lists of them"),
    ];
    let wrong = mistakes.map(|(text, words)| (text, words, said(text)));
    let wrong: Vec<_> = wrong.iter().filter(|(_, words, said)| !said.contains(words)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn explicit_none_differs_from_the_default() {
    assert_eq!(said("sort(x, None).shape[0]"), said("x.size"));
    assert_ne!(said("sort(x).ndim + s"), said("sort(x, axis=None).ndim + s"));
    assert_eq!(said("concatenate((x, y), axis=None).shape[0]"), said("x.size + y.size"));
    assert!(said("sort(x, -1, axis=0)").contains("is given twice"));
    assert!(said("sort(x, None, axis=0)").contains("is given twice"));
}
