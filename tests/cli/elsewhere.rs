//! Remote layers: a store on a web server, used by an otherwise empty machine.

use std::process::Command;

use precast_testkit::servers::{Fault, Registry, Server};

use crate::release::DOUBLE;
use crate::sandbox::{Ended, INPUTS, ISA, Sandbox, args, assert_close};

/// Creates a signed store and a signed bundle, with the keyring; also returns the value of `score`.
pub(crate) fn released() -> (Sandbox, f64) {
    let (place, expected) = Sandbox::scored();
    place.run(&["build", "--bundle", "score.precast"]).ok();
    place.run_bare(&["keygen", "alice.key", "--no-password"]).ok();
    place.run_bare(&["trust", "new", "--threshold", "1", "--expires", "2999-01-01", "alice.pub"]).ok();
    place.run_bare(&["sign", "--key", "alice.key", "--store", "artifacts", "score.precast"]).ok();
    (place, expected)
}

/// Returns a command on a machine without a compiler, with this cache directory.
fn bare(place: &Sandbox, cache: &str, arguments: &[&str]) -> Command {
    let mut command = place.command(arguments);
    command.env("PATH", "").env("PRECAST_CACHE", place.path(cache));
    // The address and credentials of a bucket.
    command.envs(std::env::vars().filter(|(name, _)| name.starts_with("AWS_")));
    command
}

/// Runs the entry with a remote as the only layer.
pub(crate) fn score(place: &Sandbox, url: &str, cache: &str) -> Ended {
    let run = [
        "run",
        "--entry",
        "score",
        "--policy",
        "strict",
        "--json",
        "--remote",
        url,
        "--keyring",
        "precast.keyring",
    ];
    Ended::of(bare(place, cache, &args(&[&run, INPUTS])).output().unwrap())
}

/// Deploys from a remote to an empty machine.
pub(crate) fn deploys(place: &Sandbox, url: &str, expected: f64) {
    let json = score(place, url, "empty").ok().json();
    assert_close(json["outputs"][0]["data"].as_f64().unwrap(), expected);
    assert_eq!(json["provenance"][0]["served"], "artifact");
    let layer = json["provenance"][0]["layer"].as_str().unwrap();
    assert!(layer.contains(url), "{layer}");
}

#[test]
fn web_store_serves_an_empty_machine() {
    let (place, expected) = released();
    place.run_bare(&["index"]).ok();
    let server = Server::files(place.path("artifacts"));
    let url = server.url.as_str();
    deploys(&place, url, expected);
    let explain = ["explain", "--json", "--entry", "score", "--remote", url, "--keyring", "precast.keyring"];
    let explained = Ended::of(bare(&place, "another", &explain).output().unwrap()).ok();
    assert_eq!(explained.json()["segments"][0]["layer"], format!("remote `{url}`"));
    let listed = ["ls", "--json", "--remote", url, "--keyring", "precast.keyring"];
    let listed = Ended::of(bare(&place, "another", &listed).output().unwrap()).ok();
    assert_eq!(listed.json()["entries"][0]["name"], "score");
    assert_eq!(listed.err.lines().count(), 1, "a note about modules that were not fetched: {}", listed.err);
    // A remote needs a keyring, whatever it contains.
    let run = args(&[&["run", "--entry", "score", "--remote", url], INPUTS]);
    place
        .run_bare(&run)
        .fails(2, &["a remote needs a keyring", "hint: name a keyring with `--keyring FILE`"]);
    // The server is down: earlier artifacts are served from the cache, and anything else is a miss.
    server.fault("", Fault::Status(503), usize::MAX);
    let ended = score(&place, url, "empty").ok();
    assert_eq!(ended.warnings(), 1, "{}", ended.err);
    score(&place, url, "nothing").fails(3, &["next attempt in 30 s: ", "hint: "]);
    // Another layer still works.
    let run = [
        "run",
        "--entry",
        "score",
        "--json",
        "--remote",
        url,
        "--bundle",
        "score.precast",
        "--keyring",
        "precast.keyring",
    ];
    let ended = Ended::of(bare(&place, "nothing", &args(&[&run, INPUTS])).output().unwrap()).ok();
    assert_close(ended.json()["outputs"][0]["data"].as_f64().unwrap(), expected);
}

