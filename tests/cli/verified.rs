//! `verify` of bundles against lock files and manifests, of other signed files, and of names that signatures state.

use crate::release::{DOUBLE, SUM, built};
use crate::sandbox::{Ended, Sandbox, args};

const KEYRING: &[&str] = &["--keyring", "precast.keyring"];

fn verify(place: &Sandbox, rest: &[&str]) -> Ended {
    place.run_bare(&args(&[&["verify", "--json"], rest]))
}

/// Builds a bundle of graphs, and a keyring that trusts `k.key`.
fn place(graphs: &[&str]) -> Sandbox {
    let place = built(graphs);
    place.run_bare(&["keygen", "k.key", "--no-password"]).ok();
    place.run_bare(&["trust", "new", "--expires", "2999-01-01", "k.pub"]).ok();
    place
}

#[test]
fn bundle_is_compared_with_lock_files_and_manifests() {
    // A bundle of several modules joins them, so that it has none of the pinned archives.
    for (graphs, pins, other) in [(&[SUM][..], 1, DOUBLE), (&[SUM, DOUBLE], 0, "")] {
        let place = built(graphs);
        place.run(&["build", "--pin"]).ok();
        let graphs = graphs.len() as u64;
        let bundle = ["--bundle", "model.precast"];
        let lock = verify(&place, &args(&[&bundle, &["--lock", "precast.lock"]])).ok().json();
        assert_eq!(lock["locked"]["same"], 2 * graphs + pins, "{lock:#}");
        let joined = lock["locked"]["unchecked"].as_object().unwrap();
        assert_eq!(joined.values().filter_map(serde_json::Value::as_u64).sum::<u64>(), graphs - pins);
        let derived = verify(&place, &args(&[&bundle, &["--regen", "precast.toml"]])).ok().json();
        assert_eq!(derived["regenerated"]["same"], 2 * graphs, "{derived:#}");
        // A store beside the bundle has the archives.
        let both = args(&[&bundle, &["--store", "artifacts", "--lock", "precast.lock"]]);
        assert_eq!(verify(&place, &both).ok().json()["locked"]["same"], 3 * graphs);
        if !other.is_empty() {
            place.write(
                "more.toml",
                format!("{}{other}", fs_err::read_to_string(place.path("precast.toml")).unwrap()),
            );
            place.run(&["update", "more.toml"]).ok();
            for wanted in [["--lock", "more.lock"], ["--regen", "more.toml"]] {
                verify(&place, &args(&[&bundle, &wanted])).fails(4, &[]);
            }
        }
        for alone in [&["--rebuild", "precast.toml"][..], &["--recompile"]] {
            verify(&place, &args(&[&["model.precast"], alone])).fails(2, &["needs a store", "--store DIR"]);
        }
    }
    // Under a keyring, the store may belong to other users.
    let place = place(&[SUM]);
    place.run(&["build", "--pin"]).ok();
    place.run_bare(&["sign", "--store", "artifacts", "model.precast", "--key", "k.key"]).ok();
    for path in ["artifacts", "artifacts/records", "model.precast"] {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o777);
        fs_err::set_permissions(place.path(path), mode).unwrap();
    }
    for layer in [["--store", "artifacts"], ["--bundle", "model.precast"]] {
        let open = args(&[&layer, &["--lock", "precast.lock", "--regen", "precast.toml"], KEYRING]);
        let json = verify(&place, &open).ok().json();
        assert_eq!(
            (&json["locked"]["same"], &json["regenerated"]["same"]),
            (&3.into(), &2.into()),
            "{json:#}"
        );
    }
}

#[test]
fn options_that_do_not_apply_to_a_file_are_rejected() {
    let place = place(&[SUM]);
    place.run(&["build", "--pin"]).ok();
    place.run_bare(&["export", "--out", "a.export"]).ok();
    place.write("model.cdx.json", "{}");
    place.run_bare(&["sign", "model.cdx.json", "--key", "k.key"]).ok();
    let of_stores = [&["--rebuild", "precast.toml"][..], &["--recompile"]];
    let of_layers = [&["--lock", "precast.lock"][..], &["--regen", "precast.toml"]];
    // The default store has no influence.
    for default in [true, false] {
        if !default {
            fs_err::rename(place.path("artifacts"), place.path("elsewhere")).unwrap();
        }
        let store = if default { "artifacts" } else { "elsewhere" };
        for file in ["a.export", "model.cdx.json"] {
            for option in of_stores.iter().chain(&of_layers) {
                for store in [&[][..], &["--store", store]] {
                    let rest = args(&[&[file], store, option, KEYRING]);
                    verify(&place, &rest).fails(2, &[option[0], "needs a store", file]);
                }
            }
            verify(&place, &args(&[&[file, "precast.lock"], KEYRING])).fails(2, &["--lock", file]);
        }
        for option in of_stores {
            verify(&place, &args(&[&["model.precast"], option])).fails(2, &[option[0], "needs a store"]);
        }
        for option in of_layers {
            verify(&place, &args(&[&["model.precast"], option])).ok();
            // The option takes every file after it.
            for file in ["a.export", "model.precast"] {
                verify(&place, &args(&[option, &[file]])).fails(2, &[option[0], file, "before"]);
            }
        }
    }
}

