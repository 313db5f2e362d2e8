//! Tests of types and arrays, and of building and interpreting graphs.

use super::graph;
use precast_graph::{
    Array, BuildError, DType, Extent, FunctionGraph, InterpretError, MakeNodeError, OpLibrary, Props,
    TensorType, Type, UserType, interpret,
};
use precast_testkit::arrays::specials;
use precast_testkit::layout::{Layout, lay_out_any};
use precast_testkit::toy::ToyLibrary;
use proptest::prelude::*;

fn ty(text: &str) -> Type {
    text.parse().unwrap()
}

#[test]
fn types_round_trip() {
    let user =
        ["double<f64[]>", "my.crate_2.image<f32[?,?,3]>", "_x<bool[1]>", "plan<opaque>", "opaque<opaque>"];
    for text in ["f64", "bool", "i64[]", "f32[?]", "f64[?,1,3]", "f64[0]"].into_iter().chain(user) {
        assert_eq!(ty(text).to_string(), text);
    }
    assert_eq!(ty(" f64 [ ? , 1 ] "), ty("f64[?,1]"));
    assert_eq!(ty(" double < f64 [ ] > "), ty("double<f64[]>"));
}

#[test]
fn invalid_types_are_rejected_with_found_text() {
    let many = format!("f64[{}]", vec!["?"; 33].join(","));
    let rows = [
        ("f65[?]", "invalid type `f65[?]`"),
        ("", "invalid type ``"),
        ("f64[?", "expected `dtype[extent,…]`"),
        ("f64[a]", "invalid extent `a`"),
        ("f64[-1]", "invalid extent `-1`"),
        ("f64[?,]", "invalid extent ``"),
        ("f64[99999999999999999999]", "extent `99999999999999999999`"),
        (&many, "found 33 dimensions, expected at most 32"),
        ("double<f64[]", "expected `dtype[extent,…]`"),
        ("double>f64[]<", "expected `dtype[extent,…]`"),
        ("double<f64>", "expected `name<dtype[extent,…]>` or `name<opaque>`, found `f64` inside"),
        ("a<b<f64[]>>", "found `b<f64[]>` inside"),
        ("double<f65[]>", "invalid type `f65[]`"),
        ("f64<f64[]>", "invalid name `f64` of a user type"),
        ("2x<f64[]>", "invalid name `2x` of a user type"),
        ("<f64[]>", "invalid name `` of a user type"),
        ("a-b<opaque>", "invalid name `a-b` of a user type"),
    ];
    for (text, fragment) in rows {
        let message = text.parse::<Type>().unwrap_err().to_string();
        assert!(message.contains(fragment), "{message}");
    }
}

proptest! {
    #[test]
    fn reading_a_type_never_panics(text in "[a-z0-9?,<>._\\[\\] -]{0,40}") {
        if let Ok(ty) = text.parse::<Type>() {
            prop_assert_eq!(ty.to_string().parse::<Type>(), Ok(ty));
        }
    }
}

fn user_types() -> impl Strategy<Value = UserType> {
    let extent = prop_oneof![Just(Extent::Unknown), any::<u64>().prop_map(Extent::Fixed)];
    let shape = prop::collection::vec(extent, 0..=32);
    let carrier =
        (prop::sample::select(&DType::ALL[..]), shape).prop_map(|(dtype, shape)| TensorType { dtype, shape });
    let name = "[A-Za-z_][A-Za-z0-9_.]{0,20}".prop_filter("a dtype", |name| name.parse::<DType>().is_err());
    (name, prop::option::of(carrier)).prop_map(|(name, carrier)| match carrier {
        Some(carrier) => UserType::new(&name, carrier).unwrap(),
        None => UserType::opaque(&name).unwrap(),
    })
}

proptest! {
    #[test]
    fn user_types_round_trip(user in user_types(), other in user_types()) {
        let ty = Type::from(user.clone());
        prop_assert_eq!(ty.to_string().parse::<Type>(), Ok(ty.clone()));
        prop_assert!(ty.covers(&ty) && ty.without_extents().covers(&ty));
        prop_assert!(!Type::Tensor(user.carrier().clone()).covers(&ty) && !ty.covers(&Type::Tensor(user.carrier().clone())));
        let differs = other.name() != user.name() || other.carrier().dtype != user.carrier().dtype;
        prop_assert!(!differs || !ty.without_extents().covers(&Type::from(other)));
        // Every form of a graph preserves the type.
        let mut g = FunctionGraph::new();
        let x = g.input("x", ty.clone()).unwrap();
        g.output(x, None).unwrap();
        let back = precast_graph::json::parse(&precast_graph::json::render(&g), &ToyLibrary).unwrap();
        prop_assert_eq!(back.ty(back.inputs()[0]), &ty);
    }
}

#[test]
fn type_covers_more_specific_types() {
    assert!(ty("f64[?,1]").covers(&ty("f64[3,1]")));
    assert!(!ty("f64[3,1]").covers(&ty("f64[?,1]")));
    assert!(!ty("f64[]").covers(&ty("f64")) && !ty("f64").covers(&ty("f64[]")));
    assert!(!ty("f64[?]").covers(&ty("f32[?]")) && !ty("f64[?]").covers(&ty("f64[?,?]")));
    assert_eq!(ty("f64[3,1]").without_extents(), ty("f64[?,?]"));
    assert_eq!(ty("f64").without_extents(), ty("f64"));
}

