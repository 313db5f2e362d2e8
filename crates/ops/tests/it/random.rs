//! Tests of random numbers: published vectors, the draws of JAX, the distributions of SciPy, and the same bits at every
//! level. `tests/golden/random.py` makes the values.

use crate::compiler;
use crate::machine::{Call, run};
use precast_graph::text::parse;
use precast_graph::{Array, DType, FunctionGraph, Type, interpret};
use precast_ops::rewrite::{Form, Passes};
use precast_ops::scalar::{self, Value};
use precast_ops::{Ops, rewrite};
use precast_testkit::layout::Layout;
use precast_testkit::ulp::assert_ulp;
use std::error::Error;
use std::sync::Arc;

/// The elementwise functions that return draws.
pub(crate) const DRAWS: [&str; 5] =
    ["gamma_draw", "loggamma_draw", "poisson_draw", "binomial_draw", "von_mises_draw"];

/// The number of draws of a distribution; `PRECAST_DRAWS` sets another one.
const COUNT: usize = 100_000;

/// The number of distributions that are compiled at once.
const BATCH: usize = 8;

/// The number of draws of a distribution that are in memory at once.
const PART: usize = 2_000_000;

fn performed(name: &str, operands: &[Value]) -> Value {
    scalar::find(name).unwrap().perform(operands).unwrap()[0]
}

#[test]
fn threefry_matches_published_vectors() {
    // `kat_vectors` of Random123 1.09, threefry2x32 with 20 rounds: counter, key, result.
    for [counter, key, expected] in [
        [0, 0, 0x6b20_0159_99ba_4efe],
        [u64::MAX, u64::MAX, 0x1cb9_96fc_bb00_2be7],
        [0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7344, 0xc492_3a9c_483d_f7a0],
    ] {
        assert_eq!(performed("threefry", &[Value::U64(key), Value::U64(counter)]), Value::U64(expected));
    }
}

