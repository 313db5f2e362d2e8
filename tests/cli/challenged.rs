//! `challenge` with bundles and exports: the same alarm as between stores.

use precast_store::archive::SHARED_OBJECT;
use precast_store::{Store, write_bundle};
use serde_json::Value;

use crate::release::{DOUBLE, SUM, assert_differs_in_code, built, files, tamper};
use crate::sandbox::Sandbox;

fn challenge(place: &Sandbox, code: i32, places: &[&str]) -> Value {
    let ended = place.run_bare(&[&["challenge", "--json"], places].concat());
    assert_eq!(ended.code, code, "{}{}", ended.out, ended.err);
    ended.json()
}

/// Writes a bundle with the record of a store that has one, and changes a byte of its code, if asked.
fn bundle(place: &Sandbox, store: &str, name: &str, flip: bool) {
    let store = Store::open(place.path(store)).unwrap();
    let record = store.records().next().unwrap().unwrap();
    let mut code = store.load(&record).unwrap().members[SHARED_OBJECT].clone();
    if flip {
        let text = {
            use object::{Object as _, ObjectSection as _};
            let file = object::File::parse(&*code).unwrap();
            file.section_by_name(".text").unwrap().file_range().unwrap()
        };
        code[(text.0 + text.1 / 2) as usize] ^= 1;
    }
    let entries = store.entries().unwrap();
    place.write(name, write_bundle(&[(record, code)], &entries, "test").unwrap());
}

#[test]
fn bundles_and_exports_are_compared_like_stores() {
    let place = built(&[SUM]);
    place.run(&["build", "--store", "second", "--bundle", "second.precast"]).ok();
    for store in ["artifacts", "second"] {
        place.run_bare(&["export", "--store", store, "--out", &format!("{store}.export")]).ok();
    }
    for places in [
        ["model.precast", "second.precast"],
        ["model.precast", "second"],
        ["artifacts", "second.precast"],
        ["artifacts.export", "second.export"],
        ["artifacts.export", "second"],
        ["model.precast", "second.export"],
    ] {
        let same = challenge(&place, 0, &places);
        assert_eq!((&same["actions"], &same["compared"]), (&1.into(), &1.into()), "{places:?} {same:#}");
    }
    // The action of another builder has another result.
    let record = tamper(&place, "artifacts", "forged");
    bundle(&place, "forged", "forged.precast", true);
    for (places, file) in [
        (&["artifacts", "forged"][..], "unit.o"),
        (&["model.precast", "forged.precast"], SHARED_OBJECT),
        (&["model.precast", "forged.precast", "artifacts", "forged"], "unit.o"),
    ] {
        let json = challenge(&place, 6, places);
        let alarm = &json["alarms"][0];
        assert_eq!(alarm["signature"], record.members[0].signature.as_str(), "{json:#}");
        assert_eq!(alarm["results"].as_array().unwrap().len(), 2, "{json:#}");
        let first = &alarm["differences"][0];
        assert_eq!((&first["file"], &first["section"]), (&file.into(), &".text".into()), "{json:#}");
        // Only a store names functions.
        assert_eq!(first["symbol"].is_string(), file == "unit.o", "{json:#}");
    }
    assert_differs_in_code(&challenge(&place, 6, &["artifacts", "forged"])["alarms"][0]);
    let told = place.run_bare(&["challenge", "model.precast", "forged.precast"]);
    assert!(told.out.contains("`unit.so`, section `.text`"), "{}", told.out);
    // The record differs, and the code is the same: only the archives show where.
    bundle(&place, "forged", "same.precast", false);
    let json = challenge(&place, 6, &["model.precast", "same.precast"]);
    assert!(
        json["alarms"][0]["problem"].as_str().unwrap().contains("a file that a bundle lacks"),
        "{json:#}"
    );
}

