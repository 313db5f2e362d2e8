//! Release work on stores: collecting garbage, verifying, compiling again and comparing, challenging another builder.

use std::path::PathBuf;

use object::{Object as _, ObjectSection as _, ObjectSymbol as _};
use precast_store::archive::OBJECT;
use precast_store::{Record, Store};
use serde_json::Value;

use crate::sandbox::{Ended, ISA, Sandbox, args};

pub(crate) const SUM: &str =
    "[[graph]]\nname = \"sum\"\ninputs = [\"x: f64[?]\", \"y: f64[?]\"]\noutputs = [\"out = x + y\"]\n";
pub(crate) const DOUBLE: &str =
    "[[graph]]\nname = \"double\"\ninputs = [\"x: f64[?]\"]\noutputs = [\"out = x * 2.5\"]\n";

pub(crate) fn built(graphs: &[&str]) -> Sandbox {
    let place = Sandbox::new();
    place.write("precast.toml", format!("isa = [\"{ISA}\"]\n{}", graphs.concat()));
    place.npy("x.npy", &[2], vec![1.0, 2.0]);
    place.npy("y.npy", &[2], vec![10.0, 20.0]);
    place.run(&["build", "--bundle", "model.precast"]).ok();
    place
}

pub(crate) fn files(place: &Sandbox, directory: &str) -> Vec<PathBuf> {
    let found = walk(&place.path(directory));
    found.into_iter().filter(|path| path.is_file()).collect()
}

fn walk(directory: &std::path::Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs_err::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(walk(&path));
        } else {
            found.push(path);
        }
    }
    found.sort();
    found
}

#[test]
fn wrong_clock_does_not_empty_a_store() {
    let place = built(&[SUM]);
    // As if the clock were right and the files old, which a collector cannot distinguish from a clock that is ahead.
    for path in files(&place, "artifacts") {
        let old = std::time::SystemTime::now() - std::time::Duration::from_secs(1000 * 86_400);
        fs_err::File::open(&path).unwrap().file().set_modified(old).unwrap();
    }
    let before = files(&place, "artifacts");
    let gc = ["gc", "--max-age", "90d"];
    place
        .run_bare(&gc)
        .fails(1, &["everything in store `artifacts` is older than allowed", "hint: check the clock"]);
    assert_eq!(files(&place, "artifacts"), before);
    let plan = place.run_bare(&args(&[&gc, &["--dry-run", "--json"]])).ok().json();
    assert_eq!(plan["stays"]["entries"], 0);
    place.run_bare(&args(&[&gc, &["--empty"]])).ok();
    assert!(files(&place, "artifacts/objects").is_empty());
}

#[test]
fn gc_lists_deletions_and_keeps_declared_modules() {
    let place = built(&[SUM, DOUBLE]);
    place.write("precast.toml", format!("isa = [\"{ISA}\"]\n{SUM}"));
    let before = files(&place, "artifacts");
    assert_eq!(place.run_bare(&["gc", "precast.toml", "--json"]).ok().json()["removed"], 0);
    let plan = place.run_bare(&["gc", "--dry-run", "--grace", "0", "precast.toml", "--json"]).ok().json();
    let goes = plan["goes"].as_array().unwrap();
    assert!(goes.iter().all(|item| item["reason"] == "undeclared"), "{plan:#}");
    let kinds: Vec<&Value> = goes.iter().map(|item| &item["kind"]).collect();
    assert_eq!(kinds, ["entry", "record"], "{plan:#}");
    assert_eq!(goes[0]["name"], "double", "{plan:#}");
    assert!(goes[1]["name"].as_str().unwrap().starts_with("mul("), "{plan:#}");
    assert!(plan["freed"].as_u64().unwrap() > 0, "{plan:#}");
    assert_eq!((&plan["stays"]["entries"], &plan["stays"]["records"]), (&1.into(), &1.into()), "{plan:#}");
    assert_eq!(files(&place, "artifacts"), before);
    let done = place.run_bare(&["gc", "--grace", "0", "precast.toml", "--json"]).ok().json();
    assert_eq!(
        (&done["removed"], &done["spared"], &done["stays"]["entries"]),
        (&2.into(), &0.into(), &1.into())
    );
    let strict = |name: &str, inputs: &[&str]| {
        place.run_bare(&args(&[
            &["run", "--policy", "strict", "--store", "artifacts", "--entry", name],
            inputs,
        ]))
    };
    strict("sum", &["-i", "x=x.npy", "-i", "y=y.npy"]).ok();
    strict("double", &["-i", "x=x.npy"]).fails(3, &["double"]);
    place.run_bare(&["verify"]).ok();
    let again = place.run_bare(&["gc", "--grace", "0", "precast.toml", "--json"]).ok().json();
    assert_eq!((&again["freed"], &again["removed"]), (&0.into(), &0.into()), "{again:#}");
}