#[test]
fn build_fetches_signed_and_compiles_the_rest() {
    let (place, _) = released();
    place.run_bare(&["index"]).ok();
    let server = Server::files(place.path("artifacts"));
    let build =
        ["build", "--json", "--store", "fresh", "--remote", &server.url, "--keyring", "precast.keyring"];
    let built = place.run(&build).ok().json();
    assert_eq!((&built["compiled"], &built["hits"]), (&0.into(), &built["artifacts"]));
    // The signatures were fetched too, but this build wrote the entry.
    let verify = ["verify", "--json", "--store", "fresh", "--keyring", "precast.keyring"];
    let verified = place.run_bare(&verify).fails(7, &[]).json();
    assert_eq!((&verified["signed"], &verified["whole"]), (&false.into(), &true.into()), "{verified:#}");
    assert_eq!(verified["layers"][0]["signed"], built["artifacts"], "{verified:#}");
    place.run_bare(&["keygen", "mallory.key", "--no-password"]).ok();
    place
        .run_bare(&["trust", "new", "--keyring", "mallory's", "--expires", "2999-01-01", "mallory.pub"])
        .ok();
    let build = ["build", "--json", "--store", "own", "--remote", &server.url, "--keyring", "mallory's"];
    let built = place.run(&build).ok();
    assert!(built.warnings() > 0, "{}", built.err);
    assert_eq!(built.json()["hits"], 0);
}

#[test]
fn pinned_artifacts_are_fetched_without_a_compiler() {
    let (place, expected) = released();
    let pinned = place.run(&["build", "--pin", "--json"]).ok().json();
    place.run_bare(&["index"]).ok();
    let server = Server::files(place.path("artifacts"));
    let build = |store: &str, keyring: &str| {
        let remote = ["--remote", &server.url, "--keyring", keyring];
        let build = args(&[&["build", "--frozen", "--json", "--store", store], &remote]);
        Ended::of(bare(&place, "cache", &build).output().unwrap())
    };
    let built = build("filled", "precast.keyring").ok().json();
    assert_eq!((&built["hits"], &built["artifacts"]), (&pinned["artifacts"], &pinned["artifacts"]));
    let run = ["run", "--entry", "score", "--policy", "strict", "--json", "--store", "filled"];
    let ran = Ended::of(bare(&place, "cache", &args(&[&run, INPUTS])).output().unwrap()).ok();
    assert_close(ran.json()["outputs"][0]["data"].as_f64().unwrap(), expected);
    // Artifacts without a trusted signature are rejected, and so are artifacts whose digest differs from the pin.
    place.run_bare(&["keygen", "mallory.key", "--no-password"]).ok();
    place
        .run_bare(&["trust", "new", "--keyring", "mallory's", "--expires", "2999-01-01", "mallory.pub"])
        .ok();
    build("unsigned", "mallory's").fails(1, &["compiling is not allowed", "hint: ", "`--remote`"]);
    let lock = fs_err::read_to_string(place.path("precast.lock")).unwrap();
    let (before, digest) = lock.split_once("digest = \"").unwrap();
    let wrong = format!("{before}digest = \"{}{}", "0".repeat(64), &digest[64..]);
    place.write("precast.lock", wrong);
    build("other", "precast.keyring").fails(1, &["compiling is not allowed", "the lock file pins `0000"]);
}

