//! Modules with CPython's and NumPy's C API: lean ones need no C library, and unknown names of these APIs are reported
//! as such.

use std::sync::Arc;

use precast_codegen::Module;
use precast_compile::{CompileError, compile};
use precast_store::key::Language;

use crate::modules::{module, single, toolchain, variant};

/// Creates a module with an op that requests the compat headers.
fn compat(op: &str, language: Language, code: &str) -> Module {
    let mut module = module(
        op,
        "",
        &format!("    pc_context *before = pc_compat_enter(ctx);\n{code}\n    pc_compat_leave(before);"),
    );
    module.language = language;
    module.includes.push("numpy/arrayobject.h".to_owned());
    module.sources.extend(
        precast_abi::COMPAT_HEADERS.iter().map(|(name, text)| ((*name).to_owned(), Arc::from(*text))),
    );
    module
}

const CODE: &str = r#"
    PyObject *z = PyArray_Copy((PyArrayObject *)args[0]);
    if (z == NULL) {
      printf("no copy of %f bytes\n", (double)PyArray_NBYTES(args[0]));
      PyErr_Format(PyExc_ValueError, "no copy of %R: %.3s, %zd", args[0], "why", PyArray_SIZE(args[0]));
    }
    void *memory = malloc(strlen("four"));
    free(memory);
    assert(memory != NULL);
    args[1] = z;"#;

#[test]
fn lean_modules_need_only_compiler_functions() {
    for language in [Language::C, Language::Cxx] {
        let compiled =
            compile(&single(compat("copy(f64) -> f64", language, CODE)), toolchain(), &variant()).unwrap();
        let requires = &compiled.record.requires;
        assert!(requires.needed.is_empty() && requires.libc.is_none(), "{requires:?}");
        let known = ["__tls_get_addr", "memcmp", "memcpy", "memmove", "memset"];
        assert!(requires.undefined.iter().all(|name| known.contains(&name.as_str())), "{requires:?}");
    }
}

#[test]
fn hosted_modules_use_system_functions() {
    for language in [Language::C, Language::Cxx] {
        let mut hosted = compat("hosted(f64) -> f64", language, CODE);
        hosted.includes.insert(0, "<math.h>".to_owned());
        hosted.libraries.push("m".to_owned());
        let compiled = compile(&single(hosted), toolchain(), &variant()).unwrap();
        assert!(compiled.record.requires.undefined.contains(&"printf".to_owned()));
    }
}

fn refusal(module: Module) -> String {
    match compile(&single(module), toolchain(), &variant()) {
        Err(error @ (CompileError::Rejected { .. } | CompileError::Header { .. })) => error.to_string(),
        other => panic!("it should be refused: {other:?}"),
    }
}

#[test]
fn missing_name_has_its_own_error() {
    for language in [Language::C, Language::Cxx] {
        for (code, name) in [
            ("    PyDict_SetItemString(args[0], 0, 0);", "PyDict_SetItemString"),
            ("    int x = NPY_NO_SUCH_NUMBER; (void)x;", "NPY_NO_SUCH_NUMBER"),
            ("    npy_float128 x = 0; (void)x;", "npy_float128"),
        ] {
            let text = refusal(compat("lacks(f64) -> f64", language, code));
            assert!(
                text.contains(&format!(
                    "define `{name}` in the op's support code: it is not in precast's compat headers"
                )),
                "{text}"
            );
            assert!(text.contains("crates/abi/compat/README.md"), "{text}");
        }
    }
}

#[test]
fn module_without_headers_gets_a_hint() {
    let text = refusal(module("bare(f64) -> f64", "", "    PyErr_SetString(0, \"x\");"));
    assert!(text.contains("return `numpy/arrayobject.h` from the op's `c_headers`"), "{text}");
    let mut lost = compat("lost(f64) -> f64", Language::C, CODE);
    lost.includes.push("numpy/ndimage.h".to_owned());
    assert!(refusal(lost).contains("`numpy/ndimage.h` is not among precast's compat headers"));
}
