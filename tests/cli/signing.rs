//! Keys, signatures and keyrings on the command line.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use precast_store::Store;

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
fn bundle_runs_with_enough_signatures() {
    let place = built(&[SUM]);
    signers(&place);
    let bundle = &["--bundle", "model.precast"];
    strict(&place, bundle)
        .fails(7, &["`model.precast` is not signed by 2 keys of the keyring: no signature found", "hint: "]);
    place.run_bare(&["export", "--out", "model.export"]).ok();
    let import = ["import", "model.export", "--keyring", "precast.keyring", "--store", "offline"];
    place.run_bare(&import).fails(7, &["no signature found", "hint: "]);
    sign(&place, "mallory", &["model.precast"]).ok();
    sign(&place, "alice", &["model.precast"]).ok();
    sign(&place, "alice", &["model.precast"]).ok();
    let unlisted = ["found 1, by `alice`", "one is by an unlisted key", "hint: sign it with a key"];
    strict(&place, bundle).fails(7, &unlisted);
    let keyring = &["--keyring", "precast.keyring"];
    let verify = || place.run_bare(&args(&[&["verify", "--json"], bundle, keyring]));
    let signed = |ended: Ended| {
        let value = ended.json();
        (value["whole"].clone(), value["signed"].clone(), value["layers"][0]["signed by"].clone())
    };
    let store = place.run_bare(&args(&[&["verify", "--store", "artifacts"], keyring])).fails(7, &[]);
    assert_eq!(store.out.matches("hint: ").count(), 1, "{}", store.out);
    let (whole, is_signed, _) = signed(verify().fails(7, &[]));
    assert_eq!((whole, is_signed), (true.into(), false.into()));
    // `doctor` checks signatures whether or not it reads all files.
    let doctor = |layer: &[&str]| place.run_bare(&args(&[&["doctor", "--json"], layer, keyring]));
    let problem = |ended: Ended| ended.fails(7, &[]).json()["layers"][0]["problems"].to_string();
    assert!(problem(doctor(bundle)).contains("found 1, by `alice`"));
    assert!(problem(doctor(&["--store", "artifacts"])).contains("no signature found"));
    sign(&place, "bob", &["model.precast"]).ok();
    strict(&place, bundle).ok();
    assert_eq!(signed(verify().ok()), (true.into(), true.into(), "alice, bob".into()));
    assert_eq!(doctor(bundle).ok().json()["layers"][0]["signed by"], "alice, bob");
    // The keyring from the environment.
    let mut command =
        place.command(["run", "--policy", "strict", "--entry", "sum", "-i", "x=x.npy", "-i", "y=y.npy"]);
    command.args(bundle).env("PRECAST_KEYRING", "missing.keyring");
    Ended::of(command.output().unwrap()).fails(1, &["missing.keyring"]);
    // A signature of a revoked key does not count, even if it was made before.
    place.run_bare(&["trust", "revoke", "bob"]).fails(1, &["invalid threshold 2 for 1 usable key"]);
    place.run_bare(&["trust", "add", "mallory.pub"]).ok();
    place.run_bare(&["trust", "revoke", "bob"]).ok();
    strict(&place, bundle).ok();
    place.run_bare(&["trust", "revoke", "alice.pub"]).fails(1, &[]);
    let shown = place.run_bare(&["trust", "show", "--json"]).ok().json();
    assert_eq!((&shown["version"], &shown["revoked"][0]["name"]), (&3.into(), &"bob".into()));
    for past in [&["set", "--expires", "2020-01-01"][..], &["new", "--expires", "2020-01-01", "alice.pub"]] {
        let trust =
            args(&[&["trust", "--keyring", if past[0] == "new" { "past" } else { "precast.keyring" }], past]);
        place.run_bare(&trust).fails(1, &["invalid expiry date 2020-01-01", "hint: "]);
    }
    let text = fs_err::read_to_string(place.path("precast.keyring")).unwrap();
    place.write("precast.keyring", text.replace("2999-01-01", "2020-01-01"));
    strict(&place, bundle).fails(7, &["expired on 2020-01-01", "hint: "]);
    place.run_bare(&["trust", "show"]).fails(7, &[]);
}

