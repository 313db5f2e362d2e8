//! Every request to the host refused in turn, under AddressSanitizer and UndefinedBehaviorSanitizer: nothing leaks, every
//! failure maps to its Apply, and the instance works on.

use crate::toy;
use precast_codegen::{Unit, link};
use std::process::Command;
use std::sync::Arc;

/// Builds the module with the harness and runs it; gives what it printed.
fn run(n: usize, cxx: bool) -> String {
    let module = link(&toy::chain(n, cxx), &toy::library()).unwrap();
    let unit = Unit::single(Arc::new(module));
    let scratch = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = scratch.path().join(name);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, text).unwrap();
    };
    for (name, text) in unit.sources() {
        write(&name, &text);
    }
    let unit_file = if cxx { "unit.cc" } else { "unit.c" };
    write(unit_file, &unit.text());
    write("harness.c", include_str!("../c/harness.c"));
    let sanitize = ["-g", "-O1", "-I.", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    let strict = ["-Wall", "-Wextra", "-Werror", "-Wno-unused-label", "-Wno-unused-function"];
    let gcc = |args: &[&str]| {
        let output =
            Command::new("cc").current_dir(scratch.path()).args(sanitize).args(args).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    let language = if cxx { ["-x", "c++", "-std=gnu++17"] } else { ["-x", "c", "-std=gnu11"] };
    gcc(&[&language[..], &strict[..], &["-c", unit_file, "-o", "unit.o"]].concat());
    gcc(&["-std=gnu11", "harness.c", "unit.o", "-o", "harness"]);
    let output = Command::new(scratch.path().join("harness")).output().unwrap();
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{n} applies, C++ {cxx}:\n{text}");
    text
}

#[test]
fn nothing_leaks_on_any_failure_path_in_c() {
    // One request for each struct member and one for each output.
    assert!(run(1, false).starts_with("2 failures survived"));
    assert!(run(3, false).starts_with("6 failures survived"));
    assert!(run(20, false).starts_with("40 failures survived"));
}

#[test]
fn nothing_leaks_on_any_failure_path_in_cxx() {
    assert!(run(3, true).starts_with("6 failures survived"));
}
