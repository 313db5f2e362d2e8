//! Signatures that expire, the day of issue of a keyring, and roles of keys.

use std::process::Command;

use minisign::{KeyPair, SecretKeyBox, sign};
use precast_testkit::servers::Server;

use crate::elsewhere::{deploys, released};
use crate::release::{DOUBLE, SUM, built, files};
use crate::sandbox::{Ended, INPUTS, Sandbox, args};

const KEYRING: &[&str] = &["--keyring", "precast.keyring"];

fn run(place: &Sandbox, layer: &[&str]) -> Ended {
    place.run_bare(&args(&[&["run", "--entry", "score", "--policy", "strict"], INPUTS, layer, KEYRING]))
}

fn comment(place: &Sandbox, file: &str) -> String {
    let text = fs_err::read_to_string(place.path(file)).unwrap();
    text.lines().find_map(|line| line.strip_prefix("trusted comment: ")).unwrap().to_owned()
}

#[test]
fn signature_states_its_last_day() {
    let (place, _) = released();
    let sign = |rest: &[&str]| {
        place.run_bare(&args(&[
            &["sign", "score.precast", "--store", "artifacts", "--key", "alice.key"],
            rest,
        ]))
    };
    sign(&["--expires", "2999-01-01"]).ok();
    assert!(comment(&place, "score.precast.minisig").ends_with("\thashed\texpires:2999-01-01"));
    for layer in [["--bundle", "score.precast"], ["--store", "artifacts"]] {
        run(&place, &layer).ok();
        place.run_bare(&args(&[&["verify"], &layer, KEYRING])).ok();
    }
    // Signing again without a day replaces the signature.
    sign(&[]).ok();
    assert!(!comment(&place, "score.precast.minisig").contains("expires"));
    sign(&["--expires", "2020-01-01"]).fails(1, &["invalid expiry date 2020-01-01", "hint: "]);
    sign(&["--expires", "tomorrow"]).fails(2, &["`2027-11-22`"]);
    place
        .run_bare(&["export", "--out", "a.export", "--expires", "2999-01-01"])
        .fails(2, &["`--expires` needs `--key`"]);
    place.run_bare(&["export", "--out", "a.export", "--expires", "2999-01-01", "--key", "alice.key"]).ok();
    place.run_bare(&args(&[&["import", "a.export", "--store", "imported"], KEYRING])).ok();
    run(&place, &["--store", "imported"]).ok();
    let dsse = ["sign", "--dsse", "x.json", "--key", "alice.key", "--expires", "2999-01-01"];
    place.run_bare(&dsse).fails(2, &["--expires"]);
    // The program `minisign` verifies such a signature, and shows the day.
    sign(&["--expires", "2999-01-01"]).ok();
    let mut minisign = Command::new("minisign");
    minisign.args(["-V", "-p", "alice.pub", "-m", "score.precast"]).current_dir(place.path(""));
    match minisign.output() {
        Ok(output) => assert!(Ended::of(output).ok().out.contains("expires:2999-01-01")),
        Err(_) => eprintln!("skipped in part: no minisign"),
    }
}

#[test]
fn keyring_may_require_that_signatures_expire() {
    let (place, _) = released();
    let bundle = ["--bundle", "score.precast"];
    let sign = |rest: &[&str]| {
        place.run_bare(&args(&[&["sign", "score.precast", "--key", "alice.key"], rest])).ok();
    };
    sign(&[]);
    run(&place, &bundle).ok();
    let shown = place.run_bare(&["trust", "set", "--require-expiry", "true"]).ok().out;
    assert!(shown.contains("signatures must expire"), "{shown}");
    run(&place, &bundle).fails(7, &["has no day of expiry", "precast sign --expires"]);
    sign(&["--expires", "2999-01-01"]);
    run(&place, &bundle).ok();
    place.run_bare(&["trust", "set", "--require-expiry", "false"]).ok();
    sign(&[]);
    run(&place, &bundle).ok();
}

#[test]
fn revoked_and_repeated_keys_are_not_added() {
    let (place, _) = released();
    place.run_bare(&["keygen", "carol.key", "--no-password"]).ok();
    place.run_bare(&["trust", "add", "carol.pub"]).ok();
    place.run_bare(&["trust", "add", "carol.pub"]).fails(1, &["are the same key"]);
    place.run_bare(&["trust", "revoke", "carol.pub"]).ok();
    place.run_bare(&["trust", "add", "carol.pub"]).fails(1, &["key `carol` is revoked", "hint: "]);
}

