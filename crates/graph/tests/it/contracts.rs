//! Tests of the memory rules: views, overwritten inputs, and the order of Applies.

use precast_graph::{
    Array, BuildError, ContractError, FunctionGraph, MakeNodeError, Op, PerformError, Prop, Props, Type,
    VarId, contracts, contracts::Inputs, encode,
};
use std::sync::Arc;

/// An op with arbitrary maps. Its single result has the type of its first input, or `dtype`.
#[derive(Debug, Clone, Default)]
struct Mapped {
    name: &'static str,
    views: Vec<(usize, usize)>,
    destroys: Vec<(usize, usize)>,
    result: Option<&'static str>,
}

impl Op for Mapped {
    fn name(&self) -> &str {
        self.name
    }
    fn props(&self) -> Props {
        Props::from([("maps".to_owned(), Prop::Str(format!("{:?}{:?}", self.views, self.destroys)))])
    }
    fn label(&self) -> String {
        self.name.to_owned()
    }
    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        Ok(vec![self.result.map_or_else(|| inputs[0].clone(), |text| text.parse().unwrap())])
    }
    fn perform(&self, inputs: &[&Array]) -> Result<Vec<Array>, PerformError> {
        Ok(vec![inputs[0].clone()])
    }
    fn view_map(&self) -> Vec<(usize, usize)> {
        self.views.clone()
    }
    fn destroy_map(&self) -> Vec<(usize, usize)> {
        self.destroys.clone()
    }
}

fn plain() -> Mapped {
    Mapped { name: "plain", ..Mapped::default() }
}

fn view() -> Mapped {
    Mapped { name: "view", views: vec![(0, 0)], ..Mapped::default() }
}

fn set() -> Mapped {
    Mapped { name: "set", destroys: vec![(0, 0)], ..Mapped::default() }
}

/// A graph with one input `x`.
struct Sketch(FunctionGraph, VarId);

impl Sketch {
    fn new() -> Self {
        let mut graph = FunctionGraph::new();
        let x = graph.input("x", "f64[?]".parse().unwrap()).unwrap();
        Self(graph, x)
    }
    fn add(&mut self, op: Mapped, inputs: &[VarId]) -> VarId {
        self.0.apply(Arc::new(op), inputs).unwrap()[0]
    }
    fn check(mut self, outputs: &[VarId]) -> Result<(), ContractError> {
        outputs.iter().for_each(|v| self.0.output(*v, None).unwrap());
        match self.0.validate_memory(Inputs::Preserved) {
            Ok(()) => Ok(()),
            Err(BuildError::Contract(error)) => Err(*error),
            Err(other) => panic!("{other}"),
        }
    }
}

#[test]
fn maps_with_unknown_positions_are_rejected() {
    for (op, map) in [
        (Mapped { views: vec![(0, 1)], ..plain() }, "view_map"),
        (Mapped { views: vec![(1, 0)], ..plain() }, "view_map"),
        (Mapped { destroys: vec![(0, 7)], ..plain() }, "destroy_map"),
    ] {
        let mut sketch = Sketch::new();
        let x = sketch.1;
        let y = sketch.add(op, &[x]);
        let error = sketch.check(&[y]).unwrap_err();
        assert!(
            matches!(&error, ContractError::Position { map: found, apply: 0, .. } if *found == map),
            "{error}"
        );
    }
}

#[test]
fn view_has_the_dtype_of_its_base() {
    for result in ["f32[?]", "f64"] {
        let mut sketch = Sketch::new();
        let x = sketch.1;
        let y = sketch.add(Mapped { result: Some(result), ..view() }, &[x]);
        let error = sketch.check(&[y]).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "apply 0, `view`: invalid view_map: output `v1: {result}` cannot share memory with input `x: f64[?]`"
            )
        );
    }
    let mut sketch = Sketch::new();
    let x = sketch.1;
    let y = sketch.add(Mapped { result: Some("f64[1,?]"), ..view() }, &[x]);
    assert_eq!(sketch.check(&[y]), Ok(()));
}

#[test]
fn inputs_and_constants_are_never_overwritten() {
    let mut sketch = Sketch::new();
    let x = sketch.1;
    let w = sketch.add(view(), &[x]);
    let w = sketch.add(view(), &[w]);
    let y = sketch.add(set(), &[w]);
    let error = sketch.check(&[y]).unwrap_err();
    assert_eq!(error.to_string(), "apply 2, `set`, overwrites graph input `v2`, which belongs to the caller");
    let mut sketch = Sketch::new();
    let c = sketch.0.constant(Array::from(1.0));
    let y = sketch.add(set(), &[c]);
    assert!(matches!(sketch.check(&[y]), Err(ContractError::DestroysConstant { apply: 0, .. })));
}

