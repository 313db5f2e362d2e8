//! Records: canonical bytes, rejected input, and host requirements.

use std::collections::BTreeSet;

use precast_core::Program;
use precast_core::program::Register;
use precast_store::key::ContentId;
use precast_store::record::{Host, ParseRecordError, Requires, Unmet};
use precast_store::{Entry, GenerationId, Outside, Record};

use crate::sample::{bare, entry, requires, unit};

/// Returns a record of a module that reads a file outside of its sources.
fn outside() -> Record {
    let (_, mut record) = unit("a", "v3");
    record.outside = vec![Outside { path: "/h.h".to_owned(), content: ContentId::of("h") }];
    record.generation = Some(GenerationId::from_bytes([3; 32]));
    record
}

#[test]
fn records_with_a_generation_round_trip() {
    let record = outside();
    let bytes = record.to_bytes();
    assert_eq!(Record::parse(&bytes).unwrap(), bare(&record));
    assert!(bytes.starts_with(b"pcR\x03\0\0\0"));
    let other = Record { generation: None, ..record.clone() };
    assert_ne!(other.id(), record.id());
    assert_eq!(Record::parse(&other.to_bytes()).unwrap(), bare(&other));
}

#[test]
fn records_round_trip_without_documents() {
    let (_, record) = unit("a", "v3");
    let bytes = record.to_bytes();
    assert_eq!(Record::parse(&bytes).unwrap(), bare(&record));
    assert_eq!(record.id(), bare(&record).id());
    assert!(bytes.starts_with(b"pcR\x02\0\0\0\x07\0\0\0compile"));
}

#[test]
fn altered_record_changes_id_or_is_rejected() {
    for record in [unit("a", "v3").1, outside()] {
        let bytes = record.to_bytes();
        for at in 0..bytes.len() {
            assert!(Record::parse(&bytes[..at]).is_err(), "cut at {at}");
            let mut flipped = bytes.clone();
            flipped[at] ^= 1;
            if let Ok(found) = Record::parse(&flipped) {
                assert_eq!(found.to_bytes(), flipped);
                assert_ne!(found.id(), record.id());
            }
        }
    }
}

#[test]
fn other_files_are_rejected_as_records() {
    let (_, record) = unit("a", "v3");
    let bytes = record.to_bytes();
    let refused = |bytes: &[u8]| Record::parse(bytes).unwrap_err();
    let malformed =
        |bytes: &[u8]| matches!(refused(bytes), ParseRecordError::Malformed { what: "record", .. });
    assert!(malformed(&[&bytes[..], b" "].concat()) && malformed(b"") && malformed(b"{\"format\":1}"));
    assert!(malformed(&entry("score").to_bytes()), "an entry is no record");
    for format in [1, 4] {
        let mut other = bytes.clone();
        other[3] = format;
        let error = refused(&other);
        assert!(matches!(error, ParseRecordError::Format { found, .. } if found == u32::from(format)));
        assert!(
            error
                .to_string()
                .starts_with(&format!("found a record of format {format}, expected 2 or 3\nhint: "))
        );
    }
    // A format 3 without a generation is cut off.
    let mut other = bytes.clone();
    other[3] = 3;
    assert!(malformed(&other));
    // A count that exceeds the remaining bytes is rejected before memory is allocated.
    let members = bytes.windows(4).position(|window| window == 3_u32.to_le_bytes()).unwrap();
    let mut huge = bytes;
    huge[members..members + 4].copy_from_slice(&u32::MAX.to_le_bytes());
    assert!(malformed(&huge));
}

#[test]
fn altered_entry_changes_or_is_rejected() {
    let entry = entry("score");
    let bytes = entry.to_bytes();
    for at in 0..bytes.len() {
        assert!(Entry::parse(&bytes[..at]).is_err(), "cut at {at}");
        for bit in 0..8 {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << bit;
            if let Ok(found) = Entry::parse(&flipped) {
                assert_eq!(found.to_bytes(), flipped);
                assert_ne!(found, entry);
            }
        }
    }
}

