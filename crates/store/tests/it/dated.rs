//! Signatures that expire, keyrings with a day of issue, and keys with roles.

use precast_store::keyring::{Cause, Date, Key, Role, expiry, merged, with_signature};
use precast_store::{Keyring, KeyringError};

use crate::keyring::{Signer, keyring, signer};

const CONTENT: &[u8] = b"content";

fn day(text: &str) -> Date {
    text.parse().unwrap()
}

/// Returns the keyring of a signer, with a role for its key.
fn with_role(signer: &Signer, role: Role) -> Key {
    signer.key.clone().with_role(role)
}

#[test]
fn expired_signature_does_not_count() {
    let alice = signer("alice");
    let ring = keyring(1, &[&alice]);
    let today = format!("hashed\texpires:{}", Date::today());
    let cases = [
        ("test", true),
        ("timestamp:1\tfile:a\thashed\texpires:2999-01-01", true),
        ("expires:2999-01-01", true),
        // Not a field of its own.
        ("file:expires:2020-01-01", true),
        ("expires: 2020-01-01x", false),
        ("expires:", false),
        ("expires:2020-01-01", false),
        (today.as_str(), false),
        // The earliest day counts.
        ("expires:2999-01-01\texpires:2020-01-01", false),
    ];
    for (comment, counts) in cases {
        let signature = alice.sign_as(CONTENT, comment);
        assert_eq!(ring.check(CONTENT, &signature).is_ok(), counts, "{comment}");
        let streamed = ring.check_read(&mut std::io::Cursor::new(CONTENT), &signature).unwrap();
        assert_eq!(streamed.is_ok(), counts, "{comment}");
        let unsigned = streamed.err();
        assert!(unsigned.is_none_or(|unsigned| unsigned.cause == Cause::ExpiredSignature), "{comment}");
    }
    let unsigned = ring.check(CONTENT, &alice.sign_as(CONTENT, "expires:2020-01-01")).unwrap_err();
    assert!(unsigned.to_string().contains("the signature by `alice` expired on 2020-01-01"), "{unsigned}");
    assert!(unsigned.hint().contains("current release"), "{}", unsigned.hint());
    assert_eq!(expiry("a\texpires:2999-01-01"), Ok(Some(day("2999-01-01"))));
    assert_eq!(expiry("a"), Ok(None));
    // The day is signed: a later one in its place is not valid.
    let later = alice.sign_as(CONTENT, "expires:2020-01-01").replace("2020-01-01", "2998-01-01");
    assert_eq!(ring.check(CONTENT, &later).unwrap_err().cause, Cause::OtherBytes);
}

#[test]
fn keyring_may_require_that_signatures_expire() {
    let alice = signer("alice");
    let ring = Keyring { requires_expiry: true, ..keyring(1, &[&alice]) };
    let forever = alice.sign_as(CONTENT, "hashed");
    assert_eq!(ring.check(CONTENT, &forever).unwrap_err().cause, Cause::ExpiredSignature);
    let streamed = ring.check_read(&mut std::io::Cursor::new(CONTENT), &forever).unwrap();
    assert_eq!(streamed.unwrap_err().cause, Cause::ExpiredSignature);
    let limited = alice.sign_as(CONTENT, "hashed\texpires:2999-01-01");
    assert!(ring.check(CONTENT, &format!("{forever}{limited}")).is_ok());
    // Keyrings state their own last day.
    let next = Keyring { version: ring.version + 1, ..ring.clone() }.to_string();
    let successor = ring.check_successor(&next, &alice.sign_as(next.as_bytes(), "hashed")).unwrap();
    assert!(successor.requires_expiry);
    assert!(Keyring::parse(&next.replace("requires_expiry=true", "requires_expiry=yes")).is_err());
}

#[test]
fn new_signature_replaces_an_expired_one() {
    let (alice, mallory) = (signer("alice"), signer("mallory"));
    let ring = keyring(1, &[&alice]);
    let (old, new) =
        (alice.sign_as(CONTENT, "expires:2020-01-01"), alice.sign_as(CONTENT, "expires:2999-01-01"));
    let text = with_signature(CONTENT, &alice.key, &old, &new).unwrap();
    assert_eq!(text, new);
    // Places that merge signatures without the keyring keep both, and either order counts.
    for all in [merged(&old, &new, None), merged(&new, &old, None)] {
        assert_eq!(ring.check(CONTENT, &all).unwrap(), ["alice"]);
    }
    // Among too many signatures, those that count are kept, and an expired one does not.
    let junk: String = (0..63)
        .map(|at| mallory.sign_as(CONTENT, &format!("junk {at}")))
        .map(|text| text.trim_end().to_owned() + "\n")
        .collect();
    let all = merged(&(old.trim_end().to_owned() + "\n" + &junk), &new, Some((&ring, CONTENT)));
    assert_eq!(ring.check(CONTENT, &all).unwrap(), ["alice"]);
}

