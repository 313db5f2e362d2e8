//! An archive has all that it takes to make it again; what it has not is said.

use precast_codegen::{Module, Unit};
use precast_compile::{RecompileError, compile, recompile};
use precast_store::key::Language;

use crate::modules::{module, single, toolchain, variant};

const CODE: &str = "    *(double *)args[1] = *(double *)args[0] * 2.5;";

fn units() -> Vec<Unit> {
    let plain = module("plain", "", CODE);
    let flagged = Module {
        flags: vec!["-fno-tree-vectorize".to_owned()],
        removed_flags: vec!["-fno-trapping-math".to_owned()],
        ..module("flagged", "", CODE)
    };
    let cxx = Module { language: Language::Cxx, ..module("cxx", "", CODE) };
    vec![single(plain), single(flagged), single(cxx)]
}

#[test]
fn an_archive_alone_makes_itself_again() {
    for unit in units() {
        let compiled = compile(&unit, toolchain(), &variant()).unwrap();
        let again = recompile(&compiled.record, &compiled.archive, toolchain()).unwrap();
        assert_eq!(Some(again.object.as_slice()), compiled.archive.get("unit.o"));
        assert_eq!(Some(again.shared_object.as_slice()), compiled.archive.get("unit.so"));
        // Another text makes other bytes, under whatever name.
        let mut other = compiled.archive.clone();
        let file = unit.file_name();
        let text = String::from_utf8(other.members[file].clone()).unwrap().replace("2.5", "3.5");
        other.members.insert(file.to_owned(), text.into_bytes());
        let other = recompile(&compiled.record, &other, toolchain()).unwrap();
        assert_ne!(other.shared_object, again.shared_object);
    }
}

#[test]
fn what_an_archive_alone_cannot_make_is_said() {
    let hosted = Module { libraries: vec!["m".to_owned()], ..module("hosted", "", CODE) };
    let hosted = compile(&single(hosted), toolchain(), &variant()).unwrap();
    let compiled = compile(&units()[0], toolchain(), &variant()).unwrap();
    let why = |record: &precast_store::Record, archive: &precast_store::Archive| match recompile(
        record,
        archive,
        toolchain(),
    ) {
        Err(RecompileError::NotAlone { why }) => why,
        other => panic!("{other:?}"),
    };
    assert_eq!(why(&hosted.record, &hosted.archive), "it takes files of the system");
    let mut record = compiled.record.clone();
    record.toolchain = None;
    assert_eq!(why(&record, &compiled.archive), "another compiler made it than is here");
    record = compiled.record.clone();
    record.members[0].document = None;
    assert_eq!(why(&record, &compiled.archive), "its documents are lost");
    record = compiled.record.clone();
    record.members[0].document.as_mut().unwrap().flags.push("-fno-ident".to_owned());
    assert!(matches!(
        recompile(&record, &compiled.archive, toolchain()),
        Err(RecompileError::NotAlone { why: "another version of precast made it" }
            | RecompileError::Compile(_))
    ));
    // What an archive asks for is not done.
    record = compiled.record.clone();
    record.members[0].document.as_mut().unwrap().flags.push("-fplugin=/tmp/evil.so".to_owned());
    assert!(matches!(recompile(&record, &compiled.archive, toolchain()), Err(RecompileError::Compile(_))));
    let mut archive = compiled.archive.clone();
    let mut text = archive.members["unit.c"].clone();
    text.extend(b"\n#include \"/etc/passwd\"\n");
    archive.members.insert("unit.c".to_owned(), text);
    assert_eq!(why(&compiled.record, &archive), "it takes files of the system");
    archive.members.remove("unit.c");
    assert_eq!(why(&compiled.record, &archive), "its sources are not there, or no text");
}