#[test]
fn program_with_missing_inputs_is_rejected() {
    let entry = entry("score");
    let refused = |change: fn(&mut Program)| {
        let mut entry = entry.clone();
        change(&mut entry.program);
        let error = Entry::parse(&entry.to_bytes()).unwrap_err();
        assert!(matches!(error, ParseRecordError::Malformed { what: "entry", .. }), "{error}");
    };
    refused(|program| program.steps.swap(0, 1));
    refused(|program| drop(program.steps.pop()));
    refused(|program| program.steps[0].args[0] = Register::Input(1));
    refused(|program| program.steps[0].args[2] = Register::Input(0));
    refused(|program| program.steps[1].args[1] = Register::Temp(0));
    refused(|program| program.steps[0].n_inputs = 4);
    refused(|program| program.steps[0].views = vec![(1, 0)]);
}

#[test]
fn inconsistent_record_is_rejected() {
    let (_, record) = unit("a", "v3");
    let mut slots = record.clone();
    slots.members[1].slot = 0;
    assert!(matches!(slots.check().unwrap_err(), ParseRecordError::Twice { slot: 0, .. }));
    assert!(Record::parse(&slots.to_bytes()).is_err());
    let mut documents = record;
    documents.members[1].document = documents.members[0].document.clone();
    assert!(matches!(documents.check().unwrap_err(), ParseRecordError::Document { .. }));
}

#[test]
fn entries_round_trip() {
    let entry = entry("score");
    assert_eq!(Entry::parse(&entry.to_bytes()).unwrap(), entry);
    assert_eq!(Entry::parse(&entry.to_bytes()).unwrap().id(), entry.id());
}

fn host() -> Host {
    Host {
        arch: "x86_64".into(),
        os: "linux".into(),
        libc: Some("gnu".into()),
        libc_version: Some("2.36".into()),
        cpu: ["sse2", "avx2", "fma"].map(str::to_owned).into(),
        limit: None,
        abi: (1, 2),
    }
}

#[test]
fn unmet_requirement_is_named() {
    let unmet = |change: fn(&mut Requires)| {
        let mut needs = requires();
        change(&mut needs);
        needs.check(&host()).unwrap_err().to_string()
    };
    assert_eq!(requires().check(&host()), Ok(()));
    assert_eq!(unmet(|r| r.arch = "aarch64".into()), "needs architecture `aarch64`, found `x86_64`");
    assert_eq!(unmet(|r| r.os = "macos".into()), "needs operating system `macos`, found `linux`");
    assert_eq!(unmet(|r| r.libc = Some("musl".into())), "needs C library `musl 2.29`, found `gnu 2.36`");
    assert_eq!(
        unmet(|r| r.libc_version = Some("2.100".into())),
        "needs C library `gnu 2.100`, found `gnu 2.36`"
    );
    assert_eq!(unmet(|r| r.libc_version = Some("two".into())), "needs C library `gnu two`, found `gnu 2.36`");
    assert_eq!(
        unmet(|r| r.cpu = vec!["avx2".into(), "avx512f".into(), "gfni".into()]),
        "needs CPU features `avx512f`, `gfni`: not supported by this CPU"
    );
    let limited = Host { limit: Some("x86-64-v2".into()), ..host() };
    let needs = Requires { cpu: vec!["avx512f".into()], ..requires() };
    assert_eq!(
        needs.check(&limited).unwrap_err().to_string(),
        "needs CPU features `avx512f`: not supported by this CPU, or excluded by `PRECAST_ISA_LIMIT=x86-64-v2`"
    );
    assert_eq!(unmet(|r| r.abi = (3, 4)), "needs C ABI 3 to 4, found 1 to 2");
}

#[test]
fn code_without_libc_runs_with_any_libc() {
    let needs = Requires { libc: None, libc_version: None, cpu: Vec::new(), ..requires() };
    let bare = Host { libc: None, libc_version: None, cpu: BTreeSet::new(), ..host() };
    assert_eq!(needs.check(&bare), Ok(()));
    assert!(matches!(requires().check(&bare).unwrap_err(), Unmet::Libc { .. }));
    let old = Requires { libc_version: Some("2.9".into()), ..requires() };
    assert_eq!(old.check(&host()), Ok(()), "2.9 is before 2.36");
}