/// A bundle states the digest of each archive. Its own code can contradict it.
#[test]
fn bundle_with_other_code_raises_an_alarm() {
    let place = built(&[SUM]);
    bundle(&place, "artifacts", "liar.precast", true);
    for with in ["model.precast", "artifacts"] {
        let json = challenge(&place, 6, &[with, "liar.precast"]);
        let alarm = &json["alarms"][0];
        assert_eq!(alarm["differences"][0]["file"], SHARED_OBJECT, "{json:#}");
        let results = alarm["results"].as_array().unwrap();
        assert_eq!(results.len(), 2, "{json:#}");
        assert_eq!(results[0]["digest"], results[1]["digest"], "{json:#}");
        assert_ne!(results[0]["code"], results[1]["code"], "{json:#}");
    }
}

#[test]
fn bundle_of_several_modules_is_compared_with_bundles() {
    let place = built(&[SUM, DOUBLE]);
    place.run(&["build", "--store", "second", "--bundle", "second.precast"]).ok();
    let same = challenge(&place, 0, &["model.precast", "second.precast"]);
    assert_eq!((&same["actions"], &same["compared"]), (&1.into(), &1.into()), "{same:#}");
    // The joined modules are another action than those of the store.
    place
        .run_bare(&["challenge", "artifacts", "model.precast"])
        .fails(1, &["nothing was compared", "hint: "]);
    for (name, bytes) in [("text", &b"text"[..]), ("cut.precast", b"precastb\x02\0")] {
        place.write(name, bytes);
    }
    place
        .run_bare(&["challenge", "artifacts", "text"])
        .fails(1, &["expected a store, a bundle or an export"]);
    let cut = place.run_bare(&["challenge", "artifacts", "cut.precast"]);
    assert!(cut.code == 1 || cut.code == 4, "{}", cut.err);
    let mut bytes = fs_err::read(place.path("model.precast")).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    place.write("bad.precast", bytes);
    place.run_bare(&["challenge", "artifacts", "bad.precast"]).fails(4, &["`bad.precast` is damaged"]);
    place.run_bare(&["challenge", "artifacts", "nowhere"]).fails(1, &["nowhere"]);
}

#[test]
fn damaged_objects_are_found_on_both_sides() {
    let place = built(&[SUM, DOUBLE]);
    place.run(&["build", "--store", "second"]).ok();
    place.run_bare(&["challenge", "artifacts", "second"]).ok();
    let store = Store::open(place.path("second")).unwrap();
    let record = store.records().next().unwrap().unwrap();
    let mut archive = store.load(&record).unwrap();
    archive.members.get_mut(SHARED_OBJECT).unwrap()[0x100] ^= 1;
    let flipped = archive.pack().unwrap().1;
    let digest = record.digest.to_string();
    let mut objects = files(&place, "second/objects").into_iter();
    let object = objects.find(|path| path.to_string_lossy().contains(&digest)).unwrap();
    for changed in [b"junk".to_vec(), flipped, Vec::new()] {
        for order in [["artifacts", "second"], ["second", "artifacts"]] {
            let before = fs_err::read(&object).unwrap();
            fs_err::remove_file(&object).unwrap();
            fs_err::write(&object, &changed).unwrap();
            let json = challenge(&place, 4, &order);
            assert!(json["lost"].as_array().unwrap().len() > 1, "{json:#}");
            // The damaged object is in quarantine now, so that it is missing.
            let told = place.run_bare(&[&["challenge"], &order[..]].concat()).fails(4, &[]);
            assert!(!told.out.contains("all results are the same"), "{}", told.out);
            fs_err::write(&object, before).unwrap();
            challenge(&place, 0, &order);
        }
    }
}

#[test]
fn place_named_twice_is_rejected() {
    let place = built(&[SUM]);
    std::os::unix::fs::symlink("artifacts", place.path("link")).unwrap();
    place.run_bare(&["export", "--out", "a.export"]).ok();
    let mut pairs: Vec<[&str; 2]> =
        ["artifacts", "./artifacts", "artifacts/.", "link"].map(|other| ["artifacts", other]).to_vec();
    pairs.extend([["model.precast", "./model.precast"], ["a.export", "a.export"]]);
    for pair in pairs {
        place.run_bare(&[&["challenge"], &pair[..]].concat()).fails(2, &["are the same place", "hint: "]);
    }
    fs_err::copy(place.path("model.precast"), place.path("copy.precast")).unwrap();
    challenge(&place, 0, &["model.precast", "copy.precast"]);
}
