//! Remedies in errors about signatures, keys and keyrings: each suits the command that failed.

use crate::release::{SUM, built};
use crate::sandbox::{Ended, Sandbox, args};

const KEYRING: &[&str] = &["--keyring", "precast.keyring"];

/// Builds a signed bundle, and a keyring that trusts `k.key` for releases and `r.key` for keyrings.
fn place() -> Sandbox {
    let place = built(&[SUM]);
    for key in ["k", "r"] {
        place.run_bare(&["keygen", &format!("{key}.key"), "--no-password"]).ok();
    }
    let new = ["trust", "new", "--expires", "2999-01-01", "--release-key", "k.pub", "--keyring-key", "r.pub"];
    place.run_bare(&new).ok();
    place.run_bare(&["sign", "model.precast", "--key", "k.key"]).ok();
    place
}

fn verify(place: &Sandbox, rest: &[&str]) -> Ended {
    place.run_bare(&args(&[&["verify", "model.precast"], rest]))
}

#[test]
fn other_name_and_role_are_named() {
    let place = place();
    place.run_bare(&["sign", "model.precast", "--key", "k.key", "--name", "model@1.4"]).ok();
    let other = verify(&place, &args(&[KEYRING, &["--name", "model@1.5"]])).fails(7, &[]);
    assert!(other.out.contains("model@1.4"), "{}", other.out);
    fs_err::remove_file(place.path("model.precast.minisig")).unwrap();
    place.run_bare(&["sign", "model.precast", "--key", "r.key"]).ok();
    let role = verify(&place, KEYRING).fails(7, &[]);
    assert!(role.out.contains("hint: sign it with a key that may sign releases"), "{}", role.out);
    fs_err::copy(place.path("precast.keyring"), place.path("next")).unwrap();
    place.run_bare(&["trust", "--keyring", "next", "set", "--expires", "2998-01-01"]).ok();
    place.run_bare(&["sign", "next", "--key", "k.key"]).ok();
    place
        .run_bare(&["trust", "update", "next"])
        .fails(7, &["hint: sign it with a key that may sign keyrings"]);
}

#[cfg(unix)]
#[test]
fn unprotected_place_is_named_without_a_circle() {
    let place = place();
    let mode = |path: &str, mode: u32| {
        fs_err::set_permissions(place.path(path), std::os::unix::fs::PermissionsExt::from_mode(mode))
            .unwrap();
    };
    fs_err::create_dir(place.path("open")).unwrap();
    fs_err::copy(place.path("precast.keyring"), place.path("open/precast.keyring")).unwrap();
    mode("open", 0o777);
    let mut command = place.command(["verify", "--store", "../artifacts", "--keyring", "precast.keyring"]);
    let real = fs_err::canonicalize(place.path("open")).unwrap();
    let named = Ended::of(command.current_dir(place.path("open")).output().unwrap());
    named.fails(1, &["is writable by everybody", &format!("`{}`", real.display())]);
    mode("artifacts", 0o777);
    let circle = "sign it and name a keyring";
    place.run_bare(&["ls", "--store", "artifacts"]).fails(1, &[circle, "chmod"]);
    for command in [
        &["sign", "--store", "artifacts", "--key", "k.key"][..],
        &["export", "--out", "a.export", "--key", "k.key"],
        &["release", "create", "m", "--keyring", "precast.keyring"],
        &["release", "create", "m", "--keyring=precast.keyring"],
    ] {
        let ended = place.run_bare(command).fails(1, &["hint: ", "chmod"]);
        assert!(!ended.err.contains(circle), "{}", ended.err);
    }
}

#[test]
fn wrong_files_have_remedies() {
    let place = place();
    verify(&place, &["--keyring", "nowhere"]).fails(1, &["hint: get it from its owner"]);
    place.write("word", "right\n");
    place.write("other", "wrong\n");
    #[cfg(unix)]
    for file in ["word", "other"] {
        fs_err::set_permissions(place.path(file), std::os::unix::fs::PermissionsExt::from_mode(0o600))
            .unwrap();
    }
    place.run_bare(&["keygen", "sealed.key", "--password-file", "word"]).ok();
    let sign = |rest: &[&str]| place.run_bare(&args(&[&["sign", "--key"], rest]));
    let wrong = sign(&["sealed.key", "model.precast", "--password-file", "other"]);
    assert!(!wrong.fails(1, &["hint: ", "first line"]).err.contains("without a terminal"));
    sign(&["k.key", "nowhere.precast"]).fails(1, &["`nowhere.precast` not found", "hint: "]);
    let bundle = fs_err::read(place.path("model.precast")).unwrap();
    place.write("cut.precast", &bundle[..bundle.len() - 1]);
    sign(&["k.key", "cut.precast"]).fails(4, &["bundle `cut.precast` has", "hint: "]);
    let reader = bundle[12] + 1;
    place.write("next.precast", [&bundle[..12], &[reader], &bundle[13..]].concat());
    sign(&["k.key", "next.precast"]).fails(1, &["format", "hint: ", "update precast"]);
    place.run_bare(&["gc", "--dry-run", "model.precast"]).fails(1, &["is a bundle", "hint: "]);
    place
        .run_bare(&["gc", "--dry-run", "k.key"])
        .fails(1, &["is a secret key, expected a manifest", "hint: "]);
    place.run_bare(&["sbom", "k.pub"]).fails(1, &["is a public key, expected a bundle", "hint: "]);
    let dry = place.run_bare(&["gc", "--dry-run", "--grace", "0", "--max-age", "0s"]).ok();
    let wet = place.run_bare(&["gc", "--grace", "0", "--max-age", "0s"]).fails(1, &["pass `--empty`"]);
    let first = wet.err.lines().next().unwrap().strip_prefix("error: ").unwrap();
    assert!(dry.err.contains(first) && dry.err.contains("pass `--empty`"), "{}", dry.err);
    let mute = place.run_bare(&["sign", "model.precast", "--signer", "/bin/true", "--public", "k.pub"]);
    mute.fails(1, &["`/bin/true` printed no minisign signature", "hint: "]);
    verify(&place, &["--lock", "precast.toml"]).fails(2, &["is a manifest, expected a lock file", "hint: "]);
    for command in [
        &["import", "nowhere", "--unsigned"][..],
        &["trust", "--keyring", "new.keyring", "new", "--expires", "2999-01-01", "nowhere"],
        &["trust", "--keyring", "precast.keyring", "update", "nowhere"],
        &["keygen", "nowhere/new.key", "--no-password"],
        &["release", "create", "model", "--entry", "nobody"],
    ] {
        place.run_bare(command).fails(1, &["no", "hint: "]);
    }
    place.run_bare(&["release", "switch", "model=7"]).fails(1, &["available: none", "hint: "]);
}