#[test]
fn signers_at_once_keep_all_signatures() {
    let (place, _) = released();
    let keys: Vec<String> = (0..6).map(|k| format!("k{k}.key")).collect();
    for key in &keys {
        place.run_bare(&["keygen", key, "--no-password"]).ok();
    }
    let statement = serde_json::json!({"_type": "https://in-toto.io/Statement/v1"}).to_string();
    place.write("score.precast.provenance.json", statement);
    place.run_bare(&["export", "--out", "a.export"]).ok();
    for (options, file) in
        [(&[][..], "score.precast"), (&["--dsse"], "score.precast.provenance.json"), (&[], "a.export")]
    {
        std::thread::scope(|scope| {
            for key in &keys {
                scope.spawn(|| place.run_bare(&args(&[&["sign", file, "--key", key], options])).ok());
            }
        });
    }
    let read = |name: &str| fs_err::read_to_string(place.path(name)).unwrap();
    assert!(read("score.precast.minisig").matches("signature by k").count() >= 6);
    assert_eq!(read("score.precast.intoto.jsonl").matches("keyid").count(), 6);
    let keyring = ["trust", "new", "--keyring", "six", "--threshold", "6", "--expires", "2999-01-01"];
    let publics: Vec<String> = (0..6).map(|k| format!("k{k}.pub")).collect();
    let publics: Vec<&str> = publics.iter().map(String::as_str).collect();
    place.run_bare(&args(&[&keyring, &publics])).ok();
    place.run_bare(&["import", "a.export", "--keyring", "six", "--store", "imported"]).ok();
}

/// Signs bytes with a key file, until a day in the past.
fn expired_by(place: &Sandbox, key: &str, bytes: &[u8]) -> String {
    let text = fs_err::read_to_string(place.path(key)).unwrap();
    let key = SecretKeyBox::from_string(&text).unwrap().into_unencrypted_secret_key().unwrap();
    sign(None, &key, bytes, Some("hashed\texpires:2020-01-01"), None).unwrap().into_string()
}

/// A key pair whose public key is `k.pub`, in a keyring; its signatures state any day.
fn expired(place: &Sandbox) -> impl Fn(&str, &str) + '_ {
    let pair = KeyPair::generate_unencrypted_keypair().unwrap();
    place.write("k.pub", pair.pk.to_box().unwrap().into_string());
    fs_err::remove_file(place.path("precast.keyring")).unwrap();
    place.run_bare(&["trust", "new", "--expires", "2999-01-01", "k.pub"]).ok();
    move |file, day| {
        let bytes = fs_err::read(place.path(file)).unwrap();
        let comment = format!("timestamp:1\tfile:{file}\thashed\texpires:{day}");
        let signature = sign(None, &pair.sk, &*bytes, Some(&comment), None).unwrap().into_string();
        place.write(&format!("{file}.minisig"), signature);
    }
}

#[test]
fn replayed_release_ends_with_its_signature() {
    let (place, _) = released();
    let sign = expired(&place);
    let bundle = ["--bundle", "score.precast"];
    sign("score.precast", "2999-01-01");
    run(&place, &bundle).ok();
    sign("score.precast", "2020-01-01");
    let said = ["the signature by `k` expired on 2020-01-01", "hint: get the current release"];
    run(&place, &bundle).fails(7, &said);
    for command in ["verify", "doctor"] {
        let ended = place.run_bare(&args(&[&[command], &bundle, KEYRING])).fails(7, &[]);
        assert!(ended.out.contains("expired on 2020-01-01"), "{}", ended.out);
    }
    // A keyring's update ends as well.
    fs_err::copy(place.path("precast.keyring"), place.path("next")).unwrap();
    place.run_bare(&["trust", "--keyring", "next", "add", "alice.pub"]).ok();
    sign("next", "2020-01-01");
    place.run_bare(&["trust", "update", "next"]).fails(7, &["expired on 2020-01-01"]);
    sign("next", "2999-01-01");
    place.run_bare(&["trust", "update", "next"]).ok();
}

