//! Provenance that other programs sign, and that travels with a release.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use precast_testkit::servers::Registry;
use serde_json::Value;

use crate::document::blocks;
use crate::release::{DOUBLE, SUM, built};
use crate::sandbox::{Ended, ISA, Sandbox, args};

const BUILDER: &str = "https://ci.example.org/release";

/// Creates a signed bundle `b.precast` with a statement about it, and the keyring.
fn stated() -> Sandbox {
    let place = built(&[SUM]);
    place.run(&["build", "--builder", BUILDER, "--store", "stated", "--bundle", "b.precast"]).ok();
    place.run_bare(&["keygen", "alice.key", "--no-password"]).ok();
    place.run_bare(&["trust", "new", "--expires", "2999-01-01", "alice.pub"]).ok();
    place.run_bare(&["sign", "b.precast", "--key", "alice.key"]).ok();
    place
}

fn attest(place: &Sandbox) -> Ended {
    place.run_bare(&["sign", "--dsse", "b.precast.provenance.json", "--key", "alice.key"])
}

fn verify(place: &Sandbox, bundle: &str) -> Ended {
    let verify = ["verify", "--bundle", bundle, "--keyring", "precast.keyring", "--provenance"];
    place.run_bare(&args(&[&verify, &["--builder", BUILDER]]))
}

fn script(place: &Sandbox, name: &str, text: &str) {
    place.write(name, format!("#!/bin/sh\n{text}\n"));
    fs_err::set_permissions(place.path(name), PermissionsExt::from_mode(0o755)).unwrap();
}

#[test]
fn link_has_the_statement_of_its_target() {
    let place = stated();
    attest(&place).ok();
    std::os::unix::fs::symlink("b.precast", place.path("link.precast")).unwrap();
    verify(&place, "link.precast").ok();
}

/// The key stays with the program `minisign`, which signs the bytes of the file in its legacy format.
#[test]
fn minisign_signs_envelopes() {
    if Command::new("minisign").arg("-v").output().is_err() {
        return eprintln!("skipped: no minisign");
    }
    let place = stated();
    let page = blocks("crates/cli/RELEASING.md");
    let shown = page.iter().find(|block| block.language == "sh").unwrap();
    let shown = shown.text.replace("token.key", "alice.key");
    script(&place, "hashed", &shown);
    script(&place, "legacy", &shown.replace("-S -s", "-S -l -s"));
    script(&place, "forgetful", "minisign -S -s alice.key -m \"$1\" -t other -x sig >&2 && cat sig");
    let sign = |program: &str, rest: &[&str]| {
        let mut command = place.command(args(&[&["sign"], rest]));
        command.args(["--signer", program, "--public", "alice.pub"]);
        Ended::of(command.env("PATH", std::env::var_os("PATH").unwrap()).output().unwrap())
    };
    let dsse = ["--dsse", "b.precast.provenance.json"];
    sign("./legacy", &dsse).ok();
    verify(&place, "b.precast").ok();
    let envelope = || fs_err::read(place.path("b.precast.intoto.jsonl")).unwrap();
    let by_program = envelope();
    // Ed25519 is deterministic: the key itself gives the same envelope.
    fs_err::remove_file(place.path("b.precast.intoto.jsonl")).unwrap();
    attest(&place).ok();
    assert_eq!(envelope(), by_program);
    sign("./hashed", &dsse).fails(1, &["signed the hash of the envelope", "hint: ", "minisign -S -l"]);
    assert_eq!(envelope(), by_program);
    // Both forms sign files, with the day of expiry.
    let expires = ["b.precast", "--expires", "2999-01-01"];
    for program in ["./hashed", "./legacy"] {
        sign(program, &expires).ok();
        let text = fs_err::read_to_string(place.path("b.precast.minisig")).unwrap();
        assert!(text.contains("\texpires:2999-01-01\n"), "{text}");
        verify(&place, "b.precast").ok();
    }
    sign("./forgetful", &expires).fails(1, &["did not sign the expiry date 2999-01-01", "hint: "]);
}

#[test]
fn invalid_signers_of_envelopes_are_rejected() {
    let place = stated();
    let legacy = "untrusted comment: x\nRWToO9px9PVr5Y9B/0E2Z1BhxX3j0XdA9EWumji7Dmb4dbeJxHn/erWjaWPK1ruaWZ7G3EW6kmB6QSQhyo9yfNziHS+nfw3veAE=";
    script(&place, "liar", &format!("printf '{}\\n'", legacy.replace('\n', "\\n")));
    script(&place, "silent", "exit 0");
    script(&place, "broken", "exit 3");
    for (program, said) in [
        ("./liar", "the signature is not by `alice` for this statement"),
        ("./silent", "printed no minisign signature"),
        ("./broken", "exit status: 3"),
    ] {
        let mut command = place.command(["sign", "--dsse", "b.precast.provenance.json"]);
        command.args(["--signer", program, "--public", "alice.pub"]);
        Ended::of(command.env("PATH", "/usr/bin:/bin").output().unwrap()).fails(1, &[said]);
        assert!(!place.path("b.precast.intoto.jsonl").exists());
    }
}

