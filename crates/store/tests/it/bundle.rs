//! Bundles: lookups, loads, rejected files, and the consequences of damage.

use std::collections::BTreeSet;

use precast_core::Program;
use precast_store::bundle::has_generator;
use precast_store::{
    Bundle, BundleLoadError, Entry, Event, OpenBundleError, Record, WriteBundleError, write_bundle,
};
use proptest::prelude::*;

use crate::sample::{bare, entry, unit};

fn packs(count: usize) -> Vec<(Record, Vec<u8>)> {
    (0..count)
        .map(|n| unit(&format!("unit {n}"), "v3").1)
        .map(|r| (r.clone(), r.id().to_string().into_bytes()))
        .collect()
}

fn open(bytes: &[u8]) -> Result<Bundle, OpenBundleError> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("b");
    fs_err::write(&path, bytes).unwrap();
    Bundle::open(path)
}

/// Checks the answer to every query against an undamaged bundle.
fn assert_whole(bundle: &Bundle, records: &[(Record, Vec<u8>)], entries: &[Entry]) {
    for (record, pack) in records {
        for member in &record.members {
            assert_eq!(bundle.find(&member.key), [bare(record).into()]);
            assert_eq!(bundle.find_fingerprint(&member.fingerprints[0]), [(bare(record).into(), member.key)]);
            assert_eq!(bundle.document(&member.key), member.document);
        }
        assert_eq!(bundle.load(record), Ok(&pack[..]));
    }
    for entry in entries {
        assert_eq!(bundle.find_entry(&entry.name).as_ref(), Some(entry));
    }
    assert_eq!(bundle.verify(), []);
}

#[test]
fn bundle_returns_its_records_and_entries() {
    let (records, entries) = (packs(60), [entry("score"), entry("loss")]);
    let bytes = write_bundle(&records, &entries, "precast 0.1.0").unwrap();
    let bundle = open(&bytes).unwrap();
    assert_eq!((bundle.generator(), bundle.len()), ("precast 0.1.0", 60));
    assert_whole(&bundle, &records, &entries);
    let ids: BTreeSet<_> = bundle.records().iter().map(Record::id).collect();
    assert_eq!(ids, records.iter().map(|(record, _)| record.id()).collect());
    assert!(
        bundle.records().iter().all(|record| record.members.iter().all(|member| member.document.is_some()))
    );
    let names: Vec<_> = bundle.entries().into_iter().map(|entry| entry.name).collect();
    assert_eq!(names, ["loss", "score"]);
    let (_, other) = unit("other", "v3");
    assert_eq!(bundle.find(&other.members[0].key), []);
    assert_eq!(bundle.document(&other.members[0].key), None);
    assert!(matches!(bundle.load(&other).unwrap_err(), BundleLoadError::Missing { .. }));
    assert_eq!(bundle.find_entry("scores"), None);
}

#[test]
fn all_variants_are_found_across_pages() {
    let records: Vec<_> = (0..200).map(|isa| (unit("one", &format!("isa {isa}")).1, vec![0])).collect();
    let bundle = open(&write_bundle(&records, &[], "g").unwrap()).unwrap();
    for member in &records[0].0.members {
        assert_eq!(bundle.find(&member.key).len(), 200);
    }
}

#[test]
fn empty_bundle_is_valid() {
    let bytes = write_bundle(&[], &[], "").unwrap();
    let bundle = Bundle::from_static(bytes.clone().leak()).unwrap();
    assert!(bundle.is_empty());
    assert_whole(&bundle, &[], &[]);
    assert_eq!(bundle.find(&unit("a", "v3").1.members[0].key), []);
}

#[test]
fn embedded_bytes_need_no_alignment() {
    let records = packs(3);
    let bytes = write_bundle(&records, &[], "g").unwrap();
    for shift in 0..8 {
        let shifted = [vec![0; shift], bytes.clone()].concat().leak();
        assert_whole(&Bundle::from_static(&shifted[shift..]).unwrap(), &records, &[]);
    }
}

#[test]
fn generator_can_be_checked_in_a_constant() {
    const BYTES: &[u8] = include_bytes!("../../../../artifacts/golden/bundle-v3.precast");
    const _: () = assert!(has_generator(BYTES, "precast golden"));
    let bytes = write_bundle(&[], &[], "precast 0.1.0").unwrap();
    assert!(has_generator(&bytes, "precast 0.1.0"));
    for other in ["precast 0.1.1", "precast 0.1.", "precast 0.1.00", ""] {
        assert!(!has_generator(&bytes, other), "{other}");
    }
    assert!(!has_generator(b"precastb", "precast 0.1.0"));
}

