//! What programs do wrong, and threads: `tests/c/misuse.c`, alone and under valgrind.

use crate::installed::{Installed, Language, answers, run};
use precast_testkit::package::root;

#[test]
fn what_programs_do_wrong_is_an_error_and_never_a_crash() {
    let installed = Installed::new();
    let bundle = installed.bundle("tests/c/precast.toml");
    let program = installed.path("misuse");
    let source = root().join("crates/capi/tests/c/misuse.c");
    installed.compile(Language::C, &source, &program, &["-lprecast", "-pthread"]);
    assert_eq!(run(installed.command(&program).arg(&bundle)), "ok\n");
    if !answers("valgrind") {
        return println!("skipped: memory errors and leaks of the C library: valgrind is not there");
    }
    let mut valgrind = installed.command("valgrind");
    valgrind.args(["--quiet", "--error-exitcode=9", "--leak-check=full", "--errors-for-leak-kinds=definite"]);
    assert_eq!(run(valgrind.arg(&program).arg(&bundle)), "ok\n");
}
