//! Many builds at once: each unit is compiled by one of them.

use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use crate::release::{DOUBLE, SUM};
use crate::sandbox::{Ended, ISA, Sandbox, args};

const ROOT: &str =
    "[[graph]]\nname = \"root\"\ninputs = [\"x: f64[?]\"]\noutputs = [\"out = exp(x) * 2.5\"]\n";

#[test]
fn fifty_builds_compile_each_unit_once() {
    let place = Sandbox::new();
    place.write("warm.toml", format!("isa = [\"{ISA}\"]\n{SUM}"));
    place.write("precast.toml", format!("isa = [\"{ISA}\"]\n{DOUBLE}{ROOT}"));
    let compiler = precast_compile::Toolchain::find(None).unwrap();
    // A compiler for each cache, which notes its starts. Compilers do not get the variables of a build.
    for cache in ["alone", "many"] {
        let (script, starts) = (format!("{cache}.cc"), place.path(format!("{cache}.starts")));
        let text =
            format!("echo \"$@\" >> '{}'\nexec {} \"$@\"", starts.display(), compiler.driver().display());
        place.write(&script, format!("#!/bin/sh\n{text}\n"));
        fs_err::set_permissions(place.path(&script), PermissionsExt::from_mode(0o755)).unwrap();
    }
    let build = |cache: &str, rest: &[&str]| {
        let mut command = place.command(args(&[&["build"], rest]));
        command.env("CC", place.path(format!("{cache}.cc"))).env("PRECAST_CACHE", place.path(cache));
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    };
    let starts = |cache: &str| {
        let text = fs_err::read_to_string(place.path(format!("{cache}.starts"))).unwrap_or_default();
        text.lines().count()
    };
    // The facts about the compiler are in the cache before the compilations are counted.
    let warm = |cache: &str| {
        Ended::of(build(cache, &["warm.toml", "--store", &format!("{cache}.warm")]).output().unwrap()).ok();
        starts(cache)
    };
    let before = warm("alone");
    let one = Ended::of(build("alone", &["--store", "alone.store"]).output().unwrap()).ok();
    let needed = starts("alone") - before;
    assert!(needed >= 2, "{}", one.out);
    let before = warm("many");
    let many: Vec<_> =
        (0..50).map(|_| build("many", &["--store", "many.store", "--json"]).spawn().unwrap()).collect();
    let mut compiled = 0;
    for child in many {
        let json = Ended::of(child.wait_with_output().unwrap()).ok().json();
        compiled += json["compiled"].as_u64().unwrap_or_else(|| panic!("{json:#}"));
    }
    assert_eq!(compiled, 2);
    assert_eq!(starts("many") - before, needed);
    place.run_bare(&["verify", "--store", "many.store"]).ok();
}
