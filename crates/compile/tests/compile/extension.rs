//! CPython extension modules: text from another generator, with one function for its host.

use crate::modules::{toolchain, variant};
use precast_codegen::{Module, Unit};
use precast_compile::{CompileError, Compiled, compile};
use precast_store::archive::SHARED_OBJECT;
use precast_store::key::HostAbi;
use std::sync::Arc;

const VERSION: &str = "cpython-312-x86_64-linux-gnu";

/// Returns the text of a module named `name` that declares and calls `calls`.
fn text(name: &str, calls: &str) -> String {
    format!(
        "extern \"C\" void {calls}(void);\nnamespace {{ struct {name}_state {{ int at@M@; }}; }}\n\
         extern \"C\" __attribute__((visibility(\"default\"))) void *PyInit_{name}(void) {{ {calls}(); return 0; }}\n"
    )
    .replace("at@M@", "at; /* @M@ is no mark of ours */")
}

fn module(name: &str, calls: &str, version: &str) -> Module {
    let ops = vec!["Add(f64[?]) -> f64[?]".to_owned()];
    let module = Module::extension(name, &text(name, calls), ops, vec![version.to_owned()]);
    module.expect("the text has its function")
}

fn made(calls: &str) -> Result<Compiled, CompileError> {
    compile(&Unit::single(Arc::new(module("mabc", calls, VERSION))), toolchain(), &variant())
}

#[test]
fn extension_exports_one_function() {
    let compiled = made("PyErr_Clear").unwrap();
    let record = &compiled.record;
    assert_eq!(record.host_abi, HostAbi::Cpython);
    assert!(record.requires.undefined.contains(&"PyErr_Clear".to_owned()), "{:?}", record.requires.undefined);
    let bytes = compiled.archive.get(SHARED_OBJECT).unwrap();
    let name = Unit::init_symbol(&record.members[0].key);
    assert!(bytes.windows(name.len()).any(|window| window == name.as_bytes()), "{name}");
    assert!(!bytes.windows(17).any(|window| window == b"precast_module_v1"));
}

#[test]
fn undefined_symbol_is_an_error_with_its_name() {
    let error = made("misspelt").unwrap_err();
    assert!(matches!(&error, CompileError::Undefined { symbol, .. } if symbol == "misspelt"), "{error}");
}

#[test]
fn key_has_host_versions_but_not_its_name() {
    let key = |name, calls, version| module(name, calls, version).key();
    let one = key("mabc", "PyErr_Clear", VERSION);
    assert_eq!(one, key("other_name", "PyErr_Clear", VERSION));
    assert_ne!(one, key("mabc", "PyErr_Print", VERSION));
    assert_ne!(one, key("mabc", "PyErr_Clear", "cpython-311-x86_64-linux-gnu"));
}

#[test]
fn extension_without_its_function_is_rejected() {
    for name in ["", "mxyz", "m\"x", "@M@"] {
        let text = text("mabc", "PyErr_Clear");
        assert!(Module::extension(name, &text, Vec::new(), Vec::new()).is_none(), "{name}");
    }
}