#[test]
fn clock_before_day_of_issue_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let (path, alice) = (directory.path().join("k"), signer("alice"));
    let early = Keyring { issued: Some(day("2998-01-01")), ..keyring(1, &[&alice]) };
    fs_err::write(&path, early.to_string()).unwrap();
    let error = Keyring::open(&path).unwrap_err();
    assert!(matches!(&error, KeyringError::Clock { issued, .. } if *issued == day("2998-01-01")), "{error}");
    assert!(error.to_string().contains("the clock is wrong") && error.to_string().contains("hint: "));
    // A keyring that is already open, or inside a program.
    let read = Keyring::read(&path).unwrap();
    assert!(read.is_early() && read == early);
    let unsigned = read.check(CONTENT, &alice.sign(CONTENT)).unwrap_err();
    assert_eq!(unsigned.cause, Cause::Clock);
    assert!(unsigned.to_string().contains("issued on 2998-01-01, and the clock shows"), "{unsigned}");
    // Issued today.
    let today = Keyring { issued: Some(Date::today()), ..early };
    assert_eq!(today.check(CONTENT, &alice.sign(CONTENT)).unwrap(), ["alice"]);
    // Format 1 has no day.
    let first = Keyring { issued: None, ..today };
    assert!(first.to_string().contains("format=1\n"), "{first}");
    assert_eq!(Keyring::parse(&first.to_string()).unwrap(), first);
    assert_eq!(first.check(CONTENT, &alice.sign(CONTENT)).unwrap(), ["alice"]);
}

#[test]
fn roles_separate_releases_from_keyrings() {
    let (root, spare, ci) = (signer("root"), signer("spare"), signer("ci"));
    let ring = Keyring {
        keys: vec![
            with_role(&root, Role::Keyrings),
            with_role(&spare, Role::Keyrings),
            with_role(&ci, Role::Releases),
        ],
        keyring_threshold: Some(2),
        ..keyring(1, &[])
    };
    let text = ring.to_string();
    assert!(text.contains("keyring_threshold=2\n") && text.contains("release_key=RW"), "{text}");
    assert_eq!(Keyring::parse(&text).unwrap(), ring);
    assert_eq!(ring.check(CONTENT, &ci.sign(CONTENT)).unwrap(), ["ci"]);
    let unsigned = ring.check(CONTENT, &root.sign(CONTENT)).unwrap_err();
    assert!(unsigned.to_string().contains("key `root` may sign keyrings only"), "{unsigned}");
    let next = Keyring { version: 2, ..ring.clone() };
    let text = next.to_string();
    let signed =
        |by: &[&Signer]| -> String { by.iter().map(|signer| signer.sign(text.as_bytes())).collect() };
    assert_eq!(ring.check_successor(&text, &signed(&[&root, &spare])).unwrap(), next);
    for wrong in [&[&ci][..], &[&root], &[&root, &ci]] {
        let error = ring.check_successor(&text, &signed(wrong)).unwrap_err();
        assert!(matches!(error, KeyringError::Unsigned(_)), "{error}");
    }
    // Without keys for one of the tasks, the keyring is invalid.
    for role in [Role::Keyrings, Role::Releases] {
        let one = Keyring { keys: vec![with_role(&ci, role)], ..keyring(1, &[]) };
        let error = Keyring::parse(&one.to_string()).unwrap_err();
        assert!(matches!(error, KeyringError::Threshold { task, usable: 0, .. } if task != role), "{error}");
    }
    assert_eq!(ring.release_keys().map(|key| key.name.as_str()).collect::<Vec<_>>(), ["ci"]);
}

#[test]
fn versions_of_keyrings_can_be_skipped() {
    let (alice, bob, carol) = (signer("alice"), signer("bob"), signer("carol"));
    let first = keyring(1, &[&alice]);
    let second = Keyring { version: 2, ..keyring(1, &[&alice, &bob]) };
    let third = Keyring { version: 3, ..keyring(1, &[&bob, &carol]) };
    let signed = |ring: &Keyring, by: &[&Signer]| -> String {
        by.iter().map(|signer| signer.sign(ring.to_string().as_bytes())).collect()
    };
    // The first keyring does not know the keys of the third: the old key signs too, or the second comes first.
    assert!(first.check_successor(&third.to_string(), &signed(&third, &[&bob])).is_err());
    let both = signed(&third, &[&bob, &alice]);
    assert_eq!(first.check_successor(&third.to_string(), &both).unwrap(), third);
    let between = first.check_successor(&second.to_string(), &signed(&second, &[&alice])).unwrap();
    assert_eq!(between.check_successor(&third.to_string(), &signed(&third, &[&bob])).unwrap(), third);
    // A replayed signature of a keyring ends as well.
    let expired = alice.sign_as(second.to_string().as_bytes(), "expires:2020-01-01");
    assert!(first.check_successor(&second.to_string(), &expired).is_err());
}
