//! Tests of reading `CC`: each accepted and each refused argument.

use super::*;

const TARGET: &str = "x86_64-unknown-linux-gnu";

fn named(value: &str) -> Result<Named, String> {
    read("CC", OsStr::new(value), TARGET).map_err(|error| error.to_string())
}

/// Checks what every run of the compiler, the preprocessor and the linker get.
fn check(value: &str, program: &str, [always, headers, link]: [&str; 3]) {
    let Named { tool, arguments } = named(value).unwrap();
    let command = std::iter::once(tool.program.display().to_string()).chain(tool.arguments);
    assert_eq!(command.collect::<Vec<_>>().join(" "), program, "{value}");
    assert_eq!(arguments.always.join(" "), always, "{value}");
    assert_eq!(arguments.headers.join(" "), headers, "{value}");
    assert_eq!(arguments.link.join(" "), link, "{value}");
}

#[test]
fn accepted_arguments_are_sorted_by_use() {
    check("gcc", "gcc", ["", "", ""]);
    check(" gcc -m64 ", "gcc", ["-m64", "", ""]);
    check("gcc -B/a -B /b", "gcc", ["-B/a -B/b", "", ""]);
    check(
        "x86_64-poky-linux-gcc -m64 --sysroot=/x",
        "x86_64-poky-linux-gcc",
        ["-m64", "--sysroot=/x", "--sysroot=/x"],
    );
    check("gcc --sysroot /x", "gcc", ["", "--sysroot=/x", "--sysroot=/x"]);
    check("gcc -isysroot /x", "gcc", ["", "-isysroot /x", ""]);
    check(
        "gcc -isystem /a -isystem=/b -idirafter /c",
        "gcc",
        ["", "-isystem /a -isystem =/b -idirafter /c", ""],
    );
    check("gcc -L/a -L /b", "gcc", ["", "", "-L/a -L/b"]);
    check("clang --gcc-toolchain=/t", "clang", ["", "--gcc-toolchain=/t", "--gcc-toolchain=/t"]);
    check("clang --gcc-install-dir=/t", "clang", ["", "--gcc-install-dir=/t", "--gcc-install-dir=/t"]);
    for target in
        ["--target=x86_64-linux-gnu", "--target x86_64-pc-linux-gnu", "-target x86_64-unknown-linux-gnu"]
    {
        check(&format!("clang {target}"), "clang", ["", "", ""]);
    }
    check("gcc -pipe -fPIC -fpic -w -Wall -Wno-format", "gcc", ["", "", ""]);
}

#[test]
fn wrappers_and_commands_are_not_arguments() {
    for wrapper in WRAPPERS {
        check(&format!("{wrapper} gcc -m64"), "gcc", ["-m64", "", ""]);
    }
    check("/usr/bin/ccache gcc", "gcc", ["", "", ""]);
    check("zig cc -target x86_64-linux-gnu.2.28", "zig cc", ["", "", ""]);
    check("python3 -m ziglang cc", "python3 -m ziglang cc", ["", "", ""]);
}

#[test]
fn a_path_with_blanks_is_a_program() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("my gcc -m32");
    fs_err::write(&file, "").unwrap();
    let shown = file.display().to_string();
    check(&shown, &shown, ["", "", ""]);
}

#[test]
fn rejected_arguments_have_reason_and_remedy() {
    let refused = [
        ("-m32", "another machine", "--target"),
        ("-mx32", "another machine", "--target"),
        ("-m16", "another machine", "--target"),
        ("-march=native", "ISA levels", "isa = "),
        ("-mcpu=x86_64_v3", "ISA levels", "isa = "),
        ("-mtune=native", "ISA levels", "isa = "),
        ("-mavx2", "ISA levels", "isa = "),
        ("-ffast-math", "changes results", "remove it"),
        ("-Ofast", "changes results", "remove it"),
        ("-funsafe-math-optimizations", "changes results", "remove it"),
        ("-ffp-contract=fast", "changes results", "remove it"),
        ("-O0", "optimization", "`debug`"),
        ("-O2", "optimization", "`debug`"),
        ("-fsanitize=address", "sanitizers", "`asan`"),
        ("-g", "debug information", "`debug`"),
        ("-std=c99", "language", "remove it"),
        ("-ansi", "language", "remove it"),
        ("-DNDEBUG", "text of every unit", "c_compile_args"),
        ("-I/usr/local/include", "text of every unit", "c_header_dirs"),
        ("-include", "text of every unit", "c_compile_args"),
        ("-lm", "libraries of their ops", "c_libraries"),
        ("-Wl,-O1", "arguments to the tools", "remove it"),
        ("-Wa,-mrelax", "arguments to the tools", "remove it"),
        ("-fuse-ld=lld", "linked with", "remove it"),
        ("-static", "linked with", "remove it"),
        ("-fno-builtin", "code generation", "remove it"),
        ("--unknown", "unknown", "remove it"),
        ("word", "not an option", "CC_SHELL_ESCAPED_FLAGS"),
    ];
    for (argument, reason, remedy) in refused {
        let error = named(&format!("gcc -m64 {argument}")).unwrap_err();
        let (message, hint) = error.split_once("\nhint: ").unwrap();
        assert!(message.starts_with(&format!("`{argument}` in `CC` is not supported: ")), "{error}");
        assert!(message.contains(reason) && hint.contains(remedy), "{error}");
    }
}

#[test]
fn other_target_and_missing_value_are_rejected() {
    for other in ["--target=aarch64-linux-gnu", "-target x86_64-linux-musl"] {
        let error = named(&format!("clang {other}")).unwrap_err();
        assert!(error.contains("names another target") && error.contains(TARGET), "{error}");
    }
    let error = named("gcc --sysroot").unwrap_err();
    assert!(error.contains("its value is missing"), "{error}");
}
