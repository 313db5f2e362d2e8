//! Compares elementwise functions of every dtype with NumPy and ml_dtypes: values (`tests/golden/scalar.jsonl`) and
//! result dtypes (`promotion.txt`), both written by `scalar.py` in the same folder. `kernels` compares the compiled
//! kernels with `perform`.

use precast_graph::{Array, DType, FunctionGraph, Keywords, OpLibrary as _, Operand, Type, interpret};
use precast_ops::rewrite::{Form, Passes};
use precast_ops::{Ops, scalar};
use precast_testkit::ulp::{self, Mismatch};
use std::collections::{BTreeMap, BTreeSet};

/// A set of values: its dtype, and the words of each element; `None` for elements that are not compared.
type Set = (DType, Vec<Option<Vec<u64>>>);

fn set(line: &serde_json::Value) -> Set {
    let dtype: DType = line["dtype"].as_str().unwrap().parse().unwrap();
    let words: Vec<&str> = line["bits"].as_str().unwrap().split_whitespace().collect();
    let element = |words: &[&str]| words.iter().map(|w| u64::from_str_radix(w, 16).ok()).collect();
    (dtype, words.chunks(dtype.words()).map(element).collect())
}

fn array(dtype: DType, elements: &[&Vec<u64>]) -> Array {
    let words: Vec<u64> = elements.iter().flat_map(|words| words.iter().copied()).collect();
    Array::from_bits(dtype, &[elements.len()], &words).unwrap()
}

/// Returns the operands of a case: the set itself, or all pairs of two sets.
fn operands(sets: &[&Set]) -> Vec<Array> {
    let full = |set: &Set| set.1.iter().map(|e| e.clone().unwrap()).collect::<Vec<_>>();
    let all: Vec<Vec<Vec<u64>>> = sets.iter().map(|set| full(set)).collect();
    match &all[..] {
        [x] => vec![array(sets[0].0, &x.iter().collect::<Vec<_>>())],
        [x, y] => {
            let pairs: Vec<(&Vec<u64>, &Vec<u64>)> =
                x.iter().flat_map(|a| y.iter().map(move |b| (a, b))).collect();
            vec![
                array(sets[0].0, &pairs.iter().map(|pair| pair.0).collect::<Vec<_>>()),
                array(sets[1].0, &pairs.iter().map(|pair| pair.1).collect::<Vec<_>>()),
            ]
        }
        _ => panic!("{} sets", sets.len()),
    }
}

#[test]
fn every_function_of_every_dtype_agrees_with_numpy() {
    let mut sets: BTreeMap<String, Set> = BTreeMap::new();
    let (mut count, mut wrong) = (0, Vec::new());
    for line in include_str!("../golden/scalar.jsonl").lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        if let Some(name) = line["set"].as_str() {
            sets.insert(name.to_owned(), set(&line));
            continue;
        }
        count += 1;
        let of: Vec<&Set> =
            line["of"].as_array().unwrap().iter().map(|name| &sets[name.as_str().unwrap()]).collect();
        if let Err(problem) = agrees(&line, &operands(&of)) {
            wrong.push(problem);
        }
    }
    assert!(count > 800, "{count} cases: the file was cut");
    assert!(wrong.is_empty(), "{} of {count} cases:\n{}", wrong.len(), wrong.join("\n"));
}

fn agrees(case: &serde_json::Value, inputs: &[Array]) -> Result<(), String> {
    let text = case["text"].as_str().unwrap();
    let names = ["x", "y"].iter().zip(inputs);
    let types: Vec<(String, Type)> =
        names.map(|(name, input)| ((*name).to_owned(), Type::tensor(input.dtype(), 1))).collect();
    let context = format!("{text} of {}", inputs[0].dtype());
    let graph = precast_graph::text::parse(&[text], &types, &Ops::standard())
        .map_err(|error| format!("{context}: {error}"))?;
    let graph = Form::Unfused.of(&graph, &Passes::default()).unwrap();
    let found = interpret(&graph, inputs).map_err(|error| format!("{context}: {error}"))?.remove(0);
    let (dtype, expected) = set(case);
    if found.dtype() != dtype {
        return Err(format!("{context}: gives {}, NumPy {dtype}", found.dtype()));
    }
    let words = found.bits();
    let compared = words.chunks(dtype.words()).zip(&expected).enumerate();
    let compared: Vec<_> = compared.filter_map(|(i, (a, b))| Some((i, (a, b.as_ref()?)))).collect();
    let array = |words: Vec<u64>| Array::from_bits(dtype, &[compared.len()], &words).unwrap();
    let ours = array(compared.iter().flat_map(|(_, (a, _))| a.iter().copied()).collect());
    let theirs = array(compared.iter().flat_map(|(_, (_, b))| b.iter().copied()).collect());
    ulp::compare(&ours, &theirs, case["ulp"].as_u64().unwrap()).map_err(|problem| {
        let Mismatch::Element { index, .. } = &problem else { return format!("{context}: {problem}") };
        let place = compared[index[0]].0;
        let of: Vec<String> = inputs.iter().map(|x| format!("{:?}", x.numbers()[place])).collect();
        format!("{context}: {}: {problem}", of.join(", "))
    })
}

