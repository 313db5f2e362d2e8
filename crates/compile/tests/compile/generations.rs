//! Generations: when a record was built from the headers and libraries of this host.

use std::path::Path;

use precast_codegen::{Module, Unit};
use precast_compile::{Isa, Variant, action, compile, outdated};
use precast_store::Record;

use crate::modules::{kernel, module, single, toolchain, variant};

/// Returns a unit that includes `<outer.h>` from a directory.
fn unit(directory: &Path) -> Unit {
    let mut module: Module = module("outer() -> f64", "", "    return OUTER;");
    module.includes.push("outer.h".to_owned());
    module.header_dirs.push(directory.display().to_string());
    single(module)
}

fn built(unit: &Unit) -> Record {
    compile(unit, toolchain(), &variant()).expect("a compiled unit").record
}

fn is_outdated(record: &Record, unit: &Unit) -> bool {
    outdated(record, unit, toolchain()).is_some()
}

#[test]
fn lean_unit_has_no_generation() {
    let record = built(&single(kernel(3)));
    assert_eq!(record.generation, None);
    assert!(!record.has_outside());
}

#[test]
fn generation_is_the_same_for_all_levels() {
    let directory = tempfile::tempdir().unwrap();
    fs_err::write(directory.path().join("outer.h"), "#define OUTER 1\n").unwrap();
    let unit = unit(directory.path());
    let of = |isa| compile(&unit, toolchain(), &Variant { isa, ..variant() }).unwrap().record;
    let levels = Isa::defaults(&variant().target);
    let records: Vec<Record> = levels.into_iter().map(of).collect();
    assert!(records.iter().all(|record| record.generation == records[0].generation));
    assert!(records[0].generation.is_some() && !is_outdated(&records[0], &unit));
}

#[test]
fn header_of_another_level_changes_generation_and_action() {
    if !cfg!(target_arch = "x86_64") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let (outer, wide) = (directory.path().join("outer.h"), directory.path().join("wide.h"));
    fs_err::write(&outer, "#ifdef __AVX512F__\n#include \"wide.h\"\n#else\n#define OUTER 1\n#endif\n")
        .unwrap();
    fs_err::write(&wide, "#define OUTER 2\n").unwrap();
    let unit = unit(directory.path());
    let (record, key) = (built(&unit), action(&unit, toolchain(), &variant()).unwrap().key());
    fs_err::write(&wide, "#define OUTER 3\n").unwrap();
    assert!(is_outdated(&record, &unit));
    assert_ne!(action(&unit, toolchain(), &variant()).unwrap().key(), key);
    // The other levels are still possible if the header refuses one.
    fs_err::write(&wide, "#error no\n").unwrap();
    let refusing = built(&unit);
    assert!(!is_outdated(&refusing, &unit) && refusing.generation != record.generation);
}

#[test]
fn comments_and_places_do_not_change_the_generation() {
    let (directory, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs_err::write(directory.path().join("outer.h"), "#define OUTER 1\n").unwrap();
    fs_err::write(other.path().join("outer.h"), "/* one */\n#define OUTER 1 // one\n").unwrap();
    let record = built(&unit(directory.path()));
    assert_eq!(built(&unit(other.path())).generation, record.generation);
    assert!(!is_outdated(&record, &unit(other.path())));
}

#[test]
fn missing_header_leaves_the_record_in_use_and_a_broken_one_does_not() {
    let directory = tempfile::tempdir().unwrap();
    let outer = directory.path().join("outer.h");
    fs_err::write(&outer, "#define OUTER 1\n").unwrap();
    let unit = unit(directory.path());
    let record = built(&unit);
    fs_err::write(&outer, "#error broken\n").unwrap();
    assert!(is_outdated(&record, &unit));
    fs_err::remove_file(&outer).unwrap();
    assert!(!is_outdated(&record, &unit));
}

#[test]
fn every_change_is_noticed_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let outer = directory.path().join("outer.h");
    let unit = unit(directory.path());
    // Changes within one tick of the file system's clock keep the size, and may keep the times.
    for round in 0..20 {
        fs_err::write(&outer, format!("#define OUTER {}\n", round % 2)).unwrap();
        let record = built(&unit);
        assert!(!is_outdated(&record, &unit));
        fs_err::write(&outer, format!("#define OUTER {}\n", 1 - round % 2)).unwrap();
        assert!(is_outdated(&record, &unit), "{round}");
    }
}
