//! `verify --recompile` and `verify --regen`: compiles machine code again from archives alone, and derives keys and
//! fingerprints again from declarations.

use precast_store::{Record, Store};

use crate::release::{built, tamper};
use crate::sandbox::ISA;

const SUM: &str =
    "[[graph]]\nname = \"sum\"\ninputs = [\"x: f64[?]\", \"y: f64[?]\"]\noutputs = [\"out = x + y\"]\n";
const ROOT: &str =
    "[[graph]]\nname = \"root\"\ninputs = [\"x: f64[?]\"]\noutputs = [\"out = exp(x) * 2.5\"]\n";

#[test]
fn recompiled_archives_show_differences() {
    let place = built(&[SUM, ROOT]);
    fs_err::remove_file(place.path("precast.toml")).unwrap();
    let same = place.run(&["verify", "--recompile"]).ok();
    assert!(same.out.contains("recompiled from archives: 2 are the same"), "{}", same.out);
    let json = place.run(&["verify", "--recompile", "--json"]).ok().json();
    assert_eq!((&json["recompiled"]["same"], &json["whole"]), (&2.into(), &true.into()));
    // The forged archive is intact, but compiling its text gives other bytes.
    let record = tamper(&place, "artifacts", "forged");
    place.run_bare(&["verify", "--store", "forged"]).ok();
    let other = place.run(&["verify", "--store", "forged", "--recompile"]).fails(6, &[]);
    for said in
        [record.members[0].signature.as_str(), "differs after recompiling", "`unit.o`, section `.text"]
    {
        assert!(other.out.contains(said), "`{said}` in {}", other.out);
    }
    // An archive with broken text is an alarm and does not stop the check of other archives. The same holds for a
    // changed header.
    let store = Store::open(place.path("artifacts")).unwrap();
    for (name, member, told) in
        [("broken", "unit.c", "caused"), ("foreign", "include/precast/tensor.h", "does not match its keys")]
    {
        let records: Vec<Record> = store.records().map(Result::unwrap).collect();
        let to = Store::create(place.path(name)).unwrap();
        to.publish(&store.load(&records[0]).unwrap(), &records[0]).unwrap();
        let (mut record, mut archive) = (records[1].clone(), store.load(&records[1]).unwrap());
        archive.members.get_mut(member).unwrap().extend(b"\nint;;broken(\n");
        (record.digest, record.size) = (archive.digest().unwrap(), archive.size());
        to.publish(&archive, &record).unwrap();
        let other = place.run(&["verify", "--store", name, "--recompile"]).fails(6, &[]);
        let signature = record.members[0].signature.as_str();
        assert!(other.out.contains("recompiled from archives: 1 is the same"), "{}", other.out);
        assert!(other.out.contains(&format!("alarm  {signature} for ")), "{}", other.out);
        assert!(told == "caused" || other.out.contains(told), "{}", other.out);
        assert!(other.out.contains("some artifacts differ"), "{}", other.out);
    }
    let none = place.run_bare(&["verify", "--recompile"]).fails(1, &["nothing was compared"]);
    assert!(none.out.contains("not compared: 2 (no compiler for"), "{}", none.out);
}

#[test]
fn keys_are_derived_again_without_a_compiler() {
    let place = built(&[SUM, ROOT]);
    let same = place.run_bare(&["verify", "--regen", "precast.toml"]).ok();
    assert!(same.out.contains("derived from manifests: 4 are the same"), "{}", same.out);
    // The fingerprint leads to another module, so a lookup by fingerprint would compute something else.
    let source = Store::open(place.path("artifacts")).unwrap();
    let records: Vec<Record> = source.records().map(Result::unwrap).collect();
    let [one, two] = &records[..] else { panic!("two are expected") };
    let forged = Store::create(place.path("forged")).unwrap();
    let archives = [one, two].map(|record| source.load(record).unwrap());
    forged.publish(&archives[0], one).unwrap();
    let mut wrong = two.clone();
    wrong.members[0].fingerprints.clone_from(&one.members[0].fingerprints);
    forged.publish(&archives[1], &wrong).unwrap();
    place.run_bare(&["verify", "--store", "forged"]).ok();
    let told = place.run_bare(&["verify", "--store", "forged", "--regen", "precast.toml"]).fails(6, &[]);
    assert!(told.out.contains("alarm  fingerprint `") && told.out.contains("leads to"), "{}", told.out);
    assert!(told.out.contains("no store has their fingerprint"), "{}", told.out);
    // A missing module is reported. Comparing nothing is not a success.
    place.write("other.toml", format!("isa = [\"{ISA}\"]\n{}", SUM.replace("x + y", "x - y")));
    let none = place.run_bare(&["verify", "--regen", "other.toml"]).fails(4, &[]);
    assert!(none.out.contains("is declared but missing"), "{}", none.out);
    place.write("empty.toml", "");
    place.run_bare(&["verify", "--regen", "empty.toml"]).fails(1, &["nothing was compared"]);
}
