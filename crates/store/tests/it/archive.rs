//! Archives: a set of members has exactly one tar, and every other form is rejected.

use std::collections::BTreeMap;
use std::io::Write;

use precast_store::archive::{NameError, check_name};
use precast_store::{Archive, Limits, PackError, UnpackError};
use proptest::prelude::*;
use tar::{Builder, EntryType, Header};

use crate::sample::unit;

fn frame(tar: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 3).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.set_pledged_src_size(Some(tar.len() as u64)).unwrap();
    encoder.write_all(tar).unwrap();
    encoder.finish().unwrap()
}

fn unpack(frame: &[u8]) -> Result<Archive, UnpackError> {
    Archive::unpack(frame, &Limits::default()).map(|(_, archive)| archive)
}

/// Makes a header like `pack`, then changes it.
fn header(name: &[u8], size: u64, change: impl FnOnce(&mut Header)) -> Header {
    let mut header = Header::new_ustar();
    header.as_old_mut().name[..name.len()].copy_from_slice(name);
    header.set_entry_type(EntryType::Regular);
    header.set_mode(0o644);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(0);
    header.set_size(size);
    change(&mut header);
    header.set_cksum();
    header
}

fn tar(members: &[(Header, &[u8])]) -> Vec<u8> {
    let mut builder = Builder::new(Vec::new());
    for (header, content) in members {
        builder.append(header, *content).unwrap();
    }
    builder.into_inner().unwrap()
}

#[test]
fn the_tar_crate_writes_the_same_bytes() {
    let (archive, _) = unit("a", "v3");
    let members: Vec<(Header, &[u8])> = archive
        .members
        .iter()
        .map(|(name, content)| (header(name.as_bytes(), content.len() as u64, |_| {}), &content[..]))
        .collect();
    let (digest, packed) = archive.pack().unwrap();
    let tar = tar(&members);
    assert_eq!(tar.len() as u64, archive.size());
    assert_eq!(zstd::decode_all(&packed[..]).unwrap(), tar);
    assert_eq!(Archive::unpack(&frame(&tar), &Limits::default()).unwrap(), (digest, archive));
}

#[test]
fn digest_ignores_the_compression() {
    let (archive, _) = unit("a", "v3");
    let (digest, packed) = archive.pack().unwrap();
    let tar = zstd::decode_all(&packed[..]).unwrap();
    let mut encoder = zstd::Encoder::new(Vec::new(), 19).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.set_pledged_src_size(Some(tar.len() as u64)).unwrap();
    encoder.write_all(&tar).unwrap();
    let other = encoder.finish().unwrap();
    assert_ne!(other, packed);
    assert_eq!(Archive::unpack(&other, &Limits::default()).unwrap().0, digest);
}

#[test]
fn unpack_rejects_parent_paths() {
    for name in ["..", "../a", "a/../b", "/a", "a//b", "./a", "a/", "", "a/."] {
        let error = unpack(&frame(&tar(&[(header(name.as_bytes(), 0, |_| {}), b"")]))).unwrap_err();
        assert!(matches!(error, UnpackError::Name(NameError::NotRelative { .. })), "{name}: {error}");
    }
    for name in [b"a\\b".as_slice(), b"c:a", b"a\n", b"\xff"] {
        let error = unpack(&frame(&tar(&[(header(name, 0, |_| {}), b"")]))).unwrap_err();
        assert!(matches!(error, UnpackError::Name(NameError::Character { .. })), "{name:?}: {error}");
    }
}