#[test]
fn given_up_inputs_may_be_overwritten() {
    let mut sketch = Sketch::new();
    let x = sketch.1;
    let y = sketch.add(set(), &[x]);
    sketch.0.output(y, None).unwrap();
    assert!(matches!(sketch.0.validate_memory(Inputs::Preserved), Err(BuildError::Contract(_))));
    assert_eq!(sketch.0.validate_memory(Inputs::GivenUp), Ok(()));
    assert_eq!(sketch.0.validate(), Ok(()), "as a graph says what is computed, it may say this");
}

#[test]
fn reads_after_overwriting_are_rejected() {
    // Reads the variable itself, a view of it, and the base of a view.
    for reads in 0..3 {
        let mut sketch = Sketch::new();
        let x = sketch.1;
        let base = sketch.add(plain(), &[x]);
        let (target, other) = (sketch.add(view(), &[base]), sketch.add(view(), &[base]));
        let y = sketch.add(set(), &[target]);
        let late = sketch.add(plain(), &[[target, other, base][reads]]);
        let error = sketch.check(&[y, late]).unwrap_err();
        assert!(matches!(error, ContractError::UsedAfterDestroy { apply: 4, before: 3, .. }), "{error}");
    }
    // Reads before the overwrite are valid, and so are reads of the new value.
    let mut sketch = Sketch::new();
    let x = sketch.1;
    let base = sketch.add(plain(), &[x]);
    let early = sketch.add(plain(), &[base]);
    let y = sketch.add(set(), &[base]);
    let z = sketch.add(set(), &[y]);
    assert_eq!(sketch.check(&[early, z]), Ok(()));
}

#[test]
fn overwriting_twice_is_rejected() {
    let mut sketch = Sketch::new();
    let x = sketch.1;
    let base = sketch.add(plain(), &[x]);
    let (y, z) = (sketch.add(set(), &[base]), sketch.add(set(), &[base]));
    let error = sketch.check(&[y, z]).unwrap_err();
    assert_eq!(error.to_string(), "apply 2, `set`, overwrites `v1`, which apply 1 already overwrote");
}

#[test]
fn apply_reads_overwritten_input_only_there() {
    let mut sketch = Sketch::new();
    let x = sketch.1;
    let base = sketch.add(plain(), &[x]);
    let other = sketch.add(view(), &[base]);
    let y = sketch.add(set(), &[base, other]);
    let error = sketch.check(&[y]).unwrap_err();
    assert!(matches!(error, ContractError::ReadsWhatItDestroys { apply: 2, input: 1, .. }), "{error}");
}

#[test]
fn overwriting_graph_outputs_is_rejected() {
    let mut sketch = Sketch::new();
    let x = sketch.1;
    let base = sketch.add(plain(), &[x]);
    let y = sketch.add(set(), &[base]);
    let error = sketch.check(&[y, base]).unwrap_err();
    assert_eq!(error, ContractError::OutputDestroyed { output: "out1".to_owned(), before: 1 });
}

#[test]
fn normalise_keeps_reads_before_overwrites() {
    let mut sketch = Sketch::new();
    let x = sketch.1;
    let base = sketch.add(plain(), &[x]);
    let _dead = sketch.add(plain(), &[base]);
    let other = sketch.add(view(), &[base]);
    let early = sketch.add(plain(), &[other]);
    let y = sketch.add(set(), &[base]);
    // A walk from the outputs alone would visit `set` first.
    sketch.0.output(y, None).unwrap();
    sketch.0.output(early, None).unwrap();
    assert_eq!(contracts::orders(&sketch.0), [(1, 4), (2, 4), (3, 4)]);
    let normal = encode::normalise(&sketch.0);
    assert_eq!(normal.validate_memory(Inputs::Preserved), Ok(()));
    assert_eq!(normal.applies().len(), 4, "the dead reader is gone: {normal}");
    assert_eq!(encode::normalise(&normal), normal);
    assert_eq!(encode::canonical(&normal), encode::canonical(&sketch.0));
}

#[test]
fn order_keeps_extents_and_normalise_forgets_them() {
    let mut graph = FunctionGraph::new();
    let x = graph.input("x", "f64[3,1]".parse().unwrap()).unwrap();
    let _dead = graph.apply(Arc::new(plain()), &[x]).unwrap();
    let y = graph.apply(Arc::new(plain()), &[x]).unwrap();
    graph.output(y[0], None).unwrap();
    let ordered = encode::order(&graph);
    assert_eq!(
        (ordered.applies().len(), ordered.ty(ordered.outputs()[0]).to_string()),
        (1, "f64[3,1]".to_owned())
    );
    assert_eq!(encode::normalise(&ordered), encode::normalise(&graph));
}
