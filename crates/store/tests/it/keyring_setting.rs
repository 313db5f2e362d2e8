//! Tests `PRECAST_KEYRING` as loaders use it: this test binary runs itself with the variable set.

use std::path::Path;
use std::process::Command;

use minisign::KeyPair;
use precast_core::{BundleSignatureError, Loader, OpenBundleError};
use precast_store::keyring::{Cause, Date, Key};
use precast_store::trust::KEYRING;
use precast_store::{Bundle, Keyring, KeyringError, Layer, OpenSignedError, write_bundle};

use crate::sample::entry;

const PATH: &str = "PRECAST_STORE_TEST_BUNDLE";

/// Returns the result of opening `bundle` in a process with this value of `PRECAST_KEYRING`.
fn outcome(bundle: &Path, keyring: Option<&str>) -> String {
    let mut again = Command::new(std::env::current_exe().unwrap());
    again.args(["--exact", "keyring_setting::opens_in_another_process", "--ignored", "--nocapture"]);
    again.env(PATH, bundle).env_remove(KEYRING).envs(keyring.map(|keyring| (KEYRING, keyring)));
    let output = String::from_utf8(again.output().unwrap().stdout).unwrap();
    let (_, outcome) = output.split_once("outcome: ").unwrap_or_else(|| panic!("{output}"));
    outcome.lines().next().unwrap().to_owned()
}

#[test]
#[ignore = "runs in the processes that the other tests of this module start"]
#[allow(clippy::print_stdout, reason = "the outcome")]
fn opens_in_another_process() {
    let Some(path) = std::env::var_os(PATH) else { return };
    let name = |opened: Result<(), OpenBundleError>| match opened {
        Ok(()) => "open".to_owned(),
        Err(OpenBundleError::Signatures { source, .. }) => match *source {
            BundleSignatureError::EmptyName(_) => "empty name".to_owned(),
            BundleSignatureError::Keyring(KeyringError::Missing { .. }) => "no keyring".to_owned(),
            BundleSignatureError::Signed(OpenSignedError::Unsigned { .. }) => "unsigned".to_owned(),
            other => other.to_string(),
        },
        Err(other) => other.to_string(),
    };
    let by_loader = name(Loader::open(&path).map(drop));
    assert_eq!(name(Bundle::open(&path).map(drop)), by_loader);
    assert_eq!(name(Layer::open_bundle(Path::new(&path)).map(drop)), by_loader);
    Bundle::open_unsigned(&path).unwrap();
    println!("outcome: {by_loader}");
}

#[test]
fn loader_uses_the_keyring_from_the_environment() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let bytes = write_bundle(&[], &[entry("score")], "test").unwrap();
    let pair = KeyPair::generate_unencrypted_keypair().unwrap();
    let key = Key::parse("alice", &pair.pk.to_base64()).unwrap();
    let expires: Date = "2999-01-01".parse().unwrap();
    let keyring = Keyring {
        version: 1,
        issued: None,
        expires,
        threshold: 1,
        keyring_threshold: None,
        requires_expiry: false,
        keys: vec![key],
        revoked: Vec::new(),
    };
    fs_err::write(path("test.keyring"), keyring.to_string()).unwrap();
    for name in ["signed", "unsigned"] {
        fs_err::write(path(name), &bytes).unwrap();
    }
    let sign = |pair: &KeyPair| minisign::sign(None, &pair.sk, &*bytes, None, None).unwrap().into_string();
    fs_err::write(path("signed.minisig"), sign(&pair)).unwrap();

    let (signed, unsigned) = (path("signed"), path("unsigned"));
    let keyring = path("test.keyring").display().to_string();
    let absent = path("absent.keyring").display().to_string();
    assert_eq!(outcome(&unsigned, None), "open");
    assert_eq!(outcome(&signed, Some(&keyring)), "open");
    assert_eq!(outcome(&unsigned, Some(&keyring)), "unsigned");
    assert_eq!(outcome(&signed, Some(&absent)), "no keyring");
    assert_eq!(outcome(&signed, Some("")), "empty name");

    // A signature by a key outside the keyring has a different hint.
    fs_err::write(path("unsigned.minisig"), sign(&KeyPair::generate_unencrypted_keypair().unwrap())).unwrap();
    let keyring = Keyring::open(&keyring).unwrap();
    let refused = Bundle::open_signed(&unsigned, &keyring).unwrap_err();
    assert!(
        matches!(&refused, OpenSignedError::Unsigned { unsigned, .. } if unsigned.cause == Cause::UnlistedKey)
    );
    assert!(refused.to_string().contains("`precast trust add"), "{refused}");
    assert!(!refused.to_string().contains("rebuild"), "{refused}");
}

#[test]
fn writable_keyring_is_not_rebuilt() {
    use std::os::unix::fs::PermissionsExt as _;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("test.keyring");
    fs_err::write(&path, "").unwrap();
    fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o666)).unwrap();
    let Err(KeyringError::Untrusted(untrusted)) = Keyring::open(&path) else { panic!("it is trusted") };
    assert!(untrusted.remedy.contains("chmod go-w"), "{}", untrusted.remedy);
    assert!(untrusted.remedy.contains("replace"), "{}", untrusted.remedy);
    assert!(!untrusted.remedy.contains("build"), "{}", untrusted.remedy);
}
