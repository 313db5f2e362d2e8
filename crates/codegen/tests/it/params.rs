//! Tests run-time params: their struct, their slots, and that they are not part of keys.

use crate::run::{opwise, whole};
use precast_codegen::{
    CCompiler, CLinkerObject, COp, EnumType, Library, LinkError, Node, ParamType, ParamsType, Sub, link,
    segments, slots,
};
use precast_graph::{Array, DType, FunctionGraph, MakeNodeError, Op, PerformError, Prop, Props, Type};
use precast_store::key::Language;
use proptest::prelude::*;
use std::sync::Arc;

/// Computes `alpha * x + w[0] + side + unit + round`, with a param of every kind.
#[derive(Debug, Clone)]
struct Affine {
    alpha: f64,
    w: Vec<f64>,
    side: Prop,
    unit: &'static str,
    round: &'static str,
    any: Array,
    /// Not a param: embedded in the text.
    baked: i64,
    cxx: bool,
}

impl Default for Affine {
    fn default() -> Self {
        let (side, any) = (Prop::Str("LEFT".to_owned()), Array::from(1_i8));
        Self {
            alpha: 1.0,
            w: vec![0.0],
            side,
            unit: "NONE",
            round: "FE_TONEAREST",
            any,
            baked: 0,
            cxx: false,
        }
    }
}

impl Op for Affine {
    fn name(&self) -> &str {
        "affine"
    }
    fn props(&self) -> Props {
        let w = Array::from(ndarray::Array1::from(self.w.clone()));
        [
            ("alpha", Prop::Float(self.alpha)),
            ("w", Prop::Array(w)),
            ("side", self.side.clone()),
            ("unit", Prop::Str(self.unit.to_owned())),
            ("round", Prop::Str(self.round.to_owned())),
            ("any", Prop::Array(self.any.clone())),
            ("baked", Prop::Int(self.baked)),
            ("cxx", Prop::Bool(self.cxx)),
        ]
        .map(|(name, prop)| (name.to_owned(), prop))
        .into()
    }
    fn params(&self) -> Vec<String> {
        ["alpha", "w", "side", "unit", "round", "any"].map(str::to_owned).into()
    }
    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        Ok(inputs.to_vec())
    }
    fn perform(&self, _: &[&Array]) -> Result<Vec<Array>, PerformError> {
        Err(PerformError::value("affine", "not needed here"))
    }
}

impl CLinkerObject for Affine {
    fn c_compiler(&self) -> Option<CCompiler> {
        self.cxx.then_some(CCompiler { language: Language::Cxx })
    }
    fn c_support_code(&self) -> Vec<String> {
        // The constants are also defined in shared code.
        vec!["static int affine_right(void) { return RIGHT; }".to_owned()]
    }
}

impl COp for Affine {
    fn params_type(&self) -> Result<ParamsType, LinkError> {
        let side = EnumType::list(&["LEFT", "RIGHT"]).alias("RIGHT", "right");
        let unit = EnumType::new("double").constant("NONE", 0).float("INCH", 0.0254);
        let round = EnumType::from_c("int", &["FE_TONEAREST", "FE_UPWARD"]).header("<fenv.h>");
        Ok(ParamsType::new()
            .with("alpha", ParamType::Scalar(DType::F64))
            .with("w", ParamType::Tensor(DType::F64))
            .with("side", ParamType::Enum(side))
            .with("unit", ParamType::Enum(unit))
            .with("round", ParamType::Enum(round))
            .with("any", ParamType::Generic))
    }
    fn c_support_code_apply(&self, _: &Node, name: &str) -> Result<String, LinkError> {
        let ty = precast_codegen::params::type_name(name);
        Ok(format!(
            "static int {name}_is_right(const {ty} *p) {{ return p->side == RIGHT && RIGHT == affine_right(); }}"
        ))
    }
    fn c_support_code_struct(&self, _: &Node, name: &str) -> String {
        format!("double {name}_first;")
    }
    fn c_init_code_struct(&self, _: &Node, name: &str, sub: &Sub) -> String {
        let (params, fail) = (sub.params.as_ref().unwrap(), &sub.fail);
        let full = format!(
            "if ({params}->w->shape[0] == 0) {{ pc_error_set(ctx, PC_ERROR_VALUE, \"no w\"); {fail} }}"
        );
        format!("{full}\nself->{name}_first = *(double *){params}->w->data;")
    }
    fn c_code(
        &self,
        _: &Node,
        name: &str,
        i: &[String],
        o: &[String],
        sub: &Sub,
    ) -> Result<String, LinkError> {
        let (x, z, p, baked) = (&i[0], &o[0], sub.params.as_ref().unwrap(), self.baked);
        let extra = format!("self->{name}_first + {p}->unit + (INCH > {p}->unit ? 0 : 1000) + {baked}");
        let signs = format!("({name}_is_right({p}) ? 10 : 0) + ({p}->round == FE_UPWARD ? 100 : 0)");
        let any = format!("({p}->any == NULL)");
        Ok(format!("{z} = {p}->alpha * {x} + {extra} + {signs} + {any};"))
    }
}

