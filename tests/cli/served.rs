//! Imports under a keyring: what they bring is served under it, or nothing changes.

use precast_store::Archive;

use crate::release::{DOUBLE, SUM, built};
use crate::sandbox::{ISA, Sandbox, args};

/// Creates keys and keyrings: `one.keyring` with Alice's key, `two.keyring` that both keys must sign.
fn keyed(place: &Sandbox) {
    for name in ["alice", "bob"] {
        place.run_bare(&["keygen", &format!("{name}.key"), "--no-password"]).ok();
    }
    let new = |rest: &[&str]| {
        place.run_bare(&args(&[&["trust", "new", "--expires", "2999-01-01", "--keyring"], rest])).ok();
    };
    new(&["one.keyring", "alice.pub"]);
    new(&["two.keyring", "--threshold", "2", "alice.pub", "bob.pub"]);
}

fn export(place: &Sandbox, out: &str, release: &str) {
    let export = ["export", "--out", out, "--release", release, "--key", "alice.key"];
    place.run_bare(&export).ok();
}

fn import<'a>(file: &'a str, keyring: &'a str, store: &'a str) -> [&'a str; 6] {
    ["import", file, "--keyring", keyring, "--store", store]
}

/// Runs an entry from a store under a keyring; returns the exit code.
fn serve(place: &Sandbox, entry: &str, store: &str, keyring: &str) -> i32 {
    let inputs: &[&str] =
        if entry == "sum" { &["-i", "x=x.npy", "-i", "y=y.npy"] } else { &["-i", "x=x.npy"] };
    let run = ["run", "--entry", entry, "--policy", "strict", "--store", store, "--keyring", keyring];
    place.run_bare(&args(&[&run, inputs])).code
}

#[test]
fn signed_export_of_unsigned_store_is_served() {
    let place = built(&[SUM]);
    keyed(&place);
    export(&place, "one.export", "model=1");
    place.run_bare(&import("one.export", "one.keyring", "prod")).ok();
    assert_eq!(serve(&place, "sum", "prod", "one.keyring"), 0);
    // The next release has a new module, which nobody signed in the store.
    place.write("precast.toml", format!("isa = [\"{ISA}\"]\n{SUM}{DOUBLE}"));
    place.run(&["build"]).ok();
    export(&place, "two.export", "model=2");
    place.run_bare(&args(&[&import("two.export", "one.keyring", "prod"), &["--dry-run"]])).ok();
    place.run_bare(&import("two.export", "one.keyring", "prod")).ok();
    assert_eq!(["sum", "double"].map(|entry| serve(&place, entry, "prod", "one.keyring")), [0, 0]);
    place
        .run_bare(&import("one.export", "one.keyring", "prod"))
        .fails(7, &["the store has release 2 of `model`"]);
    let verify = ["verify", "--store", "prod", "--keyring", "one.keyring"];
    place.run_bare(&verify).ok();
    // The store of the builder has no signatures: the export has them.
    place.run_bare(&["verify", "--store", "artifacts", "--keyring", "one.keyring"]).fails(7, &[]);
}

#[test]
fn each_signer_of_an_export_signs_its_records() {
    let place = built(&[SUM]);
    keyed(&place);
    export(&place, "one.export", "model=1");
    place
        .run_bare(&import("one.export", "two.keyring", "prod"))
        .fails(7, &["`one.export` is not signed by 2 keys"]);
    place.run_bare(&["sign", "one.export", "--key", "bob.key"]).ok();
    // The statement does not cover the signatures that Bob added, so Alice's signature is still valid.
    place.run_bare(&import("one.export", "two.keyring", "prod")).ok();
    assert_eq!(serve(&place, "sum", "prod", "two.keyring"), 0);
}

#[test]
fn import_that_would_not_be_served_changes_nothing() {
    let place = built(&[SUM]);
    keyed(&place);
    export(&place, "one.export", "model=1");
    let bytes = fs_err::read(place.path("one.export")).unwrap();
    let (_, mut archive) = Archive::unpack(&bytes, &precast_store::Limits::default()).unwrap();
    archive.members.retain(|name, _| !name.starts_with("signatures/"));
    place.write("bare.export", archive.pack().unwrap().1);
    let refused = [
        "2 of 2 records and entries would not be used under the keyring",
        "is not signed by 1 key of the keyring: no signature found",
        "hint: export it again with `precast export --key`",
    ];
    for how in [&["--dry-run"][..], &[]] {
        place.run_bare(&args(&[&import("bare.export", "one.keyring", "prod"), how])).fails(7, &refused);
        assert!(!place.path("prod").exists());
    }
    // Signatures that the store has count too.
    place.run_bare(&import("one.export", "one.keyring", "prod")).ok();
    place.run_bare(&import("bare.export", "one.keyring", "prod")).ok();
    assert_eq!(serve(&place, "sum", "prod", "one.keyring"), 0);
}

#[test]
fn unsigned_import_warns_under_keyring_of_environment() {
    let place = built(&[SUM]);
    keyed(&place);
    place.run_bare(&["export", "--out", "plain.export"]).ok();
    let unsigned = ["import", "plain.export", "--unsigned", "--store", "prod"];
    assert_eq!(place.run_bare(&unsigned).ok().warnings(), 0);
    let mut command = place.command(unsigned);
    let output = command.env("PRECAST_KEYRING", "one.keyring").output().unwrap();
    let ended = crate::sandbox::Ended::of(output).ok();
    assert_eq!(ended.warnings(), 1);
    assert!(ended.err.contains("would not be used under the keyring"), "{}", ended.err);
}
