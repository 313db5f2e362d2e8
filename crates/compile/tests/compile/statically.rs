//! Tests `unit.o` of several units in one static program: each has its own helpers, even those that C++ would share by
//! name.

use std::path::Path;
use std::process::Command;

use precast_codegen::{Module, Unit};
use precast_compile::compile;
use precast_store::key::Language;

use crate::modules::{module, single, toolchain, variant};

/// Creates a C++ module with inline functions, templates and variables that depend on `k`, while their names do not.
fn helpers(k: u32) -> Unit {
    let support = include_str!("../c/helpers.cc.in").replace("@K@", &k.to_string());
    let code = "    *(double *)args[1] = helper(*(double *)args[0]) + table[0];";
    single(Module { language: Language::Cxx, ..module(&format!("helpers{k}"), &support, code) })
}

fn tool(directory: &Path, program: &str, args: &[&str]) -> String {
    let output = Command::new(program).current_dir(directory).args(args).output().expect("it is there");
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("it prints text")
}

#[test]
fn linked_units_share_no_cxx_symbols() {
    let scratch = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let path = scratch.path().join(name);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, bytes).unwrap();
    };
    precast_abi::HEADERS.iter().for_each(|(name, text)| write(name, text.as_bytes()));
    write("static.c", include_bytes!("../c/static.c"));
    let mut defines = Vec::new();
    for (name, k) in [("FIRST", 1), ("SECOND", 2)] {
        let unit = helpers(k);
        let compiled = compile(&unit, toolchain(), &variant()).unwrap();
        write(&format!("{name}.raw.o"), compiled.archive.get("unit.o").unwrap());
        // The program has its own table.
        let localise =
            ["--localize-symbol=precast_module_v1", &format!("{name}.raw.o"), &format!("{name}.o")];
        tool(scratch.path(), "objcopy", &localise);
        defines.push(format!("-D{name}={}", Unit::entry_symbol(&unit.members()[0].0)));
    }
    let args = [&*defines[0], &defines[1], "-I.", "static.c", "FIRST.o", "SECOND.o", "-o", "program"];
    tool(scratch.path(), "cc", &args);
    // 1 * k + 1 + 100 * k + k
    assert_eq!(tool(scratch.path(), "./program", &[]), "103 205\n");
}