#[test]
fn signatures_of_other_files_are_verified() {
    let place = place(&[SUM]);
    place.run_bare(&["keygen", "m.key", "--no-password"]).ok();
    let bill = place.run_bare(&["sbom", "model.precast"]).ok().out;
    place.write("model.cdx.json", &bill);
    for (name, text) in [("manifest.toml", "[[graph]]\n"), ("data.bin", "a\0b")] {
        place.write(name, text);
    }
    let check = |file: &str| verify(&place, &args(&[&[file], KEYRING]));
    verify(&place, &["model.cdx.json"]).fails(2, &["a text file", "--keyring FILE"]);
    assert!(check("model.cdx.json").fails(7, &[]).out.contains("no signature found"));
    place.run_bare(&["sign", "model.cdx.json", "--key", "m.key"]).ok();
    check("model.cdx.json").fails(7, &[]);
    for file in ["model.cdx.json", "manifest.toml", "data.bin"] {
        place.run_bare(&["sign", file, "--key", "k.key"]).ok();
        let json = check(file).ok().json();
        assert_eq!(
            (&json["whole"], &json["layers"][0]["signed by"]),
            (&true.into(), &"k".into()),
            "{json:#}"
        );
        place.write(file, format!("{bill} "));
        assert!(check(file).fails(7, &[]).out.contains("for other bytes"));
    }
    // A key for keyrings does not sign such files.
    place.run_bare(&["sign", "model.cdx.json", "--key", "k.key"]).ok();
    check("model.cdx.json").ok();
    let new = ["trust", "--keyring", "roles", "new", "--expires", "2999-01-01"];
    place.run_bare(&args(&[&new, &["--keyring-key", "k.pub", "--release-key", "m.pub"]])).ok();
    verify(&place, &["model.cdx.json", "--keyring", "roles"]).fails(7, &[]);
    // A damaged bundle is damaged, whatever signatures it has.
    place.run_bare(&["sign", "model.precast", "--key", "k.key"]).ok();
    place.write("model.precast", "a text");
    check("model.precast").fails(4, &[]);
}

#[test]
fn keyring_is_verified_as_its_update_does() {
    let place = Sandbox::new();
    for name in ["root", "ci"] {
        place.run_bare(&["keygen", &format!("{name}.key"), "--no-password"]).ok();
    }
    let new =
        ["trust", "new", "--expires", "2999-01-01", "--keyring-key", "root.pub", "--release-key", "ci.pub"];
    place.run_bare(&new).ok();
    fs_err::copy(place.path("precast.keyring"), place.path("next")).unwrap();
    place.run_bare(&["trust", "--keyring", "next", "set", "--expires", "2998-01-01"]).ok();
    let check = |file: &str, keyring: &str| verify(&place, &[file, "--keyring", keyring]);
    assert!(check("next", "precast.keyring").fails(7, &[]).out.contains("no signature found"));
    place.run_bare(&["sign", "next", "--key", "ci.key"]).ok();
    let refused = check("next", "precast.keyring").fails(7, &[]).out;
    assert!(refused.contains("key `ci` may sign releases only") && refused.contains("hint: "), "{refused}");
    place.run_bare(&["sign", "next", "--key", "root.key"]).ok();
    let json = check("next", "precast.keyring").ok().json();
    assert_eq!((&json["layers"][0]["version"], &json["layers"][0]["signed by"]), (&2.into(), &"root".into()));
    // A keyring does not replace a later one.
    place.run_bare(&["sign", "precast.keyring", "--key", "root.key"]).ok();
    assert!(check("precast.keyring", "next").fails(7, &[]).out.contains("version 1"));
    check("precast.keyring", "precast.keyring").ok();
}

#[test]
fn signatures_bind_the_name_that_verify_expects() {
    let place = place(&[SUM]);
    place.run_bare(&["sign", "model.precast", "--key", "k.key"]).ok();
    place.run_bare(&["export", "--out", "a.export", "--key", "k.key"]).ok();
    let named = |file: &str, name: &str| verify(&place, &args(&[&[file, "--name", name], KEYRING]));
    for (file, other) in [("model.precast", "b.precast"), ("a.export", "b.export")] {
        named(file, file).ok();
        for suffix in ["", ".minisig"] {
            let from = place.path(format!("{file}{suffix}"));
            if from.exists() {
                fs_err::copy(from, place.path(format!("{other}{suffix}"))).unwrap();
            }
        }
        verify(&place, &args(&[&[other], KEYRING])).ok();
        assert!(named(other, other).fails(7, &[]).out.contains("under the name"));
    }
    place.run_bare(&["sign", "model.precast", "--key", "k.key", "--name", "model@1.4"]).ok();
    named("model.precast", "model@1.4").ok();
    named("model.precast", "model@1.5").fails(7, &[]);
    named("model.precast", "model.precast").fails(7, &[]);
    verify(&place, &["model.precast", "--name", "x"]).fails(2, &["needs a keyring"]);
    verify(&place, &args(&[&["artifacts", "--name", "x"], KEYRING])).fails(2, &["needs a bundle"]);
    for wrong in [
        &["--name", "a\tb"][..],
        &["--name", "a b"],
        &["--name", "a/b"],
        &["--name", "ä"],
        &["--name", ""],
        &["a.export", "--name", "a"],
        &["--dsse", "--name", "a"],
    ] {
        place.run_bare(&args(&[&["sign", "model.precast", "--key", "k.key"], wrong])).fails(2, &["--name"]);
    }
}