#[test]
fn unpack_rejects_non_canonical_headers() {
    let mut refused = vec![
        header(b"a", 0, |header| header.set_mode(0o755)),
        header(b"a", 0, |header| header.set_uid(1)),
        header(b"a", 0, |header| header.set_gid(1)),
        header(b"a", 0, |header| header.set_mtime(1)),
        header(b"a", 0, |header| header.set_username("me").unwrap()),
        header(b"a", 0, |header| header.set_device_major(1).unwrap()),
        header(b"a", 0, |header| header.set_link_name("b").unwrap()),
        header(b"a", 0, |header| header.as_old_mut().name[50] = b'x'),
        header(b"a", 0, |header| header.as_old_mut().size = *b"         0 0"),
    ];
    let kinds = [
        EntryType::Symlink,
        EntryType::Link,
        EntryType::Directory,
        EntryType::Fifo,
        EntryType::Char,
        EntryType::Block,
        EntryType::XHeader,
        EntryType::XGlobalHeader,
        EntryType::GNULongName,
        EntryType::GNULongLink,
        EntryType::GNUSparse,
        EntryType::Continuous,
    ];
    refused.extend(kinds.map(|kind| header(b"a", 0, |header| header.set_entry_type(kind))));
    let mut gnu = Header::new_gnu();
    gnu.set_path("a").unwrap();
    gnu.set_size(0);
    gnu.set_mode(0o644);
    gnu.set_cksum();
    refused.push(gnu);
    for header in refused {
        let error = unpack(&frame(&tar(&[(header.clone(), b"")]))).unwrap_err();
        assert!(matches!(error, UnpackError::Header { .. }), "{header:?}: {error}");
    }
    let mut checksum = tar(&[(header(b"a", 0, |_| {}), b"")]);
    checksum[148] ^= 1;
    assert!(unpack(&frame(&checksum)).is_err());
}

#[test]
fn unpack_rejects_pax_extensions() {
    let mut builder = Builder::new(Vec::new());
    builder.append_pax_extensions([("path", b"/etc/passwd".as_slice())]).unwrap();
    builder.append(&header(b"a", 0, |_| {}), b"".as_slice()).unwrap();
    let error = unpack(&frame(&builder.into_inner().unwrap())).unwrap_err();
    // The extension is a member without a name, so the first check rejects it.
    assert!(matches!(error, UnpackError::Name(NameError::NotRelative { .. })), "{error}");
}

#[test]
fn unpack_rejects_disorder_and_duplicates() {
    let plain = |name: &[u8]| (header(name, 1, |_| {}), b"x".as_slice());
    assert!(unpack(&frame(&tar(&[plain(b"a"), plain(b"b")]))).is_ok());
    for pair in [[plain(b"b"), plain(b"a")], [plain(b"a"), plain(b"a")]] {
        assert!(matches!(unpack(&frame(&tar(&pair))).unwrap_err(), UnpackError::Order { .. }));
    }
    let nested = unpack(&frame(&tar(&[plain(b"a"), plain(b"a-"), plain(b"a/b")]))).unwrap_err();
    assert!(matches!(nested, UnpackError::Name(NameError::FileAndDirectory { .. })), "{nested}");
}

#[test]
fn unpack_rejects_false_lengths() {
    for size in [1, 512, 513, 1 << 33, 0o77_777_777_777, u64::MAX >> 1] {
        let mut bytes = header(b"a", size, |_| {}).as_bytes().to_vec();
        bytes.resize(512 + 1024, 0);
        let refused = unpack(&frame(&bytes)).unwrap_err();
        let text = refused.to_string();
        assert!(
            matches!(refused, UnpackError::Structure { .. } | UnpackError::Header { .. }),
            "{size}: {text}"
        );
    }
    let whole = tar(&[(header(b"a", 3, |_| {}), b"abc")]);
    for cut in 0..whole.len() {
        assert!(unpack(&frame(&whole[..cut])).is_err(), "cut at {cut}");
    }
    let mut longer = whole.clone();
    longer.resize(whole.len() + 512, 0);
    assert!(matches!(unpack(&frame(&longer)).unwrap_err(), UnpackError::Structure { .. }));
    let mut padded = whole;
    padded[512 + 3] = 1;
    assert!(matches!(unpack(&frame(&padded)).unwrap_err(), UnpackError::Structure { .. }));
}

