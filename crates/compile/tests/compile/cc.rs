//! Tests of `CC` as people write it: wrappers, arguments, and compilers of other languages. Each test runs a child
//! process, because the environment belongs to the whole process.

use std::process::Command;

use precast_compile::{Toolchain, compile, host_target};
use precast_store::key::Language;

use crate::farm::script;
use crate::modules::{kernel, module, single, toolchain, variant};

/// Compiles a unit with the compiler of the environment, and one with system headers; the tests below run it.
#[test]
#[ignore = "the child of the other tests"]
fn child_compiles() {
    let toolchain = match Toolchain::find(None) {
        Ok(found) => found,
        Err(error) => return println!("error={error}"),
    };
    println!("compiler={}", toolchain.description());
    println!("id={}", toolchain.id(Language::C).unwrap());
    let lean = compile(&single(kernel(3)), &toolchain, &variant()).unwrap();
    println!("code={}", precast_store::key::ContentId::of(&lean.archive.members["unit.so"]));
    let mut hosted = module("tgamma(f64) -> f64", "", "    volatile double x = 0.5; return tgamma(x) > 9.0;");
    hosted.includes.push("<math.h>".to_owned());
    hosted.libraries.push("m".to_owned());
    let hosted = compile(&single(hosted), &toolchain, &variant()).unwrap();
    println!("hosted={} {}", hosted.record.action, hosted.record.digest);
}

/// Runs the child with `CC` and other variables, and returns its lines.
fn child(variables: &[(&str, &str)]) -> String {
    let mut command = Command::new(std::env::current_exe().expect("this test"));
    command.args(["--ignored", "--exact", "cc::child_compiles", "--nocapture"]);
    for name in ["CC", "CXX", "HOST_CC", "CC_SHELL_ESCAPED_FLAGS", "CC_KNOWN_WRAPPER_CUSTOM"] {
        command.env_remove(name);
    }
    let output = command.envs(variables.iter().copied()).output().expect("it runs");
    let lines = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{variables:?}: {lines}{}", String::from_utf8_lossy(&output.stderr));
    lines
}

/// Returns the value of a line of the child.
fn value<'a>(lines: &'a str, name: &str) -> &'a str {
    let found = lines.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
    found.unwrap_or_else(|| panic!("no `{name}` in {lines}"))
}

/// Returns which of two compilers exist here.
fn compilers() -> Vec<&'static str> {
    let exists = |name: &&str| Command::new(name).arg("--version").output().is_ok();
    ["gcc", "clang"].into_iter().filter(exists).collect()
}

#[test]
fn accepted_arguments_do_not_change_the_code() {
    let arch = std::env::consts::ARCH;
    for compiler in compilers() {
        let plain = child(&[("CC", compiler)]);
        let mut rows = vec![
            format!("ccache {compiler}"),
            format!("{compiler} -pipe -fPIC -Wall -w"),
            format!("{compiler} --sysroot=/ -B/usr/bin"),
            format!("{compiler} -isystem /usr/local/include -L/usr/local/lib"),
        ];
        if compiler == "clang" {
            rows.push(format!("clang --target={arch}-linux-gnu"));
            rows.push(format!("clang -target {arch}-pc-linux-gnu --gcc-toolchain=/usr"));
        }
        for row in rows {
            let found = child(&[("CC", &row)]);
            for line in ["code", "id", "hosted"] {
                assert_eq!(value(&found, line), value(&plain, line), "{line} of {row}");
            }
        }
        if arch == "x86_64" {
            let found = child(&[("CC", &format!("{compiler} -m64"))]);
            assert_eq!(value(&found, "code"), value(&plain, "code"));
            assert_ne!(
                value(&found, "id"),
                value(&plain, "id"),
                "an argument without a path is in the identity"
            );
        }
    }
}

#[test]
fn target_specific_variable_comes_first() {
    let own = format!("CC_{}", host_target().replace('-', "_"));
    let found = child(&[("CC", "gcc -m32"), (&own, "cc -pipe")]);
    assert_eq!(value(&found, "id"), value(&child(&[]), "id"));
}

#[test]
fn quotes_protect_spaces_when_enabled() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("my gcc");
    script(&file, &format!("exec {} \"$@\"", toolchain().driver().display()));
    let path = file.display().to_string();
    let alone = child(&[("CC", &path)]);
    let quoted = format!("'{path}' -pipe");
    let found = child(&[("CC", &quoted), ("CC_SHELL_ESCAPED_FLAGS", "1")]);
    assert_eq!(value(&found, "id"), value(&alone, "id"));
    assert!(value(&child(&[("CC", &quoted)]), "error").contains("is not supported"));
    script(&directory.path().join("wrap"), "exec \"$@\"");
    let wrapped = format!("{} {}", directory.path().join("wrap").display(), toolchain().driver().display());
    let found = child(&[("CC", &wrapped), ("CC_KNOWN_WRAPPER_CUSTOM", "wrap")]);
    assert_eq!(value(&found, "code"), value(&alone, "code"));
}

#[test]
fn equal_sysroots_give_equal_bytes() {
    let roots = [0, 1].map(|_| {
        let root = tempfile::tempdir().unwrap();
        for name in ["usr", "lib", "lib64"] {
            let real = std::path::Path::new("/").join(name);
            if real.exists() {
                std::os::unix::fs::symlink(real, root.path().join(name)).unwrap();
            }
        }
        root
    });
    let [first, second] = roots.each_ref().map(|root| {
        child(&[("CC", &format!("gcc --sysroot={} -isystem {0}/usr/include", root.path().display()))])
    });
    for line in ["id", "code", "hosted"] {
        assert_eq!(value(&first, line), value(&second, line), "{line}");
    }
}

#[test]
fn compiler_of_another_language_is_rejected() {
    let refused = |cc: &str, is: &str, hint: &str| {
        let found = child(&[("CC", cc)]);
        assert!(value(&found, "error").contains(is) && found.contains(hint), "{cc}: {found}");
    };
    for (name, is, hint) in [
        ("c99", "a compiler of an older C", "hint: set `CC` to `gcc`"),
        ("c89", "a compiler of an older C", "hint: set `CC` to `gcc`"),
        ("clang++", "a C++ compiler", "hint: set `CC` to `clang`"),
    ] {
        match Command::new(name).arg("--version").output() {
            Ok(_) => refused(name, is, hint),
            Err(_) => println!("skipped: no {name}"),
        }
    }
    let directory = tempfile::tempdir().unwrap();
    let tcc = directory.path().join("tcc");
    script(&tcc, "echo 'tcc version 0.9.27 (x86_64 Linux)' >&2");
    refused(&tcc.display().to_string(), "it is neither gcc nor clang nor zig", "hint: ");
}

#[test]
fn rejected_argument_is_one_error_with_remedy() {
    let found = child(&[("CC", "gcc -march=native")]);
    assert!(value(&found, "error").contains("`-march=native` in `CC` is not supported"), "{found}");
    assert!(found.contains("hint: name the levels: `isa = "), "{found}");
}
