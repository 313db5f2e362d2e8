//! Files of signatures: many signatures, files that are read in parts, merged files, and those of exports.

use precast_store::keyring::{Key, merged, with_signature};
use precast_store::{Archive, Export, Limits, OpenExportError};

use crate::keyring::{LEGACY, MESSAGE, PUBLIC, keyring, keyring_of, signer};
use crate::sample::{store, unit};

#[test]
fn new_signature_counts_beside_many_others() {
    let (alice, mallory, content) = (signer("alice"), signer("mallory"), b"content");
    let ring = keyring(1, &[&alice]);
    let unknown: String = (0..64).map(|_| mallory.sign(content).trim_end().to_owned() + "\n").collect();
    let garbage = "not a signature\n".repeat(4 * 64);
    for present in [String::new(), unknown, garbage] {
        let all = with_signature(content, &alice.key, &present, &alice.sign(content)).unwrap();
        assert_eq!(ring.check(content, &all).unwrap(), ["alice"]);
    }
}

#[test]
fn streamed_file_verifies_like_its_bytes() {
    let (alice, mallory) = (signer("alice"), signer("mallory"));
    let (ring, content) = (keyring(1, &[&alice]), vec![7; 200_000]);
    let check = |content: &[u8], signatures: &str| {
        ring.check_read(&mut std::io::Cursor::new(content), signatures).unwrap().is_ok()
    };
    let signature = alice.sign(&content);
    assert!(check(&content, &signature) && check(&content, &(mallory.sign(&content) + &signature)));
    assert!(
        !check(&content[1..], &signature)
            && !check(&content, &mallory.sign(&content))
            && !check(&content, "")
    );
}

#[test]
fn legacy_signature_of_streamed_file_is_named() {
    let ring = keyring_of(Key::parse("minisign", PUBLIC).unwrap());
    assert!(ring.check(MESSAGE, LEGACY).is_ok());
    let refused = ring.check_read(&mut std::io::Cursor::new(MESSAGE), LEGACY).unwrap().unwrap_err();
    assert!(refused.to_string().contains("before 0.10"), "{refused}");
}

#[test]
fn merged_signatures_keep_those_that_count() {
    let (alice, mallory, content) = (signer("alice"), signer("mallory"), b"content");
    let ring = keyring(1, &[&alice]);
    let junk = |from: usize, count: usize| -> String {
        (from..from + count)
            .map(|at| {
                let signature = mallory.sign(content);
                signature.trim_end().replacen("untrusted comment:", &format!("untrusted comment: {at}"), 1)
                    + "\n"
            })
            .collect()
    };
    let genuine = alice.sign(content);
    let counts = |text: &str| ring.check(content, text).is_ok();
    let broken = "a line\n";
    for known in [None, Some((&ring, &content[..]))] {
        // Merging a valid signature with invalid ones keeps it valid, in either order and repeatedly.
        assert!(counts(&merged(&junk(0, 64), &genuine, known)));
        assert!(counts(&merged(broken, &genuine, known)) && counts(&merged(&genuine, broken, known)));
        let mut all = genuine.clone();
        for round in 1..4 {
            all = merged(&all, &junk(100 * round, 64), known);
            assert!(counts(&all), "{round}");
        }
    }
    // If the keyring is known, the position of the valid signature does not matter.
    let known = Some((&ring, &content[..]));
    let late = junk(0, 63) + &genuine;
    assert!(counts(&late) && counts(&merged(&junk(100, 64), &late, known)));
    assert!(counts(&merged(&late, &junk(100, 64), known)));
}

#[test]
fn export_signatures_are_checked_before_unpacking() {
    let (_directory, store, _) = store();
    let (archive, record) = unit("entry", "v3");
    store.publish(&archive, &record).unwrap();
    let (alice, mallory) = (signer("alice"), signer("mallory"));
    let ring = keyring(1, &[&alice]);
    let mut export = store.export(None).unwrap();
    // An unsigned export is not even checked for damage.
    let mut damaged = Archive::unpack(&export.pack().unwrap(), &Limits::default()).unwrap().1;
    damaged.members.insert("documents/0".to_owned(), vec![0; 1 << 20]);
    let damaged = damaged.pack().unwrap().1;
    assert!(matches!(Export::open(&damaged), Err(OpenExportError::Member { .. })));
    assert!(matches!(Export::open_signed(&damaged, &ring), Err(OpenExportError::Unsigned(_))));
    for (signer, counts) in [(&mallory, false), (&alice, true)] {
        export.set_signatures(signer.sign(export.statement()));
        let opened = Export::open_signed(&export.pack().unwrap(), &ring);
        match opened {
            Ok((opened, names)) => assert!(counts && opened == export && names == ["alice"]),
            Err(error) => assert!(!counts && matches!(error, OpenExportError::Unsigned(_)), "{error}"),
        }
    }
    // An oversized signatures member and an invalid header are rejected, and error messages do not repeat their bytes.
    let mut long = Archive::unpack(&export.pack().unwrap(), &Limits::default()).unwrap().1;
    long.members.insert("statement.minisig".to_owned(), vec![b'x'; (64 << 10) + 1]);
    let refused = Export::open_signed(&long.pack().unwrap().1, &ring).unwrap_err();
    assert!(
        matches!(&refused, OpenExportError::Member { member, .. } if member == "statement.minisig"),
        "{refused}"
    );
    let mut tar = zstd::decode_all(&export.pack().unwrap()[..]).unwrap();
    tar[124..135].copy_from_slice(b"RAWCONTENT!");
    let mut compressor = zstd::bulk::Compressor::new(1).unwrap();
    compressor.include_checksum(true).unwrap();
    let refused = Export::open_signed(&compressor.compress(&tar).unwrap(), &ring).unwrap_err();
    let OpenExportError::Unpack(precast_store::UnpackError::Header { .. }) = &refused else {
        panic!("{refused}")
    };
    let told = precast_store::event::chain(&refused);
    assert!(!told.contains("RAWCONTENT") && told.contains("\nhint: "), "{told}");
    for cut in [&b""[..], b"no export", &damaged[..damaged.len() / 2]] {
        assert!(matches!(Export::open_signed(cut, &ring), Err(OpenExportError::Unpack(_))));
    }
}
