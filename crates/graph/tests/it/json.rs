//! Tests of the JSON form: rendering, parsing and rejecting documents.

use super::props::Holder;
use super::{config, graph};
use precast_core::event::chain;
use precast_graph::encode::{canonical, normalise};
use precast_graph::json::{ParseJsonError, from_json, parse, render, to_json};
use precast_graph::{
    Array, BuildError, FunctionGraph, Keywords, MakeNodeError, Op, OpLibrary, Operand, Prop, Props, interpret,
};
use precast_testkit::graphs::cases;
use precast_testkit::toy::{Composite, ToyLibrary};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::Arc;

/// Returns a handwritten document of `out = exp(x) * 2; t` that uses every part of the form.
pub(crate) fn document() -> Value {
    json!({
        "precast_graph": 1,
        "inputs": [{"name": "x", "type": "f64[?]"}],
        "constants": [{"id": "c0", "type": "f64[]", "shape": [], "bits": ["4000000000000000"]}],
        "applies": [
            {"op": "exp", "inputs": ["x"], "outputs": [{"id": "v0", "type": "f64[?]", "name": "t"}]},
            {"op": "mul", "inputs": ["v0", "c0"], "outputs": [{"id": "v1", "type": "f64[?]", "name": "out"}]},
            {"op": "sum", "props": {"axis": [0], "keepdims": true}, "inputs": ["v1"],
             "outputs": [{"id": "v2", "type": "f64[1]"}]},
        ],
        "outputs": [{"name": "out", "value": "v1"}, {"value": "v2"}],
    })
}

fn refuse(document: &Value) -> ParseJsonError {
    let from_value = from_json(document, &ToyLibrary).expect_err("a wrong document");
    let from_text = parse(&document.to_string(), &ToyLibrary).expect_err("a wrong document");
    assert_eq!(from_value.to_string(), from_text.to_string());
    from_text
}

#[test]
fn handwritten_document_round_trips() {
    let read = from_json(&document(), &ToyLibrary).unwrap();
    let text = graph(&["x: f64[?]"], &["t = exp(x); out = t * 2", "sum(out, axis=0, keepdims=True)"]);
    assert_eq!(canonical(&read), canonical(&text));
    assert_eq!(read.declared_output_name(1), None);
    assert_eq!(to_json(&read), document());
    assert_eq!(render(&parse(&render(&read), &ToyLibrary).unwrap()), render(&read));
}

#[test]
fn empty_fields_are_optional() {
    let short = json!({
        "precast_graph": 1,
        "inputs": [{"name": "x", "type": "f64[?]"}],
        "applies": [{"op": "exp", "inputs": ["x"], "outputs": [{"id": "y"}]}],
        "outputs": [{"value": "y"}],
    });
    let read = from_json(&short, &ToyLibrary).unwrap();
    assert_eq!(read.ty(read.outputs()[0]).to_string(), "f64[?]");
}

proptest! {
    #[test]
    fn round_trips_are_exact(case in cases(config(), ToyLibrary)) {
        let text = render(&case.graph);
        let back = parse(&text, &ToyLibrary).unwrap();
        prop_assert_eq!(render(&back), text);
        prop_assert_eq!(canonical(&back), canonical(&case.graph));
        prop_assert_eq!(interpret(&back, &case.inputs).unwrap(), case.outputs);
        let normal = normalise(&case.graph);
        prop_assert_eq!(&parse(&render(&normal), &ToyLibrary).unwrap(), &normal);
        prop_assert_eq!(&from_json(&to_json(&normal), &ToyLibrary).unwrap(), &normal);
    }
}

#[test]
fn constants_keep_every_bit_in_every_dtype() {
    for dtype in precast_graph::DType::ALL {
        let mut g = FunctionGraph::new();
        let value = precast_testkit::arrays::specials(dtype);
        let c = g.constant(value.clone());
        g.output(c, None).unwrap();
        let back = parse(&render(&g), &ToyLibrary).unwrap();
        let values: Vec<&Array> = back.constants().map(|(_, value)| value).collect();
        assert_eq!(values, [&value]);
    }
}

pub(crate) fn composite() -> FunctionGraph {
    let inner = normalise(&graph(&["a: f64[?]"], &["t = exp(a); t + 0.5", "t"]));
    let mut g = graph(&["x: f64[?]"], &["x"]);
    let outputs = g.apply(Arc::new(Composite(Arc::new(inner))), &[g.inputs()[0]]).unwrap();
    g.output(outputs[1], Some("inner")).unwrap();
    g
}

