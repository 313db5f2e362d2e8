//! Tests of the messages for invalid calls: the position, the mistake, and the correct usage.

use precast_graph::text::{ParseTextError, parse, parse_input};
use precast_ops::Ops;
use std::error::Error;

/// Returns the error of a text, and its message with all causes.
fn refuse(text: &str) -> (ParseTextError, String) {
    let inputs =
        ["x: f64[?,?]", "u: f64[?]", "v: i64[?]", "m: bool[?,?]", "b: bool", "w: f64[3]", "k: f64[5]"];
    let inputs = inputs.map(|text| parse_input(text).unwrap());
    let error = parse(&[text], &inputs, &Ops::standard()).expect_err(text);
    let cause = error.source().map_or_else(String::new, |source| format!(": {source}"));
    let message = format!("{error}{cause}");
    (error, message)
}

#[test]
fn wrong_calls_name_place_and_nearest_name() {
    #[rustfmt::skip]
    let rows = [
        // Unknown names.
        ("summ(x)", 1, "unknown function `summ`; nearest `sum`"),
        ("np.concatenat([x, x])", 4, "unknown function `concatenat`; nearest `concatenate`"),
        ("x.summ()", 3, "no method or attribute `summ`; nearest `sum`"),
        ("x.shap[0]", 3, "no method or attribute `shap`; nearest `shape`"),
        ("x.exp()", 3, "no method or attribute `exp`; write `exp(…)`"),
        ("x.sum", 3, "no method or attribute `sum`; write `sum(…)`"),
        ("x.T()", 3, "`T` is an attribute, not a method; write `.T` without brackets"),
        ("x.ndim()", 3, "`ndim` is an attribute, not a method"),
        ("y + 1", 1, "unknown name `y`"),
        ("sum(x, axes=0)", 1, "prop `axes` is unknown; nearest `axis`"),
        ("exp(x, out=x)", 1, "prop `out` is unknown; known: x"),
        ("x.astype(float31)", 10, "unknown name `float31`"),
        ("x.astype('float31')", 3, "prop `dtype` is `\"float31\"`, expected a dtype"),
        ("x.astype('i8')", 3, "8 bytes in NumPy"),
        ("x.astype('u8')", 3, "8 bytes in NumPy"),
        ("x.astype('f3')", 3, "expected a dtype"),
        ("x + 0x", 5, "`0x` is not a number"),
        ("median(x, axis=(0, 0))", 1, "has axis 0 twice"),
        ("clip(None, 0, 1)", 1, "expected an array or a number"),
        ("2 * pii", 5, "unknown name `pii`; nearest `pi`"),
        // Wrong number of arguments.
        ("exp()", 1, "`exp` takes 1 input(s), found 0"),
        ("exp(x, x)", 1, "`exp` takes 1 input(s), found 2"),
        ("maximum(x)", 1, "`maximum` takes 2 input(s), found 1"),
        ("sum(x, 0, f32, True)", 1, "`sum` takes at most 3 input(s), found 4"),
        ("sum(x, 0, axis=0)", 1, "prop `axis` is given twice"),
        ("exp(x, x=x)", 1, "prop `x` is given twice"),
        ("dot(x)", 1, "`dot` takes 2 input(s), found 1"),
        // Wrong dtype.
        ("~x", 1, "`invert` does not support dtype `f64` of input 0"),
        ("round(m, 2)", 1, "`round` does not support dtype `bool` of input 0"),
        ("x[u]", 2, "input 1 has type `f64[?]`, expected integers, or a mask of bool"),
        ("x[1.5]", 2, "expected an integer without dimensions"),
        ("x['a']", 2, "expected an integer without dimensions"),
        ("x + 'a'", 3, "expected an array or a number"),
        ("x + None", 3, "expected an array or a number"),
        ("x + f32", 3, "expected an array or a number"),
        ("f32(None)", 1, "expected an array or a number"),
        // Wrong axis.
        ("sum(x, axis=2)", 1, "prop `axis` is 2, out of range for 2 dimension(s)"),
        ("x.sum(-3)", 3, "prop `axis` is -3, out of range for 2 dimension(s)"),
        ("sum(x, axis=(0, 0))", 1, "has axis 0 twice"),
        ("sum(x, axis=v)", 1, "prop `axis` is an array, expected a value that is constant"),
        ("sum(x, axis=1.5)", 1, "expected an axis or a list of axes"),
        ("x.transpose(0)", 3, "has 1 of 2 axes, expected each once"),
        ("transpose(x, (0, 0))", 1, "has axis 0 twice"),
        ("u.mT", 3, "expected at least 2 dimensions"),
        ("stack([x, x], axis=3)", 1, "prop `axis` is 3, out of range for 3 dimension(s)"),
        ("x[0, 0, 0]", 2, "has 3 indices for 2 dimension(s)"),
        ("x[m, 0]", 2, "3 indices for 2 dimension(s)"),
        ("x[v, m]", 2, "takes a mask as the only array among the indices"),
        ("x[v, u]", 2, "does not support dtype `f64`"),
        ("x[..., ...]", 2, "at most one `...`"),
        ("x.shape[2]", 8, "is 2, out of range for 2 item(s)"),
        // Ragged lists.
        ("array([[1, 2], [3]])", 1, "a ragged list: an item of 2 next to an item of 1"),
        ("maximum(x, [[1, 2], 3])", 1, "a ragged list: numbers next to lists"),
        ("array([[u, u], [u]])", 1, "cannot"),
        ("array([x, u])", 1, "a ragged list: it has both `f64[?,?]` and `f64[?]`"),
        ("zeros((2, (3,)))", 1, "expected an integer without dimensions"),
        ("reshape(x, (2, None))", 1, "expected an integer without dimensions"),
        // Shapes that never fit.
        ("w + k", 3, "cannot broadcast dimension"),
    ];
    let mut wrong = Vec::new();
    for (text, column, fragment) in rows {
        let (error, message) = refuse(text);
        let place = error.place().unwrap();
        let caret = format!("\n    {text}\n    {:1$}^", "", column - 1);
        let told = message.contains(fragment) && message.contains(&caret);
        if !told || (place.line, place.column) != (1, column) {
            wrong.push(format!("`{text}`: {message}\n"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.concat());
}

#[test]
fn wrong_arguments_get_the_signature_as_hint() {
    for (text, signature) in [
        ("sum(x, axes=0)", "sum(x, axis=None, dtype=None, *, keepdims=False, acc_dtype=None)"),
        ("concatenate((x, x), axes=1)", "concatenate(*tensors, axis=0)"),
        ("maximum(x)", "maximum(x, y)"),
    ] {
        let (_, message) = refuse(text);
        assert!(message.contains("\nhint: ") && message.contains(signature), "{message}");
    }
}

#[test]
fn usage_has_the_called_name() {
    for (text, usage) in [
        ("where(x > 0)", "signature: `where(condition, yes, no)`"),
        ("x.astype('f3')", "signature: `astype(x, dtype=None)`"),
        ("np.concatenate([x, x], 0, 1)", "signature: `concatenate(*tensors, axis=0)`"),
    ] {
        let (_, message) = refuse(text);
        assert!(message.contains(&format!("\nhint: {usage}")), "{message}");
    }
    // `identity` has another meaning here.
    assert!(refuse("np.identity(3)").1.contains("unknown function `np.identity`; nearest `eye`"));
    // A single letter has no near names.
    assert!(!refuse("y + 1").1.contains("nearest"));
}

#[test]
fn numpy_dtype_codes_count_bytes() {
    let codes =
        [("?", "bool"), ("b", "i8"), ("i2", "i16"), ("<i4", "i32"), ("q", "i64"), ("u1", "u8"), ("H", "u16")];
    let more = [
        ("u4", "u32"),
        ("Q", "u64"),
        ("half", "f16"),
        ("f4", "f32"),
        ("d", "f64"),
        ("c8", "c64"),
        ("c16", "c128"),
    ];
    for (code, dtype) in codes.into_iter().chain(more) {
        let parsed =
            |text: &str| parse(&[text], &[parse_input("x: f64[?]").unwrap()], &Ops::standard()).unwrap();
        assert_eq!(parsed(&format!("x.astype('{code}')")), parsed(&format!("x.astype({dtype})")), "{code}");
    }
}
