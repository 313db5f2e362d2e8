//! Tests of writes to parts of tensors, and of arguments that NumPy rejects.

use precast_core::event::chain;
use precast_graph::{Array, interpret};
use precast_ops::Ops;
use precast_ops::rewrite::{Form, Passes};

/// A whole tensor is also a part: the write applies to that part, not to the tensor it comes from.
#[test]
fn full_slices_of_parts_are_written() {
    let rows = [
        ("set_subtensor((x[1:3])[0:2], 9)", vec![9.0, 9.0]),
        ("set_subtensor((x[1:3])[:], 9)", vec![9.0, 9.0]),
        ("set_subtensor((x[1:3])[...], 9)", vec![9.0, 9.0]),
        ("inc_subtensor((x[1:3])[...], 9)", vec![10.0, 11.0]),
        ("inc_subtensor(x[[1, 2]][:], 9)", vec![10.0, 11.0]),
        ("set_subtensor(x[...], 9)", vec![9.0; 5]),
        ("set_subtensor(x[:], x[::-1])", vec![4.0, 3.0, 2.0, 1.0, 0.0]),
    ];
    let x = Array::from(ndarray::array![0.0, 1.0, 2.0, 3.0, 4.0]);
    for (text, expected) in rows {
        let inputs = [("x".to_owned(), "f64[?]".parse::<precast_graph::Type>().unwrap())];
        let graph = precast_graph::text::parse(&[text], &inputs, &Ops::standard()).unwrap();
        for form in Form::ALL {
            let graph = form.of(&graph, &Passes::default()).unwrap();
            let found = interpret(&graph, std::slice::from_ref(&x)).unwrap();
            assert_eq!(found, [Array::from(ndarray::Array1::from(expected.clone()))], "{text}, {form:?}");
        }
    }
}

/// Returns the error message of texts with an `x` of this type, with all causes.
fn refusal(texts: &[&str], ty: &str) -> String {
    let inputs = [("x".to_owned(), ty.parse::<precast_graph::Type>().unwrap())];
    chain(&precast_graph::text::parse(texts, &inputs, &Ops::standard()).unwrap_err())
}

#[test]
fn axes_and_dtypes_invalid_in_numpy_are_rejected() {
    for (text, ty, words) in [
        ("transpose(x, axes=(0,))", "f64[3, 1]", "has 1 of 2 axes"),
        ("sum(x, axis=(0,))", "f64[]", "axis"),
        ("arange(0, 2.5, dtype=i64)", "f64[]", "the bounds are floats"),
        ("arange(0, x, dtype=i64)", "f64[]", "the bounds are floats"),
    ] {
        let told = refusal(&[text, "x"], ty);
        assert!(told.contains(words), "{text}: {told}");
    }
}

/// Python or NumPy give these texts another meaning than the nearest one here, so they are rejected.
#[test]
fn ambiguous_statements_are_rejected() {
    for (text, words) in [
        ("x[(0, 1)]", "write `x[i, j]` for several indices"),
        ("i = (0, 1); x[i]", "write `x[i, j]` for several indices"),
        ("x[()]", "write `x[i, j]` for several indices"),
        ("x.shape == (3, 4)", "requires an array, found a list or a tuple"),
        ("x.shape + 1", "requires an array, found a list or a tuple"),
        ("x[nonzero(x > 0)]", "use the mask itself"),
        ("np.int8(200)", "200"),
        ("np.uint8(-1)", "-1"),
    ] {
        let told = refusal(&[text], "f64[?,?]");
        assert!(told.contains(words), "{text}: {told}");
    }
    for text in ["x[[0, 1]]", "x[array((0, 1))]", "x.shape + (1,)", "x[nonzero(x > 0)[0]]", "np.int8(-128)"] {
        let inputs = [("x".to_owned(), "f64[?,?]".parse::<precast_graph::Type>().unwrap())];
        precast_graph::text::parse(&[text], &inputs, &Ops::standard())
            .unwrap_or_else(|e| panic!("{text}: {e}"));
    }
}
