//! A build with zig as the only C compiler, as `pip install ziglang` brings it. It is skipped aloud without zig.

use crate::workspace::Workspace;
use precast_testkit::compiler::zig;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// Returns the Python that runs `python -m ziglang`, next to zig's own program in a virtual environment.
#[expect(clippy::print_stdout, reason = "a skip says so aloud")]
fn python() -> Option<PathBuf> {
    let package = zig(None).and_then(|_| std::env::var_os("PRECAST_ZIG"));
    let python =
        package.map(|zig| Path::new(&zig).with_file_name("python")).filter(|python| python.is_file());
    if python.is_none() {
        println!("skipped: no zig\nhint: `pip install ziglang`, and name its `python-zig` in PRECAST_ZIG");
    }
    python
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
    let Some(python) = python() else { return };
    let workspace = Workspace::new("zig").with_own_target();
    let manifest = workspace.read("app/precast.toml");
    workspace.write("app/precast.toml", &format!("glibc = \"2.28\"\n{manifest}"));
    // Rust links with `cc`, and the crate `cc` packs libraries with `ar`; no compiler has its usual name.
    let programs = workspace.path("bin");
    only(&["cargo", "rustc", "ld", "as", "ar"], &programs);
    only(&["cc"], &workspace.path("linker"));
    let linker = workspace.path("linker/cc");
    let variable =
        format!("CARGO_TARGET_{}_LINKER", precast_compile::host_target().to_uppercase().replace('-', "_"));
    let compiler = format!("{} -m ziglang cc -fno-sanitize=all", python.display());
    let variables = |compiler: &str| {
        let values = [
            ("PATH", programs.to_str()),
            (&*variable, linker.to_str()),
            ("CC", Some(compiler)),
            ("AR", Some("ar")),
        ];
        values.map(|(name, value)| (name.to_owned(), value.unwrap().to_owned()))
    };
    let build = |compiler: &str| {
        let variables = variables(compiler);
        let variables: Vec<(&str, &str)> =
            variables.iter().map(|(name, value)| (&**name, &**value)).collect();
        workspace.cargo(&["build", "--offline"], &variables)
    };
    build(&compiler).success();
    assert!(workspace.run().contains("gauss: 0.5, order: -4 3, power: 81, "));
    // Another compiler cannot choose the version of glibc.
    let linker = linker.to_str().unwrap();
    let refused = build(linker).failure();
    assert!(refused.contains("glibc 2.28") && refused.contains("zig cc"), "{refused}");
}
