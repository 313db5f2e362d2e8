//! A build with zig as the only C compiler, as `pip install ziglang` brings it. It is skipped aloud without zig.
//!
//! Other crates of the build have C code too. The crate `cc`, which compiles it, passes CPU names as gcc spells them, so
//! `CC` is a script that spells them for zig, as cargo-zigbuild's.

use crate::workspace::Workspace;
use precast_testkit::compiler::zig;
use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

/// The script that is `CC`.
const SCRIPT: &str = r#"#!/bin/sh
for argument; do
  shift
  case "$argument" in
    -march=*) argument=-mcpu=$(printf %s "${argument#-march=}" | tr - _) ;;
    --target=*) continue ;;
  esac
  set -- "$@" "$argument"
done
exec ZIG cc -fno-sanitize=all "$@"
"#;

/// Returns zig, or prints that the test is skipped.
#[expect(clippy::print_stdout, reason = "a skip says so aloud")]
fn zig_of_variable() -> Option<String> {
    let zig = zig(None).and_then(|_| std::env::var("PRECAST_ZIG").ok());
    if zig.is_none() {
        println!("skipped: no zig\nhint: `pip install ziglang`, and name its `python-zig` in PRECAST_ZIG");
    }
    zig
}

/// Links the named programs of `PATH` into a directory, which becomes the only one on `PATH`.
fn only(programs: &[&str], directory: &Path) {
    fs_err::create_dir_all(directory).unwrap();
    for name in programs {
        let path = std::env::var_os("PATH").unwrap();
        let found = std::env::split_paths(&path).map(|place| place.join(name)).find(|file| file.is_file());
        symlink(found.unwrap(), directory.join(name)).unwrap();
    }
}

#[test]
fn a_project_builds_with_zig_alone() {
    let Some(zig) = zig_of_variable() else { return };
    let workspace = Workspace::new("zig").with_own_target();
    let manifest = workspace.read("app/precast.toml");
    workspace.write("app/precast.toml", &format!("glibc = \"2.28\"\n{manifest}"));
    // Rust links with `cc`, and the crate `cc` packs libraries with `ar`; no compiler has its usual name.
    let programs = workspace.path("bin");
    only(&["cargo", "rustc", "ld", "as", "ar", "sh", "tr"], &programs);
    only(&["cc"], &workspace.path("linker"));
    let linker = workspace.path("linker/cc");
    let variable =
        format!("CARGO_TARGET_{}_LINKER", precast_compile::host_target().to_uppercase().replace('-', "_"));
    let script = workspace.path("zig-cc");
    fs_err::write(&script, SCRIPT.replace("ZIG", &zig)).unwrap();
    fs_err::set_permissions(&script, Permissions::from_mode(0o755)).unwrap();
    let compiler = script.to_str().unwrap().to_owned();
    let variables = |path: &str, compiler: &str| {
        let values =
            [("PATH", Some(path)), (&*variable, linker.to_str()), ("CC", Some(compiler)), ("AR", Some("ar"))];
        values.map(|(name, value)| (name.to_owned(), value.unwrap().to_owned()))
    };
    let build = |path: &str, compiler: &str| {
        let variables = variables(path, compiler);
        let variables: Vec<(&str, &str)> =
            variables.iter().map(|(name, value)| (&**name, &**value)).collect();
        workspace.cargo(&["build", "--offline"], &variables)
    };
    build(programs.to_str().unwrap(), &compiler).success();
    assert!(workspace.run().contains("gauss: 0.5, order: -4 3, power: 81, "));
    // Another compiler, with all of its tools, cannot choose the version of glibc.
    let refused = build(&std::env::var("PATH").unwrap(), linker.to_str().unwrap()).failure();
    assert!(refused.contains("glibc 2.28") && refused.contains("zig cc"), "{refused}");
}
