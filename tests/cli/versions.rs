//! Artifacts of another version of precast: its headers differ, so its keys do, and its bundle names its version.

use precast_ops::{GENERATOR, OtherVersion};
use precast_store::{Bundle, Entry, Record, Store, write_bundle};

use crate::sandbox::{Ended, ISA, Sandbox, args};

const MANIFEST: &str = "[[graph]]\nname = \"grow\"\ninputs = [\"x: f64[?]\"]\noutputs = [\"out = exp(x)\"]\n";
const GRAPH: [&str; 4] = ["--type", "x=f64[?]", "--expr", "exp(x)"];
const OTHER: &str = "precast 0.0.9+0123456789abcdef";

/// Returns whether an explanation names another version of precast as a reason.
fn is_of_version(explained: &serde_json::Value) -> bool {
    let reasons = explained["segments"][0]["reasons"].as_array().unwrap();
    reasons.iter().any(|reason| reason["reason"] == "version")
}

/// Changes a record, and an entry that calls its module, as if a version with different headers had written them.
fn aged(record: &mut Record, entries: &mut [Entry]) {
    for member in &mut record.members {
        let Some(document) = &mut member.document else { continue };
        let header = document.sources.get_mut("precast/ops/math/exp.h").unwrap();
        *header = precast_store::key::ContentId::of("as it was");
        let (old, new) = (member.key, document.key());
        member.key = new;
        for step in entries.iter_mut().flat_map(|entry| &mut entry.program.steps) {
            step.key = if step.key == old { new } else { step.key };
        }
    }
    entries.iter_mut().for_each(|entry| entry.recipe = format!("{OTHER} release fuse"));
    // Fingerprints of that version differ from those of this one.
    record.members.iter_mut().for_each(|member| member.fingerprints.clear());
}

/// Creates a place with `old.precast` and the store `old` of another version, and `new.precast` of this one.
fn place() -> Sandbox {
    let place = Sandbox::new();
    place.write("precast.toml", format!("isa = [\"{ISA}\"]\n{MANIFEST}"));
    place.npy("x.npy", &[2], vec![0.0, 1.0]);
    place.run(&["build", "--bundle", "new.precast"]).ok();
    let new = Bundle::open(place.path("new.precast")).unwrap();
    let store = Store::open(place.path("artifacts")).unwrap();
    let mut entries = store.entries().unwrap();
    let old = Store::create(place.path("old")).unwrap();
    let mut packed = Vec::new();
    for record in store.records() {
        let mut record = record.unwrap();
        let object = new.load(&record).unwrap().to_vec();
        let archive = store.load(&record).unwrap();
        aged(&mut record, &mut entries);
        old.publish(&archive, &record).unwrap();
        packed.push((record, object));
    }
    place.write("old.precast", write_bundle(&packed, &entries, OTHER).unwrap());
    for entry in &entries {
        old.put_entry(entry).unwrap();
    }
    place
}

#[test]
fn other_versions_are_named_without_blaming_headers() {
    let place = place();
    for (layer, named) in
        [(["--bundle", "old.precast"], "bundle `old.precast`"), (["--store", "old"], "store `old`")]
    {
        let told = |ended: &Ended| {
            let text = format!("{}{}", ended.out, ended.err);
            assert!(text.contains("0.0.9+01234567") && !text.contains("exp.h"), "{text}");
            assert!(ended.hints() > 0, "{text}");
        };
        let run = |command: &[&str]| place.run_bare(&args(&[command, &layer]));
        let checked = run(&args(&[&["check"], &GRAPH])).fails(3, &[]);
        told(&checked);
        assert!(checked.out.contains(named), "{}", checked.out);
        told(
            &run(&args(&[&["run", "--policy", "strict", "-i", "x=x.npy", "--expr", "exp(x)"]])).fails(3, &[]),
        );
        told(&run(&args(&[&["explain"], &GRAPH])).ok());
        let json = run(&args(&[&["explain", "--json"], &GRAPH])).ok().json();
        let reasons = json["segments"][0]["reasons"].as_array().unwrap();
        let version = reasons.iter().find(|reason| reason["reason"] == "version").unwrap();
        assert_eq!(
            (&version["found"], &version["layer"]),
            (&"0.0.9+01234567".into(), &named.into()),
            "{json}"
        );
        // The command line looks up the graph of an entry like that of an expression.
        told(&run(&["run", "--entry", "grow", "-i", "x=x.npy", "--policy", "strict"]).fails(3, &[]));
        told(&run(&["doctor"]).ok());
        // A module that no version has built is not attributed to another version.
        let other = run(&["explain", "--json", "--type", "x=f32[?]", "--expr", "x*x"]).ok().json();
        assert!(!is_of_version(&other), "{other:#}");
    }
    let new = ["--bundle", "new.precast"];
    place.run_bare(&args(&[&["check"], &GRAPH, &new])).ok();
    let looked = place.run_bare(&args(&[&["doctor", "--json"], &new])).ok().json();
    assert_eq!(looked["layers"][0]["problems"], serde_json::json!([]));
    let missing = ["explain", "--json", "--type", "x=f32[?]", "--expr", "exp(x)"];
    let missing = place.run_bare(&args(&[&missing, &new])).ok().json();
    assert!(missing["hit"] == false && !is_of_version(&missing), "{missing:#}");
}

