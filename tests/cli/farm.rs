//! Builds with a shared cache, and with a farm that compiles.

use std::io::BufRead as _;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use precast_testkit::farm::{Authority, Code, Faults, Server};

use crate::deployed::Quickstart;
use crate::document::{blocks, path};
use crate::sandbox::{Ended, ISA, Sandbox};

/// The number of units that the real farm compiles.
const UNITS: usize = 200;

/// Returns the numbers that the line about a farm states: compiled and cached units.
fn farm_counts(ended: &Ended) -> [u64; 2] {
    let line = ended.err.lines().find(|line| line.contains(" cached")).unwrap();
    let numbers: Vec<u64> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    numbers.try_into().unwrap()
}

/// Returns a command that builds into a store and a bundle of this name.
fn build(place: &Sandbox, name: &str, more: &[&str]) -> Command {
    let (store, bundle) = (format!("{name}.store"), format!("{name}.precast"));
    let mut command = place.command(["build", "--json", "--store", &store, "--bundle", &bundle]);
    command.args(more);
    command
}

fn ended(mut command: Command) -> Ended {
    Ended::of(command.output().unwrap())
}

fn bundle(place: &Sandbox, name: &str) -> Vec<u8> {
    fs_err::read(place.path(format!("{name}.precast"))).unwrap()
}