#[test]
fn graphs_and_ops_in_props_round_trip() {
    assert_eq!(parse(&render(&composite()), &ToyLibrary).unwrap(), composite());
    let nested = json!({
        "precast_graph": 1,
        "inputs": [{"name": "x", "type": "f64[?]"}],
        "constants": [],
        "applies": [{"op": "map", "props": {"op": {"op": {"op": "cast", "props": {"dtype": {"dtype": "f32"}}}}},
                     "inputs": ["x"], "outputs": [{"id": "v0", "type": "f32[?]"}]}],
        "outputs": [{"value": "v0"}],
    });
    assert_eq!(to_json(&from_json(&nested, &ToyLibrary).unwrap()), nested);
}

struct HolderLibrary;

impl OpLibrary for HolderLibrary {
    fn call(
        &self,
        _: &mut FunctionGraph,
        _: &str,
        _: &[Operand],
        _: &Keywords,
    ) -> Option<Result<Operand, BuildError>> {
        None
    }
    fn op(&self, _: &str, props: &Props) -> Option<Result<Arc<dyn Op>, MakeNodeError>> {
        Some(Ok(Arc::new(Holder(props["prop"].clone()))))
    }
    fn names(&self) -> Vec<String> {
        vec!["holder".to_owned()]
    }
}

fn holding(prop: Prop) -> FunctionGraph {
    let mut g = graph(&["x: f64[?]"], &["x"]);
    let y = g.apply(Arc::new(Holder(prop)), &[g.inputs()[0]]).unwrap();
    g.output(y[0], None).unwrap();
    g
}

#[test]
fn floats_and_arrays_in_props_keep_every_bit() {
    let floats = [0.0, -0.0, 1.5, 0.1, f64::NAN, -f64::NAN, f64::INFINITY, 5e-324].map(Prop::Float);
    let arrays = precast_graph::DType::ALL.map(|dtype| Prop::Array(precast_testkit::arrays::specials(dtype)));
    let empty = Prop::Array(Array::zeros(precast_graph::DType::I64, &[2, 0]));
    for prop in floats.into_iter().chain(arrays).chain([empty]) {
        let g = holding(Prop::List(vec![prop]));
        assert_eq!(parse(&render(&g), &HolderLibrary).unwrap(), g, "{}", render(&g));
    }
}

#[test]
fn invalid_floats_and_arrays_in_props_are_rejected() {
    let wrong = |prop: Value| {
        let mut document = to_json(&holding(Prop::Int(1)));
        document["applies"][0]["props"]["prop"] = prop;
        chain(&from_json(&document, &HolderLibrary).unwrap_err())
    };
    let place = "at `applies[0].props.prop";
    let rows = [
        (json!({"float": "1.5"}), ".float`: invalid `f64` `1.5`: expected 16 hex digits"),
        (json!({"array": {"type": "f64", "bits": []}}), ".array.type`: invalid type `f64` of a constant"),
        (
            json!({"array": {"type": "f64[?]", "bits": []}}),
            ".array.type`: invalid type `f64[?]` of a constant",
        ),
        (json!({"array": {"type": "a<f64[1]>", "bits": []}}), ".array.type`: invalid type `a<f64[1]>`"),
        (json!({"array": {"type": "f64[1]", "bits": []}}), ".array.bits`: 0 element(s) for shape [1]"),
        (json!({"array": {"type": "bool[]", "bits": ["02"]}}), ".array.bits[0]`: invalid element `02`"),
    ];
    for (prop, fragment) in rows {
        let message = wrong(prop);
        assert!(message.contains(&format!("{place}{fragment}")), "{message}");
    }
}

#[test]
fn input_names_may_look_like_ids() {
    let g = graph(&["v0: f64[?]", "c0: f64[?]", "c0_: f64[?]"], &["exp(v0) + c0 + c0_ + 1"]);
    assert_eq!(canonical(&parse(&render(&g), &ToyLibrary).unwrap()), canonical(&g));
}

/// Changes the document at a JSON pointer; `null` removes the value.
fn changed(pointer: &str, value: Value) -> Value {
    let mut document = document();
    if !value.is_null() && document.pointer(pointer).is_some() {
        *document.pointer_mut(pointer).unwrap() = value;
        return document;
    }
    let (parent, field) = pointer.rsplit_once('/').unwrap();
    let parent = document.pointer_mut(parent).unwrap().as_object_mut().unwrap();
    if value.is_null() {
        assert!(parent.remove(field).is_some(), "{pointer}");
    } else {
        parent.insert(field.to_owned(), value);
    }
    document
}

