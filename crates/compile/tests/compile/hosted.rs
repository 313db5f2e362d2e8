//! Tests of units that use the system: headers and libraries are part of the key by content, and the record lists them
//! as requirements.

use precast_compile::{CompileError, Variant, action, compile};
use precast_store::key::{Language, Profile};

use crate::modules::{module, single, toolchain, variant};

fn with_libm() -> precast_codegen::Module {
    let mut module = module("tgamma(f64) -> f64", "", "    volatile double x = 0.5; return tgamma(x) > 9.0;");
    module.includes.push("<math.h>".to_owned());
    module.libraries.push("m".to_owned());
    module
}

#[test]
fn libraries_are_needed_and_in_the_key() {
    let unit = single(with_libm());
    let first = compile(&unit, toolchain(), &variant()).unwrap();
    assert_eq!(first, compile(&unit, toolchain(), &variant()).unwrap());
    let requires = &first.record.requires;
    assert!(requires.needed.contains(&"libm.so.6".to_owned()), "{requires:?}");
    assert_eq!(requires.libc.as_deref(), Some("gnu"));
    assert!(
        requires.libc_version.as_deref().is_some_and(|version| version.starts_with("2.")),
        "{requires:?}"
    );
    assert!(requires.undefined.contains(&"tgamma".to_owned()));
    let inputs = action(&unit, toolchain(), &variant()).unwrap();
    assert_eq!(inputs.key(), first.record.action);
    let names: Vec<&str> = inputs.linked.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names[0], "preprocessed");
    assert!(names.contains(&"link/libm.so.6") && names.contains(&"link/crti.o"), "{names:?}");
}

#[test]
fn op_headers_enter_the_key_by_content() {
    let key = |text: &str| {
        let directory = tempfile::tempdir().unwrap();
        fs_err::write(directory.path().join("outer.h"), text).unwrap();
        let mut module = module("outer() -> f64", "", "    return OUTER;");
        module.includes.push("outer.h".to_owned());
        module.header_dirs.push(directory.path().display().to_string());
        let unit = single(module);
        let compiled = compile(&unit, toolchain(), &variant()).unwrap();
        (compiled.record.action, compiled.record.digest)
    };
    assert_eq!(key("#define OUTER 1\n"), key("#define OUTER 1\n"));
    assert_ne!(key("#define OUTER 1\n"), key("#define OUTER 2\n"));
}

#[test]
fn missing_library_gets_a_hint() {
    let mut module = with_libm();
    module.libraries.clear();
    let error = compile(&single(module), toolchain(), &variant()).unwrap_err();
    assert!(matches!(&error, CompileError::Undefined { symbol, .. } if symbol == "tgamma"), "{error}");
    assert!(error.to_string().contains("in `tgamma(f64) -> f64`"), "{error}");
}

#[test]
fn missing_library_is_named() {
    let mut module = with_libm();
    module.libraries.push("nobody-has-it".to_owned());
    let error = compile(&single(module), toolchain(), &variant()).unwrap_err();
    assert!(matches!(&error, CompileError::Library { name, .. } if name == "nobody-has-it"), "{error}");
}

#[test]
fn cxx_with_its_library_may_throw() {
    let code = "    try { std::vector<int> v(3); return v.at(9); } catch (...) { return 0; }";
    let mut module = module("throws() -> f64", "", code);
    module.includes.push("<vector>".to_owned());
    module.language = Language::Cxx;
    let compiled = compile(&single(module), toolchain(), &variant()).unwrap();
    assert!(compiled.record.requires.needed.iter().any(|name| name.starts_with("libstdc++")));
}

#[test]
fn sanitized_units_are_linked_with_their_run_time() {
    let mut asan = crate::modules::kernel(3);
    asan.profile = Profile::Asan;
    let compiled =
        compile(&single(asan), toolchain(), &Variant { profile: Profile::Asan, ..variant() }).unwrap();
    assert!(compiled.record.requires.needed.iter().any(|name| name.starts_with("libasan")));
}
