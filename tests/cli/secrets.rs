//! No output and no written file of any command contains a secret of its command line or environment.

use precast_testkit::servers::Server;

use crate::elsewhere::released;
use crate::release::files;
use crate::sandbox::{Ended, INPUTS, Sandbox, args};

/// The secret. Nothing else in outputs and files contains it.
const CANARY: &str = "c4nary5ecret";

/// Runs a command with a secret in every variable that holds one; checks its output.
#[track_caller]
fn run(place: &Sandbox, arguments: &[&str]) -> Ended {
    let mut command = place.command(arguments);
    command.env("PRECAST_CACHE", place.path("cache")).env("PRECAST_REMOTE_TOKEN", CANARY);
    command.envs([
        ("AWS_ACCESS_KEY_ID", CANARY),
        ("AWS_SECRET_ACCESS_KEY", CANARY),
        ("CI_JOB_TOKEN", CANARY),
    ]);
    let ended = Ended::of(command.output().unwrap());
    for text in [&ended.out, &ended.err] {
        assert!(!text.contains(CANARY), "{arguments:?} shows the secret:\n{text}");
    }
    ended
}

/// Checks that no file contains the secret.
#[track_caller]
fn check_files(place: &Sandbox) {
    let found = files(place, "");
    assert!(found.len() > 10);
    for path in found {
        let bytes = fs_err::read(&path).unwrap();
        let has = bytes.windows(CANARY.len()).any(|window| window == CANARY.as_bytes());
        assert!(!has && !path.to_string_lossy().contains(CANARY), "{} has the secret", path.display());
    }
}

/// Returns the names of all commands, from a completion script.
fn commands(place: &Sandbox) -> Vec<String> {
    let script = place.run_bare(&["completions", "zsh"]).ok().out;
    let line = script.lines().filter_map(|line| line.trim().strip_prefix('\''));
    let names = line.filter_map(|line| line.split_once(":")).map(|(name, _)| name);
    let is_name = |name: &&str| name.bytes().all(|byte| byte == b'-' || byte.is_ascii_lowercase());
    let mut names: Vec<String> =
        names.filter(is_name).filter(|name| *name != "help").map(str::to_owned).collect();
    names.sort();
    names.dedup();
    assert!(
        names.len() > 25 && ["build", "sign", "gc"].iter().all(|name| names.iter().any(|n| n == name)),
        "{names:?}"
    );
    names
}

#[test]
fn secrets_of_working_commands_are_not_published() {
    let (place, _) = released();
    place.run_bare(&["index"]).ok();
    let server = Server::files(place.path("artifacts"));
    let url = server.url.replace("://", &format!("://user:{CANARY}@"));
    let remote = ["--remote", &url, "--keyring", "precast.keyring"];
    let joined = format!("--remote={url}");
    let builder = ["--builder", "https://ci.example.org/release"];
    let build = ["build", "--json", "--bundle", "own.precast", "--timings", "times.html"];
    // Nothing comes from the remote, so that the build compiles and states records.
    place.run_bare(&["keygen", "mallory.key", "--no-password"]).ok();
    place
        .run_bare(&["trust", "new", "--keyring", "mallory's", "--expires", "2999-01-01", "mallory.pub"])
        .ok();
    let foreign = ["--store", "own", &joined, "--keyring", "mallory's"];
    run(&place, &args(&[&build, &builder, &foreign])).ok();
    let stated = fs_err::read_to_string(place.path("own.precast.provenance.json")).unwrap();
    let shown = format!("--remote={}", server.url);
    assert!(stated.contains(&shown), "the command line is recorded without the secret: {stated}");
    run(&place, &args(&[&build, &["--store", "fetched"], &remote])).ok();
    for command in [
        &["explain", "--trace", "--entry", "score"][..],
        &["explain", "--json", "--entry", "score"],
        &["ls"],
        &["ls", "--json"],
        &["check", "--entry", "score"],
        &["show", "score", "--json"],
    ] {
        run(&place, &args(&[command, &remote])).ok();
    }
    for more in [&[][..], &["--json"], &["--policy", "jit", "--writable", "written"]] {
        run(&place, &args(&[&["run", "--entry", "score"], INPUTS, &remote, more])).ok();
    }
    let recorded = ["record", "-o", "recorded.toml", "--", env!("CARGO_BIN_EXE_precast")];
    run(&place, &args(&[&recorded, &["run", "--entry", "score"], INPUTS, &remote])).ok();
    // The builder is compared byte by byte, so its credentials are an error.
    let builder = format!("https://user:{CANARY}@ci.example.org");
    run(&place, &["build", "--builder", &builder]).fails(2, &["`https://ci.example.org` has credentials"]);
    check_files(&place);
}

#[test]
fn secrets_of_failing_commands_are_not_shown() {
    let (place, _) = released();
    for url in [
        format!("http://user:{CANARY}@127.0.0.1:1/a"),
        format!("https://user:1/{CANARY}@127.0.0.1:1/a"),
        format!("s3://127.0.0.1/a?token={CANARY}"),
        format!("oci://user:{CANARY}@127.0.0.1:1/a:1"),
        format!("user:{CANARY}@host"),
    ] {
        let is_text = url.contains("user:1/") || !url.contains("://");
        for command in commands(&place) {
            let joined = format!("--remote={url}");
            let keyring = ["--keyring", "precast.keyring"];
            for rest in [
                &[&*url][..],
                &[&joined, "--entry", "score"],
                &["--remote-cache", &url],
                &["--remote-exec", &url],
                &["--store", &url],
                &["--bundle", &url, "--json"],
                &["score", "--entry", &url],
            ] {
                // An argument that is not meant as a URL is a path or a name, and is shown.
                if is_text && !rest.iter().any(|word| word.starts_with("--remote")) {
                    continue;
                }
                run(&place, &args(&[&[&*command], rest]));
                run(&place, &args(&[&[&*command], rest, &keyring]));
            }
        }
    }
    check_files(&place);
}
