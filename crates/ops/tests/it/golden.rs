//! Compares `perform` with NumPy's results: `tests/golden/golden.jsonl`, written by `make.py` in the same folder,
//! `structural.jsonl`, by `structural.py`, and `reductions.jsonl`, by `reductions.py`.
//!
//! Each case states its tolerance. The files omit results that NumPy leaves open (±0 in maximum, float → integer
//! overflow).

use precast_graph::{Array, DType, Type, interpret};
use precast_ops::rewrite::{Form, Passes};
use precast_ops::{Ops, rewrite};
use precast_testkit::ulp;

fn array(value: &serde_json::Value) -> Array {
    let dtype: DType = value["dtype"].as_str().unwrap().parse().unwrap();
    let shape: Vec<usize> =
        value["shape"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap() as usize).collect();
    let text = value["bits"].as_str().unwrap();
    let bits: Vec<u64> = text.split_whitespace().map(|x| u64::from_str_radix(x, 16).unwrap()).collect();
    Array::from_bits(dtype, &shape, &bits).unwrap()
}

#[test]
fn perform_agrees_with_numpy() {
    agrees(include_str!("../golden/golden.jsonl"), 250);
}

#[test]
fn structural_ops_agree_with_numpy() {
    agrees(include_str!("../golden/structural.jsonl"), 400);
}

#[test]
fn reductions_of_every_dtype_agree_with_numpy() {
    agrees(include_str!("../golden/reductions.jsonl"), 500);
}

fn agrees(cases: &str, least: usize) {
    let mut count = 0;
    for line in cases.lines() {
        let case: serde_json::Value = serde_json::from_str(line).unwrap();
        let text = case["text"].as_str().unwrap();
        let inputs: Vec<Array> = case["inputs"].as_array().unwrap().iter().map(array).collect();
        let expected = array(&case["output"]);
        let types: Vec<(String, Type)> = ["x", "y", "z"]
            .iter()
            .zip(&inputs)
            .map(|(name, input)| ((*name).to_owned(), Type::tensor(input.dtype(), input.shape().len())))
            .collect();
        let graph = precast_graph::text::parse(&[text], &types, &Ops::standard()).unwrap();
        for graph in [Form::Unfused.of(&graph, &Passes::default()).unwrap(), rewrite::lower(&graph).unwrap()]
        {
            let found = interpret(&graph, &inputs).unwrap_or_else(|e| panic!("{text}: {e}"));
            let context = format!(
                "{text} of {}",
                inputs.iter().map(|a| a.ty().to_string()).collect::<Vec<_>>().join(", ")
            );
            ulp::assert_ulp(&found[0], &expected, case["ulp"].as_u64().unwrap(), &context);
        }
        count += 1;
    }
    assert!(count > least, "{count} cases: the file was cut");
}
