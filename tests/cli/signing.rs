//! Keys, signatures and keyrings on the command line: who may say what runs.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use crate::release::built;
use crate::sandbox::{Ended, Sandbox, args};

const SUM: &str =
    "[[graph]]\nname = \"sum\"\ninputs = [\"x: f64[?]\", \"y: f64[?]\"]\noutputs = [\"out = x + y\"]\n";

fn signers(place: &Sandbox) {
    for name in ["alice", "bob", "mallory"] {
        place.run_bare(&["keygen", &format!("{name}.key"), "--no-password"]).ok();
    }
    let new = ["trust", "new", "--threshold", "2", "--expires", "2999-01-01", "alice.pub", "bob.pub"];
    place.run_bare(&new).ok();
}

fn sign(place: &Sandbox, who: &str, what: &[&str]) -> Ended {
    place.run_bare(&args(&[&["sign", "--key", &format!("{who}.key")], what]))
}

fn strict(place: &Sandbox, layer: &[&str]) -> Ended {
    let run = ["run", "--policy", "strict", "--entry", "sum", "-i", "x=x.npy", "-i", "y=y.npy"];
    place.run_bare(&args(&[&run, &["--keyring", "precast.keyring"], layer]))
}

#[test]
fn a_bundle_runs_once_enough_keys_have_signed_it() {
    let place = built(&[SUM]);
    signers(&place);
    let bundle = &["--bundle", "model.precast"];
    strict(&place, bundle)
        .fails(7, &["`model.precast` is not signed by 2 keys of the keyring: there is no signature"]);
    sign(&place, "mallory", &["model.precast"]).ok();
    sign(&place, "alice", &["model.precast"]).ok();
    sign(&place, "alice", &["model.precast"]).ok();
    strict(&place, bundle).fails(7, &["1 of them did, `alice`", "one is by a key that is not listed"]);
    let keyring = &["--keyring", "precast.keyring"];
    let verify = || place.run_bare(&args(&[&["verify"], bundle, keyring]));
    assert!(verify().fails(7, &[]).out.contains("everything is whole, but not all of it is signed"));
    sign(&place, "bob", &["model.precast"]).ok();
    strict(&place, bundle).ok();
    assert!(verify().ok().out.contains("signed by alice, bob"));
    // As the environment says it.
    let mut command =
        place.command(["run", "--policy", "strict", "--entry", "sum", "-i", "x=x.npy", "-i", "y=y.npy"]);
    command.args(bundle).env("PRECAST_KEYRING", "missing.keyring");
    Ended::of(command.output().unwrap()).fails(1, &["missing.keyring"]);
    // What was revoked counts no more, whoever signed before.
    place.run_bare(&["trust", "revoke", "bob"]).fails(1, &["the threshold is 2, and 1 keys may sign"]);
    place.run_bare(&["trust", "add", "mallory.pub"]).ok();
    place.run_bare(&["trust", "revoke", "bob"]).ok();
    strict(&place, bundle).ok();
    place.run_bare(&["trust", "revoke", "alice.pub"]).fails(1, &[]);
    let shown = place.run_bare(&["trust", "show", "--json"]).ok().json();
    assert_eq!((&shown["version"], &shown["revoked"][0]["name"]), (&3.into(), &"bob".into()));
    place.run_bare(&["trust", "set", "--expires", "2020-01-01"]).ok();
    strict(&place, bundle).fails(7, &["expired on 2020-01-01", "hint: "]);
    place.run_bare(&["trust", "show"]).fails(7, &[]);
}

#[test]
fn a_store_serves_what_enough_keys_have_signed() {
    let place = built(&[SUM]);
    signers(&place);
    let store = &["--store", "artifacts"];
    let refused =
        strict(&place, store).fails(7, &["not signed by 2 keys of the keyring", "hint: `precast sign"]);
    // Once, and no word of what would mend a miss.
    assert_eq!(refused.err.matches("warning: ").count(), 1, "{}", refused.err);
    assert!(!refused.err.contains("precast build"), "{}", refused.err);
    let check = args(&[&["check", "--entry", "sum", "--keyring", "precast.keyring"], store]);
    place.run_bare(&check).fails(7, &["not signed by 2 keys", "hint: `precast sign"]);
    for who in ["alice", "bob"] {
        let said = sign(&place, who, store).ok();
        assert!(said.out.contains("2 records and entries"), "{}", said.out);
    }
    strict(&place, store).ok();
    place.run_bare(&args(&[&["verify", "--keyring", "precast.keyring"], store])).ok();
    place.run_bare(&["gc", "--grace", "0", "precast.toml"]).ok();
    strict(&place, store).ok();
    // What is built later is not signed yet.
    place.write(
        "precast.toml",
        format!("isa = [\"{}\"]\n{}", crate::sandbox::ISA, SUM.replace("x + y", "x - y")),
    );
    place.run(&["build"]).ok();
    strict(&place, store).fails(7, &["not signed by 2 keys"]);
    place.run_bare(&args(&[&["verify", "--keyring", "precast.keyring"], store])).fails(7, &[]);
}

#[test]
fn a_keyring_is_replaced_by_one_that_its_own_keys_have_signed() {
    let place = built(&[SUM]);
    signers(&place);
    let trust =
        |keyring: &str, rest: &[&str]| place.run_bare(&args(&[&["trust", "--keyring", keyring], rest]));
    fs_err::copy(place.path("precast.keyring"), place.path("next")).unwrap();
    trust("next", &["add", "mallory.pub"]).ok();
    trust("precast.keyring", &["update", "next"]).fails(7, &["there is no signature"]);
    sign(&place, "alice", &["next"]).ok();
    sign(&place, "mallory", &["next"]).ok();
    trust("precast.keyring", &["update", "next"]).fails(7, &["1 of them did, `alice`"]);
    sign(&place, "bob", &["next"]).ok();
    trust("precast.keyring", &["update", "next"]).ok();
    assert_eq!(
        fs_err::read(place.path("next")).unwrap(),
        fs_err::read(place.path("precast.keyring")).unwrap()
    );
    trust("precast.keyring", &["update", "next"]).fails(7, &["only a later one may take its place"]);
}