#[test]
fn store_serves_modules_with_enough_signatures() {
    let place = built(&[SUM]);
    signers(&place);
    let store = &["--store", "artifacts"];
    let refused =
        strict(&place, store).fails(7, &["not signed by 2 keys of the keyring", "hint: sign the store"]);
    // The error is printed once, without the hints for a miss.
    assert_eq!((refused.warnings(), refused.hints()), (1, 1), "{}", refused.err);
    let check = args(&[&["check", "--entry", "sum", "--keyring", "precast.keyring"], store]);
    place.run_bare(&check).fails(7, &["not signed by 2 keys", "hint: sign the store"]);
    for who in ["alice", "bob"] {
        sign(&place, who, store).ok();
    }
    strict(&place, store).ok();
    place.run_bare(&args(&[&["verify", "--keyring", "precast.keyring"], store])).ok();
    place.run_bare(&["gc", "--grace", "0", "precast.toml"]).ok();
    strict(&place, store).ok();
    // A later build is not signed yet.
    place.write(
        "precast.toml",
        format!("isa = [\"{}\"]\n{}", crate::sandbox::ISA, SUM.replace("x + y", "x - y")),
    );
    place.run(&["build"]).ok();
    strict(&place, store).fails(7, &["not signed by 2 keys"]);
    place.run_bare(&args(&[&["verify", "--keyring", "precast.keyring"], store])).fails(7, &[]);
}

#[test]
fn signed_keyring_replaces_its_predecessor() {
    let place = built(&[SUM]);
    signers(&place);
    let trust =
        |keyring: &str, rest: &[&str]| place.run_bare(&args(&[&["trust", "--keyring", keyring], rest]));
    for copy in ["first", "next"] {
        fs_err::copy(place.path("precast.keyring"), place.path(copy)).unwrap();
    }
    trust("next", &["add", "mallory.pub"]).ok();
    trust("precast.keyring", &["update", "next"]).fails(7, &["no signature found"]);
    sign(&place, "alice", &["next"]).ok();
    sign(&place, "mallory", &["next"]).ok();
    trust("precast.keyring", &["update", "next"]).fails(7, &["found 1, by `alice`"]);
    sign(&place, "bob", &["next"]).ok();
    trust("precast.keyring", &["update", "next"]).ok();
    assert_eq!(
        fs_err::read(place.path("next")).unwrap(),
        fs_err::read(place.path("precast.keyring")).unwrap()
    );
    trust("precast.keyring", &["update", "next"]).ok();
    for signer in ["alice", "bob"] {
        sign(&place, signer, &["first"]).ok();
    }
    trust("precast.keyring", &["update", "first"]).fails(7, &["expected a newer version"]);
}

