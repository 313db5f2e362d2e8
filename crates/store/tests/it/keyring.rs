//! Keyrings: valid and invalid signatures. The first three tests cover mistakes of other systems. An unsigned mapping
//! is rejected, one key does not count twice, and nothing is used before it is verified.

use std::sync::Arc;

use minisign::KeyPair;
use precast_core::Loader;
use precast_store::keyring::{Date, Key, with_signature};
use precast_store::{Event, Keyring, KeyringError, Layer, OpenSignedError, Store, write_bundle};
use proptest::prelude::*;

use crate::sample::{bare, entry, listening, store, unit};

/// The output of the program `minisign` 0.11: a public key, the signed message, its signature, and one in the legacy
/// format.
pub(crate) const PUBLIC: &str = "RWRdAONPyviEJwBOXwkIz6Iw+PbN+D5Bly8mqpFtz/U2xaHMPDXEPBm7";
pub(crate) const MESSAGE: &[u8] = b"what the program minisign signed\n";
const SIGNATURE: &str = "\
untrusted comment: signature from minisign secret key
RURdAONPyviEJ11NEK29B6bBiplGQ5kSdYG94XY7YubP4dB7BBY92ZoGi6Iqy62qZXkTVpWBR/bAP34FTME10UCDvLjZtmTA9w8=
trusted comment: made by minisign 0.11
VGwpM0yiGNgv7WU33zqB4oYKhbHpgBxSG0lvgPT29j+Dd9fEI0qaZ2EfdjkEp1qkMY1pY+C0y7adBDOdBbVgAw==
";
pub(crate) const LEGACY: &str = "\
untrusted comment: signature from minisign secret key
RWRdAONPyviEJ6/v6tR2FF00KEKep6sj73B037+VFJO4SBDPaa8m4R9PW9gmtDuR20CQAHuMzaauX09nGXa/8Rgk0lC3S6ywCQc=
trusted comment: legacy
N/Gqw3+GS71bCsUvMURaj6ZpUmS9DTY38W9VolzoQukUeemL7CmCNyWNSRB/bQN0LEbWPa//oivZzHlIiSkgDw==
";

/// A signer with its key pair.
pub(crate) struct Signer {
    pair: KeyPair,
    pub(crate) key: Key,
}

pub(crate) fn signer(name: &str) -> Signer {
    let pair = KeyPair::generate_unencrypted_keypair().unwrap();
    let key = Key::parse(name, &pair.pk.to_base64()).unwrap();
    Signer { pair, key }
}

impl Signer {
    pub(crate) fn sign(&self, bytes: &[u8]) -> String {
        self.sign_as(bytes, "test")
    }

    /// Signs bytes and a trusted comment.
    pub(crate) fn sign_as(&self, bytes: &[u8], comment: &str) -> String {
        minisign::sign(None, &self.pair.sk, bytes, Some(comment), None).unwrap().into_string()
    }
}

pub(crate) fn keyring(threshold: usize, signers: &[&Signer]) -> Keyring {
    let keys = signers.iter().map(|signer| signer.key.clone()).collect();
    Keyring {
        version: 1,
        issued: Some("2026-01-01".parse().unwrap()),
        expires: "2999-01-01".parse().unwrap(),
        threshold,
        keyring_threshold: None,
        requires_expiry: false,
        keys,
        revoked: Vec::new(),
    }
}

pub(crate) fn keyring_of(key: Key) -> Keyring {
    Keyring { keys: vec![key], ..keyring(1, &[]) }
}

fn trusting(store: &Store, keyring: Keyring) -> (Store, Arc<std::sync::Mutex<Vec<Event>>>) {
    listening(Store::open(store.path()).unwrap().trusting(Arc::new(keyring)))
}

fn sign_all(store: &Store, signer: &Signer) {
    for signed in store.signed() {
        let signed = signed.unwrap();
        store.put_signature(&signed, &signer.key, &signer.sign(&signed.bytes)).unwrap();
    }
}

