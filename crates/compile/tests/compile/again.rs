//! Tests that an archive contains everything needed to recompile it, and that missing content is reported.

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
fn archive_alone_can_be_rebuilt() {
    for unit in units() {
        let compiled = compile(&unit, toolchain(), &variant()).unwrap();
        let again = recompile(&compiled.record, &compiled.archive, toolchain()).unwrap();
        assert_eq!(Some(again.object.as_slice()), compiled.archive.get("unit.o"));
        assert_eq!(Some(again.shared_object.as_slice()), compiled.archive.get("unit.so"));
        // A different text gives different bytes, under any name.
        let mut other = compiled.archive.clone();
        let file = unit.file_name();
        let text = String::from_utf8(other.members[file].clone()).unwrap().replace("2.5", "3.5");
        other.members.insert(file.to_owned(), text.into_bytes());
        let other = recompile(&compiled.record, &other, toolchain()).unwrap();
        assert_ne!(other.shared_object, again.shared_object);
    }
}

#[test]
fn incomplete_archives_cannot_be_rebuilt() {
    let hosted = Module { libraries: vec!["m".to_owned()], ..module("hosted", "", CODE) };
    let hosted = compile(&single(hosted), toolchain(), &variant()).unwrap();
    let compiled = compile(&units()[0], toolchain(), &variant()).unwrap();
    let why = |record: &precast_store::Record, archive: &precast_store::Archive| match recompile(
        record,
        archive,
        toolchain(),
    ) {
        Err(RecompileError::NotAlone { why }) => why.into_owned(),
        other => panic!("{other:?}"),
    };
    assert_eq!(why(&hosted.record, &hosted.archive), "it uses system files");
    let mut record = compiled.record.clone();
    record.toolchain = None;
    assert_eq!(why(&record, &compiled.archive), "it was compiled by another compiler");
    record = compiled.record.clone();
    record.members[0].document = None;
    assert_eq!(why(&record, &compiled.archive), "its documents are missing");
    record = compiled.record.clone();
    record.members[0].document.as_mut().unwrap().flags.push("-fno-ident".to_owned());
    // A document that does not hash to its key is ignored.
    assert_eq!(why(&record, &compiled.archive), "its documents are missing");
    // Flags from an archive are not trusted.
    record = compiled.record.clone();
    let member = &mut record.members[0];
    member.document.as_mut().unwrap().flags.push("-fplugin=/tmp/evil.so".to_owned());
    member.key = member.document.as_ref().unwrap().key();
    assert!(matches!(recompile(&record, &compiled.archive, toolchain()), Err(RecompileError::Compile(_))));
    // A record with changed members is rejected as well.
    record.members[0].document.as_mut().unwrap().flags.clear();
    record.members[0].key = record.members[0].document.as_ref().unwrap().key();
    record.members[0].document.as_mut().unwrap().libraries.push("m".to_owned());
    record.members[0].key = record.members[0].document.as_ref().unwrap().key();
    assert_eq!(why(&record, &compiled.archive), "it was built by another version of precast");
    let mut archive = compiled.archive.clone();
    let mut text = archive.members["unit.c"].clone();
    text.extend(b"\n#include \"/etc/passwd\"\n");
    archive.members.insert("unit.c".to_owned(), text);
    assert_eq!(why(&compiled.record, &archive), "it uses `\"/etc/passwd\"`, which is not in it");
    archive.members.remove("unit.c");
    assert_eq!(why(&compiled.record, &archive), "its sources are missing or not UTF-8");
}

#[test]
fn rebuild_reads_only_headers_of_the_keys() {
    let compiled = compile(&units()[0], toolchain(), &variant()).unwrap();
    let header = "include/precast/tensor.h";
    type Change<'a> = &'a dyn Fn(&mut precast_store::Archive);
    let cases: [(&str, Change<'_>); 4] = [
        ("does not match its keys", &|archive| {
            archive.members.get_mut(header).unwrap().extend(b"/* more */\n");
        }),
        ("is not in its keys", &|archive| {
            archive.members.insert("include/other.h".to_owned(), b"int other;\n".to_vec());
        }),
        ("is missing, but in its keys", &|archive| drop(archive.members.remove(header))),
        ("/etc/hosts", &|archive| {
            archive.members.get_mut("unit.c").unwrap().extend(b"__asm__(\".incbin \\\"/etc/hosts\\\"\");\n");
        }),
    ];
    for (told, change) in cases {
        let mut archive = compiled.archive.clone();
        change(&mut archive);
        let error = recompile(&compiled.record, &archive, toolchain()).unwrap_err();
        assert!(error.to_string().contains(told), "{error}");
        assert!(
            matches!(error, RecompileError::Header { .. } | RecompileError::Outside { .. }),
            "{told}: {error:?}"
        );
    }
}
