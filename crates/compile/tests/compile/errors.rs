//! Tests that every error names its location and, if available, the remedy.

use std::process::Command;
use std::time::Duration;

use precast_compile::{CompileError, Isa, Toolchain, Variant, compile};
use precast_store::key::Profile;

use crate::modules::{kernel, module, single, toolchain, variant};
use precast_codegen::{Module, Unit};
use std::sync::Arc;

fn refused(module: Module) -> CompileError {
    compile(&single(module), toolchain(), &variant()).expect_err("it should be refused")
}

#[test]
fn syntax_error_names_op_line_and_source() {
    let bad = module("bad(f64) -> f64", "", "    int x = 1 +;");
    let good = [kernel(1), kernel(2)].map(Arc::new);
    let unit = &Unit::batches(good.into_iter().chain([Arc::new(bad)]).collect())[0];
    let error = compile(unit, toolchain(), &variant()).unwrap_err();
    let CompileError::Rejected { diagnostics, .. } = &error else { panic!("{error}") };
    let first = &diagnostics[0];
    assert_eq!(first.op.as_deref(), Some("bad(f64) -> f64"));
    assert_eq!(first.module.as_deref(), Some("graph of bad(f64) -> f64"));
    assert_eq!(first.source.as_deref(), Some("    int x = 1 +;"));
    assert_eq!(unit.text().lines().nth(first.line - 1), Some("    int x = 1 +;"));
    let text = error.to_string();
    assert!(
        text.contains("unit.c:") && text.contains("int x = 1 +;") && text.contains("in `bad(f64) -> f64`"),
        "{text}"
    );
}

#[test]
fn header_error_is_traced_to_the_unit() {
    let mut broken = kernel(3);
    broken.sources.insert("own.h".to_owned(), "int broken(;\n".into());
    broken.includes.push("own.h".to_owned());
    let CompileError::Rejected { diagnostics, .. } = refused(broken) else { panic!() };
    assert_eq!((diagnostics[0].file.as_str(), diagnostics[0].line), ("own.h", 1));
}

#[test]
fn header_macro_error_names_the_op() {
    let mut broken = module("macro(f64) -> f64", "", "    OWN_MACRO(3);");
    broken
        .sources
        .insert("own.h".to_owned(), "#define OWN_MACRO(x) do { undeclared = x; } while (0)\n".into());
    broken.includes.push("own.h".to_owned());
    let CompileError::Rejected { diagnostics, .. } = refused(broken) else { panic!() };
    assert_eq!(diagnostics[0].op.as_deref(), Some("macro(f64) -> f64"));
}

#[test]
fn missing_header_is_named() {
    let mut lost = kernel(3);
    lost.includes.push("no/such/header.h".to_owned());
    lost.header_dirs.push("/no/such/directory".to_owned());
    let text = refused(lost).to_string();
    assert!(text.contains("unit.c:") && text.contains("cannot find header `no/such/header.h`"), "{text}");
    assert!(
        text.contains("searched: the unit's own files, `/no/such/directory`, the system's directories"),
        "{text}"
    );
}

#[test]
fn line_directive_error_names_author_line_and_op() {
    let code = "#line 7 \"own/file.c\"\n    int y = 1;\n    int x = 1 +;\n#line 900 \"unit.c\"";
    let CompileError::Rejected { diagnostics, .. } = refused(module("bad(f64) -> f64", "", code)) else {
        panic!()
    };
    let first = &diagnostics[0];
    assert_eq!((first.file.as_str(), first.line), ("own/file.c", 8));
    assert_eq!(first.op.as_deref(), Some("bad(f64) -> f64"));
    assert_eq!(first.source.as_deref(), Some("    int x = 1 +;"));
}

#[test]
fn undefined_symbol_is_named_with_its_op() {
    let error = refused(module(
        "open(f64) -> f64",
        "double nobody_has_it(double);",
        "    return nobody_has_it(1.0) > 0;",
    ));
    let CompileError::Undefined { symbol, place } = &error else { panic!("{error}") };
    assert_eq!(symbol, "nobody_has_it");
    assert_eq!(place.as_deref(), Some("open(f64) -> f64"));
    let inside = refused(module("inside(f64) -> f64", "", "    extern int nobody(void); return nobody();"));
    let CompileError::Undefined { place, .. } = &inside else { panic!("{inside}") };
    assert_eq!(place.as_deref(), Some("inside(f64) -> f64"));
}

#[test]
fn misspelled_function_is_a_compiler_error() {
    let text = refused(module("misspelt(f64) -> f64", "", "    return sqroot(1.0) > 0;")).to_string();
    assert!(text.contains("sqroot") && text.contains("misspelt(f64) -> f64"), "{text}");
}

#[test]
fn embedded_files_are_rejected() {
    let error = refused(module("embed() -> f64", "__asm__(\".incbin \\\"/etc/hostname\\\"\");", ""));
    assert!(matches!(&error, CompileError::Embed { what, .. } if what == "/etc/hostname"), "{error}");
}

#[test]
fn time_macros_are_rejected() {
    let text =
        refused(module("clock() -> f64", "", "    const char *t = __TIME__; return t[0];")).to_string();
    assert!(text.contains("reproducible"), "{text}");
}

#[test]
fn files_outside_unit_and_toolchain_are_rejected() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("secret.h");
    fs_err::write(&file, "int x;\n").unwrap();
    let mut outside = kernel(3);
    outside.includes.push(format!("\"{}\"", file.display()));
    let error = refused(outside);
    assert!(
        matches!(&error, CompileError::Outside { path, at: Some(at) } if *path == file && at == "unit.c:2"),
        "{error}"
    );
}

