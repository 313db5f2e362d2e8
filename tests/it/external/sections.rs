//! Tests the sections at run time.

use super::{call, compiled, graph, op, vector};
use precast::FunctionGraph;
use precast_codegen::external::Declaration;
use precast_codegen::{link, segments};
use precast_graph::{Prop, json};
use precast_ops::Ops;
use precast_store::key::Language;

const LEVELS: &str = include_str!("c/levels.c");

fn levels() -> Declaration {
    Declaration::new("levels").file("levels.c", LEVELS).input("{T}[?]").output("{T}[?]")
}

#[test]
fn members_helpers_and_clean_up_serve_one_instance() {
    let function = compiled(&graph(&op(levels()), &["f64[?]"]));
    assert_eq!(call(&function, &[vector(&[1.0, 2.0])]).unwrap(), [vector(&[2.0, 4.0])]);
    // `code_cleanup` ran after the first call, because the counter is one of the instance's members.
    assert_eq!(call(&function, &[vector(&[1.0, 2.0])]).unwrap(), [vector(&[3.0, 5.0])]);
    let error = call(&function, &[vector(&[])]).unwrap_err();
    assert!(super::chain(&error).contains("levels: nothing to scale"), "{}", super::chain(&error));
    assert_eq!(call(&function, &[vector(&[1.0])]).unwrap(), [vector(&[4.0])]);
}

#[test]
fn two_applies_of_one_op_do_not_clash() {
    let mut graph = FunctionGraph::new();
    let x = graph.input("x", "f64[?]".parse().unwrap()).unwrap();
    let once = graph.apply(op(levels()), &[x]).unwrap()[0];
    let twice = graph.apply(op(levels()), &[once]).unwrap()[0];
    graph.output(twice, None).unwrap();
    let parts = segments(&graph, Ops::standard().c()).unwrap();
    let keys = parts.iter().map(|part| link(&part.graph, Ops::standard().c()).unwrap().key());
    let keys: Vec<_> = keys.collect();
    assert_eq!((keys.len(), keys[0]), (2, keys[1]), "one module, and two instances of it");
    let function = compiled(&graph);
    assert_eq!(call(&function, &[vector(&[1.0])]).unwrap(), [vector(&[4.0])]);
    assert_eq!(call(&function, &[vector(&[1.0])]).unwrap(), [vector(&[7.0])]);
}

#[test]
fn op_round_trips_through_json() {
    let declaration = Declaration { version: Some(vec![1, 2]), ..levels() };
    let declared = graph(&op(declaration), &["f64[?]"]);
    let again = json::parse(&json::render(&declared), &Ops::standard()).unwrap();
    assert_eq!(declared, again);
    assert_eq!(declared.signature(&declared.applies()[0]), "levels(f64[?]) -> f64[?]");
}

#[test]
fn key_has_texts_and_headers_without_places() {
    let key = |declaration| link(&graph(&op(declaration), &["f64[?]"]), Ops::standard().c()).unwrap().key();
    let include = format!("#section support_code\n#include \"own.h\"\n{LEVELS}");
    let with = |header: &str| Declaration::new("levels").file("f.c", &include).source("own.h", header);
    let typed = |d: Declaration| d.input("{T}[?]").output("{T}[?]");
    let (one, two) = (typed(with("#define ONE 1\n")), typed(with("#define ONE 2\n")));
    assert_eq!(key(one.clone()), key(one.clone()));
    assert_ne!(key(one), key(two));
    assert_ne!(key(levels()), key(Declaration { compile_args: vec!["-DX".to_owned()], ..levels() }));
}

#[test]
fn bare_members_make_the_op_cxx() {
    let text = "#section support_code_struct\nint APPLY_SPECIFIC(n);\nint f(double x, double *y) \
                { *y = x + APPLY_SPECIFIC(n)++; return 0; }\n";
    let declaration = Declaration::new("members").file("f.c", text).func("f").input("f64").output("f64");
    let graph = graph(&op(declaration), &["f64"]);
    assert_eq!(link(&graph, Ops::standard().c()).unwrap().language, Language::Cxx);
    let function = compiled(&graph);
    let scalar = |x: f64| precast::Array::from(x);
    assert_eq!(call(&function, &[scalar(1.0)]).unwrap(), [scalar(1.0)]);
    assert_eq!(call(&function, &[scalar(1.0)]).unwrap(), [scalar(2.0)]);
}