#[test]
fn unrecorded_version_is_not_invented() {
    let place = place();
    // A store filled by a program has no entries, and earlier bundles had only a digest of the generator.
    fs_err::remove_dir_all(place.path("old/roots")).unwrap();
    let bundle = Bundle::open(place.path("old.precast")).unwrap();
    let pack = |record: Record| (record.clone(), bundle.load(&record).unwrap().to_vec());
    let records: Vec<_> = bundle
        .records()
        .into_iter()
        .map(|mut record| {
            for member in &mut record.members {
                member.document = bundle.document(&member.key);
            }
            pack(record)
        })
        .collect();
    place.write("older.precast", write_bundle(&records, &bundle.entries(), &"0f".repeat(32)).unwrap());
    for layer in [["--store", "old"], ["--bundle", "older.precast"]] {
        let told = place.run_bare(&args(&[&["explain", "--json"], &GRAPH, &layer])).ok().json();
        let reasons = told["segments"][0]["reasons"].as_array().unwrap();
        let version = reasons.iter().find(|reason| reason["reason"] == "version").unwrap();
        assert_eq!(version["found"], serde_json::Value::Null);
    }
}

#[test]
fn default_policy_without_compiler_says_so() {
    let place = place();
    let run = ["run", "-i", "x=x.npy", "--expr", "x*x - x", "--bundle", "new.precast"];
    place.run_bare(&run).fails(3, &["miss: ", "no compiler is available: ", "hint: "]);
    let auto = place.run_bare(&run).fails(3, &[]);
    let strict = place.run_bare(&args(&[&run, &["--policy", "strict"]])).fails(3, &["miss: "]);
    assert!(strict.err.len() < auto.err.len(), "nothing about a compiler: {}", strict.err);
}

#[test]
fn missing_bundle_and_keyring_are_named() {
    let place = place();
    let none = ["--bundle", "nothing.precast"];
    for command in [&["ls"][..], &args(&[&["check"], &GRAPH])] {
        let told = ["bundle `nothing.precast` not found", "hint: run `precast build --bundle FILE`"];
        place.run_bare(&args(&[command, &none])).fails(1, &told);
    }
    let looked = place.run_bare(&args(&[&["doctor", "--json"], &none])).fails(1, &[]).json();
    assert_eq!(looked["layers"][0]["problems"].as_array().unwrap().len(), 2, "{looked:#}");
    let told = ["keyring `nobody.keys` not found", "`precast trust new`"];
    place.run_bare(&["ls", "--bundle", "new.precast", "--keyring", "nobody.keys"]).fails(1, &told);
}

