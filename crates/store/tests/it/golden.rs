//! Frozen bytes: one file for each format. Archives have format 1, records and entries format 2, bundles format 3.
//! With metadata, entries have format 3 and bundles format 4. Entries with names of extents have format 4.

use precast_store::bundle::Contents;
use precast_store::{Archive, Bundle, Entry, Limits, Record, write_bundle};

use crate::sample::{bare, described, entry, functions, named, unit};

const ARCHIVE: &[u8] = include_bytes!("../../../../artifacts/golden/archive-v1.tar.zst");
const RECORD: &[u8] = include_bytes!("../../../../artifacts/golden/record-v2.bin");
const BUNDLE: &[u8] = include_bytes!("../../../../artifacts/golden/bundle-v3.precast");
const DESCRIBED: &[u8] = include_bytes!("../../../../artifacts/golden/bundle-v4.precast");
const NAMED: &[u8] = include_bytes!("../../../../artifacts/golden/entry-v4.bin");
const ENTRY: &[u8] = include_bytes!("../../../../artifacts/golden/entry-v3.bin");

#[test]
fn archive_format_1_is_readable() {
    let (digest, archive) = Archive::unpack(ARCHIVE, &Limits::default()).unwrap();
    assert_eq!(digest.to_string(), "6d5f4583d1d10396fd6645054d53b8996f18fd74f0fd2c14068befa16f07e547");
    assert_eq!(archive, unit("golden", "x86-64-v3").0);
}

#[test]
fn record_format_2_round_trips() {
    let (_, record) = unit("golden", "x86-64-v3");
    assert_eq!(Record::parse(RECORD).unwrap(), bare(&record));
    assert_eq!(record.to_bytes(), RECORD);
    assert_eq!(record.id().to_string(), "701ba79dfb13f6f309fbe8bf76d8e8087c56b54c63873d6127f07fec874d8f3a");
}

#[test]
fn bundle_format_3_round_trips() {
    let (archive, record) = unit("golden", "x86-64-v3");
    let object = archive.get("unit.so").unwrap();
    let bundle = Bundle::from_static(BUNDLE).unwrap();
    assert_eq!(bundle.verify(), []);
    assert_eq!(bundle.find(&record.members[1].key), [bare(&record).into()]);
    assert_eq!(bundle.load(&record).unwrap(), object);
    assert_eq!(bundle.entries(), [entry("golden")]);
    let again = write_bundle(&[(record, object.to_vec())], &[entry("golden")], "precast golden").unwrap();
    assert_eq!(again, BUNDLE);
}

#[test]
fn bundle_format_4_round_trips() {
    let (archive, record) = unit("golden", "x86-64-v3");
    let object = archive.get("unit.so").unwrap().to_vec();
    let bundle = Bundle::from_static(DESCRIBED).unwrap();
    assert_eq!(bundle.verify(), []);
    assert_eq!(bundle.entries(), [described("golden")]);
    assert_eq!(bundle.functions(), functions("golden"));
    let (records, entries) = ([(record, object)], [described("golden")]);
    let functions = functions("golden");
    let contents =
        Contents { records: &records, entries: &entries, functions: &functions, generator: "precast golden" };
    assert_eq!(contents.write().unwrap(), DESCRIBED);
}

#[test]
fn entry_format_3_with_metadata_round_trips() {
    assert_eq!(Entry::parse(ENTRY).unwrap(), described("golden"));
    assert_eq!(described("golden").to_bytes(), ENTRY);
}

#[test]
fn entry_format_4_with_names_of_extents_round_trips() {
    assert_eq!(Entry::parse(NAMED).unwrap(), named("golden"));
    assert_eq!(named("golden").to_bytes(), NAMED);
    // Names need the format, and the format needs names.
    for (bytes, format) in [(NAMED, 2), (NAMED, 3), (ENTRY, 4)] {
        let mut relabelled = bytes.to_vec();
        relabelled[3] = format;
        assert!(Entry::parse(&relabelled).is_err());
    }
}

#[test]
fn bundles_hold_entries_of_both_formats() {
    let (plain, with_names) = (entry("plain"), named("named"));
    let bundle = write_bundle(&[], &[plain.clone(), with_names.clone()], "precast golden").unwrap();
    let bundle = Bundle::from_bytes(bundle).unwrap();
    assert_eq!(bundle.entries(), [with_names, plain]);
}
