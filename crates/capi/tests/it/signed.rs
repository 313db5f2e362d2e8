//! Tests bundles under a keyring: `tests/c/signed.c`, with the keyring as an argument and from the environment.

use crate::installed::{Installed, Language, run};
use minisign::KeyPair;
use precast_core::keyring::{Key, Keyring};
use precast_core::trust::KEYRING;
use precast_testkit::package::root;
use std::path::Path;

#[test]
fn keyring_comes_from_argument_or_environment() {
    let installed = Installed::new();
    let (bundle, program) = (installed.bundle("tests/c/precast.toml"), installed.path("signed"));
    let source = root().join("crates/capi/tests/c/signed.c");
    installed.compile(Language::C, &source, &program, &["-lprecast"]);
    let pair = KeyPair::generate_unencrypted_keypair().unwrap();
    let keyring = Keyring {
        version: 1,
        issued: Some("2026-01-01".parse().unwrap()),
        expires: "2999-01-01".parse().unwrap(),
        threshold: 1,
        keyring_threshold: None,
        requires_expiry: false,
        keys: vec![Key::parse("alice", &pair.pk.to_base64()).unwrap()],
        revoked: Vec::new(),
    };
    let (keyrings, absent) = (installed.path("test.keyring"), installed.path("absent.keyring"));
    fs_err::write(&keyrings, keyring.to_string()).unwrap();
    let early = Keyring { issued: Some("2998-01-01".parse().unwrap()), ..keyring };
    let early_keyring = installed.path("early.keyring");
    fs_err::write(&early_keyring, early.to_string()).unwrap();
    let (signed, unsigned) = (installed.path("signed.precast"), installed.path("unsigned.precast"));
    let expired = installed.path("expired.precast");
    let bytes = fs_err::read(bundle).unwrap();
    for path in [&signed, &unsigned, &expired] {
        fs_err::write(path, &bytes).unwrap();
    }
    for (name, comment) in [("signed", "expires:2999-01-01"), ("expired", "expires:2020-01-01")] {
        let signature = minisign::sign(None, &pair.sk, &*bytes, Some(comment), None).unwrap().into_string();
        fs_err::write(installed.path(&format!("{name}.precast.minisig")), signature).unwrap();
    }

    let (keyring, absent, none) = (Some(&*keyrings), Some(&*absent), None);
    let early = Some(&*early_keyring);
    let (empty, ok, refused) = (Some(Path::new("")), "PRECAST_OK", "PRECAST_ERROR_BUNDLE");
    for (bundle, argument, variable, status, words) in [
        (&unsigned, none, none, ok, ""),
        (&signed, none, keyring, ok, ""),
        (&unsigned, none, keyring, refused, "no signature found"),
        (&signed, none, absent, refused, "absent.keyring` not found"),
        (&signed, none, empty, refused, "the keyring name is empty"),
        (&signed, keyring, none, ok, ""),
        (&signed, keyring, absent, ok, ""),
        (&unsigned, keyring, none, refused, "no signature found"),
        (&signed, absent, keyring, refused, "absent.keyring` not found"),
        (&expired, keyring, none, refused, "the signature by `alice` expired on 2020-01-01"),
        (&expired, none, keyring, refused, "the signature by `alice` expired on 2020-01-01"),
        (&signed, early, none, refused, "the clock is wrong"),
    ] {
        let mut command = installed.command(&program);
        command.arg(bundle).args(argument).env_remove(KEYRING);
        let printed = run(command.envs(variable.map(|variable| (KEYRING, variable))));
        assert!(printed.starts_with(&format!("{status}\n")) && printed.contains(words), "{printed}");
    }
}