#[test]
fn each_manifest_has_its_lock_file() {
    let place = place();
    place.write("model.toml", format!("isa = [\"{ISA}\"]\n{}", MANIFEST.replace("exp(x)", "x*x")));
    place.run_bare(&["update"]).ok();
    let text = fs_err::read(place.path("precast.lock")).unwrap();
    let built = place.run(&["build", "model.toml", "--store", "other"]).ok();
    assert_eq!(built.warnings(), 0, "{}", built.err);
    place
        .run(&["build", "model.toml", "--locked"])
        .fails(1, &["`model.lock` not found", "hint: run `precast update model.toml`"]);
    place.run_bare(&["update", "model.toml"]).ok();
    place.run(&["build", "model.toml", "--locked", "--store", "other"]).ok();
    assert_eq!(fs_err::read(place.path("precast.lock")).unwrap(), text);
}

#[test]
fn much_damage_is_summarized() {
    let place = Sandbox::new();
    let op = |name: &str| {
        format!(
            "[[external]]\nname = \"{name}\"\nfiles = [\"{name}.c\"]\ninputs = [\"f64[?]\"]\noutputs = [\"f64[?]\"]\n"
        )
    };
    let names: Vec<String> = (0..20).map(|number| format!("own{number}")).collect();
    for name in &names {
        place.write(&format!("{name}.c"), "#section code\nOUTPUT_0 = INPUT_0;\n");
    }
    place.write(
        "precast.toml",
        format!("isa = [\"{ISA}\"]\n{}", names.iter().map(|name| op(name)).collect::<String>()),
    );
    place.run(&["build"]).ok();
    let objects = crate::release::files(&place, "artifacts/objects");
    assert!(objects.len() >= 20, "{}", objects.len());
    for object in &objects {
        fs_err::remove_file(object).unwrap();
        fs_err::write(object, "damaged").unwrap();
    }
    let looked = place.run_bare(&["verify", "--store", "artifacts"]).fails(4, &[]);
    assert!(looked.out.lines().count() < 25, "{}", looked.out);
    assert!(looked.out.lines().all(|line| line.len() < 320), "{}", looked.out);
}

#[test]
fn lock_file_of_another_version_is_named() {
    let place = place();
    let lock = |text: &str| place.write("precast.lock", text);
    place.run_bare(&["update"]).ok();
    let text = fs_err::read_to_string(place.path("precast.lock")).unwrap();
    assert!(text.contains(&format!("\ngenerator = \"{GENERATOR}\"\n")), "{text}");
    // A version that generates the same C changes no line.
    let other = text.replace(GENERATOR, OTHER);
    lock(&other);
    place.run(&["build", "--locked"]).ok();
    assert_eq!(place.run_bare(&["update", "--json"]).ok().json()["changes"], serde_json::json!([]));
    assert_eq!(fs_err::read_to_string(place.path("precast.lock")).unwrap(), other);
    // For different C the message names the other version, in the form of `--version`.
    let shown = place.run_bare(&["--version"]).ok().out;
    let this = shown.split_whitespace().nth(1).unwrap();
    assert_eq!(this, OtherVersion::this());
    let module = text.lines().find(|line| line.contains("signature = ")).unwrap();
    let key = module.rsplit('"').nth(1).unwrap();
    let aged = |text: &str| text.replace(key, &"0".repeat(64));
    let told = format!("written by another version of precast (0.0.9+01234567, this is {this})");
    lock(&aged(&other));
    let hint = "hint: build with that version, or run `precast update`";
    place.run(&["build", "--locked"]).fails(1, &[&told, "generated C of module", hint]);
    let warned = place.run(&["build"]).ok();
    assert!(warned.warnings() > 0 && warned.err.contains("0.0.9+01234567"), "{}", warned.err);
    place.run_bare(&["verify", "--lock", "precast.lock"]).fails(4, &[&told]);
    lock(&aged(&other.replace(&format!("generator = \"{OTHER}\"\n"), "")));
    place.run(&["build", "--locked"]).fails(1, &["another version of precast (unknown"]);
    // Another version is not mentioned if this one wrote the file, or if declarations were added since.
    let blameless = || {
        let refused = place.run(&["build", "--locked"]).fails(1, &[]);
        assert!(!refused.err.contains(this), "{}", refused.err);
    };
    lock(&aged(&text));
    blameless();
    lock(&other);
    let more = MANIFEST.replace("grow", "more").replace("exp(x)", "x*x");
    place.write("precast.toml", format!("isa = [\"{ISA}\"]\n{MANIFEST}{more}"));
    blameless();
}
