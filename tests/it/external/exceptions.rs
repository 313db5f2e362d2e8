//! Exceptions of an op's C++ code become errors of the call, with their messages; the op can be called again.
#![allow(clippy::print_stderr, reason = "what is skipped is told")]

use super::{call, compiled, graph, op, refused, vector};
use precast::{Array, CallError};
use precast_codegen::external::Declaration;
use precast_graph::Op;
use precast_store::key::Language;
use std::sync::Arc;

fn thrower(text: &str) -> Arc<dyn Op> {
    let declaration = Declaration::new("thrower").file("op.cc", text).input("f64").output("f64");
    op(Declaration { language: Some(Language::Cxx), ..declaration })
}

/// Returns whether the C++ standard library is installed, whose headers throwing code needs.
fn has_library() -> bool {
    let text = "#include <vector>\nint main() {}\n";
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("a.cc");
    fs_err::write(&file, text).unwrap();
    let ended = std::process::Command::new("c++").arg("-fsyntax-only").arg(&file).output();
    let has = ended.is_ok_and(|ended| ended.status.success());
    if !has {
        eprintln!("skipped: no C++ compiler with its standard library");
    }
    has
}

#[test]
fn cxx_exception_is_a_call_error() {
    if !has_library() {
        return;
    }
    for (throws, words) in [
        ("throw std::runtime_error(\"too small\")", "too small"),
        ("std::vector<double> v(2); x = v.at(7)", "vector"),
        ("throw 7", "a C++ exception that is no std::exception"),
    ] {
        let text = format!(
            "#section support_code\n#include <stdexcept>\n#include <vector>\n\
             static void check(double x) {{ if (x < 0) {{ {throws}; }} }}\n\
             #section code\ncheck(INPUT_0);\nOUTPUT_0 = 2 * INPUT_0;\n"
        );
        let function = compiled(&graph(&thrower(&text), &["f64"]));
        let native = function.native::<fn(f64) -> Result<f64, CallError>>().unwrap();
        for x in [1.0, -1.0, -2.0, 3.0] {
            match native.call(x) {
                Ok(found) => assert_eq!((found, x > 0.0), (2.0 * x, true), "{throws}, natively"),
                Err(error) => assert!(x < 0.0 && error.to_string().contains(words), "{error}"),
            }
            match call(&function, &[Array::from(x)]) {
                Ok(found) => assert_eq!((found, x > 0.0), (vec![Array::from(2.0 * x)], true), "{throws}"),
                Err(CallError::Op { message, .. }) => {
                    assert!(x < 0.0 && message.contains(words), "{message}");
                }
                Err(other) => panic!("{throws}: {other:?}"),
            }
        }
    }
}

#[test]
fn exception_releases_the_unfinished_array() {
    if !has_library() {
        return;
    }
    let text = "#section support_code\n#include <stdexcept>\n#section code\n\
        pc_xdecref((pc_object *)OUTPUT_0);\n\
        OUTPUT_0 = ctx->host->tensor_new(ctx, TYPENUM_OUTPUT_0, 1, INPUT_0->shape);\n\
        if (OUTPUT_0 == NULL) { FAIL }\n\
        if (*(pc_f64 *)INPUT_0->data < 0) throw std::out_of_range(\"negative\");\n\
        for (int64_t i = 0; i < INPUT_0->shape[0]; i++) ((pc_f64 *)OUTPUT_0->data)[i] = 1;\n";
    let declaration = Declaration::new("ones").file("op.cc", text).input("f64[?]").output("f64[?]");
    let ones = op(Declaration { language: Some(Language::Cxx), ..declaration });
    let function = compiled(&graph(&ones, &["f64[?]"]));
    let resident = || {
        let status = fs_err::read_to_string("/proc/self/statm").unwrap_or_default();
        status.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok()).unwrap_or(0) * 4096
    };
    let big = vector(&vec![-1.0; 1 << 16]);
    let before = resident();
    for _ in 0..400 {
        assert!(call(&function, std::slice::from_ref(&big)).is_err());
    }
    // If they were kept, they would take 200 MB.
    assert!(resident() < before + (64 << 20), "{} B more", resident() - before);
    assert_eq!(call(&function, &[vector(&[2.0, 3.0])]).unwrap(), [vector(&[1.0, 1.0])]);
}

#[test]
fn exception_during_init_is_reported() {
    if !has_library() {
        return;
    }
    for section in ["init_code_struct", "init_code"] {
        let text = format!(
            "#section support_code\n#include <stdexcept>\n#section {section}\n\
             throw std::logic_error(\"not today\");\n#section code\nOUTPUT_0 = INPUT_0;\n"
        );
        let message = refused(&graph(&thrower(&text), &["f64"]));
        assert!(message.contains("not today"), "{section}: {message}");
    }
}