#[test]
fn mapping_is_a_miss_until_signed() {
    let (_directory, store, _) = store();
    let (archive, record) = unit("one", "v3");
    let key = record.members[0].key;
    store.publish(&archive, &record).unwrap();
    let (called, of_entry) = unit("entry", "v3");
    store.publish(&called, &of_entry).unwrap();
    store.put_entry(&entry("score")).unwrap();
    let (alice, mallory) = (signer("alice"), signer("mallory"));
    let (reader, events) = trusting(&store, keyring(1, &[&alice]));
    assert_eq!(reader.find(&key).unwrap(), []);
    assert_eq!(reader.find_fingerprint(&record.members[0].fingerprints[0]).unwrap(), []);
    assert_eq!(reader.find_entry("score").unwrap(), None);
    assert!(events.lock().unwrap().iter().all(|event| matches!(event, Event::Unsigned { .. })));
    sign_all(&store, &mallory);
    assert_eq!(reader.find(&key).unwrap(), [], "anybody can sign");
    let told = events.lock().unwrap().last().unwrap().to_string();
    assert!(
        told.contains("not signed by 1 key of the keyring: no valid signature; one is by an unlisted key"),
        "{told}"
    );
    // The result of an earlier check is not cached.
    sign_all(&store, &alice);
    assert_eq!(reader.find(&key).unwrap(), [bare(&record)]);
    assert_eq!(reader.find_entry("score").unwrap(), Some(entry("score")));
    assert!(store.verify().unwrap().is_intact());
    // A signature is valid for one record only; beside another record it is invalid.
    let (archive, other) = unit("two", "v3");
    store.publish(&archive, &other).unwrap();
    let beside = |record: &precast_store::Record| {
        let (action, id) = (record.action.to_string(), record.id());
        store.path().join("records").join(&action[..2]).join(format!("{action}-{id}.minisig"))
    };
    fs_err::copy(beside(&record), beside(&other)).unwrap();
    assert_eq!(reader.find(&other.members[0].key).unwrap(), []);
    assert!(
        events
            .lock()
            .unwrap()
            .last()
            .unwrap()
            .to_string()
            .contains("the signature by `alice` is for other bytes")
    );
}

#[test]
fn threshold_counts_keys_instead_of_signatures() {
    let (alice, bob) = (signer("alice"), signer("bob"));
    let bytes = b"content";
    let twice = alice.sign(bytes) + &alice.sign(bytes);
    let two = keyring(2, &[&alice, &bob]);
    let unsigned = two.check(bytes, &twice).unwrap_err();
    assert_eq!(unsigned.valid, ["alice"]);
    assert_eq!(two.check(bytes, &(twice + &bob.sign(bytes))).unwrap(), ["alice", "bob"]);
    // The same key with another name and number is rejected as a duplicate.
    let mut raw = alice.pair.pk.to_bytes();
    raw[2] ^= 0xff;
    let renumbered = minisign::PublicKey::from_bytes(&raw).unwrap().to_base64();
    let text = keyring(1, &[&alice]).to_string();
    for again in [alice.key.text.clone(), renumbered] {
        let error = Keyring::parse(&format!("{text}key={again} another\n")).unwrap_err();
        assert!(error.to_string().contains("duplicate `key`"), "{error}");
    }
}

#[test]
fn bundle_is_verified_before_use() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("model.precast");
    let (archive, record) = unit("one", "v3");
    let pack = archive.get("unit.so").unwrap().to_vec();
    let bytes = write_bundle(&[(record, pack)], &[entry("score")], "test").unwrap();
    fs_err::write(&path, &bytes).unwrap();
    let (alice, bob) = (signer("alice"), signer("bob"));
    let open = |keyring: &Keyring| Layer::open_signed_bundle(&path, keyring);
    let unsigned = |keyring: &Keyring| {
        let error = open(keyring).unwrap_err();
        assert!(matches!(error, OpenSignedError::Unsigned { .. }), "{error}");
        error.to_string()
    };
    let (one, two) = (keyring(1, &[&alice]), keyring(2, &[&alice, &bob]));
    assert!(unsigned(&one).contains("no signature found"));
    let put = |signer: &Signer| {
        let beside = directory.path().join("model.precast.minisig");
        let present = fs_err::read_to_string(&beside).unwrap_or_default();
        fs_err::write(&beside, with_signature(&bytes, &signer.key, &present, &signer.sign(&bytes)).unwrap())
            .unwrap();
    };
    let load = |keyring: &Keyring| Loader::open_signed(&path, keyring);
    assert!(load(&one).unwrap_err().is_unsigned());
    put(&alice);
    open(&one).unwrap();
    assert_eq!(load(&one).unwrap().entries(), ["score"]);
    assert!(load(&two).unwrap_err().is_unsigned());
    assert!(unsigned(&two).contains("signed by 2 keys of the keyring: found 1, by `alice`"));
    put(&alice);
    put(&bob);
    open(&two).unwrap();
    let mut revoked = keyring(1, &[&alice, &bob]);
    revoked.keys.remove(0);
    revoked.revoked.push(alice.key.clone());
    open(&revoked).unwrap();
    revoked.threshold = 2;
    assert!(unsigned(&revoked).contains("key `alice` is revoked"));
    // A key that is both listed and revoked is revoked.
    revoked.keys.push(alice.key);
    assert!(unsigned(&revoked).contains("found 1, by `bob`"));
    // Another intact bundle replaces the signed one.
    let (archive, record) = unit("two", "v3");
    let pack = archive.get("unit.so").unwrap().to_vec();
    fs_err::write(&path, write_bundle(&[(record, pack)], &[], "test").unwrap()).unwrap();
    assert!(unsigned(&one).contains("the signature by `alice` is for other bytes"));
    // An invalid or unreadable signature file is reported as a trust problem too.
    let beside = directory.path().join("model.precast.minisig");
    fs_err::write(&beside, SIGNATURE.repeat(400)).unwrap();
    let error = open(&one).unwrap_err();
    assert!(matches!(error, OpenSignedError::NoSignatures { .. }) && error.is_unsigned(), "{error}");
    fs_err::remove_file(&beside).unwrap();
    fs_err::create_dir(&beside).unwrap();
    assert!(open(&one).unwrap_err().is_unsigned());
}

