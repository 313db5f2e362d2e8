//! Builds as steps of ninja, make, CMake and Meson: unchanged outputs keep their time, and changed inputs build again.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::Command;

use crate::release::{DOUBLE, SUM, built};
use crate::sandbox::{Ended, ISA, Sandbox};

/// An op in C, in a file of its own: an input that the manifest names.
const EXTERNAL: &str =
    "[[external]]\nname = \"own\"\nfiles = [\"own op.c\"]\ninputs = [\"f64\"]\noutputs = [\"f64\"]\n";

/// Returns the time and the inode of a file.
fn identity(place: &Sandbox, name: &str) -> (i64, i64, u64) {
    let metadata = fs_err::metadata(place.path(name)).unwrap();
    (metadata.mtime(), metadata.mtime_nsec(), metadata.ino())
}

/// Runs a program with `precast` on its path; `None` if the program is not installed.
fn run(place: &Sandbox, line: &[&str]) -> Option<Ended> {
    let bin = Path::new(env!("CARGO_BIN_EXE_precast")).parent().unwrap();
    let path = std::env::var("PATH").unwrap();
    let mut command = Command::new(line[0]);
    command.args(&line[1..]).current_dir(place.path("")).env("PATH", format!("{}:{path}", bin.display()));
    match command.env("PRECAST_CACHE", concat!(env!("CARGO_TARGET_TMPDIR"), "/cli-cache")).output() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        output => Some(Ended::of(output.unwrap())),
    }
}

#[test]
fn unchanged_bundle_keeps_its_time() {
    let place = built(&[SUM]);
    place.run_bare(&["keygen", "k.key", "--no-password"]).ok();
    place.run_bare(&["sign", "model.precast", "--key", "k.key"]).ok();
    let before = identity(&place, "model.precast");
    let json = place.run(&["build", "--bundle", "model.precast", "--json"]).ok().json();
    assert_eq!(identity(&place, "model.precast"), before);
    assert!(
        place.path("model.precast.minisig").exists(),
        "the bytes are the same, and so are their signatures"
    );
    assert_eq!(json["inputs"], serde_json::json!(["precast.toml"]));
    // A file that other users can write to is written again, as its hint states.
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o666);
    fs_err::set_permissions(place.path("model.precast"), open).unwrap();
    place.run(&["build", "--bundle", "model.precast"]).ok();
    assert_eq!(fs_err::metadata(place.path("model.precast")).unwrap().mode() & 0o022, 0);
}

#[test]
fn changed_bundle_drops_stale_signatures() {
    let place = built(&[SUM]);
    place.run_bare(&["keygen", "k.key", "--no-password"]).ok();
    fs_err::create_dir(place.path("releases")).unwrap();
    fs_err::rename(place.path("model.precast"), place.path("releases/one.precast")).unwrap();
    std::os::unix::fs::symlink("releases/one.precast", place.path("model.precast")).unwrap();
    place.run_bare(&["sign", "releases/one.precast", "--key", "k.key"]).ok();
    fs_err::copy(place.path("releases/one.precast.minisig"), place.path("model.precast.minisig")).unwrap();
    place.write("precast.toml", format!("isa = [\"{ISA}\"]\n{SUM}{DOUBLE}"));
    let ended = place.run(&["build", "--bundle", "model.precast"]).ok();
    assert!(ended.err.contains("removed `model.precast.minisig`"), "{}", ended.err);
    assert!(
        !place.path("model.precast.minisig").exists() && !place.path("releases/one.precast.minisig").exists()
    );
    // A file of another kind belongs to the user.
    place.write("model.precast.minisig", "# a note\n");
    place.write("precast.toml", format!("isa = [\"{ISA}\"]\n{SUM}"));
    place.run(&["build", "--bundle", "model.precast"]).ok();
    assert!(place.path("model.precast.minisig").exists());
}

/// Creates a manifest whose op is in another file.
fn external() -> Sandbox {
    let place = Sandbox::new();
    place.write("precast.toml", format!("isa = [\"{ISA}\"]\n{EXTERNAL}"));
    write_op(&place, "2.0");
    place
}

fn write_op(place: &Sandbox, factor: &str) {
    place.write("own op.c", format!("#section code\nOUTPUT_0 = INPUT_0 * {factor};\n"));
}

#[test]
fn depfile_names_every_input() {
    let place = external();
    let build = ["build", "--bundle", "a b.precast", "--depfile", "a.d", "--pin", "--json"];
    let json = place.run(&build).ok().json();
    let rule = fs_err::read_to_string(place.path("a.d")).unwrap();
    let inputs: Vec<&str> =
        json["inputs"].as_array().unwrap().iter().map(|path| path.as_str().unwrap()).collect();
    assert!(inputs[..2] == ["precast.toml", "own op.c"] || inputs.contains(&"own op.c"), "{inputs:?}");
    assert!(rule.starts_with("a\\ b.precast: \\\n  precast.toml"), "{rule}");
    for input in inputs {
        let escaped = input.replace(' ', "\\ ");
        assert!(
            rule.contains(&format!("  {escaped}")) && rule.contains(&format!("\n{escaped}:\n")),
            "{rule}"
        );
    }
}