#[test]
fn keys_are_private_and_never_overwritten() {
    let place = Sandbox::new();
    place.write("message", "bytes");
    place.run_bare(&["keygen", "k.key", "--no-password"]).ok();
    let mode = |name: &str| fs_err::metadata(place.path(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("k.key"), 0o600);
    let before = fs_err::read(place.path("k.key")).unwrap();
    place.run_bare(&["keygen", "k.key", "--no-password"]).fails(1, &["`k.key` already exists"]);
    let named = ["`k.pub` is a name for a public key", "hint: ", "`precast keygen 'k.key'` writes both"];
    place.run_bare(&["keygen", "k.pub", "--no-password"]).fails(1, &named);
    assert_eq!(fs_err::read(place.path("k.key")).unwrap(), before);
    fs_err::set_permissions(place.path("k.key"), Permissions::from_mode(0o644)).unwrap();
    sign(&place, "k", &["message"]).fails(1, &["is readable by other users", "chmod 600"]);
    fs_err::set_permissions(place.path("k.key"), Permissions::from_mode(0o600)).unwrap();
    let public = ["is a public key, expected a secret key", "hint: use the secret key `k.key`"];
    let ended = place.run_bare(&["sign", "--key", "k.pub", "message"]).fails(1, &public);
    assert_eq!(ended.hints(), 1, "{}", ended.err);
    fs_err::copy(place.path("k.pub"), place.path("alone.pub")).unwrap();
    let sign_with = |key: &str| place.run_bare(&["sign", "--key", key, "message"]);
    sign_with("alone.pub").fails(1, &["hint: name the secret key"]);
    sign_with("message").fails(
        1,
        &["`message` is a text file, expected a secret key", "hint: create one with `precast keygen"],
    );
    sign_with("other.pub")
        .fails(1, &["key `other.pub` not found", "hint: create one with `precast keygen 'other.key'`"]);
    sign_with("my key")
        .fails(1, &["key `my key` not found", "hint: create one with `precast keygen 'my key'`"]);
    place.run_bare(&["sign", "--key", "k.key"]).fails(2, &[]);
    place.run_bare(&["sign", "--key", "k.key", "missing"]).fails(1, &["missing"]);
    assert!(!place.path("message.minisig").exists());
}

#[test]
fn minisign_and_precast_share_formats() {
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
    // A key of `minisign` without a password, and one of ours, can sign with either program.
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
fn export_is_verified_offline() {
    let place = built(&[SUM]);
    signers(&place);
    for who in ["alice", "bob"] {
        sign(&place, who, &["--store", "artifacts"]).ok();
    }
    place.run_bare(&["export", "--out", "release.export", "--key", "alice.key"]).ok();
    let import =
        |file: &str, rest: &[&str]| place.run_bare(&args(&[&["import", file, "--store", "offline"], rest]));
    let keyring = &["--keyring", "precast.keyring"];
    import("release.export", &[])
        .fails(2, &["missing `--keyring`", "hint: name a keyring with `--keyring FILE`"]);
    import("release.export", keyring).fails(7, &["not signed by 2 keys", "found 1, by `alice`"]);
    assert!(!place.path("offline").exists());
    sign(&place, "bob", &["release.export"]).ok();
    import("release.export", &args(&[keyring, &["--dry-run"]])).ok();
    assert!(!place.path("offline").exists());
    let done = import("release.export", &args(&[keyring, &["--json"]])).ok().json();
    assert_eq!(
        (&done["entries"], &done["records"], &done["fresh"]),
        (&1.into(), &1.into(), &1.into()),
        "{done:#}"
    );
    assert_eq!(done["signed_by"], serde_json::json!(["alice", "bob"]), "{done:#}");
    // The signatures of records and entries were imported too.
    strict(&place, &["--store", "offline"]).ok();
    place.run_bare(&["verify", "--store", "offline", "--keyring", "precast.keyring"]).ok();
    // `verify` also checks the export itself, named without an option.
    let verify = |file: &str, more: &[&str]| place.run_bare(&args(&[&["verify", file], more]));
    assert_eq!(verify("release.export", &["--json"]).ok().json()["whole"], true);
    let signed = verify("release.export", &args(&[keyring, &["--json"]])).ok().json();
    assert_eq!((&signed["signed"], &signed["layers"][0]["signed by"]), (&true.into(), &"alice, bob".into()));
    // Damage, and changed contents under the same signatures.
    let whole = fs_err::read(place.path("release.export")).unwrap();
    for at in (0..whole.len()).step_by(whole.len() / 40) {
        let mut flipped = whole.clone();
        flipped[at] ^= 1;
        place.write("flipped.export", &flipped);
        let ended = import("flipped.export", keyring);
        assert_eq!(verify("flipped.export", &[]).code == 0, ended.code == 0, "{}", ended.err);
        match ended.code {
            // Some bits of the compressed frame have no meaning.
            0 => {}
            // The statement changed, and its signatures are checked first.
            7 => drop(ended.fails(7, &["not signed by 2 keys"])),
            _ => drop(ended.fails(4, &["cannot import `flipped.export`"])),
        }
        strict(&place, &["--store", "offline"]).ok();
        place.write("cut.export", &whole[..at]);
        import("cut.export", keyring).fails(4, &["cannot import `cut.export`"]);
    }
    place.run_bare(&["export", "--out", "unknown.export", "--entry", "nobody"]).fails(1, &["available: sum"]);
    place.run_bare(&["export", "--out", "one.export", "--entry", "sum"]).ok();
    import("one.export", keyring).fails(7, &["no signature found", "hint: "]);
    assert!(verify("one.export", keyring).fails(7, &[]).hints() > 0);
    verify("precast.keyring", &[]).fails(2, &["it is a keyring", "hint: ", "--keyring FILE"]);
    verify("precast.toml", &[]).fails(1, &["it is a manifest", "hint: "]);
    import("one.export", &["--unsigned"]).ok();
}

#[test]
fn damaged_or_unknown_files_are_not_signed() {
    let place = built(&[SUM]);
    place.run_bare(&["keygen", "k.key", "--no-password"]).ok();
    place.run_bare(&["export", "--out", "whole.export"]).ok();
    sign(&place, "k", &["--store", "nowhere"]).fails(1, &["no store at `nowhere`"]);
    assert!(!place.path("nowhere").exists());
    Store::create(place.path("empty")).unwrap();
    sign(&place, "k", &["--store", "empty"]).fails(1, &["has nothing to sign", "hint: "]);
    for (whole, cut) in [("whole.export", "cut.export"), ("model.precast", "cut.precast")] {
        let bytes = fs_err::read(place.path(whole)).unwrap();
        let mut flipped = bytes.clone();
        flipped[bytes.len() - 10] ^= 1;
        for wrong in [&bytes[..bytes.len() / 2], &bytes[..9], &flipped] {
            place.write(cut, wrong);
            sign(&place, "k", &[cut]).fails(4, &[&format!("`{cut}` is damaged")]);
            assert_eq!(fs_err::read(place.path(cut)).unwrap(), wrong);
            assert!(!place.path(format!("{cut}.minisig")).exists());
        }
    }
    let new = ["trust", "new", "--expires", "2999-01-01", "k.pub"];
    place.run_bare(&new).ok();
    let text = fs_err::read_to_string(place.path("precast.keyring")).unwrap();
    place.write("wrong.keyring", text.replace("version=1", "version=one"));
    sign(&place, "k", &["wrong.keyring"]).fails(1, &["cannot sign `wrong.keyring`", "line 3"]);
    place.write("nothing", "");
    sign(&place, "k", &["nothing"]).fails(1, &["it is an empty file"]);
    sign(&place, "k", &["k.key"]).fails(1, &["it is a secret key"]);
    sign(&place, "k", &["model.precast"]).ok();
    sign(&place, "k", &["model.precast.minisig"]).fails(1, &["it is a signature file"]);
}

#[test]
fn keys_and_other_files_are_not_overwritten() {
    let place = built(&[SUM]);
    place.run_bare(&["keygen", "k.key", "--no-password"]).ok();
    place.run_bare(&["export", "--out", "an.export"]).ok();
    // `@` stands for the file; the second text is the file that the command may overwrite.
    let writers = [
        ("build --bundle @", "model.precast"),
        ("export --out @", "an.export"),
        ("run --entry sum -i x=x.npy -i y=y.npy --bundle model.precast -o out=@", "x.npy"),
        ("graph --html --entry sum --bundle model.precast -o @", "precast.toml"),
        ("trust new --expires 2999-01-01 k.pub --keyring @", ""),
        ("keygen --no-password @", ""),
    ];
    let files = ["k.key", "k.pub", "precast.toml", "model.precast", "an.export", "x.npy"];
    let run = |writer: &str, file: &str| {
        let words = writer.replace('@', file);
        place.run(&words.split(' ').collect::<Vec<_>>())
    };
    for (writer, own) in writers {
        for file in files.iter().filter(|file| **file != own) {
            let before = fs_err::read(place.path(file)).unwrap();
            run(writer, file).fails(1, &[&format!("`{file}`"), "hint: "]);
            assert_eq!(fs_err::read(place.path(file)).unwrap(), before, "{writer} {file}");
        }
        if files.contains(&own) && own != "precast.toml" {
            run(writer, own).ok();
            run(writer, own).ok();
        }
    }
    let told =
        run("build --bundle @", "k.key").fails(1, &["it is a secret key, and would be replaced by a bundle"]);
    assert!(!told.err.contains("delete"), "{}", told.err);
}

#[test]
fn release_rollback_is_rejected() {
    let place = built(&[SUM]);
    signers(&place);
    let export = |file: &str, release: &[&str]| {
        place.run_bare(&args(&[&["export", "--out", file, "--key", "alice.key"], release])).ok();
        sign(&place, "bob", &[file]).ok();
    };
    export("1.export", &["--release", "model=1"]);
    export("2.export", &["--release", "model=2"]);
    export("other.export", &["--release", "other=1"]);
    export("none.export", &[]);
    let import = |file: &str, rest: &[&str]| {
        let import = ["import", file, "--store", "offline", "--keyring", "precast.keyring"];
        place.run_bare(&args(&[&import, rest]))
    };
    import("1.export", &[]).ok();
    import("none.export", &[]).fails(7, &["the store has release 1 of `model`, found none", "hint: "]);
    import("2.export", &[]).ok();
    import("2.export", &[]).ok();
    for how in [&[][..], &["--dry-run"]] {
        import("1.export", how).fails(7, &["the store has release 2 of `model`, found release model=1"]);
    }
    import("other.export", &[]).ok();
    import("1.export", &["--older"]).ok();
    import("1.export", &[]).fails(7, &["the store has release 2"]);
    place.run_bare(&["verify", "--store", "offline"]).ok();
    // The number must be in canonical form.
    place.run_bare(&["export", "--out", "x.export", "--release", "model=07"]).fails(2, &["invalid release"]);
    import("cut.export", &[]).fails(1, &["cut.export"]);
    place.write("cut.export", b"\x28\xb5\x2f\xfd");
    place.run_bare(&["import", "cut.export", "--unsigned", "--store", "fresh"]).fails(4, &[]);
    assert!(!place.path("fresh").exists());
}

#[test]
fn revoked_key_is_rejected_under_any_name() {
    let place = built(&[SUM]);
    signers(&place);
    fs_err::create_dir(place.path("other")).unwrap();
    fs_err::copy(place.path("mallory.pub"), place.path("other/alice.pub")).unwrap();
    // Two keys of the same name are rejected in one keyring.
    place.run_bare(&["trust", "add", "other/alice.pub"]).fails(1, &["another key is already named `alice`"]);
    place.run_bare(&["trust", "add", "mallory.pub"]).ok();
    // A copy of the file under another name is the same key.
    place.run_bare(&["trust", "revoke", "other/alice.pub"]).ok();
    let shown = place.run_bare(&["trust", "show", "--json"]).ok().json();
    assert_eq!(shown["keys"].as_array().unwrap().len(), 2, "{shown}");
    sign(&place, "mallory", &["model.precast"]).ok();
    strict(&place, &["--bundle", "model.precast"]).fails(7, &["is revoked"]);
}

#[test]
fn keyring_applies_to_a_writable_store() {
    let place = built(&[SUM]);
    signers(&place);
    let keyring = ["--keyring", "precast.keyring", "--store", "artifacts"];
    let run = |policy: &[&str]| {
        let run = ["run", "--entry", "sum", "-i", "x=x.npy", "-i", "y=y.npy"];
        place.run(&args(&[&run, &keyring, policy]))
    };
    for policy in [&[][..], &["--policy", "strict"]] {
        let ended = run(policy);
        assert!(ended.code != 0 && !ended.out.contains("out"), "{}{}", ended.out, ended.err);
    }
    for who in ["alice", "bob"] {
        sign(&place, who, &["--store", "artifacts"]).ok();
    }
    run(&[]).ok();
}