#[test]
fn both_minisign_forms_count() {
    let keyring = keyring_of(Key::parse("minisign", PUBLIC).unwrap());
    for signature in [SIGNATURE, LEGACY] {
        assert_eq!(keyring.check(MESSAGE, signature).unwrap(), ["minisign"]);
        assert!(keyring.check(b"something else", signature).is_err());
        // The trusted comment is signed too.
        let comment = signature
            .replace("trusted comment: made", "trusted comment: not made")
            .replace("trusted comment: legacy", "trusted comment: new");
        assert!(keyring.check(MESSAGE, &comment).is_err());
    }
}

#[test]
fn keyring_successor_needs_signatures_of_its_predecessor() {
    let (alice, bob, carol) = (signer("alice"), signer("bob"), signer("carol"));
    let present = keyring(2, &[&alice, &bob]);
    let next = Keyring { version: 2, ..keyring(1, &[&carol]) };
    let text = next.to_string();
    let signed =
        |signers: &[&Signer]| -> String { signers.iter().map(|s| s.sign(text.as_bytes())).collect() };
    assert_eq!(present.check_successor(&text, &signed(&[&alice, &bob])).unwrap(), next);
    for wrong in [&[][..], &[&alice], &[&carol], &[&alice, &carol]] {
        let error = present.check_successor(&text, &signed(wrong)).unwrap_err();
        assert!(matches!(error, KeyringError::Unsigned(_)), "{error}");
    }
    let older = Keyring { version: 2, ..present };
    let error = older.check_successor(&text, &signed(&[&alice, &bob])).unwrap_err();
    assert!(matches!(error, KeyringError::Rollback { found: 2, current: 2 }), "{error}");
}