#[test]
fn gc_rejects_unknown_files_and_deletes_nothing() {
    let place = built(&[SUM]);
    let before = files(&place, "artifacts");
    place.run_bare(&["gc", "--max-age", "90"]).fails(2, &["`90d`"]);
    place.run_bare(&["gc", "--max-size", "2 apples"]).fails(2, &["`2GiB`"]);
    place.run_bare(&["gc", "missing.toml"]).fails(1, &["missing.toml"]);
    place.run_bare(&["gc", "--store", "nowhere"]).fails(1, &["no store at `nowhere`"]);
    place.write("wrong.toml", "[[graph]]\nname = 1\n");
    place.run_bare(&["gc", "--grace", "0", "precast.toml", "wrong.toml"]).fails(1, &["wrong.toml"]);
    // A file without declarations would keep nothing: it was truncated, or is the wrong file.
    place.write("empty.toml", "");
    place.write("empty.lock", "version = 1\n");
    for empty in ["empty.toml", "empty.lock"] {
        for list in [&[empty][..], &["precast.toml", empty]] {
            place
                .run_bare(&args(&[&["gc", "--grace", "0"], list]))
                .fails(1, &[empty, "has no declarations, so it keeps nothing", "hint: "]);
        }
    }
    place.write("other.toml", format!("isa = [\"{ISA}\"]\n{DOUBLE}"));
    let told = ["no declared item is in store `artifacts`, so everything would be deleted", "`--dry-run`"];
    place.run_bare(&["gc", "--grace", "0", "other.toml"]).fails(1, &told);
    let plan = place.run_bare(&["gc", "--grace", "0", "other.toml", "--dry-run", "--json"]).ok().json();
    assert_eq!(
        (&plan["goes"][0]["kind"], &plan["goes"][0]["name"]),
        (&"entry".into(), &"sum".into()),
        "{plan:#}"
    );
    assert_eq!(files(&place, "artifacts"), before);
}

#[test]
fn gc_skips_a_cache_without_owner() {
    let place = Sandbox::new();
    let gc = |how: &[&str]| {
        let mut command = place.command(args(&[&["gc", "--cache"], how]));
        Ended::of(command.env("PRECAST_CACHE", place.path("cache")).output().unwrap())
    };
    gc(&[]).ok();
    assert_eq!(gc(&["--json"]).ok().json()["removed"], 0);
    assert_eq!(gc(&["--dry-run", "--json"]).ok().json()["removed"], Value::Null);
    assert!(!place.path("cache").exists());
}

#[test]
fn gc_ignores_files_of_other_programs() {
    let place = built(&[SUM]);
    let strays = [".DS_Store", ".nfs0001", "Thumbs.db", "desktop.ini", "score~", "#score#", ".x.swp"];
    let mut directories = vec!["".to_owned(), "roots".to_owned(), "roots/entry".to_owned()];
    for kind in ["objects", "records", "entries", "keys"] {
        let first = fs_err::read_dir(place.path("artifacts").join(kind)).unwrap().next().unwrap().unwrap();
        let shard = format!("{kind}/{}", first.file_name().to_string_lossy());
        if kind == "keys" {
            let key = fs_err::read_dir(first.path()).unwrap().next().unwrap().unwrap();
            directories.push(format!("{shard}/{}", key.file_name().to_string_lossy()));
        }
        directories.extend([kind.to_owned(), shard]);
    }
    for (directory, stray) in directories.iter().flat_map(|it| strays.map(|stray| (it, stray))) {
        place.write(&format!("artifacts/{directory}/{stray}"), "of another program");
    }
    let before = files(&place, "artifacts");
    place.run_bare(&["verify"]).ok();
    let gc = place.run_bare(&["gc", "--grace", "0", "precast.toml"]).ok();
    assert!(!gc.out.contains("newer precast") && gc.err.is_empty(), "{}{}", gc.out, gc.err);
    let listed = place.run_bare(&["ls", "--store", "artifacts"]).ok();
    assert!(listed.err.is_empty() && !listed.out.contains("Thumbs"), "{}{}", listed.out, listed.err);
    let run = ["run", "--policy", "strict", "--store", "artifacts", "--entry", "sum"];
    let ran = place.run_bare(&args(&[&run, &["-i", "x=x.npy", "-i", "y=y.npy"]])).ok();
    assert!(ran.err.is_empty(), "{}", ran.err);
    place.run(&["build"]).ok();
    place.run_bare(&["index", "artifacts"]);
    assert!(files(&place, "artifacts").len() >= before.len(), "none of them was deleted");
    // A directory with only such files may become a store.
    fs_err::create_dir(place.path("new")).unwrap();
    place.write("new/.DS_Store", "");
    place.run(&["build", "--store", "new"]).ok();
    fs_err::create_dir(place.path("home")).unwrap();
    place.write("home/.profile", "");
    place.run(&["build", "--store", "home"]).fails(1, &[".profile"]);
}

