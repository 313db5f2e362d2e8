//! Tests with zig, which are skipped aloud where it is not installed: `PRECAST_ZIG`, or `zig` or `python-zig` on `PATH`.

use std::path::PathBuf;
use std::process::Command;

use precast_compile::{CompileError, Family, Isa, Part, Toolchain, Variant, compile, join, static_library};
use precast_store::key::{Language, Profile};

use crate::farm::script;
use crate::modules::{kernel, module, single, toolchain, variant};

/// Returns the path of zig, or prints a notice.
#[expect(clippy::print_stdout, reason = "a skip says so aloud")]
pub(crate) fn zig() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let places = std::env::split_paths(&path).flat_map(|place| [place.join("zig"), place.join("python-zig")]);
    let found = std::env::var_os("PRECAST_ZIG").map(PathBuf::from).into_iter().chain(places);
    let found = found.into_iter().find(|file| file.is_file());
    if found.is_none() {
        println!("skipped: no zig\nhint: `pip install ziglang`, and name its `zig` in PRECAST_ZIG");
    }
    found
}

fn hosted() -> precast_codegen::Module {
    let mut module = module("tgamma(f64) -> f64", "", "    volatile double x = 0.5; return tgamma(x) > 9.0;");
    module.includes.push("<math.h>".to_owned());
    module.libraries.push("m".to_owned());
    module
}

#[test]
fn zig_compiles_the_same_bytes_in_any_place() {
    let Some(zig) = zig() else { return };
    let found = Toolchain::at(&zig, None).unwrap();
    assert_eq!(found.family(), Family::Zig);
    assert!(found.description().starts_with("zig 0.") && found.description().contains("clang"), "{found:?}");
    let first = compile(&single(kernel(3)), &found, &variant()).unwrap();
    assert_eq!(first, compile(&single(kernel(3)), &found, &variant()).unwrap());
    assert!(first.record.requires.libc.is_none() && !first.record.has_outside());
    let debug = Variant { profile: Profile::Debug, ..variant() };
    let mut kernel = kernel(3);
    kernel.profile = Profile::Debug;
    compile(&single(kernel), &found, &debug).unwrap();
    assert_ne!(found.id(Language::C).unwrap(), toolchain().id(Language::C).unwrap());
}

#[test]
fn scripts_that_start_zig_count_as_zig() {
    let Some(zig) = zig() else { return };
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("zigcc-x86_64-linux-gnu.sh");
    let real = Toolchain::at(&zig, None).unwrap();
    script(&file, &format!("exec {} cc -g -fno-sanitize=all \"$@\"", real.driver().display()));
    let found = Toolchain::at(&file, None).unwrap();
    assert_eq!(found.driver(), real.driver());
    assert_eq!(found.id(Language::C).unwrap(), real.id(Language::C).unwrap());
}

#[test]
fn modules_link_the_requested_glibc() {
    let Some(zig) = zig() else { return };
    let found = Toolchain::at(&zig, None).unwrap();
    if !found.target().ends_with("-gnu") {
        return println!("skipped: {} has no glibc", found.target());
    }
    let found = found.with_glibc("2.28").unwrap();
    let made = compile(&single(hosted()), &found, &variant()).unwrap();
    assert_eq!(made, compile(&single(hosted()), &found, &variant()).unwrap());
    let requires = &made.record.requires;
    assert!(requires.needed.contains(&"libm.so.6".to_owned()), "{requires:?}");
    let version = requires.libc_version.as_deref().unwrap_or_default();
    let minor: u32 =
        version.strip_prefix("2.").and_then(|minor| minor.split('.').next()?.parse().ok()).unwrap();
    assert!(minor <= 28, "{requires:?}");
    let mut forgot = hosted();
    forgot.body = forgot.body.replace("tgamma(x)", "no_such(x)");
    forgot.body = format!("double no_such(double);\n{}", forgot.body);
    let error = compile(&single(forgot), &found, &variant()).unwrap_err();
    assert!(matches!(&error, CompileError::Undefined { symbol, .. } if symbol == "no_such"), "{error}");
}

#[test]
fn other_compilers_reject_a_glibc_version() {
    let error = Toolchain::find(None).unwrap().with_glibc("2.28");
    match toolchain().family() {
        Family::Zig => {}
        _ => assert!(error.unwrap_err().to_string().contains("hint: set `CC` to `zig cc`")),
    }
}

