//! No output and no written file of any command contains a secret of its command line or environment.

use precast_testkit::is_in_share;
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
    let source = format!("git+https://user:{CANARY}@git.example.org/a@{CANARY}");
    let invocation = format!("https://user:{CANARY}@ci.example.org/run?token={CANARY}");
    let named = ["--source", &source, "--source-commit", CANARY, "--invocation", &invocation];
    run(&place, &args(&[&build, &builder, &named, &foreign])).ok();
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
    let builder = format!("https://ci.example.org/{CANARY}/release");
    run(&place, &["build", "--builder", &builder]).fails(2, &["has credentials"]);
    check_files(&place);
}

#[test]
fn secrets_of_failing_commands_are_not_shown() {
    let (place, _) = released();
    let mut tried = 0;
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
                tried += 1;
                if !is_in_share(tried, 3) {
                    continue;
                }
                run(&place, &args(&[&[&*command], rest]));
                run(&place, &args(&[&[&*command], rest, &keyring]));
            }
        }
    }
    check_files(&place);
}

/// Returns the arguments of commands that read the secret of an option.
fn readers_of_secrets(option: &str) -> Vec<Vec<&str>> {
    let remote = ["build", "--remote-cache", "grpcs://127.0.0.1:1/a"];
    match option {
        "--key" => vec![
            vec!["sign", "model.precast"],
            vec!["sign", "--store", "artifacts"],
            vec!["sign", "--dsse", "model.precast"],
            vec!["export", "--out", "a.export"],
        ],
        "--password-file" => {
            vec![vec!["keygen", "new.key"], vec!["sign", "model.precast", "--key", "sealed.key"]]
        }
        "--public" => vec![vec!["sign", "model.precast", "--signer", "true"]],
        "--remote-key" => vec![[&remote[..], &["--remote-certificate", "c.pem"]].concat()],
        "--remote-certificate" => vec![[&remote[..], &["--remote-key", "k.pem"]].concat()],
        _ => vec![remote.to_vec()],
    }
}

#[test]
fn secrets_given_as_paths_are_not_shown() {
    let (place, _) = released();
    place.write("password", "a password\n");
    #[cfg(unix)]
    fs_err::set_permissions(place.path("password"), std::os::unix::fs::PermissionsExt::from_mode(0o600))
        .unwrap();
    place.run_bare(&["keygen", "sealed.key", "--password-file", "password"]).ok();
    place.run_bare(&["keygen", "ci.key", "--no-password"]).ok();
    let key = fs_err::read_to_string(place.path("ci.key")).unwrap();
    let line = key.lines().nth(1).unwrap().trim_end_matches('=').to_owned();
    let pem = format!("-----BEGIN PRIVATE KEY-----\n{line}==\n-----END PRIVATE KEY-----\n");
    let values = [key.clone(), key.replace('\n', "\r\n"), line.clone(), pem, format!("{CANARY}\n")];
    for option in
        ["--key", "--password-file", "--public", "--remote-key", "--remote-certificate", "--remote-ca"]
    {
        for (command, value) in
            readers_of_secrets(option).iter().flat_map(|command| values.iter().map(move |v| (command, v)))
        {
            let joined = format!("{option}={value}");
            for given in [vec![option, value], vec![&*joined]] {
                let ended = run(&place, &[command, &given[..]].concat());
                assert_ne!(ended.code, 0, "{command:?} {option}");
                assert!(!ended.err.contains(&line) && !ended.out.contains(&line), "{option}: {}", ended.err);
                // Without `=`, a value that begins with `-` is an unknown option.
                let is_value = !value.starts_with('-') || given.len() == 1;
                if ["--key", "--password-file"].contains(&option) && is_value {
                    ended.fails(2, &[option, "standard input", "printf %s"]);
                }
            }
        }
    }
    for word in [&*line, &*key] {
        for command in commands(&place) {
            let ended = run(&place, &[&command, word]);
            assert!(!ended.err.contains(&line) && !ended.out.contains(&line), "{command}: {}", ended.err);
        }
    }
    for command in readers_of_secrets("--password-file") {
        run(&place, &[&command[..], &["--password-file", CANARY]].concat()).fails(1, &["--password-file"]);
    }
    // The environment takes no path of a key, except for this one.
    let mut command = place.command(readers_of_secrets("--remote-ca").remove(0));
    command.env("PRECAST_REMOTE_KEY", &key).env("PRECAST_REMOTE_CERTIFICATE", &key);
    command.env("PRECAST_REMOTE_CA", &key);
    let ended = Ended::of(command.output().unwrap());
    assert!(ended.code != 0 && !ended.err.contains(&line), "{}", ended.err);
}

#[test]
fn names_that_are_secrets_are_not_published() {
    let (place, _) = released();
    let secret = "0123456789abcdef".repeat(4);
    let run = |arguments: &[&str]| {
        let ended = Ended::of(place.command(arguments).env("SIGNING_KEY", &secret).output().unwrap());
        for text in [&ended.out, &ended.err] {
            assert!(!text.contains(&secret[..8]), "{arguments:?} shows the secret:\n{text}");
        }
        ended
    };
    place.run_bare(&["keygen", "ci.key", "--no-password"]).ok();
    let sign = ["sign", "score.precast", "--key", "ci.key", "--name"];
    let key = fs_err::read_to_string(place.path("ci.key")).unwrap();
    let line = key.lines().nth(1).unwrap();
    for name in [&secret, &format!("model@{secret}"), line, &key, line.trim_end_matches('=')] {
        let ended = run(&args(&[&sign, &[name]])).fails(2, &[]);
        assert!(!ended.err.contains(&line[..40]), "{}", ended.err);
    }
    run(&["release", "create", &secret]).fails(2, &["secret"]);
    run(&["export", "--out", "b.export", "--release", &format!("{secret}=1")]).fails(2, &["secret"]);
    // Messages that cut a name show no beginning of a secret.
    let long = format!("{secret}{secret}{secret}");
    for name in [&long, &format!("a b {secret}"), &format!("{secret} c")] {
        for command in [
            &["release", "create", name][..],
            &["release", "switch", name],
            &["release", "switch", &format!("{name}=1")],
            &["release", "rollback", name],
            &["export", "--out", "b.export", "--release", &format!("{name}=1")],
            &["run", "--entry", name, "--store", "artifacts"],
        ] {
            assert_ne!(run(command).code, 0, "{command:?}");
        }
    }
    run(&args(&[&sign, &["model@1.4"]])).ok();
    assert!(!place.path("b.export").exists());
    let missing = ["sign", "score.precast", "--key", "ci.key", "--password-file", "nowhere"];
    run(&missing).fails(1, &["`--password-file` does not exist"]);
}
