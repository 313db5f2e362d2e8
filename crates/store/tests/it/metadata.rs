//! Metadata: bundles and stores keep it, readers without it ignore it, and damage to it is found.

use std::collections::BTreeMap;

use precast_core::{Loader, Metadata};
use precast_store::bundle::{BundleMetadataError, Contents};
use precast_store::{Bundle, Entry, Export, Keep, OpenBundleError, Record, WriteBundleError, write_bundle};

use crate::bundle::{Mended, mend};
use crate::sample::{described, entry, functions, store, unit};

fn records() -> Vec<(Record, Vec<u8>)> {
    let (archive, record) = unit("entry", "x86-64-v3");
    vec![(record, archive.get("unit.so").unwrap().to_vec())]
}

fn write(entries: &[Entry], functions: &BTreeMap<String, Metadata>) -> Result<Vec<u8>, WriteBundleError> {
    Contents { records: &records(), entries, functions, generator: "g" }.write()
}

fn open(bytes: &[u8]) -> Result<Bundle, OpenBundleError> {
    Bundle::from_bytes(bytes.to_vec())
}

/// Returns the place of the tenth section in the list of sections.
const LISTED: usize = 96 + 1 + 24 * 9;

#[test]
fn bundle_returns_all_metadata() {
    let entries = [described("golden"), entry("plain")];
    let bytes = write(&entries, &functions("golden")).unwrap();
    assert_eq!(write(&[entries[1].clone(), entries[0].clone()], &functions("golden")).unwrap(), bytes);
    let bundle = open(&bytes).unwrap();
    assert_eq!(bundle.entries(), entries);
    assert_eq!(bundle.find_entry("golden").as_ref(), Some(&entries[0]));
    assert_eq!(bundle.described(), ["", "function", "golden"]);
    assert_eq!(bundle.functions(), functions("golden"));
    assert_eq!(bundle.names(), ["golden", "plain"]);
    assert_eq!(bundle.verify(), []);
    let loader = Loader::new(bundle);
    assert_eq!(loader.metadata("golden").unwrap(), entries[0].metadata);
    assert!(loader.metadata("plain").unwrap().is_empty() && loader.metadata("absent").unwrap().is_empty());
}

#[test]
fn metadata_adds_only_its_section() {
    let plain = write(&[entry("golden")], &BTreeMap::new()).unwrap();
    assert_eq!(plain, write_bundle(&records(), &[entry("golden")], "g").unwrap());
    let empty = BTreeMap::from([("function".to_owned(), Metadata::default())]);
    assert_eq!(write(&[entry("golden")], &empty).unwrap(), plain);
    let bytes = write(&[described("golden")], &BTreeMap::new()).unwrap();
    assert_eq!((plain[8], plain[12], bytes[8], bytes[12]), (3, 3, 4, 3));
    assert_eq!((plain[28], bytes[28]), (9, 10));
}

#[test]
fn old_reader_ignores_the_section() {
    let mut bytes = write(&[described("golden")], &functions("golden")).unwrap();
    assert_eq!(bytes[LISTED..LISTED + 8], [10, 0, 0, 0, 1, 0, 0, 0]);
    bytes[LISTED] = 11;
    mend(&mut bytes, Mended::Head);
    let bundle = open(&bytes).unwrap();
    assert_eq!((bundle.entries(), bundle.functions()), (vec![entry("golden")], BTreeMap::new()));
    assert_eq!(bundle.verify(), []);
    bytes[LISTED + 4] = 0;
    mend(&mut bytes, Mended::Head);
    assert!(matches!(open(&bytes).unwrap_err(), OpenBundleError::Damaged { .. }));
}

#[test]
fn misplaced_section_is_damage() {
    let bytes = write(&[described("golden")], &functions("golden")).unwrap();
    let offset = usize::try_from(u64::from_le_bytes(*bytes[LISTED + 8..].first_chunk().unwrap())).unwrap();
    for at in [LISTED + 8, LISTED + 16] {
        let mut moved = bytes.clone();
        moved[at] -= 1;
        mend(&mut moved, Mended::Head);
        assert!(matches!(open(&moved).unwrap_err(), OpenBundleError::Damaged { .. }));
    }
    // The count, the first name's hash, offset and length, and the first byte of a subject.
    for at in [0, 3, 4, 36, 44, 51, 4 + 3 * 48] {
        let mut changed = bytes.clone();
        changed[offset + at] ^= 0x40;
        mend(&mut changed, Mended::Head);
        assert_ne!(open(&changed).unwrap().verify(), [], "byte {at}");
    }
}

#[test]
fn flipped_metadata_is_detected() {
    let (entries, functions) = ([described("golden")], functions("golden"));
    let bytes = write(&entries, &functions).unwrap();
    let offset = usize::try_from(u64::from_le_bytes(*bytes[LISTED + 8..].first_chunk().unwrap())).unwrap();
    let end =
        offset + usize::try_from(u64::from_le_bytes(*bytes[LISTED + 16..].first_chunk().unwrap())).unwrap();
    for at in offset..end {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << (at % 8);
        let bundle = open(&flipped).unwrap();
        assert!(matches!(bundle.metadata("golden"), Err(BundleMetadataError::Damaged { .. })), "byte {at}");
        assert!(bundle.find_entry("golden").is_none() && bundle.functions().is_empty(), "byte {at}");
        assert_ne!(bundle.verify(), [], "byte {at}");
    }
}

#[test]
fn contradictory_metadata_is_not_written() {
    let functions = functions("golden");
    assert!(matches!(write(&[entry("other")], &functions), Err(WriteBundleError::PlanEntry { .. })));
    let both = [entry("golden"), entry("function")];
    assert!(matches!(write(&both, &functions), Err(WriteBundleError::FunctionIsEntry { .. })));
    let two = [entry("golden"), described("golden")];
    assert!(matches!(write(&two, &BTreeMap::new()), Err(WriteBundleError::EntryTwice { .. })));
    let json = BTreeMap::from([("coords".to_owned(), "{}".to_owned())]);
    let global = BTreeMap::from([(String::new(), Metadata { json, ..Metadata::default() })]);
    assert!(matches!(write(&[], &global), Err(WriteBundleError::Metadata { .. })));
    let plain = BTreeMap::from([("other".to_owned(), described("golden").metadata)]);
    assert!(matches!(write(&[], &plain), Err(WriteBundleError::Subject { .. })));
    let renamed = BTreeMap::from([("../f".to_owned(), functions["function"].clone())]);
    assert!(matches!(write(&[entry("golden")], &renamed), Err(WriteBundleError::EntryName(_))));
}

#[test]
fn stores_and_exports_keep_entry_metadata() {
    let (_directory, source, _) = store();
    let (archive, record) = unit("entry", "x86-64-v3");
    source.publish(&archive, &record).unwrap();
    source.put_entry(&described("golden")).unwrap();
    let export = source.export(None).unwrap().pack().unwrap();
    let (_other, target, _) = store();
    Export::open(&export).unwrap().import(&target).unwrap();
    for store in [source, target] {
        let plan = store.plan_gc(&Keep::default()).unwrap();
        store.sweep(&plan).unwrap();
        assert_eq!(store.find_entry("golden").unwrap(), Some(described("golden")));
        assert_eq!(store.entries().unwrap(), [described("golden")]);
        assert!(store.verify().unwrap().is_intact());
    }
}
