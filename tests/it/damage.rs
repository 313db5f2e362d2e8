//! Corrupt and incompatible files: flipped bits, cut files, other CPUs, other ABIs. Never a crash, never a wrong
//! result.

use crate::compiled::{Granularity, compiled, pack, toolchain, variant};
use crate::graphs::{graph, product, values};
use precast::{ArrayRef, BuildRuntimeError, FunctionError, FunctionGraph, Policy, Runtime};
use precast_build::{Declared, Execution, SourceLocation, execute, plan};
use precast_codegen::Unit;
use precast_compile::{Compiled, Isa};
use precast_graph::interpret;
use precast_ops::GENERATOR;
use precast_store::event::chain;
use precast_store::{Bundle, Record, Store, write_bundle};
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn native() -> Isa {
    Isa::native().unwrap()
}

/// Returns the smallest possible bundle: one graph, one level.
fn small_bundle() -> Vec<u8> {
    write_bundle(&[pack(compiled(&product(), native()))], &[], GENERATOR).unwrap()
}

/// The outcome of requesting a graph from a runtime; a wrong result panics.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    Right,
    /// A miss, with its message and the events.
    Miss(String),
    /// The layer was rejected at once.
    Refused(String),
}

fn outcome(runtime: Result<Runtime, BuildRuntimeError>, graph: &FunctionGraph) -> Outcome {
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => return Outcome::Refused(chain(&error)),
    };
    let inputs = values(3, 20);
    match runtime.function(graph) {
        Ok(function) => {
            let found = function.call(&inputs.iter().map(ArrayRef::from).collect::<Vec<_>>()).unwrap();
            assert_eq!(found, interpret(graph, &inputs).unwrap());
            Outcome::Right
        }
        Err(error @ FunctionError::Miss { .. }) => {
            let events: Vec<String> = runtime.stats().events.iter().map(ToString::to_string).collect();
            Outcome::Miss(format!("{error}\n{}", events.join("\n")))
        }
        Err(error) => panic!("neither a hit nor a miss: {}", chain(&error)),
    }
}

fn from_bundle(path: &Path) -> Outcome {
    outcome(Runtime::builder().bundle_file(path).policy(Policy::Strict).build(), &product())
}

fn from_store(path: &Path) -> Outcome {
    outcome(Runtime::builder().store(path).policy(Policy::Strict).build(), &product())
}

#[test]
fn flipped_bundle_bytes_are_never_served() {
    let (bytes, directory) = (small_bundle(), tempfile::tempdir().unwrap());
    let path = directory.path().join("flipped.bundle");
    let (record, object) = pack(compiled(&product(), native()));
    for damage in 0..bytes.len().max(10_000) {
        let (round, at) = (damage / bytes.len(), damage % bytes.len());
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << ((at + round) % 8);
        fs_err::write(&path, &flipped).unwrap();
        // An immediate rejection is fine. A bundle that opens must detect the damage and return only the original.
        if let Ok(bundle) = Bundle::open(&path) {
            assert!(!bundle.verify().is_empty(), "byte {at} of {}: not found by verify", bytes.len());
            let found = bundle.find(&record.members[0].key);
            assert!(found.iter().all(|found| found.digest == record.digest), "byte {at}");
            let loaded = found.iter().filter_map(|record| bundle.load(record).ok());
            assert!(loaded.into_iter().all(|loaded| loaded == object), "byte {at}");
        }
    }
}

#[test]
fn runtime_over_flipped_bundle_is_right_or_fails() {
    let (bytes, directory) = (small_bundle(), tempfile::tempdir().unwrap());
    let path = directory.path().join("flipped.bundle");
    let (mut right, mut missed, mut refused) = (0, 0, 0);
    for at in (0..320).step_by(5).chain((320..bytes.len()).step_by(61)) {
        let mut flipped = bytes.clone();
        flipped[at] ^= 0x10;
        fs_err::write(&path, &flipped).unwrap();
        match from_bundle(&path) {
            // No executed byte changed: the flipped one is in the documents, or in a row of the other alias.
            Outcome::Right => right += 1,
            Outcome::Miss(words) => {
                missed += 1;
                assert!(words.contains("flipped.bundle") && words.contains("damaged"), "byte {at}: {words}");
            }
            Outcome::Refused(words) => {
                refused += 1;
                assert!(words.contains("flipped.bundle"), "byte {at}: {words}");
            }
        }
    }
    assert!(missed > 20 && refused > 5, "{right} right, {missed} missed, {refused} refused");
}

