//! Commands of users who have not read the documentation, and the messages that they get.

use precast_store::Store;
use serde_json::Value;

use crate::sandbox::{Ended, Sandbox};

const MANIFEST: &str = r#"
[[external]]
name = "scale"
files = ["src/scale.c"]
dtypes = { T = ["f32", "f64"] }
inputs = ["{T}", "f64?"]
outputs = ["{T}"]
params = { by = 2.0 }
"#;
const SCALE: &str = "#section code\nOUTPUT_0 = (DTYPE_OUTPUT_0)(INPUT_0 * PARAMS->by);\n";

fn place() -> Sandbox {
    let place = Sandbox::new();
    fs_err::create_dir(place.path("src")).unwrap();
    place.write("precast.toml", MANIFEST);
    place.write("src/scale.c", SCALE);
    place.npy("x.npy", &[2], vec![1.0, 2.0]);
    place
}

#[test]
fn unused_and_missing_inputs_are_errors() {
    let place = place();
    place.npy("y.npy", &[2], vec![1.0, 2.0]);
    let run = |text: &str, more: &[&str]| place.run(&crate::sandbox::args(&[&["run", "--expr", text], more]));
    let both = ["-i", "x=x.npy", "-i", "yy=y.npy"];
    run("x + 1", &both).fails(1, &["unused input `yy`", "remove it, or use it in an expression"]);
    run("x + y", &both).fails(1, &["unknown name `y`", "`-i y=FILE`"]);
    run("x + y", &["-i", "x=x.npy", "--type", "z=f64[?]"]).fails(1, &["unknown name `y`"]);
    run("x + 1", &["-i", "x=x.npy", "--type", "z=f64[?]"]).fails(1, &["unused input `z`"]);
    run("x + 1", &[]).fails(1, &["unknown name `x`", "`-i x=FILE`", "`--type 'x=f64[?]'`"]);
    run("x + 1", &both[..2]).ok();
}

#[test]
fn own_ops_are_listed_and_found() {
    let place = place();
    let listed = place.run(&["ops"]).ok().out;
    let own = listed.lines().nth(1).unwrap();
    assert!(
        own.starts_with("scale(x0, x1=None, *, by=2.0)") && own.contains("Op of `precast.toml`"),
        "{own}"
    );
    assert!(listed.contains("\nexp(x)"));
    let one = place.run(&["ops", "scale", "--manifest", "precast.toml"]).ok().out;
    assert!(one.starts_with("scale(x0, x1=None, *, by=2.0)\n") && one.contains("{T}, f64? -> {T}"), "{one}");
    let json = place.run(&["ops", "scale", "--json"]).ok().json();
    assert_eq!(json[0]["params"], serde_json::json!(["by"]));
    place.run(&["ops", "scaale"]).fails(2, &["nearest `scale`"]);
    place
        .run(&["check-op", "scal", "--manifest", "precast.toml"])
        .fails(1, &["does not declare `scal`; nearest `scale`"]);
    place.run(&["check-op", "exq"]).fails(1, &["unknown op `exq`; nearest `"]);
    let run = ["run", "--manifest", "precast.toml", "--type", "a=f64[]", "--expr", "scale(a, 1.5, 3.0)"];
    place
        .run(&run)
        .fails(1, &["`scale` takes 1 to 2 input(s), found 3", "signature: `scale(x0, x1=None, *, by=2.0)`"]);
    place.write("broken.toml", MANIFEST.replace("outputs", "outptus"));
    place.run(&["ops", "--manifest", "broken.toml"]).fails(1, &["nearest `outputs`"]);
}

#[test]
fn one_c_mistake_is_reported_once() {
    let place = place();
    for (c, told) in [
        (SCALE.replace("PARAMS->by", "PARAMS->bye"), "scale/src/scale.c:2"),
        (
            SCALE
                .replace("INPUT_0 *", "tgamm(INPUT_0) *")
                .replace("#section code", "#section support_code\ndouble tgamm(double);\n#section code"),
            "`tgamm` is called",
        ),
    ] {
        place.write("src/scale.c", c);
        let ended = place.run(&["build", "--store", "store"]).fails(1, &[told]);
        assert_eq!(ended.err.matches(told).count(), 1, "{}", ended.err);
    }
}