#[test]
fn make_builds_again_when_an_input_changes() {
    let place = external();
    place.write(
        "Makefile",
        "model.precast: precast.toml\n\tprecast build --bundle $@ --depfile model.d\n\techo built >> log\n-include model.d\n",
    );
    let make = || run(&place, &["make"]);
    let Some(first) = make() else { return eprintln!("skipped: make is not installed") };
    first.ok();
    let runs = || fs_err::read_to_string(place.path("log")).unwrap().lines().count();
    make().unwrap().ok();
    assert_eq!(runs(), 1, "nothing changed");
    std::thread::sleep(std::time::Duration::from_millis(20));
    write_op(&place, "3.0");
    make().unwrap().ok();
    assert_eq!(runs(), 2, "the op is an input");
}

#[test]
fn ninja_skips_steps_after_unchanged_bundle() {
    let place = external();
    place.write(
        "build.ninja",
        "rule precast\n  command = precast build $in --bundle $out --depfile $out.d\n  depfile = $out.d\n  deps = gcc\n  \
         restat = 1\nrule log\n  command = echo used >> $out\nbuild model.precast: precast precast.toml\n\
         build log: log model.precast\n",
    );
    let ninja = || run(&place, &["ninja", "-d", "explain"]);
    let Some(first) = ninja() else { return eprintln!("skipped: ninja is not installed") };
    first.ok();
    let runs = || fs_err::read_to_string(place.path("log")).unwrap().lines().count();
    assert!(ninja().unwrap().ok().out.contains("no work to do"));
    // A comment changes the manifest, not the bundle: the step after it is skipped.
    place.write("precast.toml", format!("# a comment\nisa = [\"{ISA}\"]\n{EXTERNAL}"));
    ninja().unwrap().ok();
    assert_eq!(runs(), 1);
    write_op(&place, "3.0");
    ninja().unwrap().ok();
    assert_eq!(runs(), 2);
    assert!(ninja().unwrap().ok().out.contains("no work to do"));
}

#[test]
fn cmake_builds_again_when_an_input_changes() {
    let place = external();
    place.write(
        "CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.21)\nproject(model NONE)\nset(bundle ${CMAKE_BINARY_DIR}/model.precast)\n\
         add_custom_command(OUTPUT ${bundle}\n  COMMAND precast build ${CMAKE_SOURCE_DIR}/precast.toml --store store\n    \
         --bundle ${bundle} --depfile ${bundle}.d\n  COMMAND sh ${CMAKE_SOURCE_DIR}/log.sh\n  \
         DEPENDS precast.toml DEPFILE ${bundle}.d)\n\
         add_custom_target(model ALL DEPENDS ${bundle})\n",
    );
    place.write("log.sh", "echo built >> \"$(dirname \"$0\")/log\"\n");
    let cmake = |line: &[&str]| run(&place, &[&["cmake"], line].concat());
    let Some(first) = cmake(&["-B", "out"]) else { return eprintln!("skipped: CMake is not installed") };
    first.ok();
    let runs = || fs_err::read_to_string(place.path("log")).unwrap().lines().count();
    cmake(&["--build", "out"]).unwrap().ok();
    cmake(&["--build", "out"]).unwrap().ok();
    assert_eq!(runs(), 1, "nothing changed");
    std::thread::sleep(std::time::Duration::from_millis(20));
    write_op(&place, "3.0");
    cmake(&["--build", "out"]).unwrap().ok();
    assert_eq!(runs(), 2, "the op is an input");
}

#[test]
fn meson_builds_again_when_an_input_changes() {
    let place = external();
    place.write(
        "meson.build",
        "project('model')\nprecast = find_program('precast')\ncustom_target('model', input: 'precast.toml', \
         output: 'model.precast',\n  command: [precast, 'build', '@INPUT@', '--bundle', '@OUTPUT@', '--store', 'store', \
         '--depfile', '@DEPFILE@'],\n  depfile: 'model.d', build_by_default: true)\n",
    );
    let Some(first) = run(&place, &["meson", "setup", "out"]) else {
        return eprintln!("skipped: Meson is not installed");
    };
    first.ok();
    if run(&place, &["ninja", "--version"]).is_none() {
        return eprintln!("skipped: ninja is not installed");
    }
    let ninja = || run(&place, &["ninja", "-C", "out"]).unwrap().ok();
    ninja();
    let before = identity(&place, "out/model.precast");
    assert!(ninja().out.contains("no work to do"));
    std::thread::sleep(std::time::Duration::from_millis(20));
    write_op(&place, "3.0");
    ninja();
    assert_ne!(identity(&place, "out/model.precast"), before, "the op is an input");
}