#[test]
fn missing_inputs_and_outputs_are_null() {
    let text = "#section support_code_apply\nint APPLY_SPECIFIC(f)(pc_context *ctx, pc_tensor *a, pc_tensor *b, \
                pc_tensor **y, pc_tensor **z) {\n  if (z != NULL) return 1;\n  int64_t n = b == NULL ? -1 : 1;\n\
                pc_xdecref((pc_object *)*y);\n  *y = ctx->host->tensor_new(ctx, TYPENUM_INPUT_0, 0, NULL);\n\
                if (*y == NULL) return 1;\n  *(DTYPE_INPUT_0 *)(*y)->data = *(DTYPE_INPUT_0 *)a->data + n;\n  return 0;\n}\n";
    let declaration = Declaration {
        max_outputs: Some(2),
        ..Declaration::new("padded").file("f.c", text).func("APPLY_SPECIFIC(f)").output("{T}[]")
    };
    let op = op(declaration.input("{T}[]").input("{T}[]?"));
    let scalar = |x: f64| precast::Array::from(x);
    assert_eq!(call(&compiled(&graph(&op, &["f64[]"])), &[scalar(3.0)]).unwrap(), [scalar(2.0)]);
    let both = compiled(&graph(&op, &["f64[]", "f64[]"]));
    assert_eq!(call(&both, &[scalar(3.0), scalar(0.0)]).unwrap(), [scalar(4.0)]);
    assert!(op.make_node(&["f64[]".parse().unwrap(), "f32[]".parse().unwrap()]).is_err());
    let error = op.make_node(&[]).unwrap_err().to_string();
    assert_eq!(error, "`padded` takes 1 to 2 input(s), found 0");
}

#[test]
fn params_reach_code_but_not_the_key() {
    let text = "#section support_code_apply\nint APPLY_SPECIFIC(f)(double x, double *y, PARAMS_TYPE *params) {\n\
                DTYPE_PARAM_alpha a = params->alpha;\n  *y = x * a + (double)params->n;\n  return 0;\n}\n";
    let declaration = |alpha: f64| {
        let mut d =
            Declaration::new("affine").file("f.c", text).func("APPLY_SPECIFIC(f)").input("f64").output("f64");
        d.params.insert("alpha".to_owned(), Prop::Float(alpha));
        d.params.insert("n".to_owned(), Prop::Int(1));
        graph(&op(d), &["f64"])
    };
    let scalar = |x: f64| precast::Array::from(x);
    assert_eq!(call(&compiled(&declaration(2.0)), &[scalar(3.0)]).unwrap(), [scalar(7.0)]);
    assert_eq!(call(&compiled(&declaration(0.5)), &[scalar(3.0)]).unwrap(), [scalar(2.5)]);
    let key = |alpha| link(&declaration(alpha), Ops::standard().c()).unwrap().key();
    assert_eq!(key(2.0), key(0.5));
}

#[test]
fn equal_helper_names_do_not_clash() {
    let author = |name: &str, k: u32| {
        let text = format!(
            "#section support_code\n#include \"util.h\"\n#define N {k}\nstatic double helper(double x) \
             {{ return plus(x) * N; }}\n#section support_code_struct\ndouble count;\n#section init_code_struct\n\
             self->count = {k};\n#section code\nOUTPUT_0 = helper(INPUT_0) + self->count + N;\n"
        );
        let header = format!(
            "#ifndef UTIL_H\n#define UTIL_H\nstatic double plus(double x) {{ return x + {k}; }}\n#endif\n"
        );
        op(Declaration::new(name).file("f.c", &text).source("util.h", &header).input("f64").output("f64"))
    };
    let mut graph = FunctionGraph::new();
    let mut value = graph.input("x", "f64".parse().unwrap()).unwrap();
    for op in [author("one", 1), author("two", 2), author("one", 1)] {
        value = graph.apply(op, &[value]).unwrap()[0];
    }
    graph.output(value, None).unwrap();
    let call_it = |function: &precast::Function| call(function, &[precast::Array::from(1.0)]).unwrap();
    // (x + k) * k + k + k: 4, 16, 19.
    assert_eq!(call_it(&compiled(&graph)), [precast::Array::from(19.0)]);
}
