//! Tests that a runtime uses the keyring named by `PRECAST_KEYRING`: the test binary runs itself with the variable.

use std::path::Path;
use std::process::Command;

use minisign::KeyPair;
use precast_runtime::{BuildRuntimeError, Policy, Runtime};
use precast_store::keyring::Key;
use precast_store::trust::KEYRING;
use precast_store::{Keyring, KeyringError, OpenSignedError, write_bundle};

const PATH: &str = "PRECAST_RUNTIME_TEST_BUNDLE";

/// Returns the result of building a runtime over `bundle` in a process with this value of `PRECAST_KEYRING`.
fn outcome(bundle: &Path, keyring: Option<&str>) -> String {
    let mut again = Command::new(std::env::current_exe().unwrap());
    again.args(["--exact", "keyring::builds_in_another_process", "--ignored", "--nocapture"]);
    again.env(PATH, bundle).env_remove(KEYRING).envs(keyring.map(|keyring| (KEYRING, keyring)));
    let output = String::from_utf8(again.output().unwrap().stdout).unwrap();
    let (_, outcome) = output.split_once("outcome: ").unwrap_or_else(|| panic!("{output}"));
    outcome.lines().next().unwrap().to_owned()
}

#[test]
#[ignore = "runs in the processes that the other tests of this module start"]
#[allow(clippy::print_stdout, reason = "the outcome")]
fn builds_in_another_process() {
    let Some(path) = std::env::var_os(PATH) else { return };
    let outcome = match Runtime::builder().bundle_file(&path).policy(Policy::Strict).build() {
        Ok(_) => "built".to_owned(),
        Err(BuildRuntimeError::Keyring(KeyringError::EmptyName(_))) => "empty name".to_owned(),
        Err(BuildRuntimeError::Keyring(KeyringError::Missing { .. })) => "no keyring".to_owned(),
        Err(BuildRuntimeError::Keyring(KeyringError::Clock { .. })) => "wrong clock".to_owned(),
        Err(BuildRuntimeError::Signed(OpenSignedError::Unsigned { .. })) => "unsigned".to_owned(),
        Err(other) => other.to_string(),
    };
    println!("outcome: {outcome}");
}

#[test]
fn runtime_uses_the_keyring_from_the_environment() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let bytes = write_bundle(&[], &[], "test").unwrap();
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
    fs_err::write(path("test.keyring"), keyring.to_string()).unwrap();
    let early = Keyring { issued: Some("2998-01-01".parse().unwrap()), ..keyring };
    fs_err::write(path("early.keyring"), early.to_string()).unwrap();
    for name in ["signed", "unsigned", "expired"] {
        fs_err::write(path(name), &bytes).unwrap();
    }
    for (name, comment) in [("signed.minisig", "test"), ("expired.minisig", "expires:2020-01-01")] {
        let signature = minisign::sign(None, &pair.sk, &*bytes, Some(comment), None).unwrap().into_string();
        fs_err::write(path(name), signature).unwrap();
    }

    let (signed, unsigned) = (path("signed"), path("unsigned"));
    let keyring = path("test.keyring").display().to_string();
    let early = path("early.keyring").display().to_string();
    let absent = path("absent.keyring").display().to_string();
    assert_eq!(outcome(&unsigned, None), "built");
    assert_eq!(outcome(&signed, Some(&keyring)), "built");
    assert_eq!(outcome(&unsigned, Some(&keyring)), "unsigned");
    assert_eq!(outcome(&path("expired"), Some(&keyring)), "unsigned");
    assert_eq!(outcome(&signed, Some(&early)), "wrong clock");
    assert_eq!(outcome(&signed, Some(&absent)), "no keyring");
    assert_eq!(outcome(&signed, Some("")), "empty name");
    // An argument takes precedence.
    let named = Runtime::builder().bundle_file(&signed).keyring(&absent).policy(Policy::Strict).build();
    assert!(matches!(named, Err(BuildRuntimeError::Keyring(KeyringError::Missing { .. }))));
}