#[test]
fn wrong_variants_are_rejected() {
    let unit = single(kernel(3));
    let other = Variant { target: "sparc64-unknown-linux-gnu".to_owned(), ..variant() };
    assert!(matches!(compile(&unit, toolchain(), &other), Err(CompileError::Target { .. })));
    let isa = if cfg!(target_arch = "aarch64") { Isa::X86_64 } else { Isa::Aarch64 };
    assert!(matches!(
        compile(&unit, toolchain(), &Variant { isa, ..variant() }),
        Err(CompileError::Isa { .. })
    ));
    let profile = Profile::Debug;
    assert!(matches!(
        compile(&unit, toolchain(), &Variant { profile, ..variant() }),
        Err(CompileError::Profile { .. })
    ));
}

#[test]
fn slow_compiler_is_stopped() {
    let found = Toolchain::find(None).unwrap().with_timeout(Duration::from_millis(1));
    let error = compile(&single(kernel(3)), &found, &variant()).unwrap_err();
    assert!(matches!(error, CompileError::Timeout { .. }), "{error}");
}

/// Searches for a compiler where none exists; the test below runs it.
#[test]
#[ignore = "the child of missing_compiler_is_one_error_with_hint"]
fn child_finds_no_compiler() {
    println!("error={}", Toolchain::find(None).unwrap_err());
}

#[test]
fn missing_compiler_is_one_error_with_hint() {
    let child = |variables: &[(&str, &str)]| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--ignored", "--exact", "errors::child_finds_no_compiler", "--nocapture"]);
        command.env_remove("CC").env("HOME", "/nonexistent").envs(variables.iter().copied());
        String::from_utf8_lossy(&command.output().unwrap().stdout).into_owned()
    };
    let words = child(&[("PATH", "/nonexistent")]);
    assert!(
        words.contains("error=cannot find a C compiler") && words.contains("hint: install one"),
        "{words}"
    );
    let words = child(&[("CC", "/nonexistent/cc")]);
    assert!(words.contains("`/nonexistent/cc`") && words.contains("hint: "), "{words}");
    let words = child(&[("CC", "gcc -m32")]);
    assert!(words.contains("`-m32` in `CC` is not supported"), "{words}");
    let words = child(&[("CC", "/bin/false")]);
    assert!(words.contains("does not work"), "{words}");
}

/// Compiles without a writable directory; the test below runs it.
#[test]
#[ignore = "the child of missing_scratch_directory_is_named"]
fn child_compiles_without_scratch() {
    let error = match Toolchain::find(None) {
        Ok(found) => compile(&single(kernel(3)), &found, &variant())
            .map(|made| made.record.digest)
            .unwrap_err()
            .to_string(),
        Err(error) => error.to_string(),
    };
    println!("error={error}");
}

#[test]
fn missing_scratch_directory_is_named() {
    toolchain();
    // With and without the memo of a found toolchain.
    for home in [std::env::var("HOME").unwrap_or_default(), "/dev/null/home".to_owned()] {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--ignored", "--exact", "errors::child_compiles_without_scratch", "--nocapture"]);
        command.env("TMPDIR", "/dev/null/tmp").env("HOME", home).env_remove("XDG_CACHE_HOME");
        let words = String::from_utf8_lossy(&command.output().unwrap().stdout).into_owned();
        assert!(words.contains("error=cannot use the scratch directory `/dev/null/tmp`"), "{words}");
        assert!(words.contains("hint: set TMPDIR"), "{words}");
    }
}

/// Creates a compiler that answers all queries, but runs `on_compile` instead of compiling.
fn compiler_that(on_compile: &str) -> (tempfile::TempDir, Toolchain) {
    use std::os::unix::fs::PermissionsExt as _;
    let directory = tempfile::tempdir().expect("a scratch directory");
    let file = directory.path().join("gcc");
    let real = toolchain().driver().display();
    let text = format!("#!/bin/sh\ncase \" $* \" in *' -c '*) {on_compile};; esac\nexec {real} \"$@\"\n");
    fs_err::write(&file, text).expect("a script");
    fs_err::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).expect("a script");
    let found = Toolchain::at(&file, None).expect("it answers");
    (directory, found)
}

#[test]
fn killed_compiler_differs_from_a_rejection() {
    let (_directory, found) = compiler_that("kill -9 $$");
    let error = compile(&single(kernel(3)), &found, &variant()).unwrap_err();
    assert!(matches!(&error, CompileError::Killed { how, .. } if how == "signal 9"), "{error}");
    let words = "echo 'gcc: fatal error: Killed signal terminated program cc1' >&2; exit 1";
    let (_directory, found) = compiler_that(words);
    let error = compile(&single(kernel(3)), &found, &variant()).unwrap_err();
    assert!(matches!(&error, CompileError::Killed { how, .. } if how.contains("cc1")), "{error}");
}

#[test]
fn full_disk_error_names_the_directory() {
    let (_directory, found) = compiler_that("echo 'raw.o: No space left on device' >&2; exit 1");
    let error = compile(&single(kernel(3)), &found, &variant()).unwrap_err();
    assert!(matches!(error, CompileError::Scratch { .. }) && error.to_string().contains("TMPDIR"), "{error}");
}

#[test]
fn silent_compiler_failure_is_an_error() {
    let (_directory, found) = compiler_that("exit 42");
    let error = compile(&single(kernel(3)), &found, &variant()).unwrap_err();
    assert!(error.to_string().contains("rejected the unit: no message"), "{error}");
}