#[test]
fn files_created_under_open_umask_are_trusted() {
    let place = built(&[SUM]);
    place.run_bare(&["export", "--out", "open.export"]).ok();
    let open = |command: &str| {
        let plain = place.command([] as [&str; 0]);
        let mut shell = std::process::Command::new("sh");
        shell.arg("-c").arg(format!("umask 000 && exec \"$0\" {command}")).arg(plain.get_program());
        shell.current_dir(place.path("")).env_clear();
        shell.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
        Ended::of(shell.output().unwrap()).ok()
    };
    open("build --store open --bundle open.precast --pin");
    open("import open.export --unsigned --store imported");
    let run = ["run", "--policy", "strict", "--entry", "sum", "-i", "x=x.npy", "-i", "y=y.npy"];
    for layer in [["--store", "open"], ["--bundle", "open.precast"], ["--store", "imported"]] {
        place.run_bare(&args(&[&run, &layer])).ok();
        place.run_bare(&args(&[&["verify"], &layer])).ok();
    }
    for made in ["open", "imported"] {
        for path in files(&place, made) {
            let mode = std::os::unix::fs::MetadataExt::mode(&fs_err::metadata(&path).unwrap());
            assert_eq!(mode & 0o022, 0, "{mode:o} {}", path.display());
        }
    }
}

#[test]
fn module_with_lost_archive_is_a_miss() {
    let place = built(&[SUM]);
    let check = ["check", "--entry", "sum", "--store", "artifacts"];
    place.run_bare(&check).ok();
    for object in files(&place, "artifacts/objects") {
        fs_err::remove_file(object).unwrap();
    }
    let lost = |text: &Value| text.as_str().unwrap().contains("is missing in store `artifacts`");
    let missed = place.run_bare(&args(&[&check, &["--json"]])).fails(3, &[]).json();
    assert!(lost(&missed["missing"][0]), "{missed:#}");
    let told = place.run_bare(&["explain", "--entry", "sum", "--store", "artifacts", "--json"]).ok().json();
    let reason = &told["segments"][0]["reasons"][0];
    assert!(reason["reason"] == "unusable" && lost(&reason["problem"]), "{told:#}");
    place.run(&["build"]).ok();
    place.run_bare(&check).ok();
}

/// Replaces the archive of the store's only record by one whose code differs in a byte, as an undetected change of
/// the compiler might produce.
pub(crate) fn tamper(place: &Sandbox, from: &str, to: &str) -> Record {
    let source = Store::open(place.path(from)).unwrap();
    let mut record = source.records().next().unwrap().unwrap();
    let mut archive = source.load(&record).unwrap();
    let object = archive.members.get_mut(OBJECT).unwrap();
    let file = object::File::parse(&**object).unwrap();
    let code = file.sections().find(|s| s.kind() == object::SectionKind::Text && s.size() > 40).unwrap();
    // Inside of a function: bytes between two functions belong to neither.
    let functions = file.symbols().filter(|s| s.section_index() == Some(code.index()));
    let function = functions.max_by_key(|symbol| symbol.size()).unwrap();
    let inside = function.address() - code.address() + function.size() / 2;
    let at = code.file_range().unwrap().0 + inside;
    object[at as usize] ^= 1;
    (record.digest, record.size) = (archive.digest().unwrap(), archive.size());
    Store::create(place.path(to)).unwrap().publish(&archive, &record).unwrap();
    record
}

