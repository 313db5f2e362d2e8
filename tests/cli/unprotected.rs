//! Places that other users can change: signatures replace owners and modes. Keys that are no private files.

use std::os::unix::fs::{PermissionsExt, lchown};
use std::process::Command;

use crate::elsewhere::released;
use crate::release::files;
use crate::sandbox::{Ended, INPUTS, Sandbox, args};

const KEYRING: &[&str] = &["--keyring", "precast.keyring"];

/// The id of an owner other than root and the user.
const STRANGER: u32 = 12_345;

fn is_root(place: &Sandbox) -> bool {
    std::os::unix::fs::MetadataExt::uid(&fs_err::metadata(place.path("precast.toml")).unwrap()) == 0
}

fn set_mode(place: &Sandbox, name: &str, mode: u32) {
    fs_err::set_permissions(place.path(name), PermissionsExt::from_mode(mode)).unwrap();
}

fn run(place: &Sandbox, layer: &[&str], keyring: &[&str]) -> Ended {
    place.run_bare(&args(&[&["run", "--entry", "score", "--policy", "strict"], INPUTS, layer, keyring]))
}

#[test]
fn signatures_replace_permissions() {
    let (place, _) = released();
    let (bundle, store) = (["--bundle", "score.precast"], ["--store", "artifacts"]);
    let objects = files(&place, "artifacts/objects");
    let open_objects = || {
        let open = |object| fs_err::set_permissions(object, PermissionsExt::from_mode(0o646)).unwrap();
        objects.iter().for_each(open);
    };
    // A run reads the record and the object of the best level only, and no documents.
    let records = files(&place, "artifacts/records");
    let give = |name: &str| lchown(place.path(name), Some(STRANGER), None).unwrap();
    let stranger = || match is_root(&place) {
        true => {
            give("score.precast");
            records.iter().for_each(|record| lchown(record, Some(STRANGER), None).unwrap());
        }
        false => eprintln!("skipped in part: only root can give a file to another user"),
    };
    type Wrong<'a> = (&'a dyn Fn(), &'a [&'a [&'a str]]);
    let wrongs: [Wrong<'_>; 5] = [
        (&|| set_mode(&place, "score.precast", 0o666), &[&bundle]),
        (&open_objects, &[&store]),
        (&|| set_mode(&place, "artifacts/records", 0o2777), &[&store]),
        (&|| set_mode(&place, "artifacts", 0o777), &[&store]),
        (&stranger, &[&bundle, &store]),
    ];
    for (wrong, layers) in wrongs {
        wrong();
        for layer in layers {
            run(&place, layer, &[]).fails(1, &["cannot trust `", "or sign it and name a keyring"]);
            run(&place, layer, KEYRING).ok();
            for command in ["doctor", "verify"] {
                place.run_bare(&args(&[&[command], layer])).fails(1, &[]);
                place.run_bare(&args(&[&[command], layer, KEYRING])).ok();
            }
            place.run_bare(&args(&[&["ls"], layer, KEYRING])).ok();
        }
    }
    // Only readers: a build into the store checks its permissions.
    place.run(&["build"]).fails(1, &["cannot trust `"]);
}

#[test]
fn changed_bytes_are_rejected_without_permissions() {
    let (place, _) = released();
    set_mode(&place, "score.precast", 0o666);
    let bytes = fs_err::read(place.path("score.precast")).unwrap();
    let mut changed = bytes.clone();
    *changed.last_mut().unwrap() ^= 1;
    fs_err::write(place.path("score.precast"), changed).unwrap();
    run(&place, &["--bundle", "score.precast"], KEYRING).fails(7, &["is not signed by 1 key"]);
    // Nothing is moved in a store that others can write to: a path may lead to another file by then.
    set_mode(&place, "artifacts", 0o777);
    for object in files(&place, "artifacts/objects") {
        fs_err::set_permissions(&object, PermissionsExt::from_mode(0o666)).unwrap();
        let mut bytes = fs_err::read(&object).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs_err::write(&object, bytes).unwrap();
    }
    let before = files(&place, "artifacts");
    let ended = run(&place, &["--store", "artifacts"], KEYRING).fails(3, &["is damaged and was skipped"]);
    assert!(!ended.err.contains("moved to"), "{}", ended.err);
    assert_eq!(files(&place, "artifacts"), before);
    // A link is a fault under a keyring too.
    fs_err::create_dir(place.path("elsewhere")).unwrap();
    for record in files(&place, "artifacts/records") {
        let moved = place.path("elsewhere").join(record.file_name().unwrap());
        fs_err::rename(&record, &moved).unwrap();
        std::os::unix::fs::symlink(moved, record).unwrap();
    }
    run(&place, &["--store", "artifacts"], KEYRING).fails(1, &["is a link"]);
}

#[test]
fn linked_bundle_uses_signatures_of_its_target() {
    let (place, _) = released();
    fs_err::create_dir(place.path("releases")).unwrap();
    for name in ["score.precast", "score.precast.minisig"] {
        fs_err::rename(place.path(name), place.path("releases").join(name)).unwrap();
    }
    std::os::unix::fs::symlink("releases/score.precast", place.path("current")).unwrap();
    run(&place, &["--bundle", "current"], KEYRING).ok();
    // Signatures next to the link do not hide them.
    place.write("current.minisig", "");
    run(&place, &["--bundle", "current"], KEYRING).ok();
    // They count if the target has none, and a new signature is written next to the target.
    fs_err::rename(place.path("releases/score.precast.minisig"), place.path("current.minisig")).unwrap();
    run(&place, &["--bundle", "current"], KEYRING).ok();
    place.run_bare(&["keygen", "other.key", "--no-password"]).ok();
    place.run_bare(&["sign", "current", "--key", "other.key"]).ok();
    fs_err::remove_file(place.path("current.minisig")).unwrap();
    for bundle in ["current", "releases/score.precast"] {
        run(&place, &["--bundle", bundle], KEYRING).ok();
    }
    assert!(!place.path("current.minisig").exists());
}

#[test]
fn hints_for_user_namespaces_can_be_followed() {
    let (place, _) = released();
    if !is_root(&place) || !Command::new("unshare").args(["-U", "true"]).status().is_ok_and(|s| s.success()) {
        return eprintln!("skipped: only root can give a file to another user and create a user namespace");
    }
    for file in ["score.precast", "precast.keyring"] {
        lchown(place.path(file), Some(STRANGER), None).unwrap();
    }
    let inside = |layer: &[&str], keyring: &[&str]| {
        let mut command = Command::new("unshare");
        command.args(["-U", "--map-user=1000", env!("CARGO_BIN_EXE_precast"), "run", "--entry", "score"]);
        command
            .args(["--policy", "strict"])
            .args(INPUTS)
            .args(layer)
            .args(keyring)
            .current_dir(place.path(""));
        Ended::of(command.output().unwrap())
    };
    let bundle = ["--bundle", "score.precast"];
    let hint = ["belongs to user 65534", "has no user in this user namespace: `cp -R '", "name a keyring"];
    inside(&bundle, &[]).fails(1, &hint);
    // A keyring cannot be signed by itself. Its hint is to copy it, and works.
    inside(&bundle, KEYRING).fails(1, &["keyring", "has no user in this user namespace: `cp -R '"]);
    fs_err::copy(place.path("precast.keyring"), place.path("own.keyring")).unwrap();
    inside(&bundle, &["--keyring", "own.keyring"]).ok();
}

#[test]
fn keys_come_from_descriptors() {
    let (place, _) = released();
    place.write("word", "a word\n");
    set_mode(&place, "word", 0o600);
    place.run_bare(&["keygen", "sealed.key", "--password-file", "word"]).ok();
    for name in ["alice.key", "sealed.key", "word"] {
        set_mode(&place, name, 0o444);
    }
    let open = ["sign", "score.precast", "--key", "alice.key"];
    place
        .run_bare(&open)
        .fails(1, &["`alice.key` is readable by other users", "hint: run `chmod 600", "`-` as its name"]);
    let shell = |line: &str| {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("precast() {{ '{}' \"$@\"; }}; {line}", env!("CARGO_BIN_EXE_precast"))]);
        Ended::of(command.current_dir(place.path("")).output().unwrap())
    };
    for line in [
        "precast sign score.precast --key - < alice.key",
        "cat alice.key | precast sign score.precast --key -",
        "precast sign score.precast --key /dev/fd/3 3< alice.key",
        "precast sign score.precast --key /dev/fd/3 --password-file - 3< sealed.key < word",
        "precast export --out a.export --key - < alice.key",
    ] {
        shell(line).ok();
    }
    // A key without the name of a file is named by its id.
    let line = fs_err::read_to_string(place.path("alice.pub")).unwrap();
    let id = line.lines().next().unwrap().split_whitespace().last().unwrap().to_owned();
    let told = shell("precast sign score.precast --key - < alice.key").ok().out;
    assert!(id.len() == 16 && told.contains(&format!("by `{id}`")), "{id}: {told}");
    shell("printf %s \"$SIGNING_KEY\" | precast sign score.precast --key -")
        .fails(1, &["is the variable empty?"]);
    shell("precast sign score.precast --key - < /dev/zero").fails(1, &["too long for a secret"]);
    shell("precast sign score.precast --key - < precast.toml").fails(1, &["expected a secret key"]);
    place.run_bare(&args(&[&["verify", "--bundle", "score.precast"], KEYRING])).ok();
}