#[test]
fn rolled_back_tag_is_rejected() {
    let (place, expected) = released();
    place.write("later.toml", format!("isa = [\"{ISA}\"]\n{DOUBLE}"));
    place.run(&["build", "later.toml", "--store", "later", "--bundle", "later.precast"]).ok();
    place.run_bare(&["sign", "--key", "alice.key", "later.precast"]).ok();
    let registry = Registry::new(false);
    let url = registry.url("me/model:stable");
    let push = |file: &str| drop(place.run_bare(&["push", &url, file]).ok());
    let pull = |more: &[&str]| {
        let pull = ["pull", &url, "--out", "pulled", "--keyring", "precast.keyring"];
        Ended::of(bare(&place, "cache", &args(&[&pull, more])).output().unwrap())
    };
    for file in ["score.precast", "later.precast"] {
        push(file);
        pull(&[]).ok();
        pull(&[]).ok();
    }
    // Under another name the release has another manifest, which is not signed.
    for end in ["", ".minisig"] {
        fs_err::copy(place.path(format!("score.precast{end}")), place.path(format!("again{end}"))).unwrap();
    }
    push("again");
    pull(&[]).fails(7, &["is older than the last one"]);
    push("score.precast");
    let kept = fs_err::read(place.path("pulled")).unwrap();
    pull(&[]).fails(7, &["is older than the last one seen there", "hint: ask the publishers"]);
    assert_eq!(fs_err::read(place.path("pulled")).unwrap(), kept, "what is refused is not written");
    // A layer still serves the release, with a warning.
    let served = score(&place, &url, "cache").ok();
    assert_eq!(served.warnings(), 1, "{}", served.err);
    assert_close(served.json()["outputs"][0]["data"].as_f64().unwrap(), expected);
    let new = score(&place, &url, "new").ok();
    assert_eq!(new.warnings(), 0, "{}", new.err);
    pull(&["--older"]).ok();
    pull(&[]).fails(7, &[]);
    // Without required signatures the registry is trusted.
    Ended::of(bare(&place, "cache", &["pull", &url, "--out", "pulled"]).output().unwrap()).ok();
    push("later.precast");
    pull(&[]).ok();
}

/// A cached file stands for a digest, and another signed release could take its place. So signatures do not replace the
/// permissions of the cache.
#[test]
fn cached_release_that_others_can_change_is_rejected() {
    let (place, _) = released();
    let registry = Registry::new(false);
    let url = registry.url("me/model:stable");
    place.run_bare(&["push", &url, "score.precast"]).ok();
    score(&place, &url, "cache").ok();
    let cached = crate::release::files(&place, "cache").into_iter();
    let cached = cached.filter(|path| path.extension().is_some_and(|ending| ending == "precast"));
    let cached: Vec<_> = cached.collect();
    assert!(!cached.is_empty());
    for path in cached {
        let everybody = std::os::unix::fs::PermissionsExt::from_mode(0o666);
        fs_err::set_permissions(path, everybody).unwrap();
    }
    score(&place, &url, "cache").fails(1, &["is writable by everybody", "hint: "]);
}

#[test]
fn lower_export_number_is_rejected() {
    let (place, _) = released();
    let registry = Registry::new(false);
    let url = registry.url("me/model:stable");
    let pull = |number: &str, more: &[&str]| {
        let release = format!("model={number}");
        place.run_bare(&["export", "--out", number, "--release", &release, "--key", "alice.key"]).ok();
        place.run_bare(&["push", &url, number]).ok();
        let pull = ["pull", &url, "--out", "pulled", "--keyring", "precast.keyring"];
        Ended::of(bare(&place, "cache", &args(&[&pull, more])).output().unwrap())
    };
    pull("7", &[]).ok();
    pull("6", &[]).fails(7, &["is older than the last one", "hint: "]);
    pull("8", &[]).ok();
    pull("5", &["--older"]).ok();
    pull("7", &[]).fails(7, &["is older than the last one"]);
    pull("5", &[]).fails(7, &["is older than the last one"]);
    pull("8", &[]).ok();
}

