//! Tests incorrect use and threads: `tests/c/misuse.c`, alone, under valgrind, and with sanitizers.

use crate::installed::{Installed, Language, run};
use precast_testkit::package::root;
use std::path::PathBuf;
use std::process::Command;

fn source() -> PathBuf {
    root().join("crates/capi/tests/c/misuse.c")
}

const MANIFEST: &str = "tests/c/precast.toml";

#[test]
fn programs_that_misuse_the_api_get_errors() {
    let installed = Installed::new();
    let (bundle, program) = (installed.bundle(MANIFEST), installed.path("misuse"));
    installed.compile(Language::C, &source(), &program, &["-lprecast", "-pthread", "-lm"]);
    assert_eq!(run(installed.command(&program).arg(&bundle)), "ok\n");
    if let Some(mut valgrind) = installed.valgrind() {
        assert_eq!(run(valgrind.arg(&program).arg(&bundle)), "ok\n");
    }
}

#[test]
fn address_sanitizer_reports_nothing() {
    let installed = Installed::new();
    let (probe, program) = (installed.path("probe.c"), installed.path("misuse"));
    let sanitized = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    fs_err::write(&probe, "int main(void) { return 0; }\n").unwrap();
    let mut compiler = Command::new(Language::C.compiler());
    compiler.args(sanitized).arg(&probe).arg("-o").arg(&program);
    let runs = |command: &mut Command| command.output().is_ok_and(|ended| ended.status.success());
    if !runs(&mut compiler) || !runs(&mut Command::new(&program)) {
        return println!("skipped: errors of memory and leaks as sanitizers see them: the compiler has none");
    }
    let link = [&["-lprecast", "-pthread", "-lm"][..], &sanitized].concat();
    installed.compile(Language::C, &source(), &program, &link);
    assert_eq!(run(installed.command(&program).arg(installed.bundle(MANIFEST))), "ok\n");
}