/// A store on a server is signed again each day. A machine with the signatures of an earlier day fetches the new ones.
#[test]
fn cached_store_gets_newer_signatures() {
    let (place, expected) = released();
    let sign = ["sign", "--store", "artifacts", "--key", "alice.key", "--expires", "2999-01-01"];
    place.run_bare(&sign).ok();
    place.run_bare(&["index"]).ok();
    let server = Server::files(place.path("artifacts"));
    deploys(&place, &server.url, expected);
    // As if a day had passed: the signatures in the cache have expired.
    let mut changed = 0;
    for path in
        files(&place, "empty").iter().filter(|path| path.extension().is_some_and(|it| it == "minisig"))
    {
        let signed = path.with_extension("");
        let text = expired_by(&place, "alice.key", &fs_err::read(&signed).unwrap());
        fs_err::write(path, text).unwrap();
        changed += 1;
    }
    assert!(changed >= 2);
    deploys(&place, &server.url, expected);
}

#[test]
fn clock_before_the_keyring_is_named() {
    let (place, _) = released();
    let text = fs_err::read_to_string(place.path("precast.keyring")).unwrap();
    let issued = text.lines().find_map(|line| line.strip_prefix("issued=")).unwrap();
    let shown = place.run_bare(&["trust", "show", "--json"]).ok().json();
    assert_eq!((&shown["issued"], &shown["early"]), (&issued.into(), &false.into()), "{shown:#}");
    // As if the clock were right and the day in the future, which a reader cannot distinguish from a clock behind.
    place.write("precast.keyring", text.replace(issued, "2998-01-01"));
    let said = ["the clock is wrong: it shows 2", "was issued on 2998-01-01", "hint: set the clock"];
    run(&place, &["--bundle", "score.precast"]).fails(7, &said);
    run(&place, &["--store", "artifacts"]).fails(7, &said);
    place.run_bare(&args(&[&["verify", "--bundle", "score.precast"], KEYRING])).fails(7, &said);
    assert_eq!(place.run_bare(&["trust", "show", "--json"]).fails(7, &[]).json()["early"], true);
    place.run_bare(&["trust", "set", "--expires", "2999-02-01"]).fails(1, &said);
    // A keyring of format 1 has no such day, until it is changed.
    let first = text.replace("format=2", "format=1").replace(&format!("issued={issued}\n"), "");
    place.write("precast.keyring", first);
    run(&place, &["--bundle", "score.precast"]).ok();
    place.run_bare(&["trust", "set", "--expires", "2999-02-01"]).ok();
    let text = fs_err::read_to_string(place.path("precast.keyring")).unwrap();
    assert!(text.contains("format=2\n") && text.contains("issued=2"), "{text}");
}

#[test]
fn keys_sign_what_their_role_allows() {
    let place = built(&[SUM, DOUBLE]);
    for name in ["root", "spare", "ci"] {
        place.run_bare(&["keygen", &format!("{name}.key"), "--no-password"]).ok();
    }
    let trust = |rest: &[&str]| place.run_bare(&args(&[&["trust"], rest]));
    let new = ["new", "--expires", "2999-01-01", "--release-key", "ci.pub"];
    trust(&new).fails(1, &["invalid keyring threshold 1 for 0 usable keys", "hint: "]);
    let roots = ["--keyring-key", "root.pub", "--keyring-key", "spare.pub", "--keyring-threshold", "2"];
    trust(&args(&[&new, &roots])).ok();
    let shown = trust(&["show", "--json"]).ok().json();
    assert_eq!(shown["keyring_threshold"], 2, "{shown:#}");
    let only: Vec<&str> =
        shown["keys"].as_array().unwrap().iter().map(|key| key["signs_only"].as_str().unwrap()).collect();
    assert_eq!(only, ["releases", "keyrings", "keyrings"]);
    let sign = |key: &str, file: &str| {
        place.run_bare(&["sign", file, "--key", &format!("{key}.key")]).ok();
    };
    let verify = || place.run_bare(&args(&[&["verify", "--bundle", "model.precast"], KEYRING]));
    sign("root", "model.precast");
    let ended = verify().fails(7, &[]);
    assert!(ended.out.contains("key `root` may sign keyrings only"), "{}", ended.out);
    sign("ci", "model.precast");
    verify().ok();
    // A stolen key for releases cannot replace the keyring.
    fs_err::copy(place.path("precast.keyring"), place.path("next")).unwrap();
    trust(&["--keyring", "next", "set", "--threshold", "1", "--expires", "2998-01-01"]).ok();
    // Without a role, a new key would sign keyrings too.
    place.run_bare(&["keygen", "new.key", "--no-password"]).ok();
    trust(&["--keyring", "next", "add", "new.pub"])
        .fails(2, &["missing role of key `new.pub`", "--release-key"]);
    sign("ci", "next");
    trust(&["update", "next"]).fails(7, &["key `ci` may sign releases only"]);
    sign("root", "next");
    trust(&["update", "next"]).fails(7, &["found 1, by `root`"]);
    sign("spare", "next");
    trust(&["update", "next"]).ok();
    // The same bytes are no error, the same version of other bytes is.
    assert!(trust(&["update", "next"]).ok().out.contains("unchanged"));
    let text = fs_err::read_to_string(place.path("next")).unwrap();
    place.write("forged", format!("{text}# a comment\n"));
    ["root", "spare"].iter().for_each(|key| sign(key, "forged"));
    trust(&["update", "forged"]).fails(7, &["cannot replace keyring version 2 by version 2"]);
    // Two versions later, without the one between, if the keys of this one signed it.
    fs_err::copy(place.path("precast.keyring"), place.path("later")).unwrap();
    for day in ["2997-01-01", "2996-01-01"] {
        trust(&["--keyring", "later", "set", "--expires", day]).ok();
    }
    ["root", "spare"].iter().for_each(|key| sign(key, "later"));
    trust(&["update", "later"]).ok();
    assert_eq!(trust(&["show", "--json"]).ok().json()["version"], 4);
}

