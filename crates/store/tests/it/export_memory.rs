//! The memory and the time that reading an export takes. Other processes read it under a limit.

use precast_store::{Archive, Export, OpenExportError, Store};

use crate::export::{exported, restated};
use crate::sample::{store, unit};

#[test]
fn export_is_checked_without_unpacking() {
    let directory = tempfile::tempdir().unwrap();
    let (_directory, _, bytes) = exported();
    // This poorly compressible data makes the reader accept up to 300 MiB.
    let mut noise = vec![0; 4 << 20];
    blake3::Hasher::new().finalize_xof().fill(&mut noise);
    let large = restated(&bytes, |archive| {
        archive.members.insert("documents/0".to_owned(), noise.clone());
        archive.members.insert("documents/1".to_owned(), vec![0; 300 << 20]);
    });
    fs_err::write(directory.path().join("export"), large).unwrap();
    in_shell("ulimit -v 307200", "check", directory.path());
}

/// Checks an export without enough memory to unpack it.
pub(crate) fn check_file(directory: &std::path::Path) {
    let mut bytes = fs_err::read(directory.join("export")).unwrap();
    Export::check(&bytes).unwrap();
    let refused = Export::open(&bytes).unwrap_err();
    assert!(matches!(refused, OpenExportError::Unpack(precast_store::UnpackError::Memory(_))), "{refused}");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    assert!(Export::check(&bytes).is_err());
}

/// A small frame that states gigabytes: no memory of that size is allocated.
#[test]
fn frame_with_false_size_is_rejected() {
    let mut compressor = zstd::bulk::Compressor::new(1).unwrap();
    compressor.include_checksum(true).unwrap();
    let frame = compressor.compress(&vec![0; 128 << 20]).unwrap();
    assert!(frame.len() < 1 << 20);
    let told = precast_store::event::chain(&Export::open(&frame).unwrap_err());
    assert!(told.contains("expected at most"), "{told}");
}

/// Exports `records` records that share one archive of `bytes` bytes.
fn shared(records: u8, bytes: usize) -> Vec<u8> {
    let (_directory, source, _) = store();
    let (mut archive, mut record) = unit("entry", "v3");
    archive.members.insert("unit.c".to_owned(), vec![0; bytes]);
    (record.digest, record.size) = (archive.digest().unwrap(), archive.size());
    for at in 0..records {
        record.action = precast_store::key::ActionKey::from_bytes([at; 32]);
        source.publish(&archive, &record).unwrap();
    }
    source.export(None).unwrap().pack().unwrap()
}

#[test]
fn records_of_one_archive_import_in_little_memory() {
    let directory = tempfile::tempdir().unwrap();
    fs_err::write(directory.path().join("export"), shared(10, 200 << 20)).unwrap();
    in_shell("ulimit -v 1572864", "import", directory.path());
    let store = Store::open(directory.path().join("target")).unwrap();
    assert_eq!(store.records().count(), 10);
}

/// Imports an export in another process.
pub(crate) fn import_file(directory: &std::path::Path) {
    let bytes = fs_err::read(directory.join("export")).unwrap();
    let store = Store::create(directory.join("target")).unwrap();
    assert_eq!(Export::open(&bytes).unwrap().import(&store).unwrap().records, 10);
}

#[test]
fn each_archive_is_verified_once() {
    let verify = |records| {
        let export = Export::open(&shared(records, 8 << 20)).unwrap();
        let begin = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        assert_eq!(export.verify().unwrap().records, usize::from(records));
        let end = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        (end.tv_sec - begin.tv_sec) * 1_000_000_000 + (end.tv_nsec - begin.tv_nsec)
    };
    let (one, many) = (verify(1), verify(40));
    assert!(many < 20 * one, "{one} ns for one record, {many} ns for 40 records of one archive");
}

#[test]
fn archive_larger_than_memory_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let frame = Archive { members: [("a".to_owned(), vec![0; 400 << 20])].into() }.pack().unwrap().1;
    fs_err::write(directory.path().join("frame"), frame).unwrap();
    in_shell("ulimit -v 614400", "unpack", directory.path());
}

#[test]
fn imported_store_is_trusted_under_open_umask() {
    for umask in ["umask 000", "umask 002"] {
        let directory = tempfile::tempdir().unwrap();
        fs_err::write(directory.path().join("export"), shared(10, 1)).unwrap();
        in_shell(umask, "import", directory.path());
        let store = Store::open(directory.path().join("target")).unwrap();
        store.check_trust().unwrap();
        assert!(store.verify().unwrap().is_intact());
        for found in walkdir::WalkDir::new(store.path()) {
            let mode = std::os::unix::fs::MetadataExt::mode(&found.unwrap().metadata().unwrap());
            assert_eq!(mode & 0o022, 0, "{mode:o}");
        }
    }
}

/// Runs a role in another process, after a shell command.
fn in_shell(before: &str, role: &str, directory: &std::path::Path) {
    let command = crate::processes::again(role, directory);
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &format!("{before} && exec \"$0\" \"$@\"")]);
    shell.arg(command.get_program()).args(command.get_args());
    shell.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    assert!(shell.status().unwrap().success(), "{before}");
}

/// Unpacks an archive with enough memory for the tar but not for its members.
pub(crate) fn unpack_file(directory: &std::path::Path) {
    let frame = fs_err::read(directory.join("frame")).unwrap();
    let refused = Archive::unpack(&frame, &precast_store::Limits::default()).unwrap_err();
    assert!(matches!(refused, precast_store::UnpackError::Memory { .. }), "{refused}");
}
