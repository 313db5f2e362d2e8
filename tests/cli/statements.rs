//! Statements about releases in standard formats: provenance, and bills of materials. They have all fields that their
//! schemas require, and every digest is that of a file.

use std::collections::BTreeSet;

use precast_store::{Archive, Store};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::release::built;
use crate::sandbox::{Ended, Sandbox, args};

const SUM: &str =
    "[[graph]]\nname = \"sum\"\ninputs = [\"x: f64[?]\", \"y: f64[?]\"]\noutputs = [\"out = x + y\"]\n";
const ROOT: &str =
    "[[graph]]\nname = \"root\"\ninputs = [\"x: f64[?]\"]\noutputs = [\"out = exp(x) * 2.5\"]\n";
const BUILDER: &str = "https://ci.example.org/release";
const SOURCE: &str = "git+https://git.example.org/model@refs/tags/v1";

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn build(place: &Sandbox, epoch: &str, rest: &[&str]) -> Ended {
    let invocation = "https://ci.example.org/jobs/7";
    let source = ["--source", SOURCE, "--source-commit", "c0ffee", "--invocation", invocation];
    let mut command =
        place.command(args(&[&["build", "--builder", BUILDER, "--store", "stated"], &source, rest]));
    Ended::of(command.env("SOURCE_DATE_EPOCH", epoch).output().unwrap())
}

fn texts<'v>(values: &'v Value, key: &str) -> Vec<&'v str> {
    values.as_array().unwrap().iter().filter_map(|value| value[key].as_str()).collect()
}

/// Checks the requirements of in-toto's statement and SLSA's predicate.
#[track_caller]
fn check_statement(statement: &Value) {
    assert_eq!(statement["_type"], "https://in-toto.io/Statement/v1");
    assert_eq!(statement["predicateType"], "https://slsa.dev/provenance/v1");
    let subjects = statement["subject"].as_array().unwrap();
    assert!(
        !subjects.is_empty() && subjects.iter().all(|s| s["digest"]["sha256"].as_str().unwrap().len() == 64)
    );
    let (definition, run) =
        (&statement["predicate"]["buildDefinition"], &statement["predicate"]["runDetails"]);
    assert!(definition["buildType"].as_str().unwrap().starts_with("https://"));
    assert!(
        definition["externalParameters"]["command"].is_array()
            && definition["internalParameters"].is_object()
    );
    // Every dependency has a digest, except files of the system, which have our content id.
    for material in definition["resolvedDependencies"].as_array().unwrap() {
        assert!(
            material["digest"].is_object()
                || material["annotations"]["contentId"].is_string()
                || material["uri"].is_string(),
            "{material}"
        );
    }
    let repository = &definition["resolvedDependencies"][0];
    assert_eq!((&repository["uri"], &repository["digest"]["gitCommit"]), (&SOURCE.into(), &"c0ffee".into()));
    assert_eq!(run["metadata"]["invocationId"], "https://ci.example.org/jobs/7");
    assert_eq!(run["builder"]["id"], BUILDER);
    for material in definition["resolvedDependencies"].as_array().unwrap() {
        assert!(material["uri"].is_string() || material["digest"]["sha256"].is_string(), "{material}");
    }
    for time in ["startedOn", "finishedOn"] {
        assert_eq!(run["metadata"][time], "2001-09-09T01:46:40Z");
    }
}