#[test]
fn verify_tells_damage_from_different_results() {
    let place = built(&[SUM]);
    assert_eq!(place.run_bare(&["verify", "--json"]).ok().json()["whole"], true);
    place.run_bare(&["verify", "--bundle", "model.precast"]).ok();
    place.run_bare(&["verify", "--store", "nowhere"]).fails(1, &[]);
    let same = place.run(&["verify", "--rebuild", "precast.toml", "--json"]).ok().json();
    assert_eq!(same["rebuilt"]["same"], 1, "{same:#}");
    // The forged archive is intact, but its action gives other bytes.
    tamper(&place, "artifacts", "forged");
    place.run_bare(&["verify", "--store", "forged"]).ok();
    let other = place
        .run(&["verify", "--store", "forged", "--rebuild", "precast.toml", "--json"])
        .fails(6, &[])
        .json();
    let alarm = &other["rebuilt"]["alarms"][0];
    assert!(alarm["what"].as_str().unwrap().ends_with("differs after the rebuild"), "{other:#}");
    assert_differs_in_code(alarm);
    // Undeclared modules are reported, and so are declared modules that are missing from the store.
    place.write("other.toml", format!("isa = [\"{ISA}\"]\n{DOUBLE}"));
    let none = place.run(&["verify", "--rebuild", "other.toml", "--json"]).fails(4, &[]).json();
    let lacking = none["rebuilt"]["lacking"].as_array().unwrap();
    assert_eq!(unchecked(&none["rebuilt"], "not declared by the named manifests"), 1, "{none:#}");
    assert!(lacking.len() == 1 && lacking[0].as_str().unwrap().starts_with("mul("), "{none:#}");
    // Comparing nothing is not a success: without a compiler, and in an empty store.
    let none = place
        .run_bare(&["verify", "--rebuild", "precast.toml", "--json"])
        .fails(1, &["nothing was compared", "hint: "]);
    assert_eq!(unchecked(&none.json()["rebuilt"], "no compiler for"), 1);
    Store::create(place.path("nothing")).unwrap();
    place
        .run(&["verify", "--store", "nothing", "--rebuild", "precast.toml"])
        .fails(1, &["nothing was compared"]);
    let object = &files(&place, "artifacts/objects")[0];
    let mut bytes = fs_err::read(object).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs_err::remove_file(object).unwrap();
    fs_err::write(object, bytes).unwrap();
    assert_eq!(place.run_bare(&["verify", "--json"]).fails(4, &[]).json()["whole"], false);
}

#[test]
fn challenge_names_the_differing_function() {
    let place = built(&[SUM]);
    place.run(&["build", "--store", "second"]).ok();
    let same = place.run_bare(&["challenge", "artifacts", "second", "--json"]).ok().json();
    assert_eq!((&same["actions"], &same["compared"]), (&1.into(), &1.into()), "{same:#}");
    let record = tamper(&place, "artifacts", "forged");
    let json = place.run_bare(&["challenge", "artifacts", "second", "forged", "--json"]).fails(6, &[]).json();
    let alarm = &json["alarms"][0];
    assert_eq!(alarm["signature"], record.members[0].signature.as_str(), "{json:#}");
    assert_differs_in_code(alarm);
    assert!(alarm["differences"][0]["symbol"].is_string(), "{json:#}");
    let results = alarm["results"].as_array().unwrap();
    let both = serde_json::json!(["`artifacts`", "`second`"]);
    assert!(results.len() == 2 && results.iter().any(|result| result["stores"] == both), "{json:#}");
    // Both results in one store: the alarm needs no second store.
    tamper(&place, "artifacts", "second");
    place.run_bare(&["challenge", "second"]).fails(6, &[]);
    // The same module from another action is only information.
    let source = Store::open(place.path("artifacts")).unwrap();
    let mut record = source.records().next().unwrap().unwrap();
    let archive = source.load(&record).unwrap();
    record.action = precast_store::ActionKey::from_bytes([1; 32]);
    record.toolchain = None;
    Store::create(place.path("other")).unwrap().publish(&archive, &record).unwrap();
    let told = place
        .run_bare(&["challenge", "artifacts", "other", "--json"])
        .fails(1, &["nothing was compared", "hint: "])
        .json();
    assert_eq!((&told["actions"], &told["compared"]), (&2.into(), &0.into()), "{told:#}");
    assert_eq!(told["alarms"].as_array().unwrap().len(), 0, "{told:#}");
    assert_eq!(told["others"][0]["differs_in"], "toolchain", "{told:#}");
    Store::create(place.path("nothing")).unwrap();
    place.run_bare(&["challenge", "nothing"]).fails(1, &["nothing was compared"]);
}