#[test]
fn encrypted_farm_gives_local_bytes() {
    let (place, _) = Sandbox::scored();
    let here = ended(build(&place, "here", &[])).ok().json();
    let authority = Authority::new();
    let server = Server::encrypted(&authority.certify("localhost"), None);
    server.faults(Faults { token: Some("our secret".to_owned()), ..Faults::default() });
    place.write("ca.pem", &authority.certificate);
    let elsewhere = |name: &str, exec: bool| {
        build(&place, name, &[if exec { "--remote-exec" } else { "--remote-cache" }, &server.url])
    };
    let trusting = |mut command: Command| {
        command.args(["--remote-ca", "ca.pem"]);
        command
    };
    // Credentials from the command line and a helper.
    place.write("helper", "#!/bin/sh\necho '{\"headers\": {\"Authorization\": [\"Bearer our secret\"]}}'\n");
    let helper = place.path("helper");
    fs_err::set_permissions(&helper, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    let mut command = trusting(elsewhere("farm", true));
    let farm = ended({
        command.args(["--remote-cache", &server.url, "--remote-credentials"]).arg(&helper);
        command
    });
    let farm = farm.ok();
    let units = here["compiled"].as_u64().unwrap();
    assert_eq!(farm_counts(&farm), [units, 0]);
    assert_eq!(bundle(&place, "farm"), bundle(&place, "here"));
    // Credentials from the environment.
    let mut command = elsewhere("cache", false);
    command.env("PRECAST_REMOTE_CA", "ca.pem").env("PRECAST_REMOTE_TOKEN", "our secret");
    let cache = ended(command).ok();
    assert_eq!((&cache.json()["fetched"], &cache.json()["compiled"]), (&here["compiled"], &0.into()));
    assert_eq!(bundle(&place, "cache"), bundle(&place, "here"));
    // An unknown client gets an authentication error, and no secret is shown.
    let mut command = trusting(elsewhere("nobody", true));
    command.env("PRECAST_REMOTE_TOKEN", "their secret");
    let nobody = ended(command).fails(1, &["not authenticated (`nobody is known by that token`)"]);
    assert!(!nobody.err.contains("their secret"), "{}", nobody.err);
    let named = ["the server's certificate has an unknown issuer", "`--remote-ca FILE`"];
    ended(elsewhere("nobody", true)).fails(1, &named);
    let mut command = build(&place, "nobody", &["--remote-exec", "grpc://farm.example.org:1"]);
    command.env("PRECAST_REMOTE_TOKEN", "their secret");
    ended(command).fails(1, &["would be sent unencrypted", "hint: use `grpcs://`"]);
    let mut command = elsewhere("nobody", true);
    command.env("PRECAST_REMOTE_KEY", "own.key");
    ended(command).fails(2, &["incomplete client certificate", "PRECAST_REMOTE_CERTIFICATE"]);
    // An unusable cache does not fail the build.
    let alone = ended(elsewhere("alone", false)).ok();
    assert!(alone.warnings() > 0, "{}", alone.err);
    assert_eq!(alone.json()["compiled"], here["compiled"]);
}

#[test]
fn pipeline_of_the_page_builds_remotely() {
    let (place, _) = Sandbox::scored();
    place.run(&["update"]).ok();
    let server = Server::start();
    server.faults(Faults { token: Some("our secret".to_owned()), ..Faults::default() });
    let blocks = blocks("crates/cli/CI.md");
    let text = &blocks.iter().find(|block| block.text.contains("--remote-exec")).unwrap().text;
    let command = text.lines().find_map(|line| line.trim().strip_prefix("run: ")).unwrap();
    let command = ["cache", "farm"].iter().fold(command.to_owned(), |command, name| {
        command.replace(&format!("grpcs://{name}.example.org"), &server.url)
    });
    let mut shell = Command::new("sh");
    shell.args(["-e", "-c", &command]).current_dir(place.path("")).env_clear().env("PATH", path());
    shell.env("PRECAST_CACHE", concat!(env!("CARGO_TARGET_TMPDIR"), "/cli-cache"));
    shell.envs([("ISA", ISA), ("PRECAST_REMOTE_TOKEN", "our secret")]);
    let ended = ended(shell).ok();
    assert_eq!(farm_counts(&ended)[1], 0);
    assert!(!server.state().commands.is_empty());
}

#[test]
fn retries_are_reported_at_the_end() {
    let (place, _) = Sandbox::scored();
    let server = Server::start();
    let refuse = [("execute", (Code::ResourceExhausted, 2))].into();
    server.faults(Faults { refuse, kill: 1, ..Faults::default() });
    let farm = ended(build(&place, "farm", &["--remote-exec", &server.url])).ok();
    assert!(
        farm.err.contains("retried requests to the farm: 1 × interrupted, 2 × quota exceeded"),
        "{}",
        farm.err
    );
    ended(build(&place, "here", &[])).ok();
    assert_eq!(bundle(&place, "farm"), bundle(&place, "here"));
    // The same holds for a build that fails.
    server.state().actions.clear();
    let refuse = [("execute", (Code::ResourceExhausted, 1))].into();
    server.faults(Faults { refuse, late: 1, ..Faults::default() });
    let failed = ended(build(&place, "less", &["--remote-exec", &server.url]));
    let failed = failed.fails(1, &["did not finish within"]);
    assert!(failed.err.contains("retried requests to the farm: 1 × quota exceeded"), "{}", failed.err);
    assert!(!place.path("less.precast").exists());
}

/// A worker of a farm, killed on drop. It prints a line for each action.
struct Worker(Child);

impl Worker {
    fn start(command: &str, name: &str, toolchain: &str, done: Sender<()>) -> Self {
        let mut words = command.split(' ');
        let mut command = Command::new(words.next().unwrap());
        let mut child = command.args(words).args([name, toolchain]).stdout(Stdio::piped()).spawn().unwrap();
        let lines = std::io::BufReader::new(child.stdout.take().unwrap()).lines();
        std::thread::spawn(move || lines.map_while(Result::ok).try_for_each(|_| done.send(())));
        Self(child)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Declares graphs that each compile to one unit.
fn many() -> String {
    const FUNCTIONS: [&str; 15] = [
        "exp", "log", "sin", "cos", "tan", "tanh", "sqrt", "abs", "floor", "ceil", "sinh", "cosh", "expm1",
        "log1p", "arctan",
    ];
    let pairs = FUNCTIONS.iter().flat_map(|a| FUNCTIONS.iter().map(move |b| (a, b)));
    let graphs = pairs.take(UNITS).map(|(a, b)| {
        format!(
            "[[graph]]\nname = \"{a}_{b}\"\ninputs = [\"x: f64[?]\", \"y: f64[?]\"]\noutputs = [\"sum({a}(x) * {b}(y))\"]\n"
        )
    });
    format!("isa = [\"{ISA}\"]\n{}", graphs.collect::<String>())
}

#[test]
#[allow(clippy::print_stderr, reason = "what is skipped is skipped aloud")]
fn a_release_is_deployed_from_a_real_cache() {
    let Ok(url) = std::env::var("PRECAST_TEST_REAPI") else {
        return eprintln!("skipped: no server of the Remote Execution API; `cargo xtask remotes` starts one");
    };
    let authority = std::env::var("PRECAST_TEST_REAPI_CA").map(|path| ("PRECAST_REMOTE_CA", path));
    let _ = Quickstart::deploys_from_a_cache(&url, &authority.into_iter().collect::<Vec<_>>());
}

#[test]
#[allow(clippy::print_stderr, reason = "what is skipped is skipped aloud, and what takes minutes is told of")]
fn real_farm_gives_local_bytes_despite_killed_worker() {
    let (Ok(url), Ok(worker)) =
        (std::env::var("PRECAST_TEST_REAPI"), std::env::var("PRECAST_TEST_REAPI_WORKER"))
    else {
        return eprintln!("skipped: no server of the Remote Execution API; `cargo xtask remotes` starts one");
    };
    let place = Sandbox::new();
    place.write("precast.toml", many());
    let doctor = place.run(&["doctor", "--json"]).ok().json();
    let toolchain = doctor["compiler"]["id"].as_str().unwrap();
    let timed = |what: &str, name: &str, arguments: &[&str]| {
        let mut command = build(&place, name, arguments);
        command.args(["--jobs", "8"]);
        // The authority that certified the server.
        command.envs(std::env::var("PRECAST_TEST_REAPI_CA").map(|path| ("PRECAST_REMOTE_CA", path)));
        (what.to_owned(), std::time::Instant::now(), command)
    };
    let told = |(what, start, _): (String, std::time::Instant, Command), ended: Ended| {
        let (ended, seconds) = (ended.ok(), start.elapsed().as_secs_f64());
        eprintln!("{what}: {seconds:.1} s\n{}", ended.err);
        ended
    };
    let run = |mut timed: (String, std::time::Instant, Command)| {
        let output = timed.2.output().unwrap();
        told(timed, Ended::of(output))
    };
    let here = run(timed("compiled here", "here", &[])).json();
    let units = here["compiled"].as_u64().unwrap();
    assert!(units >= UNITS as u64, "{units}");

    let (sender, done) = channel();
    let first = Worker::start(&worker, "first", toolchain, sender.clone());
    let _second = Worker::start(&worker, "second", toolchain, sender);
    let both = ["--remote-exec", &url, "--remote-cache", &url];
    let mut there = timed("compiled on the farm, where one of two workers is killed", "farm", &both);
    let mut child = there.2.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    for _ in 0..UNITS / 3 {
        done.recv_timeout(Duration::from_secs(300)).unwrap();
    }
    assert!(child.try_wait().unwrap().is_none());
    drop(first);
    let there = told(there, Ended::of(child.wait_with_output().unwrap()));
    assert_eq!(farm_counts(&there), [units, 0]);
    assert_eq!(there.json()["compiled"], units);
    assert_eq!(bundle(&place, "farm"), bundle(&place, "here"));
    place.run_bare(&["verify", "--store", "farm.store"]).ok();

    let again = run(timed("known to the farm", "again", &["--remote-exec", &url]));
    assert_eq!(farm_counts(&again), [0, units]);
    assert_eq!(bundle(&place, "again"), bundle(&place, "here"));
    let cached = run(timed("taken from the cache", "cached", &["--remote-cache", &url])).json();
    assert_eq!((&cached["fetched"], &cached["compiled"]), (&units.into(), &0.into()));
    assert_eq!(bundle(&place, "cached"), bundle(&place, "here"));
    place.run_bare(&["verify", "--store", "cached.store"]).ok();
}
