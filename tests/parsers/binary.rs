//! Binary files: accepted input is always in canonical form.

use std::collections::BTreeMap;
use std::io::Write as _;

use precast_core::metadata::{Callee, Described, Initial, Metadata, Plan, PlanPort, PlanStep, State};
use precast_core::{Array, BuildKey, DType};
use precast_store::record::{documents_bytes, set_documents};
use precast_store::{Archive, Bundle, Entry, Export, Limits, Record};

use crate::seeds::BUILT;
use crate::{Memory, target};

/// The default number of cases of each target.
const SHARE: usize = 2000;

target!(
    records,
    SHARE,
    BUILT.records.iter().map(|(record, _)| record.to_bytes()).collect(),
    64,
    |bytes: &[u8]| {
        if let Ok(record) = Record::parse(bytes) {
            assert_eq!(record.to_bytes(), bytes);
        }
    }
);

target!(entries, SHARE, BUILT.entries.clone(), 64, |bytes: &[u8]| {
    if let Ok(entry) = Entry::parse(bytes) {
        assert_eq!(entry.to_bytes(), bytes);
    }
});

/// Metadata of every kind, also of one that no version knows.
fn metadata() -> Vec<u8> {
    let step = |callee| PlanStep {
        callee,
        takes: vec![Some("x".to_owned()), None],
        gives: vec!["y".to_owned()],
        settings: "{}".to_owned(),
    };
    let port = || vec![PlanPort { name: "x".to_owned(), ty: "f64[?]".to_owned() }];
    let state = |initial| State { input: "x".to_owned(), update: None, initial };
    let key = BuildKey::from_bytes([7; 32]);
    let metadata = Metadata {
        documentation: "text".to_owned(),
        inputs: vec![Described {
            name: "x".to_owned(),
            dims: vec!["day".to_owned()],
            documentation: String::new(),
        }],
        state: vec![state(Initial::Array(Array::zeros(DType::F32, &[2, 3])))],
        plan: Some(Plan {
            inputs: port(),
            outputs: port(),
            known: BTreeMap::from([("g".to_owned(), "{}".to_owned())]),
            steps: vec![
                step(Callee::Entry("f".to_owned())),
                step(Callee::Module { key, host: "h".to_owned() }),
                step(Callee::Host("svd".to_owned())),
            ],
            results: vec![None],
        }),
        json: BTreeMap::from([("pymc.coords".to_owned(), "{}".to_owned())]),
        unknown: BTreeMap::from([(4000, vec![1])]),
        ..Metadata::default()
    };
    metadata.to_bytes()
}

// An absent name of one byte is an `Option<String>`, and a list grows by doubling.
target!(metadata_of_entries, SHARE, vec![metadata()], 128, |bytes: &[u8]| {
    if let Ok(read) = Metadata::parse(bytes) {
        assert_eq!(read.to_bytes(), bytes);
    }
});

target!(
    documents,
    SHARE,
    BUILT.records.iter().filter_map(|(record, _)| documents_bytes(record)).collect(),
    64,
    |bytes: &[u8]| {
        for (record, _) in &BUILT.records {
            let mut bare = record.clone();
            bare.members.iter_mut().for_each(|member| member.document = None);
            // Documents are the preimages of keys, so this record has only these documents, apart
            // from fields that are not hashed.
            if set_documents(&mut bare, bytes).is_ok() {
                assert_eq!(documents_bytes(&bare).unwrap(), bytes);
                assert!(bare.check().is_ok());
            }
        }
    }
);

/// The limits of the readers in these targets. The seeds are far smaller.
const LIMITS: Limits = Limits { size: 8 << 20, members: 1000 };

fn frames() -> Vec<Vec<u8>> {
    BUILT.records.iter().map(|(_, archive)| archive.pack().unwrap().1).collect()
}

fn unpacked(frame: &[u8]) {
    if let Ok((digest, archive)) = Archive::unpack(frame, &LIMITS) {
        assert_eq!(archive.digest().unwrap(), digest);
        assert_eq!(
            archive.size(),
            archive
                .members
                .values()
                .fold(1024, |size, content| size + 512 + content.len().next_multiple_of(512))
                as u64
        );
    }
}

// A small frame may state the largest size, and the decoder then allocates a buffer of that size.
target!(archives, SHARE, frames(), 4096, unpacked);

target!(
    tars,
    SHARE,
    frames().iter().map(|frame| zstd::decode_all(&frame[..]).unwrap()).collect(),
    16,
    |tar: &[u8]| {
        let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
        encoder.include_checksum(true).unwrap();
        encoder.set_pledged_src_size(Some(tar.len() as u64)).unwrap();
        encoder.write_all(tar).unwrap();
        unpacked(&encoder.finish().unwrap());
    }
);

/// The memory limit of exports. The decoder allocates a buffer for the content size that an export states, up to 64 MiB
/// and 64 bytes per byte of input. The rest is for the content itself.
const EXPORT: Memory = Memory { per_byte: 64 + 256, fixed: (64 << 20) + (1 << 20) };

target!(exports, SHARE / 4, vec![BUILT.export.clone()], EXPORT, |bytes: &[u8]| {
    let Ok(export) = Export::open(bytes) else { return };
    // Some bits of a frame have no meaning. Any other change must be rejected.
    assert_eq!(export, Export::open(&BUILT.export).unwrap());
    export.verify().unwrap();
});

target!(bundles, SHARE, vec![BUILT.bundle.clone()], 64, |bytes: &[u8]| {
    let Ok(bundle) = Bundle::from_bytes(bytes.to_vec()) else { return };
    let (real, damage) = (BUILT.opened(), bundle.verify());
    assert!(bytes == BUILT.bundle || !damage.is_empty(), "it is another bundle, and whole");
    for record in real.records() {
        for found in bundle.find(&record.members[0].key) {
            assert_eq!(found.digest, record.digest);
            // Loaded code is never anything but the original.
            assert!(bundle.load(&found).map_or(true, |code| code == real.load(&record).unwrap()));
        }
    }
    for entry in real.entries() {
        assert!(bundle.find_entry(&entry.name).is_none_or(|found| found == entry));
    }
    let _ = (bundle.records(), bundle.entries());
});