#[test]
fn keys_are_kept_safe_and_never_overwritten() {
    let place = Sandbox::new();
    place.write("message", "bytes");
    place.run_bare(&["keygen", "k.key", "--no-password"]).ok();
    let mode = |name: &str| fs_err::metadata(place.path(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("k.key"), 0o600);
    let before = fs_err::read(place.path("k.key")).unwrap();
    place.run_bare(&["keygen", "k.key", "--no-password"]).fails(1, &["`k.key` is there already"]);
    place.run_bare(&["keygen", "k.pub", "--no-password"]).fails(1, &["is there already"]);
    assert_eq!(fs_err::read(place.path("k.key")).unwrap(), before);
    fs_err::set_permissions(place.path("k.key"), Permissions::from_mode(0o644)).unwrap();
    sign(&place, "k", &["message"]).fails(1, &["can be read by others", "chmod 600"]);
    fs_err::set_permissions(place.path("k.key"), Permissions::from_mode(0o600)).unwrap();
    place.run_bare(&["sign", "--key", "k.pub", "message"]).fails(1, &[]);
    place.run_bare(&["sign", "--key", "k.key"]).fails(2, &[]);
    place.run_bare(&["sign", "--key", "k.key", "missing"]).fails(1, &["missing"]);
    assert!(!place.path("message.minisig").exists());
}

#[test]
fn minisign_and_precast_read_each_others_keys_and_signatures() {
    let place = built(&[SUM]);
    let minisign = |arguments: &[&str]| {
        Command::new("minisign")
            .args(arguments)
            .current_dir(place.path(""))
            .stdin(std::process::Stdio::null())
            .output()
    };
    if minisign(&["-v"]).is_err() {
        eprintln!("skipped: no `minisign` here");
        return;
    }
    let ok = |arguments: &[&str]| {
        let output = minisign(arguments).unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
    };
    place.run_bare(&["keygen", "ours.key", "--no-password"]).ok();
    sign(&place, "ours", &["model.precast"]).ok();
    ok(&["-V", "-p", "ours.pub", "-m", "model.precast"]);
    fs_err::remove_file(place.path("model.precast.minisig")).unwrap();
    // Its key without a password, and ours, sign with either program.
    ok(&["-G", "-W", "-p", "theirs.pub", "-s", "theirs.key"]);
    ok(&["-S", "-s", "theirs.key", "-m", "model.precast"]);
    place.run_bare(&["trust", "new", "--expires", "2999-01-01", "theirs.pub"]).ok();
    strict(&place, &["--bundle", "model.precast"]).ok();
    sign(&place, "theirs", &["model.precast"]).ok();
    ok(&["-V", "-p", "theirs.pub", "-m", "model.precast"]);
    strict(&place, &["--bundle", "model.precast"]).ok();
    ok(&["-S", "-s", "ours.key", "-m", "precast.toml"]);
    ok(&["-V", "-p", "ours.pub", "-m", "precast.toml"]);
}

#[test]
fn an_export_is_carried_to_where_nothing_else_is_and_verified_there() {
    let place = built(&[SUM]);
    signers(&place);
    for who in ["alice", "bob"] {
        sign(&place, who, &["--store", "artifacts"]).ok();
    }
    place.run_bare(&["export", "--out", "release.export", "--key", "alice.key"]).ok();
    let import =
        |file: &str, rest: &[&str]| place.run_bare(&args(&[&["import", file, "--store", "offline"], rest]));
    let keyring = &["--keyring", "precast.keyring"];
    import("release.export", &[]).fails(2, &["whose signatures", "hint: `--keyring FILE`"]);
    import("release.export", keyring).fails(7, &["not signed by 2 keys", "1 of them did, `alice`"]);
    assert!(!place.path("offline").exists());
    sign(&place, "bob", &["release.export"]).ok();
    import("release.export", &args(&[keyring, &["--dry-run"]])).ok();
    assert!(!place.path("offline").exists());
    let done = import("release.export", keyring).ok();
    assert!(done.out.contains("1 entry, 1 record, 1 new, signed by alice, bob"), "{}", done.out);
    // The signatures of its records and entries came with it.
    strict(&place, &["--store", "offline"]).ok();
    place.run_bare(&["verify", "--store", "offline", "--keyring", "precast.keyring"]).ok();
    // Damage, and another content under the same signatures.
    let whole = fs_err::read(place.path("release.export")).unwrap();
    for at in (0..whole.len()).step_by(whole.len() / 40) {
        let mut flipped = whole.clone();
        flipped[at] ^= 1;
        place.write("flipped.export", &flipped);
        // Some bits of the compressed frame mean nothing: what comes out is the same then.
        let ended = import("flipped.export", keyring);
        if ended.code != 0 {
            ended.fails(4, &["cannot import `flipped.export`"]);
        }
        strict(&place, &["--store", "offline"]).ok();
        place.write("cut.export", &whole[..at]);
        import("cut.export", keyring).fails(4, &["cannot import `cut.export`"]);
    }
    place.run_bare(&["export", "--out", "unknown.export", "--entry", "nobody"]).fails(1, &["it has: sum"]);
    place.run_bare(&["export", "--out", "one.export", "--entry", "sum"]).ok();
    import("one.export", keyring).fails(7, &["there is no signature"]);
    import("one.export", &["--unsigned"]).ok();
}
