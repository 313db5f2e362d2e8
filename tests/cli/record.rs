//! `precast record`: a program with cache misses, its manifest, and the same program after a build.

use crate::sandbox::{Ended, ISA, Sandbox, args};

/// The recorded program, which is the command itself.
const PROGRAM: &[&str] = &["run", "--expr", "sqrt(v) * 2.0", "-i", "v=v.npy", "--policy", "interpret"];

fn place() -> Sandbox {
    let place = Sandbox::new();
    place.npy("v.npy", &[3], vec![1.0, 4.0, 9.0]);
    place
}

/// Runs `precast record … -- precast PROGRAM`.
fn record(place: &Sandbox, options: &[&str], program: &[&str]) -> Ended {
    place.run(&args(&[&["record"], options, &["--", env!("CARGO_BIN_EXE_precast")], program]))
}

#[test]
fn recorded_graphs_hit_once_built() {
    let place = place();
    let ended = record(&place, &[], PROGRAM).ok();
    assert_eq!(ended.out, "out: f64[3]\n[2.0, 4.0, 6.0]\n");
    assert_eq!(
        ended.err,
        "recorded 1 miss in `precast.toml`; run `precast build precast.toml` to compile it\n"
    );
    let again = record(&place, &[], PROGRAM).ok();
    assert!(again.err.starts_with("no misses recorded"), "{}", again.err);
    place.run(&["build", "--isa", ISA]).ok();
    let strict = args(&[&PROGRAM[..5], &["--policy", "strict", "--store", "artifacts"]]);
    assert_eq!(place.run_bare(&strict).ok().out, "out: f64[3]\n[2.0, 4.0, 6.0]\n");
}

#[test]
fn recorded_miss_keeps_exit_code_and_names_manifest() {
    let place = place();
    let strict = args(&[&PROGRAM[..5], &["--policy", "strict"]]);
    let ended = record(&place, &["-o", "new.toml", "--serve", "ops"], &strict);
    ended.fails(3, &["error: miss: ", "hint: run `precast build ", "recorded 1 miss in `new.toml`"]);
    place.run(&["build", "new.toml", "--isa", ISA]).ok();
    // Modules of single ops also serve other graphs of these ops.
    let other =
        ["run", "--expr", "v * sqrt(v)", "-i", "v=v.npy", "--policy", "strict", "--store", "artifacts"];
    assert_eq!(place.run_bare(&other).ok().out, "out: f64[3]\n[1.0, 8.0, 27.0]\n");
}

#[test]
fn unusable_manifest_stops_before_the_program() {
    let place = place();
    place.write("precast.toml", "[[graph]]\nname = \"half");
    record(&place, &[], &["run", "--expr", "v", "-i", "v=v.npy", "-o", "0=out.npy"])
        .fails(1, &["error: cannot add to `", "which was not changed", "precast.toml:2"]);
    assert_eq!(fs_err::read_to_string(place.path("precast.toml")).unwrap(), "[[graph]]\nname = \"half");
    let other = "[package]\nname = \"other\"\n";
    place.write("precast.toml", other);
    record(&place, &[], PROGRAM).fails(1, &["which was not changed", "unknown field `package`"]);
    assert_eq!(fs_err::read_to_string(place.path("precast.toml")).unwrap(), other);
    record(&place, &["-o", "nowhere/precast.toml"], PROGRAM).fails(1, &["error: cannot record to `"]);
    place
        .run(&["record", "-o", "new.toml", "--", "./no-such-program"])
        .fails(1, &["error: cannot start `./no-such-program`"]);
    place.run(&["record"]).fails(2, &["PROGRAM"]);
    assert_eq!(place.names(), ["precast.toml", "v.npy"]);
}

#[test]
fn full_disk_is_reported_and_the_program_continues() {
    let place = place();
    let ended = record(&place, &["-o", "/dev/full"], PROGRAM);
    assert_eq!(ended.out, "out: f64[3]\n[2.0, 4.0, 6.0]\n");
    ended.fails(1, &["warning: not recorded: `", "No space left on device", "no misses recorded"]);
}

#[cfg(unix)]
#[test]
fn read_only_manifest_fails_before_the_program() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    use std::os::unix::process::CommandExt as _;
    let place = place();
    place.write("locked.toml", "# nothing\n");
    let set = |name: &str, mode: u32| {
        fs_err::set_permissions(place.path(name), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    set("locked.toml", 0o444);
    let is_root = fs_err::metadata(place.path("")).unwrap().uid() == 0;
    let run = |options: &[&str]| {
        let mut command = place.command(args(&[&["record"], options, &["--", "touch", "ran"]]));
        if is_root {
            // Root may write everywhere.
            command.uid(65534).gid(65534);
        }
        command.output().map(Ended::of)
    };
    set("", 0o777);
    if let Err(error) = run(&["--help"]) {
        eprintln!("skipped: root cannot run the command as somebody else here: {error}");
        return;
    }
    run(&["-o", "locked.toml"]).unwrap().fails(1, &["error: cannot record to `", "ermission denied"]);
    set("", 0o555);
    run(&[]).unwrap().fails(1, &["error: cannot record to `", "ermission denied"]);
    set("", 0o755);
    assert_eq!(place.names(), ["locked.toml", "v.npy"]);
    assert_eq!(fs_err::read_to_string(place.path("locked.toml")).unwrap(), "# nothing\n");
}

#[cfg(unix)]
#[test]
fn exit_code_comes_from_the_program() {
    let place = place();
    for (script, code) in [("exit 7", 7), ("kill -TERM $$", 128 + 15), ("true", 0)] {
        let ended = place.run(&["record", "--", "sh", "-c", script]);
        assert_eq!(ended.code, code, "{script}: {}", ended.err);
    }
}