#[test]
fn other_files_are_rejected_as_bundles() {
    let bytes = write_bundle(&packs(1), &[], "g").unwrap();
    let error = |bytes: &[u8]| Bundle::from_static(bytes.to_vec().leak()).unwrap_err();
    assert_eq!(
        error(b"\x7fELF").to_string(),
        "the embedded bundle is not a bundle: found magic `\\x7fELF`, expected `precastb`"
    );
    assert!(matches!(error(b""), OpenBundleError::Magic { .. }));
    for format in [1, 2, 4] {
        let mut other = bytes.clone();
        other[12] = format;
        assert!(matches!(error(&other), OpenBundleError::Format { found, .. } if found == u32::from(format)));
    }
    let expected = bytes.len();
    let cut = error(&bytes[..expected - 1]).to_string();
    assert!(cut.contains(&format!("has {} bytes, expected {expected}", expected - 1)), "{cut}");
    assert!(matches!(error(&[bytes, vec![0]].concat()), OpenBundleError::Length { .. }));
    let missing = Bundle::open("/nonexistent/b").unwrap_err();
    assert!(missing.to_string().contains("`/nonexistent/b`"), "{missing}");
}

#[test]
fn ambiguous_bundles_are_not_written() {
    let (_, record) = unit("a", "v3");
    let twice = [(record.clone(), vec![1]), (record.clone(), vec![2])];
    assert!(matches!(write_bundle(&twice, &[], "g").unwrap_err(), WriteBundleError::Conflict { .. }));
    let undocumented = [(bare(&record), vec![1])];
    assert!(matches!(
        write_bundle(&undocumented, &[], "g").unwrap_err(),
        WriteBundleError::NoDocument { .. }
    ));
    let entries = [entry("score"), Entry { program: Program::default(), ..entry("score") }];
    assert!(matches!(write_bundle(&[], &entries, "g").unwrap_err(), WriteBundleError::EntryTwice { .. }));
    assert!(matches!(write_bundle(&[], &[entry("../a")], "g").unwrap_err(), WriteBundleError::EntryName(_)));
    assert!(matches!(
        write_bundle(&[], &[], &"g".repeat(257)).unwrap_err(),
        WriteBundleError::Generator { found: 257 }
    ));
}

#[test]
fn truncated_bundles_are_rejected() {
    let bytes = write_bundle(&packs(2), &[entry("score")], "g").unwrap();
    let bytes: &'static [u8] = bytes.leak();
    for cut in 0..bytes.len() {
        assert!(Bundle::from_static(&bytes[..cut]).is_err(), "cut at {cut}");
    }
}

#[test]
fn flipped_bundle_is_detected() {
    let (mut records, entries) = (packs(2), [entry("score")]);
    records.iter_mut().for_each(|(record, _)| record.members.truncate(1)); // the bundle is read as often as it has bytes
    let bytes = write_bundle(&records, &entries, "g").unwrap();
    for at in 0..bytes.len() {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << (at % 8);
        let Ok(bundle) = Bundle::from_static(flipped.leak()) else { continue };
        for (record, pack) in &records {
            for member in &record.members {
                let found = bundle.find(&member.key);
                assert!(found.is_empty() || found == [bare(record).into()], "byte {at}");
                let found = bundle.find_fingerprint(&member.fingerprints[0]);
                assert!(found.is_empty() || found == [(bare(record).into(), member.key)], "byte {at}");
                let document = bundle.document(&member.key);
                assert!(document.is_none() || document == member.document, "byte {at}");
            }
            assert!(
                bundle.load(record).is_ok_and(|found| found == *pack) || bundle.load(record).is_err(),
                "byte {at}"
            );
        }
        assert!(bundle.find_entry("score").is_none_or(|found| found == entries[0]), "byte {at}");
        assert_ne!(bundle.verify(), [], "byte {at}");
    }
}