/// Starts a proxy of a registry that requires a name and a password, either for each request or for a token.
fn asking(registry: &Registry, for_a_token: bool) -> Server {
    // base64 of `user:secret`
    const BASIC: &str = "Basic dXNlcjpzZWNyZXQ=";
    Server::guarding(registry.server.address(), move |request| {
        let said = |name: &str| {
            let found = request.headers.iter().find(|(known, _)| known == name);
            found.map(|(_, value)| value.clone()).unwrap_or_default()
        };
        let (who, here) = (said("authorization"), said("host"));
        if request.path.starts_with("/token") {
            let body = if who == BASIC { &br#"{"token": "a-token"}"#[..] } else { b"no" };
            return Some((if who == BASIC { 200 } else { 401 }, Vec::new(), body.to_vec()));
        }
        let (wanted, challenge) = match for_a_token {
            true => ("Bearer a-token", format!("Bearer realm=\"http://{here}/token\",service=\"registry\"")),
            false => (BASIC, "Basic realm=\"registry\"".to_owned()),
        };
        let challenge = ("www-authenticate".to_owned(), challenge);
        (who != wanted).then(|| (401, vec![challenge], br#"{"errors": []}"#.to_vec()))
    })
}

#[test]
fn credentials_come_from_the_docker_configuration() {
    let (place, _) = released();
    for for_a_token in [false, true] {
        let registry = Registry::new(true);
        let server = asking(&registry, for_a_token);
        let url = format!("oci://{}/me/model:1", server.address());
        let run = |arguments: &[&str], auth: &str| {
            let auths = format!(r#"{{"auths": {{"{}": {{"auth": "{auth}"}}}}}}"#, server.address());
            place.write("config.json", auths);
            let mut command = place.command(arguments);
            command.env("DOCKER_CONFIG", place.path("")).env("REGISTRY_AUTH_FILE", place.path("none"));
            Ended::of(command.output().unwrap())
        };
        let (user, other) = ("dXNlcjpzZWNyZXQ=", "dXNlcjpvdGhlcg==");
        run(&["push", &url, "score.precast"], user).ok();
        run(&["pull", &url, "--out", "pulled.precast", "--keyring", "precast.keyring"], user).ok();
        assert_eq!(
            fs_err::read(place.path("pulled.precast")).unwrap(),
            fs_err::read(place.path("score.precast")).unwrap()
        );
        for auth in [other, ""] {
            let pull = ["pull", &url, "--out", "other.precast"];
            let ended = run(&pull, auth).fails(1, &["was denied", "hint: run `docker login`"]);
            assert!(!ended.err.contains("other:") && !ended.err.contains("dXNl"), "{}", ended.err);
        }
    }
}

#[test]
fn exchange_token_is_not_sent_itself() {
    let place = Sandbox::new();
    let server = Server::new(|_| (401, Vec::new(), b"who are you?".to_vec()));
    let auths =
        format!(r#"{{"auths": {{"{}": {{"auth": "", "identitytoken": "secret"}}}}}}"#, server.address());
    place.write("config.json", auths);
    let url = format!("oci://{}/me/model:1", server.address());
    let mut pull = place.command(["pull", &url]);
    pull.env("DOCKER_CONFIG", place.path("")).env("REGISTRY_AUTH_FILE", place.path("none"));
    let ended = Ended::of(pull.output().unwrap()).fails(1, &["an identity token", "hint: run `docker login"]);
    // The request is sent without the token, because public data needs none.
    assert!(!ended.err.contains("secret"), "{}", ended.err);
}

#[test]
fn invalid_urls_are_rejected_with_valid_forms() {
    let (place, _) = released();
    for (url, named) in
        [("artifacts", "not a URL"), ("ftp://h/a", "unknown scheme"), ("oci://h", "missing repository")]
    {
        let check = ["check", "--entry", "score", "--remote", url, "--keyring", "precast.keyring"];
        place.run_bare(&check).fails(1, &[named, "hint: use `https://host/path`"]);
    }
    place.run_bare(&["push", "oci://127.0.0.1:1/me/model:1"]).fails(2, &["missing file to push", "hint: "]);
    place.run_bare(&["push", "s3://bucket", "score.precast"]).fails(2, &["expected a store", "hint: "]);
    place
        .run_bare(&["push", "oci://127.0.0.1:1/me/model:1", "alice.pub"])
        .fails(1, &["a public key", "hint: "]);
    for away in [
        &["pull", "oci://127.0.0.1:1/me/model:1"][..],
        &["push", "oci://127.0.0.1:1/me/model:1", "score.precast"],
    ] {
        let ended = place.run_bare(away).fails(1, &["cannot reach"]);
        assert_eq!(ended.hints(), 1, "{}", ended.err);
    }
    place
        .run_bare(&["push", "https://h/a", "--store", "artifacts"])
        .fails(2, &["web servers are read-only", "hint: "]);
}