#[test]
fn provenance_travels_with_a_release() {
    let place = stated();
    for lists_referrers in [false, true] {
        let registry = Registry::new(lists_referrers);
        let url = registry.url("me/model:1");
        let _ = fs_err::remove_file(place.path("b.precast.intoto.jsonl"));
        let push = |rest: &[&str]| place.run_bare(&args(&[&["push", &url, "b.precast", "--json"], rest]));
        push(&["--provenance"]).fails(1, &["cannot read the provenance of `b.precast`", "hint: "]);
        attest(&place).ok();
        assert_eq!(push(&[]).ok().json()["attached"], 1);
        let pull = |out: &str| {
            let pull = ["pull", &url, "--out", out, "--keyring", "precast.keyring", "--json"];
            place.run_bare(&pull).ok().json()["provenance"].clone()
        };
        // A pull without provenance removes an envelope about another file, and keeps other files.
        assert_eq!(pull("there.precast"), false);
        place.write("there.precast.intoto.jsonl", "{}");
        pull("there.precast");
        assert!(place.path("there.precast.intoto.jsonl").exists());
        // Of several envelopes, one that enough keys signed is chosen.
        let envelope = fs_err::read_to_string(place.path("b.precast.intoto.jsonl")).unwrap();
        let mut unsigned: Value = serde_json::from_str(&envelope).unwrap();
        unsigned["signatures"] = serde_json::json!([]);
        for text in [envelope.clone(), unsigned.to_string()] {
            place.write("b.precast.intoto.jsonl", text);
            assert_eq!(push(&["--provenance"]).ok().json()["attached"], 2);
        }
        assert_eq!(pull("there.precast"), true);
        assert_eq!(fs_err::read_to_string(place.path("there.precast.intoto.jsonl")).unwrap(), envelope);
        verify(&place, "there.precast").ok();
        place.write("b.precast.intoto.jsonl", &envelope);
        let types: Vec<String> = {
            let contents = registry.contents.lock().unwrap();
            let manifests = contents.manifests.values();
            let types = manifests.filter_map(|(_, body)| {
                let body: Value = serde_json::from_slice(body).ok()?;
                body["artifactType"].as_str().map(str::to_owned)
            });
            types.collect()
        };
        assert!(types.iter().any(|found| found == "application/vnd.dsse.envelope.v1+json"), "{types:?}");
    }
    // An envelope about another file is not pushed.
    place.write("other.toml", format!("isa = [\"{ISA}\"]\n{DOUBLE}"));
    place.run(&["build", "other.toml", "--store", "other", "--bundle", "other.precast"]).ok();
    fs_err::copy(place.path("b.precast.intoto.jsonl"), place.path("other.precast.intoto.jsonl")).unwrap();
    let url = Registry::new(false).url("me/model:1");
    place
        .run_bare(&["push", &url, "other.precast", "--provenance"])
        .fails(1, &["`other.precast.intoto.jsonl` is about another file", "hint: "]);
}

/// A release that is signed again each day has more lists of signatures than readers read. The newest are read.
#[test]
fn newest_signatures_of_a_release_are_read() {
    use minisign::{KeyPair, sign};
    let place = stated();
    let pair = KeyPair::generate_unencrypted_keypair().unwrap();
    place.write("k.pub", pair.pk.to_box().unwrap().into_string());
    place.run_bare(&["trust", "--keyring", "k.keyring", "new", "--expires", "2999-01-01", "k.pub"]).ok();
    let bytes = fs_err::read(place.path("b.precast")).unwrap();
    for lists_referrers in [false, true] {
        let registry = Registry::new(lists_referrers);
        let url = registry.url("me/model:1");
        for day in 0..70 {
            let expires = if day == 69 { "2999-01-01" } else { "2020-01-01" };
            let comment =
                format!("timestamp:{}\tfile:b\thashed\texpires:{expires}", 1_700_000_000 + day * 86_400);
            let signature = sign(None, &pair.sk, &*bytes, Some(&comment), None).unwrap().into_string();
            place.write("b.precast.minisig", signature);
            place.run_bare(&["push", &url, "b.precast"]).ok();
        }
        place.run_bare(&["pull", &url, "--out", "there.precast", "--keyring", "k.keyring"]).ok();
    }
}
