//! Tests of inputs that authors could use to bypass the keys: files, instructions, the clock.

use std::path::Path;
use std::process::Command;

use precast_codegen::Module;
use precast_compile::{CompileError, Family, Isa, Variant, action, compile};

use crate::modules::{kernel, module, single, toolchain, variant};

fn refused(module: Module) -> CompileError {
    compile(&single(module), toolchain(), &variant()).expect_err("it should be refused")
}

#[expect(clippy::print_stderr, reason = "a skip says so aloud")]
fn is_gcc_on_x86() -> bool {
    let is = toolchain().family() == Family::Gcc && cfg!(target_arch = "x86_64");
    if !is {
        eprintln!("skipped: only gcc's assembler on x86-64 is told the level");
    }
    is
}

#[test]
fn assembler_file_directives_are_always_rejected() {
    for text in [
        "__asm__(\".incbin \\\"/etc/passwd\\\"\");",
        "__asm__(\".inc\" \"bin \\\"/etc/passwd\\\"\");",
        "#define S(x) #x\n__asm__(\".\" S(inc) S(bin) \" \\\"/etc/passwd\\\"\");",
        "__asm__(\".macro m a b\\n.\\\\a\\\\b \\\"/etc/passwd\\\"\\n.endm\\nm inc bin\\n\");",
        "__asm__(\".irp d,incbin\\n.\\\\d \\\"/etc/passwd\\\"\\n.endr\\n\");",
        "__asm__(\".macro m\\n\" \".inc\" \"lude \\\"/etc/passwd\\\"\\n.endm\\n.if 0\\nm\\n.endif\\n.incbin \\\"/etc/passwd\\\"\");",
        "#define P(a, b) a##b\nP(__as, m__)(\".INCBIN \\\"/etc/passwd\\\"\");",
        "#line 1 \"/etc/passwd\"\n__asm__(\".inc\" \"bin \\\"/etc/passwd\\\"\");",
    ] {
        let error = refused(module("embed() -> f64", text, ""));
        let named = |what: &str| what.contains("passwd") || what.starts_with('.');
        assert!(matches!(&error, CompileError::Embed { what, .. } if named(what)), "{text}: {error}");
        assert!(error.to_string().contains("hint: write the bytes as a C array"), "{error}");
    }
}

#[test]
fn assembler_of_outside_headers_is_accepted() {
    let directory = tempfile::tempdir().unwrap();
    let text =
        "static inline int one(void) { int x = 1; __asm__ volatile(\"nop\" : \"+r\"(x)); return x; }\n";
    fs_err::write(directory.path().join("outer.h"), text).unwrap();
    let mut module = module("outer() -> f64", "", "    return one();");
    module.includes.push("outer.h".to_owned());
    module.header_dirs.push(directory.path().display().to_string());
    compile(&single(module), toolchain(), &variant()).unwrap();
}

#[test]
fn unusual_include_spelling_is_rejected() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("secret.h");
    fs_err::write(&file, "int secret;\n").unwrap();
    let mut trigraph =
        module("t() -> f64", &format!("?\x3f=include \"{}\"", file.display()), "    return 0;");
    trigraph.flags.push("-trigraphs".to_owned());
    let error = refused(trigraph);
    assert!(matches!(&error, CompileError::Outside { path, .. } if *path == file), "{error}");
}

#[test]
fn pasted_has_include_enters_the_key() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("there.h");
    let text =
        format!("#define P(a, b) a##b\n#if P(__has_, include)(\"{}\")\nint there;\n#endif", file.display());
    let key = || action(&single(module("q() -> f64", &text, "")), toolchain(), &variant()).unwrap().key();
    let before = key();
    fs_err::write(&file, "").unwrap();
    assert_ne!(key(), before);
}

#[test]
fn has_include_of_system_file_is_rejected() {
    let error = refused(module("q() -> f64", "#if __has_include(<cblas.h>)\n#endif", ""));
    let text = error.to_string();
    assert!(
        text.contains("unit.c:") && text.contains("`<cblas.h>`") && text.contains("hint: include"),
        "{text}"
    );
}

#[test]
fn instructions_beyond_the_level_are_rejected() {
    if !is_gcc_on_x86() {
        return;
    }
    let vector = "typedef double v8 __attribute__((vector_size(64)));";
    let multiply = "void f(v8 *a) { *a = *a * *a; }";
    for support in [
        format!("{vector}\n__attribute__((target(\"avx512f\"))) {multiply}"),
        format!("{vector}\n#pragma GCC target(\"avx512f\")\n{multiply}"),
        format!("{vector}\n_Pragma(\"GCC target(\\\"arch=skylake-avx512\\\")\") {multiply}"),
        "void f(void) { __asm__(\"vmul\" \"pd %zmm0, %zmm1, %zmm2\"); }".to_owned(),
        "void f(void) { __asm__(\"aesenc %xmm0, %xmm1\"); }".to_owned(),
        "__attribute__((target(\"avx2,fma\"))) double f(double a) { return __builtin_fma(a, a, a); }"
            .to_owned(),
    ] {
        let unit = single(module("wide() -> f64", &support, ""));
        let error = compile(&unit, toolchain(), &Variant { isa: Isa::X86_64V2, ..variant() }).unwrap_err();
        assert!(matches!(error, CompileError::Instruction { .. }), "{support}: {error}");
        if !support.contains("aesenc") {
            compile(&unit, toolchain(), &Variant { isa: Isa::X86_64V4, ..variant() }).unwrap();
        }
    }
}

#[test]
fn forbidden_flag_names_its_module() {
    let mut flagged = kernel(3);
    flagged.flags.push("--specs=/x".to_owned());
    let text = refused(flagged).to_string();
    assert!(text.contains("flag `--specs=/x` of `graph of kernel3") && text.contains("hint: "), "{text}");
}