#[test]
fn truncated_or_grown_bundle_is_rejected() {
    let (bytes, directory) = (small_bundle(), tempfile::tempdir().unwrap());
    let path = directory.path().join("cut.bundle");
    for len in (0..256).step_by(7).chain((256..bytes.len()).step_by(397)).chain([bytes.len() - 1]) {
        fs_err::write(&path, &bytes[..len]).unwrap();
        let Outcome::Refused(words) = from_bundle(&path) else { panic!("{len} of {} bytes", bytes.len()) };
        assert!(words.contains("cut.bundle"), "{len} bytes: {words}");
    }
    fs_err::write(&path, [&bytes[..], b"more"].concat()).unwrap();
    assert!(matches!(from_bundle(&path), Outcome::Refused(_)));
    fs_err::write(&path, &bytes).unwrap();
    assert_eq!(from_bundle(&path), Outcome::Right);
}

/// Publishes to a new store and returns the path of the object.
fn publish(store: &Path, compiled: &Compiled) -> PathBuf {
    let published = Store::create(store).unwrap().publish(&compiled.archive, &compiled.record).unwrap();
    let digest = published.digest.to_string();
    store.join("objects").join(&digest[..2]).join(format!("{digest}.tar.zst"))
}

fn replace(path: &Path, bytes: &[u8]) {
    let _ = fs_err::remove_file(path);
    fs_err::create_dir_all(path.parent().unwrap()).unwrap();
    fs_err::write(path, bytes).unwrap();
}

#[test]
fn damaged_object_is_quarantined() {
    let (directory, compiled) = (tempfile::tempdir().unwrap(), compiled(&product(), native()));
    let store = directory.path().join("store");
    let object = publish(&store, &compiled);
    let bytes = fs_err::read(&object).unwrap();
    let name = object.file_name().unwrap().to_str().unwrap();
    let flips = (0..bytes.len()).step_by(bytes.len() / 60).map(|at| {
        let mut flipped = bytes.clone();
        flipped[at] ^= 0x04;
        flipped
    });
    let cuts = (0..bytes.len()).step_by(bytes.len() / 20).map(|len| bytes[..len].to_vec());
    for damaged in flips.chain(cuts) {
        replace(&object, &damaged);
        match from_store(&store) {
            Outcome::Miss(words) => assert!(words.contains(name) && words.contains("moved to"), "{words}"),
            // Some bits of a zstd frame have no meaning, so the content still matches its digest.
            Outcome::Right => continue,
            refused => panic!("{refused:?}"),
        }
        assert!(!object.exists(), "it was moved away");
    }
    replace(&object, &bytes);
    assert_eq!(from_store(&store), Outcome::Right);
}

#[test]
fn damaged_record_is_a_miss() {
    let (directory, compiled) = (tempfile::tempdir().unwrap(), compiled(&product(), native()));
    let store = directory.path().join("store");
    publish(&store, &compiled);
    let mut files =
        walkdir::WalkDir::new(store.join("records")).into_iter().map(|entry| entry.unwrap().into_path());
    let path = files.find(|path| path.is_file() && path.extension().is_none()).unwrap();
    let bytes = fs_err::read(&path).unwrap();
    for at in (0..bytes.len()).step_by(23) {
        let mut flipped = bytes.clone();
        flipped[at] ^= 0x02;
        replace(&path, &flipped);
        assert!(matches!(from_store(&store), Outcome::Miss(_)), "byte {at}");
    }
    replace(&path, &bytes[..bytes.len() / 2]);
    assert!(matches!(from_store(&store), Outcome::Miss(_)));
}

/// Returns the outcome of a strict runtime over a store with one changed record.
fn with_record(change: impl FnOnce(&mut Record)) -> Outcome {
    let (directory, mut compiled) = (tempfile::tempdir().unwrap(), compiled(&product(), native()));
    change(&mut compiled.record);
    let store = directory.path().join("store");
    publish(&store, &compiled);
    from_store(&store)
}

fn missed(outcome: Outcome, words: &[&str]) {
    let Outcome::Miss(found) = outcome else { panic!("{outcome:?}") };
    assert!(words.iter().all(|word| found.contains(word)), "{found}");
}

#[test]
fn foreign_code_is_a_miss_with_reason() {
    assert_eq!(with_record(|_| {}), Outcome::Right);
    let lacking = with_record(|record| record.requires.cpu = vec!["nonexistent".to_owned()]);
    missed(lacking, &["needs CPU features `nonexistent`: not supported by this CPU", native().name()]);
    let other = with_record(|record| record.requires.arch = "riscv64".to_owned());
    missed(other, &["needs architecture `riscv64`"]);
    missed(with_record(|record| record.requires.os = "plan9".to_owned()), &["`plan9`"]);
    let newer = with_record(|record| record.requires.libc_version = Some("999.0".to_owned()));
    missed(newer, &["needs C library", "999.0"]);
    missed(with_record(|record| record.requires.abi = (0x2_0000, 0x2_ffff)), &["needs C ABI"]);
}