#[test]
fn statements_follow_records_and_bundle() {
    let place = built(&[SUM, ROOT]);
    build(&place, "1000000000", &["--bundle", "stated.precast", "--pin"]).ok();
    let store = Store::open(place.path("stated")).unwrap();
    for record in store.records() {
        let record = record.unwrap();
        let statement = store.find_provenance(&record).unwrap().expect("it was compiled");
        let statement: Value = serde_json::from_str(&statement).unwrap();
        check_statement(&statement);
        let archive = store.load(&record).unwrap();
        let mut expected = vec![sha256(&record.to_bytes())];
        expected.extend(["unit.o", "unit.so"].map(|name| sha256(archive.get(name).unwrap())));
        let subjects = statement["subject"].as_array().unwrap().iter();
        let subjects: Vec<&str> = subjects.filter_map(|s| s["digest"]["sha256"].as_str()).collect();
        assert_eq!(subjects, expected);
        let materials = &statement["predicate"]["buildDefinition"]["resolvedDependencies"];
        let digest_of = |name: &str| {
            let found = materials.as_array().unwrap().iter().find(|material| material["name"] == name);
            found.unwrap_or_else(|| panic!("{name} in {materials}"))["digest"]["sha256"].clone()
        };
        assert_eq!(digest_of("unit.c"), sha256(archive.get("unit.c").unwrap()));
        assert_eq!(digest_of("precast.toml"), sha256(&fs_err::read(place.path("precast.toml")).unwrap()));
        for name in archive.members.keys().filter(|name| name.starts_with("include/")) {
            assert_eq!(digest_of(name), sha256(archive.get(name).unwrap()));
        }
        let toolchain = format!("precast:toolchain:{}", record.toolchain.unwrap());
        assert!(texts(materials, "uri").contains(&toolchain.as_str()), "{materials}");
        for file in &record.outside {
            assert!(texts(materials, "uri").contains(&format!("file://{}", file.path).as_str()));
        }
        // The archive itself also names the toolchain.
        let manifest: Value = serde_json::from_slice(archive.get("manifest.json").unwrap()).unwrap();
        assert_eq!(manifest["toolchain"]["id"], record.toolchain.unwrap().to_string());
    }
    let beside: Value =
        serde_json::from_slice(&fs_err::read(place.path("stated.precast.provenance.json")).unwrap()).unwrap();
    check_statement(&beside);
    let bundle = fs_err::read(place.path("stated.precast")).unwrap();
    assert_eq!(beside["subject"][0]["name"], "stated.precast");
    assert_eq!(beside["subject"][0]["digest"]["sha256"], sha256(&bundle));
    let materials = &beside["predicate"]["buildDefinition"]["resolvedDependencies"];
    assert_eq!(texts(materials, "name")[..2], ["precast.toml", "precast.lock"]);
    assert!(texts(materials, "uri").iter().any(|uri| uri.starts_with("precast:toolchain:")));
    for record in store.records() {
        let uri = format!("precast:record:{}", record.unwrap().id());
        assert!(texts(materials, "uri").contains(&uri.as_str()), "{uri}");
    }
}