#[test]
fn every_scalar_op_has_an_oracle() {
    // The first two compute nothing. `random` has the values of words and draws. `numbers` compares the results of `round`, which uses the last two, with decimal
    // literals.
    let mut held =
        BTreeSet::from(["identity", "stop_gradient", "round_decimals", "round_multiples"].map(str::to_owned));
    held.extend(["threefry", "unit_draw"].map(str::to_owned));
    held.extend(crate::random::DRAWS.map(str::to_owned));
    held.extend(crate::cases::floats().1.into_iter().map(|case| case.name));
    for line in include_str!("../golden/scalar.jsonl").lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let (Some(text), Ok(dtype)) = (line["text"].as_str(), line["of"][0].as_str().unwrap_or("").parse())
        else {
            continue;
        };
        let types = ["x", "y"].map(|name| (name.to_owned(), Type::tensor(dtype, 1)));
        let graph = precast_graph::text::parse(&[text], &types, &Ops::standard()).unwrap();
        held.extend(graph.applies().iter().map(|apply| apply.op.props()["scalar"].to_string()));
    }
    let missing = scalar::names().into_iter().filter(|name| {
        !held.contains(&format!("{name}_f64"))
            && !held.contains(&format!("\"{name}\""))
            && !held.contains(*name)
    });
    assert_eq!(missing.collect::<Vec<_>>(), [""; 0], "no line in precise.py or scalar.py");
}

/// Returns whether the result dtype differs from NumPy's on purpose.
fn exception(function: &str, dtypes: &[DType]) -> bool {
    match function {
        // NumPy converts a boolean to a number first. Here a boolean is its own conjugate, and has the angle of an
        // f16.
        "conj" | "angle" => dtypes == [DType::Bool],
        _ => false,
    }
}

#[test]
fn result_dtypes_match_numpy() {
    let mut lines = include_str!("../golden/promotion.txt").lines();
    let dtypes: Vec<DType> = lines.next().unwrap().split(' ').map(|name| name.parse().unwrap()).collect();
    assert_eq!(dtypes, DType::ALL);
    let (mut function, mut count, mut wrong) = ("", 0, Vec::new());
    for line in lines {
        if !line.starts_with(' ') {
            function = line;
            continue;
        }
        let mut words: Vec<&str> = line.split_whitespace().collect();
        let first: Vec<DType> =
            if words.len() > 15 { vec![words.remove(0).parse().unwrap()] } else { Vec::new() };
        for (dtype, expected) in dtypes.iter().zip(words) {
            let of: Vec<DType> = first.iter().copied().chain([*dtype]).collect();
            let found = result(function, &of).map_or_else(|| "-".to_owned(), |d| d.to_string());
            count += 1;
            if found != expected && !exception(function, &of) {
                wrong.push(format!("{function}{of:?}: {found}, NumPy {expected}"));
            }
        }
    }
    assert!(count > 3000, "{count} combinations: the file was cut");
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
}

/// Returns the result dtype of a function; `None` if it rejects these dtypes.
fn result(function: &str, dtypes: &[DType]) -> Option<DType> {
    let mut graph = FunctionGraph::new();
    let inputs = dtypes.iter().enumerate();
    let operands: Vec<Operand> = inputs
        .map(|(i, d)| Operand::Var(graph.input(&format!("x{i}"), Type::tensor(*d, 1)).unwrap()))
        .collect();
    let output = Ops::standard().call(&mut graph, function, &operands, &Keywords::new()).unwrap();
    let output = output.ok()?.variable(&mut graph).unwrap();
    Some(graph.ty(output).dtype())
}