#[test]
fn unpack_stays_within_its_limits() {
    let (archive, _) = unit("a", "v3");
    let (_, packed) = archive.pack().unwrap();
    let size = archive.size();
    assert!(Archive::unpack(&packed, &Limits { size, members: 4 }).is_ok());
    let small = Archive::unpack(&packed, &Limits { size: size - 1, members: 4 }).unwrap_err();
    assert_eq!(small.to_string(), format!("found a tar of {size} bytes, expected at most {}", size - 1));
    let few = Archive::unpack(&packed, &Limits { size, members: 3 }).unwrap_err();
    assert_eq!(few.to_string(), "found more than 3 members");
    // 4 GiB of zeros in a few hundred kilobytes would be rejected because of the stated size. This one is small and
    // states no checksum.
    let bomb = zstd::bulk::compress(&vec![0; 1 << 20], 3).unwrap();
    assert!(bomb.len() < 1000);
    assert!(matches!(unpack(&bomb).unwrap_err(), UnpackError::Frame { reason: "missing checksum" }));
    assert!(matches!(
        Archive::unpack(&frame(&vec![0; 1 << 20]), &Limits { size: 4096, members: 1 }).unwrap_err(),
        UnpackError::TooLarge { found: 1_048_576, limit: 4096 }
    ));
}

#[test]
fn unpack_requires_one_frame_with_checksum() {
    let (archive, _) = unit("a", "v3");
    let tar = zstd::decode_all(&archive.pack().unwrap().1[..]).unwrap();
    let mut sizeless = zstd::Encoder::new(Vec::new(), 3).unwrap();
    sizeless.include_checksum(true).unwrap();
    sizeless.write_all(&tar).unwrap();
    let sizeless = sizeless.finish().unwrap();
    assert!(matches!(unpack(&sizeless).unwrap_err(), UnpackError::Frame { reason: "missing content size" }));
    let two = [frame(&tar), frame(b"")].concat();
    assert!(matches!(unpack(&two).unwrap_err(), UnpackError::Frame { .. }));
    assert!(matches!(unpack(b"").unwrap_err(), UnpackError::Frame { reason: "invalid magic" }));
    assert!(matches!(unpack(&tar).unwrap_err(), UnpackError::Frame { reason: "invalid magic" }));
}

#[test]
fn flipped_archive_is_rejected_or_equal() {
    let (archive, _) = unit("a", "v3");
    let (digest, packed) = archive.pack().unwrap();
    for at in 0..packed.len() {
        assert!(unpack(&packed[..at]).is_err(), "cut at {at}");
        for bit in 0..8 {
            let mut flipped = packed.clone();
            flipped[at] ^= 1 << bit;
            if let Ok(found) = Archive::unpack(&flipped, &Limits::default()) {
                assert_eq!(found, (digest, archive.clone()), "byte {at} bit {bit}");
            }
        }
    }
}

#[test]
fn pack_rejects_invalid_names() {
    let archive =
        |names: &[&str]| Archive { members: names.iter().map(|&name| (name.to_owned(), vec![])).collect() };
    for names in [&["../a"][..], &["a\\b"], &["a", "a/b"], &[&"x".repeat(101)], &[""]] {
        assert!(matches!(archive(names).pack().unwrap_err(), PackError::Name(_)), "{names:?}");
    }
    assert!(archive(&[&format!("{}/{}", "d".repeat(150), "f".repeat(100))]).pack().is_ok());
    assert_eq!(check_name("include/precast/tensor.h"), Ok(()));
}

proptest! {
    #[test]
    fn archives_round_trip(
        members in proptest::collection::btree_map("[a-c]{1,2}(\\.h)?", proptest::collection::vec(any::<u8>(), 0..1500), 0..6),
        directory in "[d-f]{1,3}",
    ) {
        let members: BTreeMap<String, Vec<u8>> = members.into_iter().map(|(name, content)| (format!("{directory}/{name}"), content)).collect();
        let archive = Archive { members };
        let (digest, packed) = archive.pack().unwrap();
        prop_assert_eq!(archive.digest().unwrap(), digest);
        prop_assert_eq!(Archive::unpack(&packed, &Limits::default()).unwrap(), (digest, archive));
    }

    #[test]
    fn random_frames_are_rejected_or_canonical(
        at in 0_usize..4000, value in any::<u8>(),
    ) {
        let (archive, _) = unit("a", "v3");
        let mut tar = zstd::decode_all(&archive.pack().unwrap().1[..]).unwrap();
        let at = at % tar.len();
        tar[at] = value;
        if let Ok((digest, found)) = Archive::unpack(&frame(&tar), &Limits::default()) {
            prop_assert_eq!(zstd::decode_all(&found.pack().unwrap().1[..]).unwrap(), tar);
            prop_assert_eq!(found.digest().unwrap(), digest);
        }
    }
}