#[test]
fn names_that_look_like_arguments_are_rejected() {
    let with = |change: fn(&mut Module)| {
        let mut module = kernel(3);
        change(&mut module);
        refused(module)
    };
    for error in [
        with(|module| module.libraries.push(String::new())),
        with(|module| module.libraries.push(":/etc/passwd".to_owned())),
        with(|module| module.lib_dirs.push(String::new())),
        with(|module| module.lib_dirs.push("here".to_owned())),
        with(|module| module.header_dirs.push(String::new())),
    ] {
        assert!(matches!(error, CompileError::Flag { .. }), "{error}");
    }
}

#[test]
fn file_age_does_not_change_bytes() {
    let support = "#pragma GCC diagnostic ignored \"-Wdate-time\"\nconst char *when = __TIMESTAMP__;";
    let code = "    return when[0];";
    let compiled = compile(&single(module("when() -> f64", support, code)), toolchain(), &variant()).unwrap();
    let shared = compiled.archive.get("unit.so").unwrap();
    let epoch = b"Thu Jan  1 00:00:00 1970";
    assert!(shared.windows(epoch.len()).any(|window| window == epoch));
}

fn archive(directory: &Path, options: &str) -> Module {
    fs_err::write(
        directory.join("inner.c"),
        "__attribute__((visibility(\"hidden\"))) int inner(void) { return 1; }\n",
    )
    .expect("a scratch directory");
    let run = |program: &str, arguments: &[&str]| {
        let status =
            Command::new(program).args(arguments).current_dir(directory).status().expect("it starts");
        assert!(status.success(), "{program} {arguments:?}");
    };
    run("cc", &["-fPIC", "-c", "inner.c"]);
    run("ar", &[options, "libinner.a", "inner.o"]);
    let mut module = module("inner() -> f64", "int inner(void);", "    return inner();");
    module.libraries.push("inner".to_owned());
    module.lib_dirs.push(directory.display().to_string());
    module
}

/// Creates a module with a library whose function `nested` takes the address of a nested function.
fn nested(directory: &Path) -> Module {
    let text = "static double twice(double (*f)(double), double x) { return f(f(x)); }\n\
                __attribute__((visibility(\"hidden\"))) double nested(double k) {\n  \
                double add(double v) { return v + k; }\n  return twice(add, 1.0);\n}\n";
    fs_err::write(directory.join("nested.c"), text).expect("a file can be written");
    for (program, arguments) in
        [("cc", ["-fPIC", "-c", "nested.c"].as_slice()), ("ar", &["rcs", "libinner.a", "nested.o"])]
    {
        let status =
            Command::new(program).args(arguments).current_dir(directory).status().expect("the tool starts");
        assert!(status.success(), "{program} {arguments:?}");
    }
    let mut module = module("nested() -> f64", "double nested(double);", "    return nested(1.0) > 0.0;");
    module.libraries.push("inner".to_owned());
    module.lib_dirs.push(directory.display().to_string());
    module
}

#[test]
fn executable_stack_object_is_rejected() {
    if toolchain().family() != Family::Gcc {
        return;
    }
    let support = "static double twice(double (*f)(double), double x) { return f(f(x)); }\n\
                   static double work(double k) {\n  double add(double v) { return v + k; }\n  return twice(add, 1.0);\n}\n";
    let error = refused(module("own() -> f64", support, "    return work(1.0) > 0.0;"));
    let CompileError::ExecutableStack { at: Some(at), .. } = &error else { panic!("{error}") };
    assert_eq!(at.source.as_deref(), Some("  double add(double v) { return v + k; }"));
    // A nested function that is called by name does not need an executable stack.
    let support =
        "static double work(double k) { double add(double v) { return v + k; } return add(1.0); }\n";
    let unit = single(module("own() -> f64", support, "    return work(1.0) > 0.0;"));
    compile(&unit, toolchain(), &variant()).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let error = refused(nested(directory.path()));
    assert!(
        matches!(&error, CompileError::ExecutableStackOf { member, .. } if member == "nested.o"),
        "{error}"
    );
    // A member that is not linked has no effect.
    let inner = archive(directory.path(), "rcs");
    compile(&single(inner), toolchain(), &variant()).unwrap();
}

#[test]
fn thin_archive_is_rejected_and_whole_one_hashed() {
    let directory = tempfile::tempdir().unwrap();
    let error = refused(archive(directory.path(), "rcsT"));
    assert!(matches!(&error, CompileError::ThinArchive { path } if path.ends_with("libinner.a")), "{error}");
    assert!(error.to_string().contains("hint: create it with `ar rcs`"), "{error}");
    fs_err::remove_file(directory.path().join("libinner.a")).unwrap();
    let compiled = compile(&single(archive(directory.path(), "rcs")), toolchain(), &variant()).unwrap();
    assert!(compiled.record.outside.iter().any(|file| file.path.ends_with("libinner.a")));
}

#[test]
fn record_lists_outside_files_by_content() {
    assert_eq!(compile(&single(kernel(3)), toolchain(), &variant()).unwrap().record.outside, []);
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("outer.h");
    fs_err::write(&file, "#define OUTER 1\n").unwrap();
    let mut module = module("outer() -> f64", "", "    return OUTER;");
    module.includes.push("outer.h".to_owned());
    module.header_dirs.push(directory.path().display().to_string());
    let record = compile(&single(module), toolchain(), &variant()).unwrap().record;
    let found = record.outside.iter().find(|outside| Path::new(&outside.path) == file).unwrap();
    assert_eq!(found.content, precast_store::key::ContentId::of("#define OUTER 1\n"));
    assert!(!record.outside.iter().any(|outside| outside.path.contains("precast-")), "{:?}", record.outside);
}