fn library() -> Library {
    Library::new().with_c::<Affine>()
}

fn graph(ops: &[Affine]) -> FunctionGraph {
    let mut graph = FunctionGraph::new();
    let mut last = graph.input("x", Type::Scalar(DType::F64)).unwrap();
    for op in ops {
        last = graph.apply(Arc::new(op.clone()), &[last]).unwrap()[0];
    }
    graph.output(last, None).unwrap();
    graph
}

fn right(alpha: f64) -> Affine {
    Affine { alpha, side: Prop::Str("right".to_owned()), ..Affine::default() }
}

#[test]
fn param_values_change_results_but_not_keys() {
    let (a, b) = (graph(&[Affine::default(), right(2.0)]), graph(&[right(-3.0), Affine::default()]));
    let key = |graph: &FunctionGraph| {
        let parts = segments(graph, &library()).unwrap();
        parts.iter().map(|part| link(&part.graph, &library()).unwrap().key()).collect::<Vec<_>>()
    };
    assert_eq!(key(&a), key(&b));
    assert_ne!(a, b, "ops are equal by all their props");
    assert_ne!(precast_graph::encode::canonical(&a), precast_graph::encode::canonical(&b));
    let x = [Array::from(5.0)];
    // (5*1) * 2 + 10 and (5*-3 + 10) * 1
    for (graph, expected) in [(&a, 20.0), (&b, -5.0)] {
        assert_eq!(whole(graph, &library(), &x).f64s(), [expected]);
        assert_eq!(opwise(graph, &library(), &x).f64s(), [expected]);
    }
    assert_ne!(key(&a), key(&graph(&[Affine { baked: 1, ..Affine::default() }, right(2.0)])));
}

#[test]
fn enumerations_accept_names_aliases_values_and_headers() {
    let x = [Array::from(0.0)];
    let run = |op: Affine| whole(&graph(&[op]), &library(), &x).f64s()[0];
    assert_eq!(run(Affine { side: Prop::Int(1), ..Affine::default() }), 10.0);
    assert_eq!(run(Affine { round: "FE_UPWARD", ..Affine::default() }), 100.0);
    assert_eq!(run(Affine { unit: "INCH", ..Affine::default() }), 1000.0254);
    assert_eq!(run(Affine { w: vec![7.0, 8.0], cxx: true, ..Affine::default() }), 7.0);
}

#[test]
fn failed_params_are_released() {
    let x = [Array::from(1.0)];
    for cxx in [false, true] {
        let ops: Vec<Affine> = (0..3).map(|_| Affine { cxx, ..Affine::default() }).collect();
        let outcome = whole(&graph(&ops), &library(), &x);
        // Each Apply has six slots, of which a generic one accepts any dtype; the input makes an extract fail.
        let wrong = "wrong accepted 3 extract 1 code 0 sync 0 struct 15";
        assert_eq!(outcome.failures[..2], ["refused extract 0 code 0 sync 3 struct 0", wrong]);
    }
    let empty = Affine { w: Vec::new(), ..Affine::default() };
    let outcome = whole(&graph(&[Affine::default(), empty]), &library(), &x);
    assert_eq!(outcome.outputs, Err("no w".to_owned()));
}

#[test]
fn slots_follow_constants_in_field_order() {
    // If an input is not a number, constants have slots; otherwise they are literals.
    for inputs in [vec![Array::zeros(DType::F64, &[1])], vec![]] {
        let mut g = FunctionGraph::new();
        if let Some(array) = inputs.first() {
            g.input("unused", array.ty()).unwrap();
        }
        let c = g.constant_of(Array::from(9.0), Type::Scalar(DType::F64));
        let y = g.apply(Arc::new(right(2.0)), &[c]).unwrap()[0];
        g.output(y, None).unwrap();
        let one = Array::from(ndarray::array![0.0]);
        let params = [2.0.into(), 1_i8.into(), 0_i64.into(), 1_i64.into(), 0.0.into(), one];
        let constants = inputs.iter().map(|_| Array::from(9.0));
        let expected: Vec<Array> = constants.chain(params).collect();
        assert_eq!(slots(&g, &library()).unwrap(), expected);
        assert_eq!(whole(&g, &library(), &inputs).f64s(), [28.0]);
    }
}

#[test]
fn labels_omit_params() {
    let module = link(&graph(&[right(2.0)]), &library()).unwrap();
    assert_eq!(module.signature, "affine{baked=0,cxx=false}(f64) -> f64");
}

#[test]
fn invalid_values_are_rejected_with_the_field() {
    let refuse = |op: Affine| slots(&graph(&[op]), &library()).unwrap_err().to_string();
    let side = |side: Prop| refuse(Affine { side, ..Affine::default() });
    assert_eq!(side(Prop::Int(2)), "param `side` of `affine`: 2 is not one of LEFT, RIGHT");
    assert_eq!(
        side(Prop::Str("MIDDLE".into())),
        "param `side` of `affine`: \"MIDDLE\" is not one of LEFT, RIGHT"
    );
    assert_eq!(side(Prop::Bool(true)), "param `side` of `affine`: true is not one of LEFT, RIGHT");
    let by_number = refuse(Affine { round: "0", ..Affine::default() });
    assert_eq!(by_number, "param `round` of `affine`: \"0\" is not one of FE_TONEAREST, FE_UPWARD");
}