#[test]
fn reused_artifacts_get_no_new_statement() {
    let place = built(&[SUM, ROOT]);
    let store = || Store::open(place.path("artifacts")).unwrap();
    let sum = || {
        let mut records = store().records().map(Result::unwrap).collect::<Vec<_>>().into_iter();
        records.find(|record| record.members[0].signature.starts_with("add("))
    };
    let record = sum().unwrap();
    let shown = ["show", &record.members[0].key.to_string(), "--provenance", "--store", "artifacts"];
    place.run_bare(&shown).fails(1, &["no provenance for", "`precast build --builder URI`"]);
    // This build took the record from the store, so it states nothing.
    place.run(&["build", "--builder", BUILDER]).ok();
    assert_eq!(store().find_provenance(&record).unwrap(), None);
    fs_err::remove_dir_all(place.path("artifacts")).unwrap();
    place.run(&["build", "--builder", BUILDER]).ok();
    let line = place.run_bare(&shown).ok().out;
    let stated: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(stated["predicate"]["runDetails"]["builder"]["id"], BUILDER);
    // A statement travels with its record. Only a mistake puts it next to another record.
    place.run_bare(&["export", "--store", "artifacts", "--out", "all.export"]).ok();
    place.run_bare(&["import", "all.export", "--unsigned", "--store", "there"]).ok();
    let there = ["show", shown[1], "--provenance", "--store", "there"];
    assert_eq!(place.run_bare(&there).ok().out, line);
    let all = store().records().map(Result::unwrap).collect::<Vec<_>>();
    let other = all.iter().find(|other| other.action != record.action).unwrap();
    let beside = |record: &precast_store::Record| {
        let name = format!("{}-{}.provenance", record.action, record.id());
        place.path("there/records").join(&name[..2]).join(name)
    };
    fs_err::remove_file(beside(&record)).unwrap();
    fs_err::copy(beside(other), beside(&record)).unwrap();
    place.run_bare(&there).fails(4, &["does not match the record", "hint: delete its file"]);
    // Statements contain times, but records and bundles do not change.
    assert_eq!(sum().unwrap(), record);
    assert_eq!(place.run_bare(&["verify", "--json"]).ok().json()["whole"], true);
    place.write("other.toml", ROOT);
    place.run_bare(&["gc", "--grace", "0", "other.toml"]).ok();
    // The files left are the other record, its documents and its statement.
    assert_eq!((sum(), walk(&place.path("artifacts/records"))), (None, 3));
    for wrong in ["release", "https:", "two words:x", "9:x"] {
        place.run(&["build", "--builder", wrong]).fails(2, &["expected a URI", "hint: "]);
    }
    build(&place, "today", &[]).fails(2, &["invalid `SOURCE_DATE_EPOCH` `today`"]);
}

/// An export may contain exchanged statements with a matching list of members. Such statements must not be imported.
#[test]
fn statement_about_another_record_is_not_imported() {
    let place = built(&[SUM, ROOT]);
    build(&place, "1000000000", &[]).ok();
    place.run_bare(&["export", "--store", "stated", "--out", "all.export"]).ok();
    let frame = fs_err::read(place.path("all.export")).unwrap();
    let (_, archive) = Archive::unpack(&frame, &precast_store::Limits::default()).unwrap();
    let names: Vec<String> =
        archive.members.keys().filter(|name| name.starts_with("provenance/")).cloned().collect();
    let [one, two] = &names[..] else { panic!("two statements are expected: {names:?}") };
    let swap = |members: &mut Members| {
        let [first, second] = [one, two].map(|name| members[name].clone());
        members.extend([(one.clone(), second), (two.clone(), first)]);
    };
    type Members = std::collections::BTreeMap<String, Vec<u8>>;
    type Change<'a> = &'a dyn Fn(&mut Members);
    let changes: [(Change<'_>, &str); 4] = [
        (&swap, "not a statement about its record"),
        (&|members| drop(members.insert(one.clone(), b"no statement".to_vec())), "not a statement about"),
        (&|members| drop(members.insert(one.clone(), b"{}".to_vec())), "not a statement about its record"),
        (&|members| drop(members.insert(format!("{one}0"), b"{}".to_vec())), "missing record"),
    ];
    for (change, told) in changes {
        let mut changed = archive.clone();
        change(&mut changed.members);
        changed.members.remove("statement");
        let mut statement = "precast export 2\n".to_owned();
        for (name, content) in changed.members.iter().filter(|(name, _)| !name.starts_with("signatures/")) {
            statement += &format!("{} {name}\n", precast_store::key::ContentId::of(content));
        }
        changed.members.insert("statement".to_owned(), statement.into_bytes());
        place.write("changed.export", changed.pack().unwrap().1);
        for how in [&[][..], &["--dry-run"]] {
            let import = ["import", "changed.export", "--unsigned", "--store", "there"];
            place.run_bare(&args(&[&import, how])).fails(4, &["cannot import `provenance/", told]);
            assert!(!place.path("there").exists());
        }
    }
    place.run_bare(&["import", "all.export", "--unsigned", "--store", "there"]).ok();
}

#[test]
fn rewritten_bundle_drops_old_statements() {
    let place = built(&[SUM, ROOT]);
    build(&place, "1000000000", &["--bundle", "b.precast"]).ok();
    let beside = "b.precast.provenance.json";
    place.write(&format!("{beside}.minisig"), "signatures of it");
    place.write("b.precast.intoto.jsonl", "{}");
    let stated = fs_err::read(place.path(beside)).unwrap();
    // The same bytes keep their statement.
    place.run(&["build", "--bundle", "b.precast"]).ok();
    assert_eq!(fs_err::read(place.path(beside)).unwrap(), stated);
    place.write("one.toml", format!("isa = [\"{}\"]\n{SUM}", crate::sandbox::ISA));
    let told = place.run(&["build", "one.toml", "--bundle", "b.precast"]).ok();
    for name in [beside, &format!("{beside}.minisig"), "b.precast.intoto.jsonl"] {
        assert!(told.err.contains(&format!("removed `{name}`")), "{}", told.err);
    }
    assert!(!place.path("b.precast.intoto.jsonl").exists());
    assert!(!place.path(beside).exists() && !place.path(format!("{beside}.minisig")).exists());
    // A file that is not a statement belongs to the user.
    place.write(beside, "{}");
    place.run(&["build", "--bundle", "b.precast"]).ok();
    assert_eq!(fs_err::read(place.path(beside)).unwrap(), b"{}");
}

/// Counts the files below a directory.
fn walk(directory: &std::path::Path) -> usize {
    let entries = fs_err::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| if path.is_dir() { walk(&path) } else { 1 }).sum()
}