fn golden() -> Vec<serde_json::Value> {
    include_str!("../golden/random.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn numbers(line: &serde_json::Value, key: &str) -> Vec<f64> {
    line[key].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

fn parsed(text: &str, inputs: &[(String, Type)]) -> FunctionGraph {
    let texts: Vec<&str> = text.split("; ").collect();
    parse(&[texts.join("\n").as_str()], inputs, &Ops::standard()).unwrap_or_else(|e| panic!("{text}: {e}"))
}

#[test]
fn draws_match_jax() {
    let mut count = 0;
    for line in golden().iter().filter(|line| line["bits"].is_string()) {
        let text = line["text"].as_str().unwrap();
        let found = interpret(&parsed(text, &[]), &[]).unwrap_or_else(|e| panic!("{text}: {e}"));
        let shape: Vec<usize> = serde_json::from_value(line["shape"].clone()).unwrap();
        let bits =
            line["bits"].as_str().unwrap().split(' ').map(|bits| u64::from_str_radix(bits, 16).unwrap());
        let dtype: DType = line["dtype"].as_str().unwrap().parse().unwrap();
        let expected = Array::from_bits(dtype, &shape, &bits.collect::<Vec<_>>()).unwrap();
        assert_ulp(&found[0], &expected, line["steps"].as_u64().unwrap(), &text);
        count += 1;
    }
    assert!(count > 50, "{count}");
}

/// Returns the draws of a text that has no inputs, compiled at the highest level.
fn drawn(texts: &[String]) -> Vec<Vec<f64>> {
    let call = |text: &String| {
        let graph = Arc::new(rewrite::lower(&parsed(text, &[])).unwrap());
        Call { graph, inputs: Vec::new(), output: None, stretched: false }
    };
    let calls: Vec<Call> = texts.iter().map(call).collect();
    let outcomes = run(*compiler::levels().last().unwrap(), "gnu11", &calls);
    let draws = |(outcome, text): (Result<(Vec<Array>, bool), String>, &String)| {
        let (arrays, _) = outcome.unwrap_or_else(|error| panic!("{text}: {error}"));
        let Array::F64(array) = arrays[0].cast(DType::F64) else { unreachable!() };
        array.into_iter().collect()
    };
    outcomes.into_iter().zip(texts).map(draws).collect()
}

/// Counts the draws in each interval.
fn count(line: &serde_json::Value, draws: &[f64], counts: &mut [f64]) {
    let bounds = numbers(line, "bounds");
    for draw in draws {
        assert!(!draw.is_nan(), "{}", line["text"]);
        counts[bounds.partition_point(|bound| bound < draw)] += 1.0;
    }
}

/// Compares the frequencies of draws in intervals with their probabilities.
fn fits(line: &serde_json::Value, counts: &[f64]) {
    let (text, p) = (&line["text"], numbers(line, "p"));
    let n: f64 = counts.iter().sum();
    let terms = counts.iter().zip(&p).map(|(count, p)| (count - n * p).powi(2) / (n * p));
    let (chi2, most) = (terms.sum::<f64>(), line["chi2"].as_f64().unwrap());
    assert!(chi2 <= most, "{text}: chi-squared {chi2}, at most {most}");
    let (mut distance, mut sum) = (0.0_f64, 0.0);
    for (count, p) in counts.iter().zip(&p) {
        sum += count / n - p;
        distance = distance.max(sum.abs());
    }
    let most = line["ks"].as_f64().unwrap() / n.sqrt();
    assert!(distance <= most, "{text}: distance {distance} of the distribution functions, at most {most}");
}

#[test]
fn distributions_match_scipy() {
    let total = std::env::var("PRECAST_DRAWS").map_or(COUNT, |count| count.parse().unwrap());
    let lines: Vec<serde_json::Value> =
        golden().into_iter().filter(|line| line["bounds"].is_array()).collect();
    assert!(lines.len() > 60, "{}", lines.len());
    for batch in lines.chunks(BATCH) {
        let mut counts: Vec<Vec<f64>> =
            batch.iter().map(|line| vec![0.0; numbers(line, "p").len()]).collect();
        for part in 0..total.div_ceil(PART) {
            let n = PART.min(total - part * PART);
            let text = |line: &serde_json::Value| {
                let text = line["text"].as_str().unwrap();
                text.replace("{n}", &n.to_string()).replace("{part}", &part.to_string())
            };
            let draws = drawn(&batch.iter().map(text).collect::<Vec<_>>());
            for ((line, draws), counts) in batch.iter().zip(draws).zip(&mut counts) {
                assert_eq!(draws.len(), n, "{}", line["text"]);
                count(line, &draws, counts);
            }
        }
        batch.iter().zip(&counts).for_each(|(line, counts)| fits(line, counts));
    }
}

#[test]
fn weighted_choices_without_replacement_are_distinct() {
    let key = ("k".to_owned(), "u32[2]".parse().unwrap());
    let graph = parsed("random.choice(k, 3, 3, replace=False, p=[0.1, 0.6, 0.3])", &[key]);
    let mut first = [0.0_f64; 3];
    for seed in 0..2000_u32 {
        let key = Array::from(ndarray::arr1(&[7, seed]));
        let Array::I64(found) = interpret(&graph, &[key]).unwrap().remove(0) else { unreachable!() };
        let mut sorted: Vec<i64> = found.iter().copied().collect();
        first[usize::try_from(sorted[0]).unwrap()] += 1.0 / 2000.0;
        sorted.sort_unstable();
        assert_eq!(sorted, [0, 1, 2]);
    }
    for (found, p) in first.iter().zip([0.1, 0.6, 0.3]) {
        assert!((found - p).abs() < 0.05, "{first:?}");
    }
}

/// Calls of every function, of a key `k`, parameters `a` and `b` with three elements, and a matrix `m`.
const CALLS: [&str; 35] = [
    "random.split(k, (2, 3))",
    "random.fold_in(k, [1, 2, 3])",
    "random.bits(k, 70)",
    "random.bits(k, a.shape, u8)",
    "random.uniform(k, (5, 3), minval=a - 9, maxval=a)",
    "random.uniform(k, 70, f32)",
    "random.uniform(k, 70, f16)",
    "random.randint(k, (5, 3), 2, [3, 9, 100])",
    "random.bernoulli(k, a / 9, (5, 3))",
    "random.normal(k, (35, 2)) * 2 + 1",
    "random.normal(k, a.shape, f32)",
    "random.truncated_normal(k, a - 2, a, (5, 3))",
    "random.exponential(k, 70, f32)",
    "random.laplace(k, 70)",
    "random.logistic(k, 70)",
    "random.cauchy(k, 70)",
    "random.gumbel(k, 70, f16)",
    "random.gamma(k, a, (25, 3))",
    "random.loggamma(k, a / 100, (25, 3))",
    "random.beta(k, a, b)",
    "random.student_t(k, a, (25, 3), f32)",
    "random.von_mises(k, b, a, (25, 3))",
    "random.poisson(k, a * 7, (25, 3))",
    "random.binomial(k, floor(a * 30), b / 9, (25, 3))",
    "random.negative_binomial(k, a, b / 9, (25, 3))",
    "random.multinomial(k, 30, [0.2, 0.5, 0.3], 9)",
    "random.multinomial(k, 30, b, (4, 2))",
    "random.multinomial(k, 30, outer(a, b))",
    "random.dirichlet(k, a, 9)",
    "random.multivariate_normal(k, b, m, 9)",
    "random.wishart(k, 7, m, 9)",
    "random.categorical(k, a, shape=(9,))",
    "random.permutation(k, m, axis=1, independent=True)",
    "random.permutation(k, a)",
    "random.choice(k, a, (5, 4), p=b)",
];

#[test]
fn bits_are_equal_at_every_level() {
    let types = [("k", "u32[2]"), ("a", "f64[?]"), ("b", "f64[?]"), ("m", "f64[?,?]")]
        .map(|(name, ty)| (name.to_owned(), ty.parse::<Type>().unwrap()));
    let values = [
        Array::from(ndarray::arr1(&[3_u32, 0x8000_0001])),
        Array::from(ndarray::arr1(&[0.25, 4.0, 30.5])),
        Array::from(ndarray::arr1(&[0.5, 1.5, 3.0])),
        Array::from(ndarray::arr2(&[[2.0, 0.5, 0.25], [0.5, 1.0, 0.125], [0.25, 0.125, 3.0]])),
    ];
    let (mut fused, mut unfused) = (Vec::new(), Vec::new());
    let mut expected = Vec::new();
    for text in CALLS {
        let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).collect();
        let used = |name: &str| words.contains(&name);
        let own: Vec<_> = types.iter().filter(|(name, _)| used(name)).cloned().collect();
        let inputs = types.iter().zip(&values).filter(|((name, _), _)| used(name));
        let inputs: Vec<Array> = inputs.map(|(_, value)| value.clone()).collect();
        let graph = parsed(text, &own);
        let value = interpret(&graph, &inputs).unwrap_or_else(|e| panic!("{text}: {e}"));
        for (form, calls) in [(Form::Lowered, &mut fused), (Form::Unfused, &mut unfused)] {
            let graph = Arc::new(form.of(&graph, &Passes::default()).unwrap());
            let inputs = inputs.iter().map(|input| (input.clone(), Layout::C)).collect();
            calls.push(Call { graph, inputs, output: None, stretched: false });
        }
        expected.push((text, value[0].clone()));
    }
    let levels = compiler::levels();
    let runs = levels.iter().map(|level| (*level, &fused)).chain([(levels[0], &unfused)]);
    for (level, calls) in runs {
        for (outcome, (text, expected)) in run(level, "gnu11", calls).into_iter().zip(&expected) {
            let (found, _) = outcome.unwrap_or_else(|error| panic!("{} {text}: {error}", level.0));
            assert_ulp(&found[0], expected, 0, &format!("{} {text}", level.0));
        }
    }
}

#[test]
fn invalid_parameters_give_nan() {
    let (nan, inf) = (f64::NAN, f64::INFINITY);
    let word = Value::U64(5);
    let draw = |name: &str, parameters: &[f64]| {
        let operands: Vec<Value> =
            [word].into_iter().chain(parameters.iter().map(|x| Value::F64(*x))).collect();
        let Value::F64(draw) = performed(name, &operands) else { unreachable!() };
        draw
    };
    for name in ["gamma_draw", "loggamma_draw", "poisson_draw", "von_mises_draw"] {
        for parameter in [nan, inf, -inf, -1.0, -1e-300] {
            assert!(draw(name, &[parameter]).is_nan(), "{name} {parameter}");
        }
        for parameter in [0.0, -0.0, 5e-324, 1e-300, 1.0, 1e15, f64::MAX] {
            assert!(!draw(name, &[parameter]).is_nan(), "{name} {parameter}");
        }
    }
    for (n, p) in [(nan, 0.5), (5.0, nan), (-1.0, 0.5), (1.5, 0.5), (1e16, 0.5), (5.0, -0.1), (5.0, 1.1)] {
        assert!(draw("binomial_draw", &[n, p]).is_nan(), "{n} {p}");
    }
    for (n, p, expected) in [(0.0, 0.5, 0.0), (9.0, 0.0, 0.0), (9.0, 1.0, 9.0), (9e15, 0.0, 0.0)] {
        assert_eq!(draw("binomial_draw", &[n, p]), expected, "{n} {p}");
    }
    assert_eq!(draw("poisson_draw", &[0.0]), 0.0);
    assert_eq!(draw("gamma_draw", &[0.0]), 0.0);
}

#[test]
fn invalid_counts_are_negative() {
    for text in ["random.poisson(random.key(0), -1)", "random.binomial(random.key(0), 3, 2)"] {
        assert_eq!(interpret(&parsed(text, &[]), &[]).unwrap(), [Array::from(-1_i64)], "{text}");
    }
}

/// Returns an error with its causes.
fn refused(text: &str) -> String {
    let inputs = [("k", "u32[2]"), ("x", "f64[?]"), ("w", "u32[?]"), ("n", "i64[]")];
    let inputs = inputs.map(|(name, ty)| (name.to_owned(), ty.parse::<Type>().unwrap()));
    let parsed = parse(&[text], &inputs, &Ops::standard());
    let error = parsed.err().unwrap_or_else(|| panic!("{text} is accepted"));
    let (mut text, mut cause) = (error.to_string(), error.source());
    while let Some(error) = cause {
        text += &format!(": {error}");
        cause = error.source();
    }
    text
}

#[test]
fn wrong_calls_are_refused() {
    for (text, expected) in [
        ("random.normal(x)", "expected a key, `u32[2]`"),
        ("random.normal(7)", "expected a key, `u32[2]`"),
        ("random.normal(random.split(k))", "expected a key, `u32[2]`"),
        ("random.normal(k, -1)", "negative extent -1"),
        ("random.normal(k, (2, 1.5))", "an integer without dimensions"),
        ("random.normal(k, x)", "an integer without dimensions"),
        ("random.normal(k, 3, i32)", "expected a float dtype"),
        ("random.bits(k, 3, i64)", "expected an unsigned dtype"),
        ("random.poisson(k, 3, 2, u8)", "expected a signed integer dtype or a float dtype"),
        ("random.gamma(k, 2j)", "real numbers"),
        ("random.gamma(k, [1, 2, 3], (2,))", "extent 3 does not fit the extent 2"),
        ("random.gamma(k, [[1, 2]], (2,))", "does not fit a shape of 1"),
        ("random.multivariate_normal(k, [1], [[1, 0], [0, 1]])", "the extents 1 and 2 differ"),
        ("random.choice(k, 3, p=[0.5, 0.5])", "the extents 2 and 3 differ"),
        ("random.categorical(k, [[1, 2], [3, 4]], shape=(3,))", "extent 2 does not fit the extent 3"),
        ("random.categorical(k, [[1, 2], [3, 4]], shape=())", "does not fit a shape of 0"),
        ("random.randint(k, 3, 0, 1.5)", "integers"),
        ("random.key(1.5)", "integers"),
        ("random.key([1, 2])", "one integer"),
        ("random.nrmal(k)", "nearest `random_normal`"),
        ("np.random.normal(k)", "unknown function"),
        ("threefry(n, 3)", "u64"),
        ("grad(sum(random.gamma(k, x)), x)", "`gamma_draw` has no derivative by `a`"),
    ] {
        let error = refused(text);
        assert!(error.contains(expected), "{text}: {error}");
    }
}

#[test]
fn wrong_extents_fail_in_the_call() {
    let types = [("w", "u32[?]"), ("n", "i64[]")];
    let types = types.map(|(name, ty)| (name.to_owned(), ty.parse::<Type>().unwrap()));
    let graph = parsed("random.bits(w, (2, n))", &types);
    let key = |n: usize| Array::zeros(DType::U32, &[n]);
    assert!(interpret(&graph, &[key(2), Array::from(3_i64)]).is_ok());
    for (key, extent) in [(key(1), 3_i64), (key(3), 3), (key(2), -1)] {
        assert!(interpret(&graph, &[key, Array::from(extent)]).is_err(), "{extent}");
    }
}

#[test]
fn impossible_choices_fail_in_the_call() {
    for text in [
        "random.choice(random.key(0), 0, 3)",
        "random.choice(random.key(0), 3, 4, replace=False)",
        "random.choice(random.key(0), zeros(0), 3)",
    ] {
        assert!(interpret(&parsed(text, &[]), &[]).is_err(), "{text}");
    }
}

#[test]
fn matrices_without_a_root_give_nan() {
    // An indefinite covariance between two valid ones.
    let stack = "[[[2, 0], [0, 3]], [[1, 2], [2, 1]], [[4, 0], [0, 5]]]";
    for text in [
        format!("isnan(random.multivariate_normal(random.key(0), [0, 1], {stack}))[:, 1]"),
        format!("isnan(random.wishart(random.key(0), 5, {stack}))[:, 1, 1]"),
    ] {
        let value = interpret(&parsed(&text, &[]), &[]).unwrap_or_else(|e| panic!("{text}: {e}"));
        assert_eq!(value, [Array::from(ndarray::arr1(&[false, true, false]))], "{text}");
    }
}

#[test]
fn multinomial_counts_do_not_depend_on_the_type_of_the_probabilities() {
    let types = [("k", "u32[2]"), ("p", "f64[?]")];
    let types = types.map(|(name, ty)| (name.to_owned(), ty.parse::<Type>().unwrap()));
    let (key, p) = (Array::from(ndarray::arr1(&[3_u32, 7])), [0.5, 2.0, 0.0, 1.5]);
    let unknown = parsed("random.multinomial(k, 30, p, 5)", &types);
    let known = parsed("random.multinomial(k, 30, [0.5, 2.0, 0.0, 1.5], 5)", &types[..1]);
    let expected = interpret(&known, std::slice::from_ref(&key)).unwrap();
    assert_eq!(interpret(&unknown, &[key.clone(), Array::from(ndarray::arr1(&p))]).unwrap(), expected);
    let one = interpret(&unknown, &[key.clone(), Array::from(ndarray::arr1(&[0.25]))]).unwrap();
    assert_eq!(one, [Array::from(ndarray::Array2::from_elem((5, 1), 30_i64))]);
    assert!(interpret(&unknown, &[key, Array::zeros(DType::F64, &[0])]).is_err());
}

#[test]
fn multinomial_does_not_grow_with_the_categories() {
    let applies = |count: usize| {
        let types = [("p".to_owned(), format!("f64[{count}]").parse::<Type>().unwrap())];
        parsed("random.multinomial(random.key(1), 30, p, 5)", &types).applies().len()
    };
    assert_eq!(applies(3), applies(300));
}

#[test]
fn draws_are_differentiable_in_location_and_scale() {
    let types = [("m", "f64[?]"), ("s", "f64[?]")];
    let types = types.map(|(name, ty)| (name.to_owned(), ty.parse::<Type>().unwrap()));
    let draw = "random.normal(random.key(1), m.shape)";
    let graph = parsed(&format!("grad(sum(m + s * {draw}), s) - {draw}"), &types);
    let inputs = [[1.0, 2.0], [3.0, 4.0]].map(|x| Array::from(ndarray::arr1(&x)));
    assert_eq!(interpret(&graph, &inputs).unwrap(), [Array::from(ndarray::arr1(&[0.0, 0.0]))]);
    let graph = parsed(&format!("grad(sum(m * {draw}), m) - {draw}"), &types[..1]);
    assert_eq!(interpret(&graph, &inputs[..1]).unwrap(), [Array::from(ndarray::arr1(&[0.0, 0.0]))]);
}