#[test]
fn errors_name_place_found_and_expected() {
    let null = Value::Null;
    #[rustfmt::skip]
    let rows: &[(&str, Value, &[&str])] = &[
        ("/precast_graph", null.clone(), &["missing or invalid version in `precast_graph`", "missing field"]),
        ("/precast_graph", json!("1"), &["missing or invalid version", "invalid type: string"]),
        ("/precast_graph", json!(2), &["`precast_graph` is version 2, expected 1"]),
        ("/precast_graph", json!(0), &["is version 0"]),
        ("/inputs", null.clone(), &["at `document`", "missing field `inputs`"]),
        ("/outputs", null.clone(), &["missing field `outputs`"]),
        ("/outputs", json!([]), &["at `outputs`", "no outputs"]),
        ("/extra", json!(1), &["at `extra`", "unknown field `extra`"]),
        ("/inputs/0/tipe", json!(1), &["at `inputs[0].tipe`", "unknown field `tipe`"]),
        ("/inputs/0/type", json!("f65[?]"), &["at `inputs[0].type`", "invalid type `f65[?]`", "unknown dtype `f65`, expected one of bool"]),
        ("/inputs/0/type", json!("f64[2x]"), &["at `inputs[0].type`", "extent `2x`"]),
        ("/inputs/0/name", json!("c0"), &["at `constants[0]`", "duplicate name `c0`", "`inputs[0]`"]),
        ("/constants/0/shape", json!([2]), &["at `constants[0].shape`", "shape [2]", "`f64[]`"]),
        ("/constants/0/bits", json!([]), &["at `constants[0].bits`", "0 element(s)"]),
        ("/constants/0/bits/0", json!("4"), &["at `constants[0].bits[0]`", "`4`", "16 hex digits"]),
        ("/constants/0/bits/0", json!("+000000000000000"), &["at `constants[0].bits[0]`"]),
        ("/constants/0/bits/0", json!(4), &["at `constants[0].bits[0]`", "expected a string"]),
        ("/applies/0/op", json!("exq"), &["at `applies[0].op`", "unknown op `exq`; nearest `exp`"]),
        ("/applies/0/op", json!("frobnicate"), &["unknown op `frobnicate`"]),
        ("/applies/0/op", json!("add"), &["at `applies[0]`", "`add` takes 2 input(s), found 1"]),
        ("/applies/0/props", json!({"base": 2}), &["at `applies[0]`", "`exp`: prop `base` is unknown"]),
        ("/applies/2/props/axis", json!([1.5]), &["at `applies[2].props.axis[0]`", "floating point `1.5`"]),
        ("/applies/2/props/axis", json!({"dtype": "f65"}), &["at `applies[2].props.axis.dtype`", "unknown dtype `f65`"]),
        ("/applies/2/props/axis", json!({"type": "f32"}), &["applies[2].props.axis", "unknown variant `type`"]),
        ("/applies/2/props/axis", json!({"op": {"op": "nope"}}), &["at `applies[2].props.axis.op.op`", "unknown op `nope`"]),
        ("/applies/2/props/axis", json!(18_446_744_073_709_551_615_u64), &["applies[2].props.axis", "does not fit into i64"]),
        ("/applies/1/inputs/1", json!("c1"), &["at `applies[1].inputs[1]`", "unknown variable id `c1`; nearest `c0`"]),
        ("/applies/1/inputs/1", json!(0), &["at `applies[1].inputs[1]`", "expected a string"]),
        ("/applies/1/outputs/0/id", json!("v0"), &["at `applies[1].outputs[0]`", "duplicate name `v0`", "`applies[0].outputs[0]`"]),
        ("/applies/1/outputs/0/type", json!("f32[?]"), &["at `applies[1].outputs[0].type`", "declared type `f32[?]`", "`mul` returns `f64[?]`"]),
        ("/applies/1/outputs/0/type", json!("f64[3]"), &["declared type `f64[3]`"]),
        ("/applies/1/outputs", json!([]), &["at `applies[1].outputs`", "0 output(s) declared, but `mul` returns 1"]),
        ("/applies/0/inputs/0", json!("v0"), &["at `applies[0].inputs[0]`", "cycle through `v0`: `applies[0]` (exp) needs `applies[0]` (exp)"]),
        ("/applies/0/inputs/0", json!("v2"), &["at `applies[0].inputs[0]`", "cycle through `v2`", "`applies[0]` (exp) needs `applies[2]` (sum) needs `applies[1]` (mul) needs `applies[0]` (exp)"]),
        ("/outputs/0/value", json!("v9"), &["at `outputs[0].value`", "unknown variable id `v9`"]),
        ("/outputs/1/name", json!("out"), &["at `outputs[1]`", "duplicate name `out`", "`outputs[0]`"]),
    ];
    for (pointer, value, fragments) in rows {
        let message = chain(&refuse(&changed(pointer, value.clone())));
        for fragment in *fragments {
            assert!(message.contains(fragment), "{pointer} = {value}: {message}");
        }
    }
}

#[test]
fn apply_before_its_inputs_is_not_a_cycle() {
    let mut disordered = document();
    disordered["applies"].as_array_mut().unwrap().swap(0, 1);
    let error = refuse(&disordered);
    assert!(matches!(error, ParseJsonError::Order { .. }), "{error}");
    assert_eq!(
        error.to_string(),
        "at `applies[0].inputs[0]`: `v0` is used before `applies[1]` computes it\n\
         hint: move the apply after the applies whose results it uses"
    );
}

