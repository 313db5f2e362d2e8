//! Tests of props in the canonical bytes: every kind, every value, and nested graphs.

use super::graph;
use precast_graph::encode::canonical;
use precast_graph::{Array, FunctionGraph, MakeNodeError, Op, PerformError, Prop, Props, Type};
use std::collections::BTreeSet;
use std::sync::Arc;

const XYZ: [&str; 3] = ["x: f64[?]", "y: f64[?]", "z: f64[?]"];

/// An op with a single arbitrary prop.
#[derive(Debug)]
pub(crate) struct Holder(pub(crate) Prop);

impl Op for Holder {
    fn name(&self) -> &str {
        "holder"
    }
    fn props(&self) -> Props {
        Props::from([("prop".to_owned(), self.0.clone())])
    }
    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        Ok(inputs.to_vec())
    }
    fn perform(&self, _: &[&Array]) -> Result<Vec<Array>, PerformError> {
        Err(PerformError::value("holder", "holds only"))
    }
}

fn holding(prop: Prop) -> Vec<u8> {
    let mut g = FunctionGraph::new();
    let x = g.input("x", Type::tensor(precast_graph::DType::F64, 1)).unwrap();
    let y = g.apply(Arc::new(Holder(prop)), &[x]).unwrap();
    g.output(y[0], None).unwrap();
    canonical(&g)
}

fn nested(inputs: &[&str], outputs: &[&str]) -> Prop {
    Prop::Graph(Arc::new(graph(inputs, outputs)))
}

#[test]
fn props_of_every_kind_and_value_differ() {
    use precast_graph::DType::{F32, F64};
    let list = |items: &[Prop]| Prop::List(items.to_vec());
    let op = |prop: Prop| Prop::Op(Arc::new(Holder(prop)));
    let props = vec![
        Prop::Bool(false),
        Prop::Bool(true),
        Prop::Int(0),
        Prop::Int(1),
        Prop::Int(-1),
        Prop::Str("1".into()),
        Prop::Str(String::new()),
        Prop::Str("f32".into()),
        Prop::DType(F32),
        Prop::DType(F64),
        Prop::Float(0.0),
        Prop::Float(-0.0),
        Prop::Float(1.0),
        Prop::Float(f64::NAN),
        Prop::Array(Array::from(1.0)),
        Prop::Array(Array::from(1.0_f32)),
        Prop::Array(Array::from(true)),
        Prop::Array(Array::zeros(F64, &[2, 0])),
        Prop::Array(Array::zeros(F64, &[0, 2])),
        Prop::Array(Array::zeros(F64, &[1])),
        list(&[]),
        list(&[Prop::Int(1)]),
        list(&[Prop::Int(1), Prop::Int(2)]),
        list(&[Prop::Int(2), Prop::Int(1)]),
        list(&[list(&[Prop::Int(1)]), Prop::Int(2)]),
        list(&[list(&[Prop::Int(1), Prop::Int(2)])]),
        list(&[Prop::Str("ab".into()), Prop::Str("c".into())]),
        list(&[Prop::Str("a".into()), Prop::Str("bc".into())]),
        op(Prop::Int(1)),
        op(op(Prop::Int(1))),
        op(Prop::Int(2)),
        nested(&XYZ, &["x - y"]),
        nested(&XYZ, &["y - x"]),
        nested(&XYZ, &["x - 1.0"]),
        nested(&XYZ, &["x - 2.0"]),
        nested(&XYZ, &["x - 0.0"]),
        nested(&XYZ, &["x - -0.0"]),
        nested(&["x: f64[3]"], &["exp(x)"]),
        nested(&["x: f64[4]"], &["exp(x)"]),
        nested(&["x: f64[?]"], &["exp(x)"]),
        nested(&["x: f64"], &["x"]),
        nested(&["x: a<f64[3]>"], &["x"]),
        nested(&["x: a<f64[4]>"], &["x"]),
        nested(&["x: b<f64[4]>"], &["x"]),
        Prop::Graph(Arc::new(FunctionGraph::new())),
    ];
    let count = props.len();
    let distinct: BTreeSet<Vec<u8>> = props.into_iter().map(holding).collect();
    assert_eq!(distinct.len(), count);
}

#[test]
fn graphs_in_props_are_renumbered() {
    let a = nested(&["x: f64", "y: f64"], &["a = exp(x); b = neg(y); a + b"]);
    let b = nested(&["p: f64", "q: f64"], &["b = neg(q); a = exp(p); a + b"]);
    assert_eq!(holding(a), holding(b));
}