/// Signs every record and entry of a store until a day in the past.
fn expire(place: &Sandbox, store: &str, key: &str) {
    for path in files(place, store).iter().filter(|path| path.extension().is_some_and(|it| it == "minisig")) {
        let signed = path.with_extension("");
        fs_err::write(path, expired_by(place, key, &fs_err::read(&signed).unwrap())).unwrap();
    }
}

#[test]
fn expired_release_is_renewed_before_a_rollback() {
    let place = built(&[SUM]);
    place.run_bare(&["keygen", "k.key", "--no-password"]).ok();
    place.run_bare(&["trust", "new", "--expires", "2999-01-01", "k.pub"]).ok();
    let prod = ["--store", "prod"];
    for (number, graphs) in [("1", &[SUM][..]), ("2", &[SUM, DOUBLE])] {
        place.write("precast.toml", format!("isa = [\"{}\"]\n{}", crate::sandbox::ISA, graphs.concat()));
        place.run(&["build"]).ok();
        let (file, release) = (format!("{number}.export"), format!("model={number}"));
        place.run_bare(&["export", "--out", &file, "--release", &release, "--key", "k.key"]).ok();
        place.run_bare(&args(&[&["import", &file, "--switch"], &prod, KEYRING])).ok();
    }
    expire(&place, "prod", "k.key");
    let rollback = args(&[&["release", "rollback", "model"], &prod]);
    let switch = args(&[&["release", "switch", "model=1"], &prod]);
    for command in [&rollback, &switch] {
        let said = ["`model=1`", "expired on 2020-01-01 (UTC)", "hint: ", "import FILE --older"];
        place.run_bare(&args(&[command, KEYRING])).fails(7, &said);
    }
    let ended = place.run_bare(&args(&[&["check", "--entry", "sum"], &prod, KEYRING])).code;
    assert_eq!(ended, 7);
    let run = args(&[
        &["run", "--entry", "sum", "--policy", "strict", "-i", "x=x.npy", "-i", "y=y.npy"],
        &prod,
        KEYRING,
    ]);
    place.run_bare(&run).fails(7, &["import FILE --older"]);
    // The steps of the hint.
    place.run_bare(&["sign", "1.export", "--key", "k.key", "--expires", "2999-01-01"]).ok();
    place.run_bare(&args(&[&["import", "1.export", "--older"], &prod, KEYRING])).ok();
    let ended = place.run_bare(&args(&[&rollback, KEYRING])).ok();
    assert_eq!(ended.warnings(), 0, "{}", ended.err);
    place.run_bare(&args(&[&["check", "--entry", "sum"], &prod, KEYRING])).ok();
    // Without a keyring, the release is served, with a warning.
    expire(&place, "prod", "k.key");
    let ended = place.run_bare(&switch).ok();
    assert!(ended.warnings() == 1 && ended.err.contains("expired on 2020-01-01"), "{}", ended.err);
    // An unsigned store needs no signatures.
    place.run_bare(&["release", "create", "model", "--switch"]).ok();
    assert_eq!(place.run_bare(&["release", "switch", "model=1"]).ok().warnings(), 0);
}