#[test]
fn programs_sign() {
    let (place, _) = released();
    place.run(&["build", "--bundle", "other.precast", "--passes", "none"]).ok();
    let script = |name: &str, text: &str| {
        place.write(name, format!("#!/bin/sh\n{text}\n"));
        set_mode(&place, name, 0o755);
    };
    let precast = env!("CARGO_BIN_EXE_precast");
    script("token", &format!("'{precast}' sign \"$1\" --key alice.key >&2 && cat \"$1.minisig\""));
    script("liar", "cat score.precast.minisig");
    script("broken", "exit 3");
    let sign = |program: &str| {
        place.run_bare(&[
            "sign",
            "other.precast",
            "--store",
            "artifacts",
            "--signer",
            program,
            "--public",
            "alice.pub",
        ])
    };
    let mut command = place.command(["sign", "other.precast", "--store", "artifacts"]);
    command.args(["--signer", "./token", "--public", "alice.pub"]);
    Ended::of(command.output().unwrap()).ok();
    place.run_bare(&args(&[&["verify", "--bundle", "other.precast", "--store", "artifacts"], KEYRING])).ok();
    sign("./broken").fails(1, &["the signer `./broken` failed", "exit status: 3"]);
    sign("./missing").fails(1, &["the signer `./missing` failed"]);
    let mut command = place.command(["sign", "other.precast", "--signer", "./liar", "--public", "alice.pub"]);
    Ended::of(command.env("PATH", "/usr/bin:/bin").output().unwrap())
        .fails(1, &["`alice` did not sign these bytes"]);
    // The signature states the name that was asked for.
    script(
        "named",
        &format!("'{precast}' sign \"$1\" --key alice.key --name model@1 >&2 && cat \"$1.minisig\""),
    );
    let named = |program: &str, name: &str| {
        let sign = ["sign", "other.precast", "--name", name, "--public", "alice.pub", "--signer", program];
        Ended::of(place.command(sign).output().unwrap())
    };
    named("./named", "model@1").ok();
    for (program, name) in [("./named", "model@2"), ("./token", "model@1")] {
        named(program, name).fails(1, &["did not sign the name", name, "hint: "]);
    }
    place.run_bare(&["verify", "other.precast", "--name", "model@1", "--keyring", "precast.keyring"]).ok();
    let both = ["sign", "other.precast", "--key", "alice.key", "--public", "alice.pub"];
    place.run_bare(&both).fails(2, &["--public"]);
    place.run_bare(&["sign", "other.precast"]).fails(2, &["--key"]);
    place.run_bare(&["sign", "other.precast", "--signer", "./token"]).fails(2, &["--public"]);
}