#[test]
fn zig_needs_no_other_tools_for_cross_targets() {
    let Some(zig) = zig() else { return };
    for (target, isa) in [
        ("aarch64-unknown-linux-gnu", Isa::Aarch64),
        ("aarch64-unknown-linux-musl", Isa::Aarch64),
        ("x86_64-unknown-linux-musl", Isa::X86_64V3),
    ] {
        let found = Toolchain::at(&zig, Some(target)).unwrap();
        let variant = Variant { target: target.to_owned(), isa, profile: Profile::Release };
        let made = compile(&single(kernel(3)), &found, &variant).unwrap();
        assert_eq!(made.record.requires.arch, isa.arch(), "{target}");
    }
}

#[test]
fn cxx_is_compiled_by_the_same_zig() {
    let Some(zig) = zig() else { return };
    let found = Toolchain::at(&zig, None).unwrap();
    let mut kernel = kernel(3);
    kernel.language = Language::Cxx;
    let made = compile(&single(kernel), &found, &variant()).unwrap();
    assert_eq!(made.record.toolchain, Some(found.id(Language::Cxx).unwrap()));
}

#[test]
fn modules_are_joined_and_linked_statically() {
    let Some(zig) = zig() else { return };
    let found = Toolchain::at(&zig, None).unwrap();
    let made = [3, 4].map(|factor| compile(&single(kernel(factor)), &found, &variant()).unwrap());
    let parts = made.each_ref().map(|made| {
        let object = made.archive.get("unit.o").unwrap();
        Part { record: &made.record, object }
    });
    let joined = join(&parts, &found, &variant()).unwrap();
    assert_eq!(joined.record.members.len(), 2);
    assert_eq!(joined, join(&parts, &found, &variant()).unwrap());
    let artifacts = made.each_ref().map(|made| (made.record.digest, made.archive.get("unit.o").unwrap()));
    let library = static_library(&artifacts, &found, &variant()).unwrap();
    assert!(library.starts_with(b"!<arch>\n"));
    let mut words = library.split(|byte| *byte == 0).filter_map(|name| std::str::from_utf8(name).ok());
    assert!(words.any(|name| name == format!("precast_module_{}", made[0].record.digest)));
}

#[test]
fn address_sanitizer_is_rejected_with_one_error() {
    let Some(zig) = zig() else { return };
    let found = Toolchain::at(&zig, None).unwrap();
    let mut kernel = kernel(3);
    kernel.profile = Profile::Asan;
    let error =
        compile(&single(kernel), &found, &Variant { profile: Profile::Asan, ..variant() }).unwrap_err();
    assert!(error.to_string().contains("hint: use gcc or clang"), "{error}");
}

#[test]
fn python_zig_is_named_by_its_module() {
    let Some(zig) = zig() else { return };
    let real = Toolchain::at(&zig, None).unwrap().driver().to_owned();
    // `<environment>/lib/python3.11/site-packages/ziglang/zig`
    let python = real.ancestors().nth(5).map(|environment| environment.join("bin/python"));
    let Some(python) = python.filter(|python| python.is_file()) else {
        return println!("skipped: {} is not in a Python environment", real.display());
    };
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--ignored", "--exact", "zig::child_finds_zig", "--nocapture"]);
    command.env("CC", format!("{} -m ziglang cc", python.display())).env_remove("CXX");
    let output = command.env("PATH", "/nonexistent").output().unwrap();
    let words = String::from_utf8_lossy(&output.stdout);
    assert!(words.contains("found=zig 0.") && words.contains(" true"), "{words}");
}

/// Finds a compiler where `PATH` has zig alone; the test below runs it.
#[test]
#[ignore = "the child of zig_is_found_without_other_compilers"]
fn child_finds_zig() {
    let found = Toolchain::find(None).unwrap();
    println!("found={} {}", found.description(), found.id(Language::Cxx).is_ok());
}

#[test]
fn zig_is_found_without_other_compilers() {
    let Some(zig) = zig() else { return };
    let directory = tempfile::tempdir().unwrap();
    let real = Toolchain::at(&zig, None).unwrap().driver().to_owned();
    std::os::unix::fs::symlink(real, directory.path().join("zig")).unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--ignored", "--exact", "zig::child_finds_zig", "--nocapture"]);
    command.env("PATH", directory.path()).env_remove("CC").env_remove("CXX").env("HOME", "/nonexistent");
    let output = command.output().unwrap();
    let words = String::from_utf8_lossy(&output.stdout);
    assert!(words.contains("found=zig 0.") && words.contains(" true"), "{words}");
}