/// Returns the number of artifacts that a comparison skipped for a reason, given by its first words.
pub(crate) fn unchecked(compared: &Value, why: &str) -> u64 {
    let reasons = compared["unchecked"].as_object().unwrap().iter();
    reasons.filter(|(reason, _)| reason.starts_with(why)).map(|(_, count)| count.as_u64().unwrap()).sum()
}

/// Checks that the first difference of an alarm is in the machine code of the object.
pub(crate) fn assert_differs_in_code(alarm: &Value) {
    let first = &alarm["differences"][0];
    let is_code = first["section"].as_str().is_some_and(|section| section.starts_with(".text"));
    assert!(first["file"] == "unit.o" && is_code, "{alarm:#}");
}

/// A store can lose the record or the archive of an entry's modules.
#[test]
fn entry_with_missing_modules_is_found() {
    for lost in ["records", "objects"] {
        let place = built(&[SUM, DOUBLE]);
        place.run(&["build", "--store", "second"]).ok();
        place.run_bare(&["challenge", "artifacts", "second"]).ok();
        let called = Store::open(place.path("artifacts")).unwrap().find_entry("sum").unwrap().unwrap();
        let record =
            Store::open(place.path("artifacts")).unwrap().find(&called.program.steps[0].key).unwrap();
        let name = if lost == "records" { record[0].id().to_string() } else { record[0].digest.to_string() };
        for path in files(&place, "second") {
            // A record that never existed leaves no trace that would count as damage.
            if path.to_str().unwrap().contains(&name) {
                fs_err::remove_file(path).unwrap();
            }
        }
        let said = "entry `sum` calls `add(f64[?], f64[?]) -> f64[?]`, which is missing";
        for verify in [&["verify", "--store", "second"][..], &["doctor", "--verify", "--store", "second"]] {
            let told = place.run_bare(&args(&[verify, &["--json"]])).fails(4, &[]).json();
            let problems = told["layers"][0]["problems"].as_array().unwrap();
            assert!(problems.iter().any(|problem| problem == said), "{told:#}");
        }
        place.run(&["verify", "--store", "second", "--rebuild", "precast.toml"]).fails(4, &[]);
        let told = place.run_bare(&["challenge", "artifacts", "second", "--json"]).fails(4, &[]).json();
        assert!(told["lost"].as_array().unwrap().iter().any(|lost| lost[1] == said), "{told:#}");
        place.run(&["build", "--store", "second"]).ok();
        place.run_bare(&["verify", "--store", "second"]).ok();
        place.run_bare(&["challenge", "artifacts", "second"]).ok();
    }
}

#[test]
fn build_explains_its_last_compilations() {
    let place = built(&[SUM]);
    let explain =
        |options: &[&str]| place.run_bare(&args(&[&["explain", "--last", "--store", "artifacts"], options]));
    let compilation = || explain(&["--json"]).ok().json()["compilations"][0].clone();
    let reason = || compilation()["why"][0]["reason"].clone();
    assert_eq!(reason(), "new");
    assert_eq!(compilation()["signature"], "add(f64[..], f64[..]) -> f64[..]");
    let compiled = || place.run(&["build", "--why", "--json"]).ok().json()["why"].as_array().unwrap().len();
    assert_eq!(compiled(), 0);
    place.write("precast.toml", format!("isa = [\"{ISA}\"]\n{}", SUM.replace("f64", "f32")));
    assert_eq!(compiled(), 1);
    assert_eq!(reason(), "nearest");
    let nearest = compilation();
    assert_eq!(nearest["signature"], "add(f32[..], f32[..]) -> f32[..]");
    assert_eq!(nearest["why"][0]["signature"], "add(f64[..], f64[..]) -> f64[..]");
    let difference = nearest["why"][0]["differences"][0].as_str().unwrap();
    assert!(difference.ends_with("differs in dtype of input 0, 1"), "{nearest:#}");
    for object in files(&place, "artifacts/objects") {
        fs_err::remove_file(object).unwrap();
    }
    let json = place.run(&["build", "--json"]).ok().json();
    assert_eq!(json["why"][0]["why"][0]["reason"], "unusable");
    place.run_bare(&["explain"]).fails(2, &["--expr"]);
    place.run_bare(&["explain", "--last", "--entry", "sum"]).fails(2, &["--last"]);
    place
        .run_bare(&["explain", "--last", "--store", "nowhere"])
        .fails(1, &["no build has compiled anything yet"]);
}
