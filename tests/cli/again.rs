//! `verify --recompile` and `verify --regen`: compiles machine code again from archives alone, and derives keys and
//! fingerprints again from declarations.

use precast_store::{Record, Store};

use crate::release::{assert_differs_in_code, built, tamper, unchecked};
use crate::sandbox::ISA;

const SUM: &str =
    "[[graph]]\nname = \"sum\"\ninputs = [\"x: f64[?]\", \"y: f64[?]\"]\noutputs = [\"out = x + y\"]\n";
const ROOT: &str =
    "[[graph]]\nname = \"root\"\ninputs = [\"x: f64[?]\"]\noutputs = [\"out = exp(x) * 2.5\"]\n";

/// Returns the words of the only alarm of a comparison.
fn sole_alarm(compared: &serde_json::Value) -> &str {
    let alarms = compared["alarms"].as_array().unwrap();
    assert_eq!(alarms.len(), 1, "{compared:#}");
    alarms[0]["what"].as_str().unwrap()
}

#[test]
fn recompiled_archives_show_differences() {
    let place = built(&[SUM, ROOT]);
    fs_err::remove_file(place.path("precast.toml")).unwrap();
    let json = place.run(&["verify", "--recompile", "--json"]).ok().json();
    assert_eq!((&json["recompiled"]["same"], &json["whole"]), (&2.into(), &true.into()));
    // The forged archive is intact, but compiling its text gives other bytes.
    let record = tamper(&place, "artifacts", "forged");
    place.run_bare(&["verify", "--store", "forged"]).ok();
    let other = place.run(&["verify", "--store", "forged", "--recompile", "--json"]).fails(6, &[]).json();
    let alarm = sole_alarm(&other["recompiled"]);
    assert!(alarm.starts_with(record.members[0].signature.as_str()), "{alarm}");
    assert!(alarm.ends_with("differs after recompiling"), "{alarm}");
    assert_differs_in_code(&other["recompiled"]["alarms"][0]);
    // An archive with broken text is an alarm and does not stop the check of other archives. The same holds for a
    // changed header.
    let store = Store::open(place.path("artifacts")).unwrap();
    for (name, member, told) in
        [("broken", "unit.c", ""), ("foreign", "include/precast/tensor.h", "does not match its keys")]
    {
        let records: Vec<Record> = store.records().map(Result::unwrap).collect();
        let to = Store::create(place.path(name)).unwrap();
        to.publish(&store.load(&records[0]).unwrap(), &records[0]).unwrap();
        let (mut record, mut archive) = (records[1].clone(), store.load(&records[1]).unwrap());
        archive.members.get_mut(member).unwrap().extend(b"\nint;;broken(\n");
        (record.digest, record.size) = (archive.digest().unwrap(), archive.size());
        to.publish(&archive, &record).unwrap();
        let other = place.run(&["verify", "--store", name, "--recompile", "--json"]).fails(6, &[]).json();
        assert_eq!(other["recompiled"]["same"], 1, "{other:#}");
        let alarm = sole_alarm(&other["recompiled"]);
        let signature = record.members[0].signature.as_str();
        assert!(alarm.starts_with(&format!("{signature} for ")) && alarm.contains(told), "{alarm}");
    }
    let none = place.run_bare(&["verify", "--recompile", "--json"]).fails(1, &["nothing was compared"]);
    assert_eq!(unchecked(&none.json()["recompiled"], "no compiler for"), 2);
}

#[test]
fn keys_are_derived_again_without_a_compiler() {
    let place = built(&[SUM, ROOT]);
    let same = place.run_bare(&["verify", "--regen", "precast.toml", "--json"]).ok().json();
    assert_eq!(same["regenerated"]["same"], 4, "{same:#}");
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
    let told =
        place.run_bare(&["verify", "--store", "forged", "--regen", "precast.toml", "--json"]).fails(6, &[]);
    let told = &told.json()["regenerated"];
    let alarm = sole_alarm(told);
    assert!(alarm.starts_with("fingerprint `") && alarm.contains("leads to"), "{alarm}");
    assert!(unchecked(told, "no layer has their fingerprint") > 0, "{told:#}");
    // A missing module is reported. Comparing nothing is not a success.
    place.write("other.toml", format!("isa = [\"{ISA}\"]\n{}", SUM.replace("x + y", "x - y")));
    let none = place.run_bare(&["verify", "--regen", "other.toml", "--json"]).fails(4, &[]).json();
    let lacking = none["regenerated"]["lacking"].as_array().unwrap();
    assert_eq!(lacking.len(), 1, "{none:#}");
    assert!(lacking[0].as_str().unwrap().ends_with("is declared but missing"), "{none:#}");
    place.write("empty.toml", "");
    place.run_bare(&["verify", "--regen", "empty.toml"]).fails(1, &["nothing was compared"]);
}