#[test]
fn keyring_parses_strictly_and_expires() {
    let directory = tempfile::tempdir().unwrap();
    let (path, alice) = (directory.path().join("k"), signer("alice smith"));
    let good = keyring(1, &[&alice]);
    let text = good.to_string();
    assert_eq!(Keyring::parse(&text).unwrap(), good);
    let wrongs = [
        ("format=2\n", "", "missing `format`"),
        ("format=2", "format=3\nowner=x", "format `3`"),
        ("format=2", "format=1", "names of format `2`"),
        ("issued=2026-01-01\n", "", "missing `issued`"),
        ("issued=2026-01-01", "issued=2026-02-30", "invalid date `2026-02-30`"),
        ("threshold=1", "threshold=1\nkeyring_threshold=0", "invalid keyring threshold 0"),
        ("key=RW", "keyring_key=RW", "invalid threshold 1 for 0 usable keys"),
        ("key=RW", "release_key=RW", "invalid keyring threshold 1 for 0 usable keys"),
        ("version=1\n", "", "missing `version`"),
        ("version=1", "version=-1", "whole number"),
        ("threshold=1", "threshold=0", "invalid threshold 0 for 1 usable key"),
        ("threshold=1", "threshold=2", "invalid threshold 2 for 1 usable key"),
        ("threshold=1", "threshold=1\nthreshold=1", "duplicate `threshold`"),
        ("expires=2999-01-01", "expires=soon", "invalid date `soon`"),
        ("key=RW", "key=XX", "expected a minisign public key"),
        ("key=RW", "owner=RW", "unknown name `owner`"),
        ("key=", "key ", "expected `name=value`"),
        ("version=1", "version=01", "`01` is not a whole number"),
        ("version=1", "version=+1", "`+1` is not a whole number"),
        ("version=1", "version= 1", "unexpected space"),
        ("version=1", "version=1 ", "unexpected space"),
        ("version=1\n", "version=1\r\n", "unexpected space"),
        ("version=1", " version=1", "expected `name=value`"),
        (" alice smith\n", "\n", "expected a key, a space and its name"),
        (" alice smith\n", "  alice smith\n", "expected a minisign public key"),
        ("\nkey=", "\n \nkey=", "expected `name=value`"),
    ];
    for (from, to, told) in wrongs {
        assert!(text.contains(from), "{from}");
        let wrong = text.replace(from, to);
        let error = Keyring::parse(&wrong).unwrap_err();
        assert_eq!(matches!(error, KeyringError::Format { .. }), to.starts_with("format=3"), "{error}");
        let error = error.to_string();
        assert!(error.contains(told) && !error.contains("line 0"), "{error}");
        // An error of a file names the file and the line.
        fs_err::write(&path, &wrong).unwrap();
        let told = precast_store::event::chain(&Keyring::open(&path).unwrap_err());
        assert!(
            told.contains(path.to_str().unwrap()) && told.contains(error.lines().next().unwrap()),
            "{told}"
        );
    }
    // A file that is cut within a line is rejected, so that the last line, which may be a revocation, cannot be lost
    // unnoticed.
    for at in (0..text.len()).filter(|at| !text[..*at].ends_with('\n')) {
        assert!(Keyring::parse(&text[..at]).is_err(), "{}", &text[..at]);
    }
    // A file larger than any keyring.
    fs_err::write(&path, format!("{text}#{}\n", "x".repeat(1 << 20))).unwrap();
    let error = Keyring::open(&path).unwrap_err();
    assert!(precast_store::event::chain(&error).contains("\nhint: "), "{error}");
    // Two keys of the same name: revoking that name would leave one of them.
    let twin = signer("alice smith");
    let error =
        Keyring::parse(&format!("{text}key={} alice smith\n", twin.key.text)).unwrap_err().to_string();
    assert!(error.contains("another key is already named `alice smith`"), "{error}");
    let today = Date::today();
    fs_err::write(&path, Keyring { expires: today, ..good.clone() }.to_string()).unwrap();
    let error = Keyring::open(&path).unwrap_err();
    assert!(matches!(error, KeyringError::Expired { .. }) && error.to_string().contains("hint: "), "{error}");
    // A keyring inside a program, or one read long ago, expires as well; only its successor is still trusted.
    let content = b"signed in time";
    let expired = Keyring::parse(&Keyring { expires: today, ..good.clone() }.to_string()).unwrap();
    assert_eq!(good.check(content, &alice.sign(content)).unwrap(), ["alice smith"]);
    let told = expired.check(content, &alice.sign(content)).unwrap_err().to_string();
    assert!(told.contains(&format!("the keyring expired on {today}")), "{told}");
    let next = Keyring { version: 2, ..good.clone() };
    let signature = alice.sign(next.to_string().as_bytes());
    assert_eq!(expired.check_successor(&next.to_string(), &signature).unwrap(), next);
    fs_err::write(&path, &text).unwrap();
    assert_eq!(Keyring::open(&path).unwrap(), good);
    fs_err::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o666)).unwrap();
    assert!(matches!(Keyring::open(&path).unwrap_err(), KeyringError::Untrusted(_)));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Changed content is never accepted, and changed signatures or keyrings never cause a crash.
    #[test]
    fn altered_bytes_fail_verification(at in any::<prop::sample::Index>(), bit in 0..8_u8, cut in any::<bool>(), content in any::<bool>()) {
        let key = Key::parse("minisign", PUBLIC).unwrap();
        let keyring = keyring_of(key);
        let change = |bytes: &[u8]| {
            let mut bytes = bytes.to_vec();
            let at = at.index(bytes.len());
            if cut { bytes.truncate(at) } else { bytes[at] ^= 1 << bit }
            bytes
        };
        if content {
            prop_assert!(keyring.check(&change(MESSAGE), SIGNATURE).is_err());
        } else {
            let signature = String::from_utf8_lossy(&change(SIGNATURE.as_bytes())).into_owned();
            // The first line is a comment and not signed.
            let comment = SIGNATURE.find('\n').unwrap();
            if at.index(SIGNATURE.len()) > comment && keyring.check(MESSAGE, &signature).is_ok() {
                prop_assert_eq!(signature.trim(), SIGNATURE.trim());
            }
        }
        let changed = String::from_utf8_lossy(&change(keyring.to_string().as_bytes())).into_owned();
        let _ = Keyring::parse(&changed);
    }
}