#[test]
fn extents_broadcast_like_numpy() {
    use Extent::{Fixed, Unknown};
    assert_eq!(Fixed(1).broadcast(Fixed(0)), Some(Fixed(0)));
    assert_eq!(Unknown.broadcast(Fixed(3)), Some(Fixed(3)));
    assert_eq!(Unknown.broadcast(Fixed(1)), Some(Unknown));
    assert_eq!(Fixed(2).broadcast(Fixed(3)), None);
}

#[test]
fn arrays_compare_by_their_bits() {
    for dtype in DType::ALL {
        let array = specials(dtype);
        assert_eq!(Array::from_bits(dtype, array.shape(), &array.bits()), Some(array.clone()));
        for layout in Layout::ALL {
            assert_eq!(lay_out_any(&array, layout), array, "{layout:?}");
        }
    }
    assert_eq!(Array::from(f64::NAN), Array::from(f64::NAN));
    assert_ne!(Array::from(0.0), Array::from(-0.0));
    assert_ne!(Array::from(1.0_f32), Array::from(1.0_f64));
    assert_ne!(Array::zeros(DType::F64, &[2, 0]), Array::zeros(DType::F64, &[0, 2]));
}

#[test]
fn bits_must_match_the_shape() {
    assert_eq!(Array::from_bits(DType::F64, &[2], &[0]), None);
    assert_eq!(Array::from_bits(DType::F64, &[usize::MAX, 2], &[]), None);
}

#[test]
fn builder_rejects_duplicate_names_and_foreign_variables() {
    let mut a = FunctionGraph::new();
    let x = a.input("x", ty("f64[?]")).unwrap();
    let duplicate = |what| BuildError::DuplicateName { name: "x".to_owned(), what };
    assert_eq!(a.input("x", ty("f64")), Err(duplicate("input")));
    a.output(x, Some("x")).unwrap();
    assert_eq!(a.output(x, Some("x")), Err(duplicate("output")));
    assert_eq!(a.output(x, None), Ok(()));
    let mut empty = FunctionGraph::new();
    assert_eq!(empty.output(x, None), Err(BuildError::ForeignVariable { index: 0 }));
    assert_eq!(empty.validate(), Err(BuildError::NoOutputs));
    let add = ToyLibrary.op("add", &Props::new()).unwrap().unwrap();
    assert_eq!(empty.apply(add.clone(), &[x, x]), Err(BuildError::ForeignVariable { index: 0 }));
    let arity = MakeNodeError::Arity { op: "add".to_owned(), expected: "2".to_owned(), found: 1 };
    assert_eq!(a.apply(add, &[x]), Err(arity.into()));
}

#[test]
fn signatures_are_printed_with_types() {
    let g = graph(&["x: f32[?]", "y: f64[?,3]"], &["x + y"]);
    assert_eq!(g.signature(&g.applies()[0]), "add(f32[?], f64[?,3]) -> f64[?,3]");
}

#[test]
fn interpret_rejects_mismatched_inputs() {
    let g = graph(&["x: f64[3]"], &["x + x"]);
    assert_eq!(interpret(&g, &[]), Err(InterpretError::Arity { expected: 1, found: 0 }));
    for wrong in
        [Array::zeros(DType::F32, &[3]), Array::zeros(DType::F64, &[4]), Array::zeros(DType::F64, &[3, 1])]
    {
        let error = interpret(&g, &[wrong]).unwrap_err();
        assert!(
            matches!(&error, InterpretError::Input { input: 0, expected, .. } if expected == "f64[3]"),
            "{error}"
        );
    }
}

#[test]
fn interpret_error_names_the_failed_apply() {
    let g = graph(&["x: f64[?]", "y: f64[?]"], &["exp(x) + y"]);
    let inputs = [Array::zeros(DType::F64, &[3]), Array::zeros(DType::F64, &[2])];
    let error = interpret(&g, &inputs).unwrap_err();
    assert_eq!(error.to_string(), "apply 1, `add(f64[?], f64[?]) -> f64[?]`, where `x`: (3), `y`: (2)");
}

#[test]
fn opaque_values_cannot_cross_graph_boundaries() {
    let mut a = FunctionGraph::new();
    let x = a.input("x", ty("plan<opaque>")).unwrap();
    a.output(x, Some("y")).unwrap();
    let message = "input `x` has the opaque type `plan<opaque>`, which cannot cross a graph boundary";
    assert_eq!(a.check_edges().unwrap_err().to_string(), message);
    let mut b = FunctionGraph::new();
    let c = b.constant_of(Array::from(1_u64), ty("plan<opaque>"));
    b.output(c, None).unwrap();
    assert!(matches!(b.check_edges(), Err(BuildError::Opaque { what: "constant", .. })));
    assert_eq!(graph(&["x: double<f64[]>"], &["x"]).check_edges(), Ok(()));
}