#[test]
fn hundred_thousand_applies_are_accepted_and_twice_as_many_rejected() {
    let chain = |count: usize| {
        let input = |at: usize| if at == 0 { "x".to_owned() } else { format!("v{}", at - 1) };
        let apply =
            |at: usize| json!({"op": "exp", "inputs": [input(at)], "outputs": [{"id": format!("v{at}")}]});
        json!({
            "precast_graph": 1,
            "inputs": [{"name": "x", "type": "f64[?]"}],
            "applies": (0..count).map(apply).collect::<Vec<_>>(),
            "outputs": [{"value": format!("v{}", count - 1)}],
        })
    };
    let read = parse(&chain(100_000).to_string(), &ToyLibrary).unwrap();
    assert_eq!(read.applies().len(), 100_000);
    let error = parse(&chain(200_001).to_string(), &ToyLibrary).unwrap_err();
    assert!(matches!(error, ParseJsonError::Long { found: 200_001, .. }), "{error}");
}

#[test]
fn newer_version_is_rejected() {
    let newer = json!({"precast_graph": 7, "nodes": {"anything": [1, 2, 3]}});
    let error = refuse(&newer);
    assert!(matches!(error, ParseJsonError::Version { found: 7, .. }), "{error}");
    assert!(error.to_string().contains("\nhint: "));
    // The version inside a prop is checked too.
    let mut inner = to_json(&composite());
    inner["applies"][0]["props"]["graph"]["graph"]["precast_graph"] = json!(2);
    assert!(refuse(&inner).to_string().contains("`applies[0].props.graph.graph.precast_graph` is version 2"));
}

#[test]
fn prop_errors_have_their_full_path() {
    let mut inner = to_json(&composite());
    inner["applies"][0]["props"]["graph"]["graph"]["applies"][0]["inputs"][0] = json!("b");
    let message = refuse(&inner).to_string();
    assert!(
        message.starts_with("at `applies[0].props.graph.graph.applies[0].inputs[0]`: unknown variable"),
        "{message}"
    );
}

#[test]
fn duplicate_fields_and_props_are_rejected() {
    let text = document().to_string();
    let twice = text.replacen("\"outputs\"", "\"inputs\":[],\"outputs\"", 1);
    assert_ne!(twice, text);
    assert!(parse(&twice, &ToyLibrary).is_err());
    let prop = text.replacen("\"keepdims\":true", "\"keepdims\":true,\"keepdims\":false", 1);
    assert_ne!(prop, text);
    assert!(chain(&parse(&prop, &ToyLibrary).unwrap_err()).contains("duplicate prop `keepdims`"));
}

#[test]
fn invalid_json_is_rejected_without_crash() {
    let deep = |n: usize| format!("{{\"precast_graph\":1,\"inputs\":{}", "[".repeat(n));
    let texts = [
        String::new(),
        "{".to_owned(),
        "null".to_owned(),
        "[1]".to_owned(),
        deep(100_000),
        "\u{0}".to_owned(),
    ];
    for text in texts {
        assert!(parse(&text, &ToyLibrary).is_err());
    }
    let trailing = format!("{} x", document());
    assert!(matches!(parse(&trailing, &ToyLibrary), Err(ParseJsonError::Syntax(_))));
}

#[test]
fn nesting_limit_needs_little_stack() {
    // Nests ops in props of ops, as deep as serde_json can read.
    let mut op = json!({"op": "exp"});
    let mut depth = 0;
    loop {
        let g = json!({
            "precast_graph": 1,
            "inputs": [{"name": "x", "type": "f64[?]"}],
            "applies": [{"op": "map", "props": {"op": {"op": op}}, "inputs": ["x"], "outputs": [{"id": "y"}]}],
            "outputs": [{"value": "y"}],
        });
        if parse(&g.to_string(), &ToyLibrary).is_err() {
            break;
        }
        depth += 1;
        op = json!({"op": "map", "props": {"op": {"op": op}}});
    }
    assert!((20..128).contains(&depth), "{depth}");
}

#[test]
fn constants_with_huge_shapes_are_rejected() {
    let shapes = [
        ("f64[?]", vec![1_u64 << 60]),
        ("f64[?,?]", vec![1 << 32, 1 << 32]),
        ("f64[?,?]", vec![u64::MAX, u64::MAX]),
        ("f64[?,?,?]", vec![1 << 40, 1 << 40, 0]),
    ];
    for (ty, shape) in shapes {
        let mut document = document();
        document["constants"][0] = json!({"id": "c0", "type": ty, "shape": shape, "bits": []});
        let refused = refuse(&document);
        assert!(matches!(refused, ParseJsonError::Constant { .. }), "{shape:?}: {refused:?}");
    }
}