#[test]
fn sbom_lists_the_bundle_deterministically() {
    let place = built(&[SUM, ROOT]);
    let bill = place.run_bare(&["sbom", "model.precast"]).ok();
    assert_eq!(place.run_bare(&["sbom", "model.precast"]).ok().out, bill.out);
    let bill = bill.json();
    assert_eq!((&bill["bomFormat"], &bill["specVersion"]), (&"CycloneDX".into(), &"1.6".into()));
    let bytes = fs_err::read(place.path("model.precast")).unwrap();
    let bundle = precast_store::Bundle::from_bytes(bytes).unwrap();
    let components = bill["components"].as_array().unwrap();
    let kinds: BTreeSet<&str> =
        components.iter().map(|component| component["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, BTreeSet::from(["application", "file", "library"]));
    assert!(components.iter().all(|component| component["name"].is_string()));
    let root = bill["metadata"]["component"]["bom-ref"].as_str().unwrap();
    let mut references: Vec<&str> = texts(&bill["components"], "bom-ref");
    references.push(root);
    let all: BTreeSet<&str> = references.iter().copied().collect();
    assert_eq!(all.len(), references.len(), "each reference once");
    for record in bundle.records() {
        assert!(all.contains(format!("record:{}", record.id()).as_str()));
        for member in &record.members {
            assert!(all.contains(format!("module:{}", member.key).as_str()));
            for content in member.document.as_ref().unwrap().sources.values() {
                assert!(all.contains(format!("source:{content}").as_str()));
            }
        }
    }
    assert!(all.contains("entry:sum") && all.contains("entry:root"));
    // Every dependency is a component.
    for dependency in bill["dependencies"].as_array().unwrap() {
        assert!(all.contains(dependency["ref"].as_str().unwrap()), "{dependency}");
        for on in dependency["dependsOn"].as_array().unwrap() {
            assert!(all.contains(on.as_str().unwrap()), "{dependency}");
        }
    }
    // NTIA's minimum, for every component: supplier, name, version and another identifier.
    for component in components.iter().chain([&bill["metadata"]["component"]]) {
        for field in ["name", "version", "purl"] {
            assert!(component[field].as_str().is_some_and(|text| !text.is_empty()), "{field} of {component}");
        }
        assert!(component["supplier"]["name"].is_string(), "{component}");
        let hashes = component["hashes"].as_array().into_iter().flatten();
        let all: Vec<&str> = hashes.filter_map(|hash| hash["alg"].as_str()).collect();
        assert!(all.is_empty() || all == ["SHA-256", "BLAKE3"], "{component}");
    }
    let bytes = fs_err::read(place.path("model.precast")).unwrap();
    assert_eq!(bill["metadata"]["component"]["hashes"][0]["content"], sha256(&bytes));
    // The name of the file does not matter; options and the stated time do.
    fs_err::copy(place.path("model.precast"), place.path("renamed")).unwrap();
    assert_eq!(place.run_bare(&["sbom", "renamed"]).ok().json(), bill);
    let mut named = place.command(["sbom", "renamed", "--supplier", "Example Inc.", "--license", "MIT"]);
    let named = Ended::of(named.env("SOURCE_DATE_EPOCH", "1000000000").output().unwrap()).ok().json();
    assert_eq!(named["metadata"]["timestamp"], "2001-09-09T01:46:40Z");
    assert_eq!(named["metadata"]["authors"][0]["name"], "Example Inc.");
    assert_eq!(named["metadata"]["component"]["licenses"][0]["expression"], "MIT");
    let named = place.run_bare(&["sbom", "renamed", "--name", "model", "--version", "1.4"]).ok().json();
    let component = &named["metadata"]["component"];
    assert_eq!((&component["name"], &component["version"]), (&"model".into(), &"1.4".into()));
    assert_eq!((&component["purl"], &component["bom-ref"]), (&"pkg:generic/model@1.4".into(), &root.into()));
    assert_eq!(named["components"], bill["components"]);
    let mut bytes = fs_err::read(place.path("model.precast")).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    place.write("bad.precast", bytes);
    place.run_bare(&["sbom", "bad.precast"]).fails(4, &["bad.precast"]);
    place.run_bare(&["sbom", "missing.precast"]).fails(1, &["missing.precast"]);
}

/// The bytes of a bundle do not name the compiler, and its provenance does.
#[test]
fn sbom_names_the_compiler_of_the_provenance() {
    let place = built(&[SUM]);
    build(&place, "1000000000", &["--bundle", "b.precast"]).ok();
    let toolchains = |rest: &[&str]| -> Vec<Value> {
        let bill = place.run_bare(&[&["sbom", "b.precast"], rest].concat()).ok().json();
        let all = bill["components"].as_array().unwrap().iter();
        all.filter(|component| component["scope"] == "excluded").cloned().collect()
    };
    let (plain, named) = (toolchains(&[]), toolchains(&["--provenance", "b.precast.provenance.json"]));
    assert_eq!((plain.len(), named.len()), (1, 1));
    assert_eq!((&plain[0]["name"], &plain[0]["bom-ref"]), (&"C toolchain".into(), &named[0]["bom-ref"]));
    let text = fs_err::read_to_string(place.path("b.precast.provenance.json")).unwrap();
    let compiler =
        format!("{} {}", named[0]["name"].as_str().unwrap(), named[0]["version"].as_str().unwrap());
    assert!(text.contains(&format!("\"{compiler}\"")), "{compiler}");
    place.write("other.toml", format!("isa = [\"{}\"]\n{ROOT}", crate::sandbox::ISA));
    place.run(&["build", "other.toml", "--bundle", "other.precast"]).ok();
    let other = ["sbom", "other.precast", "--provenance", "b.precast.provenance.json"];
    place.run_bare(&other).fails(1, &["it is about another file"]);
    place
        .run_bare(&["sbom", "b.precast", "--provenance", "precast.toml"])
        .fails(1, &["it is not JSON", "hint: "]);
}

#[test]
fn signed_provenance_is_verified() {
    let place = built(&[SUM]);
    build(&place, "1000000000", &["--bundle", "b.precast"]).ok();
    for name in ["alice", "bob", "mallory"] {
        place.run_bare(&["keygen", &format!("{name}.key"), "--no-password"]).ok();
    }
    place
        .run_bare(&["trust", "new", "--threshold", "2", "--expires", "2999-01-01", "alice.pub", "bob.pub"])
        .ok();
    let sign = |name: &str| {
        place.run_bare(&["sign", "--dsse", "b.precast.provenance.json", "--key", &format!("{name}.key")])
    };
    let verify = |rest: &[&str]| {
        let verify =
            ["verify", "--bundle", "b.precast", "--keyring", "precast.keyring", "--provenance", "--json"];
        place.run_bare(&args(&[&verify, rest]))
    };
    for name in ["alice", "bob"] {
        place.run_bare(&["sign", "b.precast", "--key", &format!("{name}.key")]).ok();
    }
    let problem =
        |ended: Ended| ended.fails(7, &[]).json()["layers"][1]["problems"][0].as_str().unwrap().to_owned();
    assert!(problem(verify(&[])).contains("cannot read `b.precast.intoto.jsonl`"));
    for name in ["alice", "mallory", "alice"] {
        sign(name).ok();
    }
    let told = problem(verify(&[]));
    assert!(told.contains("found 1, expected 2") && told.contains("unlisted key"), "{told}");
    sign("bob").ok();
    let facts = verify(&["--builder", BUILDER]).ok().json()["layers"][1].clone();
    assert_eq!((&facts["builder"], &facts["signed by"]), (&BUILDER.into(), &"alice, bob".into()));
    assert!(problem(verify(&["--builder", "https://other.example.org"])).contains("the builder is"));
    // The envelope of a link is that of its target, and it is verified with its bundle.
    std::os::unix::fs::symlink("b.precast.provenance.json", place.path("linked")).unwrap();
    let signed = place.run_bare(&["sign", "--dsse", "linked", "--key", "bob.key"]).ok().out;
    assert!(
        signed.contains("/b.precast.intoto.jsonl") && !place.path("linked.intoto.jsonl").exists(),
        "{signed}"
    );
    let alone = place.run_bare(&["verify", "b.precast.intoto.jsonl", "--keyring", "precast.keyring"]);
    assert!(alone.fails(7, &[]).out.contains("hint: an envelope is verified with its bundle"));
    // A changed payload, and a statement about another file.
    let path = place.path("b.precast.intoto.jsonl");
    let envelope = fs_err::read_to_string(&path).unwrap();
    let mut changed: Value = serde_json::from_str(&envelope).unwrap();
    let payload = changed["payload"].as_str().unwrap().replacen('A', "B", 1);
    changed["payload"] = payload.into();
    fs_err::write(&path, changed.to_string()).unwrap();
    let told = problem(verify(&[]));
    for part in ["found 0, expected 2", "by `alice` is for other bytes", "by `bob` is for other bytes"] {
        assert!(told.contains(part), "{told}");
    }
    fs_err::write(&path, "[]").unwrap();
    assert!(problem(verify(&[])).contains("is not a DSSE envelope"));
    fs_err::write(&path, envelope).unwrap();
    place.write("other.toml", format!("isa = [\"{}\"]\n{ROOT}", crate::sandbox::ISA));
    place.run(&["build", "other.toml", "--bundle", "other.precast"]).ok();
    fs_err::rename(place.path("other.precast"), place.path("b.precast")).unwrap();
    for name in ["alice", "bob"] {
        place.run_bare(&["sign", "b.precast", "--key", &format!("{name}.key")]).ok();
    }
    assert!(problem(verify(&[])).contains("about another file"));
    place
        .run_bare(&["sign", "--dsse", "precast.toml", "--key", "alice.key"])
        .fails(1, &["not an in-toto statement"]);
    place.run_bare(&["verify", "--bundle", "b.precast", "--provenance"]).fails(2, &["needs a keyring"]);
}
