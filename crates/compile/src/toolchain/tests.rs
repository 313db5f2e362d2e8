//! Tests of finding, rejecting and remembering compilers, with this machine's compiler and with scripts that emulate
//! broken ones.

use super::*;

use std::os::unix::fs::PermissionsExt as _;

fn script(directory: &Path, text: &str, mode: u32) -> PathBuf {
    let file = directory.join("gcc");
    fs_err::write(&file, text).unwrap();
    fs_err::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
    file
}

fn refusal(text: &str, mode: u32) -> String {
    let directory = tempfile::tempdir().unwrap();
    let file = script(directory.path(), text, mode);
    Toolchain::at(&file, None).unwrap_err().to_string()
}

#[test]
fn finds_the_compiler_of_this_machine() {
    let found = Toolchain::find(None).unwrap();
    assert!(found.description().starts_with("gcc ") || found.description().starts_with("clang "));
    assert_eq!(found.target(), host_target());
    assert_eq!(found.id(Language::C).unwrap(), Toolchain::find(None).unwrap().id(Language::C).unwrap());
}

#[test]
fn languages_have_different_identities() {
    let found = Toolchain::find(None).unwrap();
    assert_ne!(found.id(Language::C).unwrap(), found.id(Language::Cxx).unwrap());
}

#[test]
fn failing_compiler_is_named_with_its_output() {
    let error = refusal("#!/bin/sh\necho 'license expired' >&2\nexit 7\n", 0o755);
    assert!(
        error.contains("does not work") && error.contains("license expired") && error.contains("7"),
        "{error}"
    );
    assert!(error.contains("hint: "), "{error}");
}

#[test]
fn non_executable_file_is_named() {
    let error = refusal("#!/bin/sh\n", 0o644);
    assert!(error.contains("cannot start the compiler"), "{error}");
}

#[test]
fn other_program_is_rejected_as_compiler() {
    let error = refusal("#!/bin/sh\necho hello\n", 0o755);
    assert!(error.contains("neither gcc nor clang"), "{error}");
}

#[test]
fn missing_compiler_is_one_error_with_hint() {
    let error = Toolchain::at(Path::new("/nonexistent/gcc"), None).unwrap_err();
    assert!(matches!(error, FindToolchainError::Missing { .. }));
    let told = error.to_string();
    assert!(told.contains("program `/nonexistent/gcc` not found\nhint: correct or unset `CC`"), "{told}");
}

#[test]
fn compiler_for_another_machine_is_rejected() {
    let native = Toolchain::find(None).unwrap();
    let other =
        if cfg!(target_arch = "aarch64") { "x86_64-unknown-linux-gnu" } else { "aarch64-unknown-linux-gnu" };
    let error = Toolchain::at(native.driver(), Some(other)).unwrap_err();
    assert!(matches!(error, FindToolchainError::Machine { .. }), "{error}");
}

#[test]
fn a_changed_file_is_a_new_toolchain() {
    let native = Toolchain::find(None).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let wrapper = format!("#!/bin/sh\nexec {} \"$@\"\n", native.driver().display());
    let file = script(directory.path(), &wrapper, 0o755);
    let first = Toolchain::at(&file, None).unwrap().id(Language::C).unwrap();
    assert_eq!(Toolchain::at(&file, None).unwrap().id(Language::C).unwrap(), first);
    script(directory.path(), &format!("{wrapper}# changed\n"), 0o755);
    assert_ne!(Toolchain::at(&file, None).unwrap().id(Language::C).unwrap(), first);
}

#[test]
fn a_cross_target_without_compiler_names_the_package() {
    let target = "riscv64gc-unknown-linux-gnu";
    match Toolchain::find(Some(target)) {
        Err(error) => assert!(error.to_string().contains("riscv64"), "{error}"),
        Ok(found) => assert_eq!(found.target(), target),
    }
}

#[test]
fn invalid_target_name_starts_no_process() {
    for target in ["arm/evil-linux-android", "../x86_64-unknown-linux-gnu", "-gnu", "", "x86_64 linux", "x\n"]
    {
        let refused = Toolchain::find(Some(target)).unwrap_err();
        assert!(refused.to_string().contains("a target name consists of letters"), "{target:?}: {refused}");
    }
}
