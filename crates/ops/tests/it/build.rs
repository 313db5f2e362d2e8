//! Tests of the graph builder's methods against the text language.

use precast_graph::DType;
use precast_graph::text::{parse, parse_input};
use precast_ops::Ops;
use precast_ops::build::{Graph, Index, Var};

/// Parses the text with the same inputs and returns the printed graph.
fn text(output: &str) -> String {
    let inputs = ["x: f64[?,?]", "v: i64[?]", "n: i64[]"].map(|input| parse_input(input).unwrap());
    parse(&[&format!("out = {output}")], &inputs, &Ops::standard()).unwrap().to_string()
}

#[test]
fn methods_build_the_same_graph_as_text() {
    type Method = fn(&Graph, &Var, &Var, &Var) -> Var;
    let pairs: [(&str, Method); 19] = [
        ("x[1:n, ::-1]", |_, x, _, n| {
            let to_n = Index::Slice { start: Some(1.into()), stop: Some(n.into()), step: None };
            x.part(&[to_n, Index::step(-1)])
        }),
        ("x[:, n, None]", |_, x, _, n| x.part(&[(..).into(), n.into(), Index::NewAxis])),
        ("x[..., 0]", |_, x, _, _| x.part(&[Index::Rest, 0.into()])),
        ("set_subtensor(x[1:], 2.0)", |_, x, _, _| x.part(&[(1..).into()]).set(2.0)),
        ("inc_subtensor(x[v], x)", |_, x, v, _| x.part(&[v.into()]).inc(x)),
        ("take(x, v, axis=1)", |_, x, v, _| x.take(v, 1)),
        ("reshape(x, shape=(2, -1))", |_, x, _, _| x.reshape(&[2, -1])),
        ("dimshuffle(x, order=(1, -1, 0))", |_, x, _, _| x.dimshuffle(&[1, -1, 0])),
        ("argmax(x, axis=1) + cumsum(v)", |_, x, v, _| x.argmax(Some(1)) + v.cumsum(None)),
        ("var(x, ddof=1) + std(x, ddof=0)", |_, x, _, _| x.var(1) + x.std(0)),
        ("join(x, x, axis=1)", |g, x, _, _| g.join(&[x.clone(), x.clone()], 1)),
        ("stack(x, x, axis=0)", |g, x, _, _| g.stack(&[x.clone(), x.clone()], 0)),
        ("alloc(1.5, n, 2)", |g, _, _, n| g.alloc(1.5, &[n.into(), 2.into()])),
        ("zeros(n, dtype=f32) + ones(3, dtype=f32)", |g, _, _, n| {
            g.zeros(&[n.into()], DType::F32) + g.ones(&[3.into()], DType::F32)
        }),
        ("arange(0, n, 2) + shape_i(x, i=1)", |g, x, _, n| g.arange(0, n, 2) + x.extent(1)),
        ("sort(x, 0) + argsort(x)", |_, x, _, _| x.sort(0) + x.argsort(-1)),
        ("solve_triangular(x, inv(x), lower=True)", |_, x, _, _| x.solve_triangular(&x.inv(), true)),
        ("einsum('ij,kj', x, x)", |g, x, _, _| g.einsum("ij,kj", &[x.clone(), x.clone()])),
        ("assert(eye(n, dtype=f64), n > 0, message=\"n\")", |g, _, _, n| {
            g.eye(n, DType::F64).assert(&n.gt(0), "n")
        }),
    ];
    for (output, method) in pairs {
        let g = Graph::new();
        let (x, v, n) = (g.input("x", "f64[?,?]"), g.input("v", "i64[?]"), g.input("n", "i64[]"));
        g.output("out", &method(&g, &x, &v, &n));
        assert_eq!(g.finish().unwrap().to_string(), text(output), "{output}");
    }
}