#[test]
fn duplicate_ops_are_reported_with_both_places() {
    let place = place();
    place.write("precast.toml", format!("{MANIFEST}{}", MANIFEST.replace("by = 2.0", "by = 3.0")));
    let told = "precast.toml:11: [[external]] 2 (`scale`), key `name`: two ops are named `scale`; the first is at precast.toml:3";
    place.run(&["build", "--store", "store"]).fails(1, &[told]);
}

#[test]
fn op_c_files_are_extracted_for_debuggers() {
    let place = place();
    place.run(&["build", "--store", "store"]).ok();
    let shown = place.run(&["show", "scale.f64.1in", "--store", "store", "--json"]).ok().json();
    let key = shown["program"][0].as_str().unwrap().to_owned();
    place.run(&["show", &key, "--store", "store", "--extract", "debug"]).ok();
    assert_eq!(fs_err::read_to_string(place.path("debug/scale/src/scale.c")).unwrap(), SCALE);
    let unit = fs_err::read_to_string(place.path("debug/unit.c")).unwrap();
    assert!(unit.contains("\"scale/src/scale.c\""));
    // The name of an entry works like the key of its module.
    place.run(&["show", "scale.f64.1in", "--store", "store", "--extract", "named"]).ok();
    assert_eq!(fs_err::read_to_string(place.path("named/unit.c")).unwrap(), unit);
    assert_eq!(fs_err::read_to_string(place.path("named/scale/src/scale.c")).unwrap(), SCALE);
    let source = |what: &str| place.run(&["show", what, "--store", "store", "--source"]).ok().out;
    assert_eq!(source("scale.f64.1in"), source(&key));
}

/// Declarations of an entry and the text of an archive are untrusted.
#[test]
fn extraction_stays_inside_its_directory() {
    let place = place();
    place.run(&["build", "--store", "store"]).ok();
    let store = Store::open(place.path("store")).unwrap();
    let mut entry = store.find_entry("scale.f64.1in").unwrap().unwrap();
    let found = store.find(&entry.program.steps[0].key).unwrap().swap_remove(0);
    let mut record = store.find_action(&found.action).unwrap().swap_remove(0);
    let mut archive = store.load(&record).unwrap();
    let forged = Store::create(place.path("forged")).unwrap();
    for name in ["../../evil.c", "/evil.c", "x/../../../evil.c"] {
        let called = format!("\n/* \"scale/{name}\" */\n");
        archive.members.get_mut("unit.c").unwrap().extend(called.as_bytes());
    }
    (record.digest, record.size) = (archive.digest().unwrap(), archive.size());
    forged.publish(&archive, &record).unwrap();
    let declared = entry.declared.clone();
    for (number, name) in ["../../evil.c", "/evil.c", "x/../../../evil.c", "kind.c"].into_iter().enumerate() {
        entry.name = format!("entry{number}");
        entry.declared = declared.replace("src/scale.c", name);
        assert_ne!(entry.declared, declared);
        forged.put_entry(&entry).unwrap();
    }
    let key = entry.program.steps[0].key.to_string();
    place.run(&["show", &key, "--store", "forged", "--extract", "deep/debug"]).ok();
    assert!(place.path("deep/debug/unit.c").is_file());
    let found = crate::release::files(&place, "");
    let strays: Vec<_> = found.iter().filter(|path| path.ends_with("evil.c")).collect();
    assert!(strays.is_empty(), "{strays:?}");
}

