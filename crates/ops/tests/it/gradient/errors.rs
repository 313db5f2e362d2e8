//! Gradients that do not exist.

use precast_graph::Type;
use precast_graph::text::parse;
use precast_ops::Ops;

#[test]
fn gradients_that_do_not_exist_are_refused_by_name() {
    let inputs: Vec<(String, Type)> = [("x", "f64[?]"), ("m", "f64[?,?]"), ("k", "i64[?]"), ("c", "c128[?]")]
        .map(|(name, ty)| (name.to_owned(), ty.parse().unwrap()))
        .into();
    for (text, expected) in [
        ("grad(exp(x), x)", "a cost without dimensions"),
        ("grad(sum(x), k)", "input: 1, found: I64"),
        ("grad(sum(k), x)", "input: 0, found: I64"),
        ("grad(sum(x), m)", "does not depend on `m`"),
        ("grad(sum(x), 2.0)", "a variable, or a list of variables"),
        ("grad(sum(real(c * x)), x)", "found: C128"),
        ("grad(sum(gammainc(x, 2.0)), x)", "`gammainc` has no derivative by `a`"),
        ("grad(sum(polygamma(x, 2.0)), x)", "`polygamma` has no derivative by `n`"),
        ("grad(sum(qr(m, mode='complete')[0]), m)", "no more rows than columns"),
        ("grad(sum(svd(m)[0]), m)", "needs `full_matrices=False`"),
        ("jvp(exp(x), x, m)", "the shape of"),
        ("jvp(exp(x), (x, m), (x, m))", "takes one variable, found 2"),
        ("hessian(sum(x), (x,))", "takes one variable"),
    ] {
        let error = parse(&[text], &inputs, &Ops::standard()).expect_err(text);
        let chain = format!("{error:?}");
        assert!(chain.contains(expected), "{text}: {chain}");
    }
}