#[test]
fn unsupported_variant_does_not_hide_a_supported_one() {
    let (directory, mut compiled) = (tempfile::tempdir().unwrap(), compiled(&product(), native()));
    let store = directory.path().join("store");
    publish(&store, &compiled);
    compiled.record.requires.cpu.push("nonexistent".to_owned());
    publish(&store, &compiled);
    assert_eq!(from_store(&store), Outcome::Right);
}

/// Compiles the graph against headers of another ABI version, under the key of the correct module.
fn other_abi(version: &str) -> Compiled {
    let mut module = Granularity::Whole.modules(&product()).remove(0);
    let (key, document) = (module.key(), module.document());
    let header = module.sources.get_mut("precast/module.h").expect("every module includes it");
    let line = header.lines().find(|line| line.starts_with("#define PC_ABI_VERSION")).unwrap().to_owned();
    *header = header.replace(&line, &format!("#define PC_ABI_VERSION {version}u")).into();
    let unit = Unit::single(Arc::new(module));
    let mut compiled = precast_compile::compile(&unit, &toolchain(), &variant(native())).unwrap();
    let member = &mut compiled.record.members[0];
    (member.key, member.document) = (key, Some(document));
    compiled
}

#[test]
fn other_abi_is_rejected_by_record_and_handshake() {
    let directory = tempfile::tempdir().unwrap();
    for range in [0x2_0000, precast_abi::ABI_VERSION + 1] {
        let version = &format!("{range:#010x}");
        let mut compiled = other_abi(version);
        assert_eq!(compiled.record.requires.abi.0, range, "read back from the object");
        let store = directory.path().join(version);
        publish(&store, &compiled);
        missed(from_store(&store), &["needs C ABI"]);
        // The record claims a compatible ABI, but the table in the object does not.
        compiled.record.requires.abi = (0x1_0000, 0x1_ffff);
        let store = directory.path().join(format!("lie-{version}"));
        publish(&store, &compiled);
        missed(from_store(&store), &["was skipped: handshake failed: the ABI"]);
    }
}

#[test]
fn object_under_a_foreign_key_is_rejected() {
    let directory = tempfile::tempdir().unwrap();
    let (mut other, mine) = (compiled(&crate::graphs::score(), native()), compiled(&product(), native()));
    let member = &mine.record.members[0];
    (other.record.members[0].key, other.record.members[0].document) = (member.key, member.document.clone());
    let store = directory.path().join("store");
    publish(&store, &other);
    missed(from_store(&store), &["handshake failed: the key of the slot"]);
    other.record.members[0].slot = 7;
    let store = directory.path().join("slot");
    publish(&store, &other);
    missed(from_store(&store), &["handshake failed: the number of entries"]);
}

/// Writes a bundle with valid hashes and an entry that calls another graph's code.
fn forged(path: &Path) {
    let mut declared = Declared::default();
    for (name, text) in [("sum", "x + y"), ("difference", "x - y")] {
        let place = SourceLocation::in_file(Path::new("precast.toml"));
        declared.graph(name, graph(text, &["x=f64[?]", "y=f64[?]"]), place).unwrap();
    }
    let plan = plan(&declared).unwrap();
    let (toolchain, variants) = (toolchain(), [variant(native())]);
    let execution = Execution::new(&toolchain, &variants);
    let mut executed = execute(&plan, &execution).unwrap();
    let [difference, sum] = &mut executed.entries[..] else { panic!("two entries are expected") };
    sum.program = difference.program.clone();
    fs_err::write(path, executed.bundle(&toolchain).unwrap()).unwrap();
}

#[test]
fn entry_with_foreign_module_is_reported() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("forged.bundle");
    forged(&path);
    // The hashes are valid, and a loader has no generator to check against, so it runs the code that the writer of
    // the bundle chose.
    assert!(Bundle::open(&path).unwrap().verify().is_empty());
    let inputs = values(2, 20);
    let inputs: Vec<ArrayRef<'_>> = inputs.iter().map(ArrayRef::from).collect();
    let [sum, difference] = ["x + y", "x - y"]
        .map(|text| interpret(&graph(text, &["x=f64[?]", "y=f64[?]"]), &values(2, 20)).unwrap());
    let loader = precast::Loader::open(&path).unwrap();
    assert_eq!(loader.entry("sum").unwrap().call(&inputs).unwrap(), difference);
    let runtime = Runtime::builder().bundle_file(&path).policy(Policy::Strict).build().unwrap();
    for _ in 0..2 {
        assert_eq!(runtime.entry("sum").unwrap().call(&inputs).unwrap(), sum);
        assert_eq!(runtime.entry("difference").unwrap().call(&inputs).unwrap(), difference);
    }
    let stats = runtime.stats();
    let told = stats.events.iter().map(ToString::to_string).filter(|event| event.contains("damaged"));
    let told: Vec<String> = told.collect();
    assert!(stats.damaged == 1 && told.len() == 1 && told[0].contains("entry `sum`"), "{told:?}");
}