/// Arbitrary params with types derived from their values.
#[derive(Debug)]
struct Sum(Props, Vec<String>);

impl Op for Sum {
    fn name(&self) -> &str {
        "sum_params"
    }
    fn props(&self) -> Props {
        self.0.clone()
    }
    fn params(&self) -> Vec<String> {
        self.1.clone()
    }
    fn make_node(&self, _: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        Ok(vec![Type::Scalar(DType::F64)])
    }
    fn perform(&self, _: &[&Array]) -> Result<Vec<Array>, PerformError> {
        Err(PerformError::value("sum_params", "not needed here"))
    }
}

impl CLinkerObject for Sum {}

impl COp for Sum {
    fn c_code(&self, _: &Node, _: &str, _: &[String], o: &[String], sub: &Sub) -> Result<String, LinkError> {
        let mut code = format!("{} = 0;", o[0]);
        let Some(p) = &sub.params else { return Ok(code) };
        for (field, ty) in self.params_type()?.fields() {
            match ty {
                ParamType::Scalar(_) => code += &format!("\n{} += (double){p}->{field};", o[0]),
                ParamType::Tensor(_) => {
                    let element = self.params_type()?.c_element_type(field).unwrap();
                    let loop_ = format!("for (int64_t i = 0; i < pc_tensor_size({p}->{field}); i++)");
                    code += &format!("\n{loop_} {} += (double)(({element} *){p}->{field}->data)[i];", o[0]);
                }
                _ => {}
            }
        }
        Ok(code)
    }
}

fn sum(props: Props, params: Vec<String>) -> FunctionGraph {
    let mut g = FunctionGraph::new();
    let y = g.apply(Arc::new(Sum(props, params)), &[]).unwrap()[0];
    g.output(y, None).unwrap();
    g
}

#[test]
fn undeclared_param_types_follow_values() {
    let list = Prop::List(vec![Prop::Int(3), Prop::Int(4)]);
    let array = Prop::Array(ndarray::array![[1.5_f32, 2.5]].into());
    let props: Props =
        [("a", Prop::Bool(true)), ("b", Prop::Int(-7)), ("c", Prop::Float(0.25)), ("d", list), ("e", array)]
            .map(|(name, prop)| (name.to_owned(), prop))
            .into();
    let g = sum(props.clone(), props.keys().cloned().collect());
    let library = Library::new().with_c::<Sum>();
    assert_eq!(whole(&g, &library, &[]).f64s(), [1.0 - 7.0 + 0.25 + 7.0 + 4.0]);
    let text = link(&g, &library).unwrap().body;
    assert!(
        text.contains("pc_bool a;\n  pc_i64 b;\n  pc_f64 c;\n  pc_tensor *d;\n  pc_tensor *e;"),
        "{text}"
    );
    let refuse = |name: &str, prop: Prop| {
        let g = sum(Props::from([(name.to_owned(), prop)]), vec![name.to_owned()]);
        link(&g, &library).unwrap_err().to_string()
    };
    assert!(refuse("a", Prop::Str("x".into())).contains("has a kind without a C type"));
    assert!(refuse("class", Prop::Int(1)).contains("`class` of `sum_params`: is not a C field name"));
    assert!(refuse("a-b", Prop::Int(1)).contains("is not a C field name"));
    let missing = sum(Props::new(), vec!["ghost".to_owned()]);
    assert!(link(&missing, &library).unwrap_err().to_string().contains("is not a prop of the op"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]
    #[test]
    fn any_param_values_share_one_module(numbers in prop::collection::vec(-1000_i64..1000, 1..8)) {
        let props = |zero: bool| -> Props {
            let value = |n: i64| if zero { 0 } else { n };
            let tensor = |n: i64| Prop::List((0..n % 4).map(|_| Prop::Int(value(n))).collect());
            let prop = |(i, n): (usize, &i64)| match i % 3 {
                0 => Prop::Int(value(*n)),
                1 => Prop::Float(value(*n) as f64 * 0.5),
                _ => tensor(*n),
            };
            numbers.iter().enumerate().map(|(i, n)| (format!("p{i}"), prop((i, n)))).collect()
        };
        let names: Vec<String> = (0..numbers.len()).map(|i| format!("p{i}")).collect();
        let library = Library::new().with_c::<Sum>();
        let (g, zero) = (sum(props(false), names.clone()), sum(props(true), names));
        prop_assert_eq!(link(&g, &library).unwrap().key(), link(&zero, &library).unwrap().key());
        let part = |(i, n): (usize, &i64)| match i % 3 {
            0 => *n as f64,
            1 => *n as f64 * 0.5,
            _ => (*n % 4).max(0) as f64 * *n as f64,
        };
        let expected: f64 = numbers.iter().enumerate().map(part).sum();
        prop_assert_eq!(whole(&g, &library, &[]).f64s(), vec![expected]);
    }
}
