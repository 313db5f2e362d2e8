//! Results with a different dtype, rank or extent than declared are detected when they are produced, in release calls
//! too.

use super::{call, compiled, graph, op, vector};
use precast::{Array, CallError, FunctionGraph, Ops};
use precast_codegen::external::Declaration;
use precast_graph::{Keywords, OpLibrary as _};

/// Returns an op that produces a new tensor of this dtype and shape, whatever it declares.
fn gives(dtype: &str, shape: &[i64], declared: &str) -> Declaration {
    let extents: Vec<String> = shape.iter().map(ToString::to_string).collect();
    let text = format!(
        "#section code\n(void)INPUT_0;\npc_xdecref((pc_object *)OUTPUT_0);\n{{ int64_t shape[] = {{{}}};\n\
         OUTPUT_0 = ctx->host->tensor_new(ctx, {dtype}, {}, shape); }}\nif (OUTPUT_0 == NULL) {{ FAIL; }}\n\
         memset(OUTPUT_0->data, 0, 8);\n",
        extents.join(", "),
        shape.len()
    );
    Declaration::new("odd").file("odd.c", &text).input("f64[?]").output(declared).header("<string.h>")
}

#[test]
fn undeclared_result_types_are_rejected() {
    let rows: [(&str, &[i64], &str, Option<&str>); 5] = [
        ("PC_F64", &[2], "f64[?]", None),
        ("PC_F64", &[2], "f64[2]", None),
        ("PC_F64", &[3], "f64[2]", Some("f64[3]")),
        ("PC_F64", &[1, 2], "f64[?]", Some("f64[1,2]")),
        ("PC_I64", &[2], "f64[?]", Some("i64[2]")),
    ];
    for (dtype, shape, declared, wrong) in rows {
        let function = compiled(&graph(&op(gives(dtype, shape, declared)), &["f64[?]"]));
        let mut reused = [vector(&[1.0; 5])];
        let into = function.call_into(&[(&vector(&[1.0])).into()], &mut reused).err();
        let found: Option<Result<Vec<Array>, CallError>> = Some(call(&function, &[vector(&[1.0])]));
        for error in [found.and_then(Result::err), into] {
            match (error, wrong) {
                (None, None) => {}
                (Some(error), Some(wrong)) => {
                    let message = error.to_string();
                    // Declared extents are part of the interface, dtype and rank are promises of the op.
                    let is_extent = dtype == "PC_F64" && shape.len() == 1;
                    let first = if is_extent { "output `out0` is" } else { "`odd(f64[?]) -> " };
                    for part in [first, wrong, declared] {
                        assert!(message.contains(part), "{message}");
                    }
                }
                (error, wrong) => panic!("{dtype}{shape:?} for {declared}: {error:?}, expected {wrong:?}"),
            }
        }
    }
}

#[test]
fn undeclared_values_between_modules_are_rejected() {
    let rows: [(&str, &[i64], &str, Option<&str>); 4] = [
        ("PC_F64", &[2], "f64[?]", None),
        ("PC_F64", &[1, 2], "f64[?]", Some("`f64` with extents [1, 2]")),
        ("PC_I64", &[2], "f64[?]", Some("`i64` with extents [2]")),
        ("PC_F64", &[2], "f32[?]", Some("`f64` with extents [2]")),
    ];
    for (dtype, shape, declared, wrong) in rows {
        let ops = Ops::standard();
        let mut inner = FunctionGraph::new();
        let x = inner.input("x", "f64[?]".parse().unwrap()).unwrap();
        let odd = inner.apply(op(gives(dtype, shape, declared)), &[x]).unwrap()[0];
        let sum = ops.call(&mut inner, "sum", &[odd.into()], &Keywords::new()).unwrap().unwrap();
        let sum = sum.variable(&mut inner).unwrap();
        inner.output(sum, None).unwrap();
        match (call(&compiled(&inner), &[vector(&[1.0])]), wrong) {
            (Ok(_), None) => {}
            (Err(error), Some(wrong)) => {
                let message = error.to_string();
                for part in ["`odd(f64[?]) -> ", wrong, &declared[..3]] {
                    assert!(message.contains(part), "{message}");
                }
            }
            (found, wrong) => panic!("{dtype}{shape:?} for {declared}: {found:?}, expected {wrong:?}"),
        }
    }
}
