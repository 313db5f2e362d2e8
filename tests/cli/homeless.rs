//! Every command that opens a remote, for users without a home, with a read-only home, and with a full disk.

use std::process::Command;

use precast_testkit::servers::{Registry, Server};

use crate::elsewhere::released;
use crate::sandbox::{Ended, INPUTS, Sandbox, args};

/// The homes: a name, and the value of `HOME`, if it is set.
const HOMES: [(&str, Option<&str>); 3] = [
    ("HOME is not set", None),
    ("HOME does not exist", Some("/nonexistent")),
    // Even the superuser cannot create a directory there.
    ("HOME cannot be written", Some("/proc")),
];

/// Mounts a file system of 16 KiB at `HOME`, fills it, and runs the arguments.
const FULL: &str =
    r#"mount -t tmpfs -o size=16k tmpfs "$HOME" && cat /dev/zero > "$HOME/full" 2> /dev/null; exec "$@""#;

/// The URLs of a release and of a store.
struct Places {
    /// A store on a web server, a release by its tag, and the same release by its digest.
    urls: [String; 3],
    tag: String,
    _servers: (Server, Registry),
}

fn places(place: &Sandbox) -> Places {
    place.run_bare(&["index"]).ok();
    let (server, registry) = (Server::files(place.path("artifacts")), Registry::new(false));
    let tag = registry.url("me/model:stable");
    let pushed = place.run_bare(&["push", "--json", &tag, "score.precast"]).ok().json();
    let digest = registry.url(&format!("me/model@{}", pushed["digest"].as_str().unwrap()));
    Places { urls: [server.url.clone(), tag.clone(), digest], tag, _servers: (server, registry) }
}

/// Returns the command lines that must succeed.
fn lines(places: &Places) -> Vec<Vec<String>> {
    let mut lines: Vec<Vec<String>> = Vec::new();
    let mut add = |words: &[&str]| lines.push(words.iter().map(|&word| word.to_owned()).collect());
    for url in &places.urls {
        let from = ["--remote", url, "--keyring", "precast.keyring"];
        add(&args(&[&["run", "--entry", "score", "--policy", "strict"], INPUTS, &from]));
        add(&args(&[&["check", "--entry", "score"], &from]));
        add(&args(&[&["explain", "--entry", "score"], &from]));
        add(&args(&[&["ls"], &from]));
    }
    for url in &places.urls[1..] {
        add(&["pull", url, "--out", "pulled", "--keyring", "precast.keyring"]);
    }
    add(&["push", &places.tag, "score.precast"]);
    add(&["build", "--store", "fresh", "--remote", &places.urls[0], "--keyring", "precast.keyring"]);
    lines
}

/// Returns a command of a user with this home.
fn command(place: &Sandbox, words: &[String], home: Option<&str>) -> Command {
    let mut command = place.command(words);
    command.env_remove("PRECAST_CACHE").envs(home.map(|home| ("HOME", home)));
    command
}

#[track_caller]
fn succeeds(command: &mut Command, what: &str, words: &[String]) {
    let ended = Ended::of(command.output().unwrap());
    assert_eq!(ended.code, 0, "{what}: {}\n{}", words.join(" "), ended.err);
}

#[test]
fn commands_open_remotes_without_a_home() {
    let (place, _) = released();
    let places = places(&place);
    for (what, home) in HOMES {
        for words in lines(&places) {
            let _ = fs_err::remove_dir_all(place.path("fresh"));
            succeeds(&mut command(&place, &words, home), what, &words);
        }
    }
}

#[test]
fn commands_open_remotes_with_full_home() {
    let (place, _) = released();
    let places = places(&place);
    fs_err::create_dir(place.path("home")).unwrap();
    let home = place.path("home").display().to_string();
    let full = |words: &[String], temporary: bool| {
        let mut full = Command::new("unshare");
        full.args(["--map-root-user", "--mount", "sh", "-c", FULL, "sh"]);
        let plain = command(&place, words, Some(&home));
        full.arg(plain.get_program()).args(plain.get_args()).current_dir(place.path("")).env_clear();
        full.env("HOME", &home).env("PATH", std::env::var_os("PATH").unwrap_or_default());
        full.envs(temporary.then_some(("TMPDIR", &home)));
        full
    };
    let probe = full(&["--version".to_owned()], false).output();
    if !probe.is_ok_and(|probe| probe.status.success()) {
        println!("skipped: a full disk: this user cannot mount a file system");
        return;
    }
    for words in lines(&places) {
        let _ = fs_err::remove_dir_all(place.path("fresh"));
        succeeds(&mut full(&words, false), "the home is full", &words);
    }
    // A release is in memory. A store needs a directory, and the error names it.
    let run = |url: &str| {
        let run = ["run", "--entry", "score", "--policy", "strict", "--remote", url, "--keyring"];
        args(&[&run, &["precast.keyring"], INPUTS]).iter().map(|&word| word.to_owned()).collect::<Vec<_>>()
    };
    succeeds(&mut full(&run(&places.tag), true), "home and TMPDIR are full", &run(&places.tag));
    let refused = Ended::of(full(&run(&places.urls[0]), true).output().unwrap());
    refused.fails(1, &["cannot store data from", &home]);
}