#[test]
fn misplaced_names_get_a_hint() {
    let place = crate::release::built(&[
        "[[graph]]\nname = \"sum\"\ninputs = [\"x: f64[?]\", \"y: f64[?]\"]\noutputs = [\"out = x + y\"]\n",
    ]);
    let told = ["`model.precast`: expected a directory, found a file", "hint: ", "`--bundle FILE`"];
    place.run_bare(&["ls", "--store", "model.precast"]).fails(1, &told);
    place.run(&["build", "--store", "model.precast"]).fails(1, &told);
    if cfg!(feature = "remote") {
        for directory in ["releases", "/mnt/releases", "file:///mnt/releases"] {
            place.run_bare(&["push", directory]).fails(1, &["invalid remote", "`precast export --out FILE`"]);
        }
    }
    // A bundle or a store, named without an option.
    let verified = place.run_bare(&["verify", "--json", "model.precast", "artifacts"]).ok().json();
    let names: Vec<&Value> =
        verified["layers"].as_array().unwrap().iter().map(|layer| &layer["name"]).collect();
    assert_eq!(names, ["bundle `model.precast`", "store `artifacts`"], "{verified:#}");
    assert_eq!(verified["whole"], true);
    let whole = fs_err::read(place.path("model.precast")).unwrap();
    let again = "hint: copy or download it again, or rebuild it";
    let mut refused = 0;
    for at in [40, whole.len() / 2, whole.len() - 600, whole.len() - 1] {
        let mut flipped = whole.clone();
        flipped[at] ^= 1;
        place.write("flipped.precast", flipped);
        let found = place.run_bare(&["verify", "flipped.precast"]).fails(4, &[]);
        assert_eq!(found.out.matches(again).count(), 1, "{}", found.out);
        let run = ["run", "--entry", "sum", "-i", "x=x.npy", "-i", "y=y.npy", "--policy", "strict"];
        let ran = place.run_bare(&crate::sandbox::args(&[&run, &["--bundle", "flipped.precast"]]));
        assert!(ran.code == 0 || ran.err.contains(again), "{}", ran.err);
        refused += usize::from(ran.code != 0);
    }
    assert!(refused > 0, "nothing that was flipped was needed");
    place.write("cut.precast", &whole[..whole.len() / 2]);
    place.run_bare(&["ls", "--bundle", "cut.precast"]).fails(1, &[again]);
    for help in [&["help", "run"][..], &["run", "--help"]] {
        let text = place.run_bare(help).ok().out;
        assert!(text.contains("--policy") && text.contains("Examples:"), "{text}");
    }
    for command in ["build", "update"] {
        assert!(place.run_bare(&[command, "--help"]).ok().out.contains("`model.lock`"));
    }
}

#[test]
fn named_store_is_created_unless_strict() {
    let place = place();
    let run = ["run", "--expr", "x + 1.5", "-i", "x=x.npy", "--store", "none"];
    for policy in ["strict", "interpret"] {
        place.run(&crate::sandbox::args(&[&run, &["--policy", policy]])).fails(1, &["no store at `none`"]);
        assert!(!place.path("none").exists());
    }
    for (store, policy) in [("a", &[][..]), ("b", &["--policy", "jit"]), ("c", &["--policy", "tiered"])] {
        let run = ["run", "--expr", "x + 1.5", "-i", "x=x.npy", "--store", store];
        place.run(&crate::sandbox::args(&[&run, policy])).ok();
        place.run_bare(&crate::sandbox::args(&[&run, &["--policy", "strict"]])).ok();
    }
    let profile = ["profile", "--expr", "x * 2.5", "-i", "x=x.npy", "--time", "10", "--store", "d"];
    place.run(&profile).ok();
    let mut named = place.command(["run", "--expr", "x + 1.5", "-i", "x=x.npy", "--policy", "jit"]);
    Ended::of(named.env("PRECAST_STORE", place.path("e")).output().unwrap()).ok();
    assert!(place.path("e/STORE").is_file());
    let made = ["run", "--expr", "x + 1.5", "-i", "x=x.npy", "--writable", "made"];
    place.run(&made).ok();
    // Modules are also published to an existing writable store, with or without an explicit policy.
    for (policy, by) in [(&[][..], "2.5"), (&["--policy", "jit"], "3.5")] {
        let text = format!("x * {by}");
        let run = ["run", "--expr", &text, "-i", "x=x.npy", "--store", "made"];
        place.run(&crate::sandbox::args(&[&run, policy])).ok();
        place.run_bare(&crate::sandbox::args(&[&run, &["--policy", "strict"]])).ok();
    }
}

#[test]
fn invalid_thread_count_is_a_warning() {
    let place = place();
    for (value, told) in [("many", true), ("0", true), ("2", false), ("all", false), ("", false)] {
        let mut command = place.command(["ops", "exp"]);
        let ended = Ended::of(command.env("PRECAST_THREADS", value).output().unwrap()).ok();
        assert_eq!(ended.warnings(), usize::from(told), "{value}: {}", ended.err);
    }
}