#[test]
fn a_damaged_page_loses_only_its_keys() {
    let records = packs(150);
    let bytes = write_bundle(&records, &[], "g").unwrap();
    // The index has 900 rows of 40 bytes, 64 in a page. It is the second section, after the generator.
    let at = 96 + 1 + 24 + 8;
    let offset = usize::try_from(u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())).unwrap();
    let keys: Vec<&[u8]> = bytes[offset..offset + 900 * 40].chunks(40).map(|row| &row[..32]).collect();
    for page in [0, 1, 7, 14] {
        for byte in [0, 31, 35, 39] {
            let mut damaged = bytes.clone();
            damaged[offset + page * 64 * 40 + byte] ^= 0x80;
            let bundle = open(&damaged).unwrap();
            for (record, _) in &records {
                for member in &record.members {
                    let at = keys.iter().position(|key| key == member.key.as_bytes()).unwrap();
                    assert_eq!(
                        bundle.find(&member.key).is_empty(),
                        at / 64 == page,
                        "page {page} byte {byte} row {at}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_damaged_pack_loses_only_its_record() {
    let records = packs(10);
    let bytes = write_bundle(&records, &[], "g").unwrap();
    let broken = &records[3];
    let at = bytes.windows(64).position(|window| window == broken.1).unwrap();
    let mut damaged = bytes.clone();
    damaged[at] ^= 1;
    let (events, bundle) = (std::sync::Arc::new(std::sync::Mutex::new(Vec::new())), open(&damaged).unwrap());
    let sink = std::sync::Arc::clone(&events);
    let bundle = bundle.on_event(move |event| sink.lock().unwrap().push(event.to_string()));
    for (record, pack) in &records {
        if record == &broken.0 {
            assert!(matches!(bundle.load(record).unwrap_err(), BundleLoadError::Damaged { .. }));
        } else {
            assert_eq!(bundle.load(record), Ok(&pack[..]));
        }
    }
    assert_eq!(events.lock().unwrap().len(), 1);
    assert!(events.lock().unwrap()[0].contains("is damaged and was skipped"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn bytes_ignore_order_and_repetition(count in 0_usize..40, shuffle in any::<proptest::sample::Index>()) {
        let entries = [entry("a"), entry("b"), entry("c")];
        let records = packs(count);
        let bytes = write_bundle(&records, &entries, "g").unwrap();
        let (mut other, mut names) = (records.clone(), entries.to_vec());
        if count > 0 {
            other.rotate_left(shuffle.index(count));
            other.reverse();
            other.push(records[0].clone());
        }
        names.reverse();
        names.push(entries[1].clone());
        prop_assert_eq!(&write_bundle(&other, &names, "g").unwrap(), &bytes);
        assert_whole(&Bundle::from_static(bytes.leak()).unwrap(), &records, &entries);
    }
}

#[test]
fn declarations_are_read_on_request_only() {
    let declared = |at: usize| format!("declared by {at:04}");
    let entries: Vec<Entry> =
        (0..400).map(|at| Entry { declared: declared(at), ..entry(&format!("entry{at:04}")) }).collect();
    let bytes = write_bundle(&packs(1), &entries, "g").unwrap();
    let at = |text: &str| bytes.windows(text.len()).position(|window| window == text.as_bytes()).unwrap();
    let flipped = |at: usize| {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1;
        open(&flipped).unwrap()
    };
    // The entry's program is intact, so a loader can use it, and its name is listed.
    let bundle = flipped(at(&declared(7)));
    assert_eq!(bundle.names().len(), entries.len());
    for (number, entry) in entries.iter().enumerate() {
        assert_eq!(bundle.find_entry(&entry.name).as_ref(), (number != 7).then_some(entry), "{number}");
    }
    assert_eq!(bundle.verify().len(), 1, "{:?}", bundle.verify());
    // A page has several programs; programs in other pages are intact.
    let bundle = flipped(at("entry0007"));
    let lost = entries.iter().filter(|entry| bundle.find_entry(&entry.name).is_none()).count();
    assert!(bundle.find_entry("entry0007").is_none());
    assert!((2..entries.len() / 2).contains(&lost), "{lost}");
    assert_eq!(bundle.names().len(), entries.len() - lost);
    assert_ne!(bundle.verify(), []);
}

/// The hash context of bundles.
const BUNDLE: &str = "precast v1 bundle";

fn number_at(data: &[u8], at: usize) -> usize {
    u64::from_le_bytes(data[at..at + 8].try_into().unwrap()) as usize
}

/// Returns the offset and length of a section.
pub(crate) fn section(data: &[u8], kind: usize) -> (usize, usize) {
    let generator = u32::from_le_bytes(data[24..28].try_into().unwrap()) as usize;
    let at = 96 + generator + 24 * (kind - 1);
    (number_at(data, at + 8), number_at(data, at + 16))
}

/// The highest hash that is recomputed after a change.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub(crate) enum Mended {
    Pages,
    Root,
    Head,
}

pub(crate) fn mend(data: &mut [u8], to: Mended) {
    let (hashes, hashes_len) = section(data, 1);
    let mut page_hashes = Vec::new();
    for (kind, page) in [(2, 64 * 40), (3, 16 * 144), (4, 32 * 96), (8, 8192)] {
        let (offset, len) = section(data, kind);
        let pages = data[offset..offset + len].chunks(page);
        page_hashes.extend(pages.flat_map(|page| blake3::derive_key(BUNDLE, page)));
    }
    data[hashes..hashes + hashes_len].copy_from_slice(&page_hashes);
    if to >= Mended::Root {
        data[64..96].copy_from_slice(&blake3::derive_key(BUNDLE, &page_hashes));
    }
    if to >= Mended::Head {
        let head_end = section(data, 1).0;
        let mut hasher = blake3::Hasher::new_derive_key(BUNDLE);
        hasher.update(&data[..32]).update(&data[64..head_end]);
        data[32..64].copy_from_slice(hasher.finalize().as_bytes());
    }
}

/// Swaps the targets of two index rows, and recomputes every hash above them.
fn with_swapped_rows(bytes: &[u8]) -> Vec<u8> {
    let mut data = bytes.to_vec();
    let (index, index_len) = section(&data, 2);
    let target = |row: usize| index + 40 * row + 32..index + 40 * row + 36;
    let differ = |data: &[u8], row: usize| data[target(0)] != data[target(row)];
    let other = (1..index_len / 40).find(|row| differ(&data, *row)).unwrap();
    let (first, second) = (data[target(0)].to_vec(), data[target(other)].to_vec());
    data[target(0)].copy_from_slice(&second);
    data[target(other)].copy_from_slice(&first);
    mend(&mut data, Mended::Head);
    data
}

#[test]
fn contents_outside_the_root_are_not_trusted() {
    let (records, entries) = (packs(3), [entry("score")]);
    let bytes = write_bundle(&records, &entries, "g").unwrap();
    // Another pack for the first row, with its hash; another row for the first key; another program.
    let with_pack = |data: &mut [u8]| {
        let row = section(data, 3).0;
        let (offset, len) = (number_at(data, row + 96), number_at(data, row + 104));
        data[offset..offset + len].fill(b'!');
        let hash = blake3::derive_key(BUNDLE, &data[offset..offset + len]);
        data[row + 112..row + 144].copy_from_slice(&hash);
    };
    let with_index = |data: &mut [u8]| data[section(data, 2).0 + 36] ^= 1;
    let with_program = |data: &mut [u8]| {
        let (offset, len) = section(data, 8);
        let name = data[offset..offset + len].windows(5).position(|bytes| bytes == b"score").unwrap();
        data[offset + name] = b'S';
    };
    type Change<'a> = &'a dyn Fn(&mut [u8]);
    let changes: [Change<'_>; 3] = [&with_pack, &with_index, &with_program];
    for (number, change) in changes.into_iter().enumerate() {
        let mut data = bytes.clone();
        change(&mut data);
        mend(&mut data, Mended::Pages);
        let (events, bundle) = (std::sync::Arc::new(std::sync::Mutex::new(Vec::new())), open(&data).unwrap());
        let sink = std::sync::Arc::clone(&events);
        let bundle = bundle.on_event(move |event| sink.lock().unwrap().push(event.to_string()));
        for (record, _) in &records {
            assert!(bundle.load(record).is_err(), "{number}");
            assert!(record.members.iter().all(|member| bundle.find(&member.key).is_empty()), "{number}");
        }
        assert!(bundle.find_entry("score").is_none() && bundle.names().is_empty(), "{number}");
        let told = events.lock().unwrap().clone();
        assert!(told.len() == 1 && told[0].contains("page hashes"), "{number}: {told:?}");
        // The observer is notified once, whether `verify` runs after other calls or first.
        assert_eq!(bundle.verify().len(), 1, "{number}");
        assert_eq!(events.lock().unwrap().len(), 1, "{number}");
        let (sink, bundle) = (std::sync::Arc::clone(&events), open(&data).unwrap());
        let bundle = bundle.on_event(move |event| sink.lock().unwrap().push(event.to_string()));
        assert!(bundle.verify().len() == 1 && bundle.names().is_empty(), "{number}");
        assert_eq!(events.lock().unwrap().len(), 2, "{number}");
        // The header hash covers the root.
        mend(&mut data, Mended::Root);
        assert!(matches!(open(&data).unwrap_err(), OpenBundleError::Damaged { .. }), "{number}");
    }
}

#[test]
fn misleading_index_is_a_miss() {
    let records = packs(5);
    let bytes = with_swapped_rows(&write_bundle(&records, &[], "g").unwrap());
    let bundle = open(&bytes).unwrap();
    let missed: usize = records
        .iter()
        .flat_map(|(record, _)| &record.members)
        .filter(|member| bundle.find(&member.key).is_empty())
        .count();
    assert!(missed > 0);
    let found = bundle.verify();
    assert!(
        matches!(&found[..], [Event::Damaged { reason, .. }] if reason.contains("does not match the modules")),
        "{found:?}"
    );
}
