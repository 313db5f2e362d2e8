//! `precast check-op` and debug mode: C ops that each violate one rule, which must be reported.
//!
//! The file `c/InputChanged.c` violates that rule only, or also rules that follow from it; `c/right.c` violates none.

mod document;

use crate::sandbox::{Ended, Sandbox};
use serde_json::Value;
use std::fmt::Write as _;

/// The faulty ops, by file and by the rule that they violate.
const WRONG: [(&str, &str); 18] = [
    ("NotDeterministic", "NotDeterministic"),
    ("DependsOnLayout", "DependsOnLayout"),
    ("DependsOnOutput", "DependsOnOutput"),
    ("UnwrittenOutput", "UnwrittenOutput"),
    ("NoOutput", "NoOutput"),
    ("WrongType", "WrongType"),
    ("InputChanged", "InputChanged"),
    ("OutputAliasesInput", "OutputAliasesInput"),
    ("OutputsAlias", "OutputsAlias"),
    ("WritesReadOnly", "WritesReadOnly"),
    ("OutOfBounds", "OutOfBounds"),
    ("OutOfBoundsStrided", "OutOfBounds"),
    ("UseAfterFree", "UseAfterFree"),
    ("ReferenceCount", "ReferenceCount"),
    ("Leak", "Leak"),
    ("ChangesProcess", "ChangesProcess"),
    ("FailsWithoutError", "FailsWithoutError"),
    ("Crashed", "Crashed"),
];

/// Creates a directory with the C files and a manifest that declares them all.
fn place() -> Sandbox {
    let place = Sandbox::new();
    let c = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/cli/check_op/c");
    for entry in fs_err::read_dir(c).unwrap() {
        let entry = entry.unwrap();
        place.write(entry.file_name().to_str().unwrap(), fs_err::read(entry.path()).unwrap());
    }
    let mut manifest = String::new();
    for (file, _) in WRONG.into_iter().chain([("right", "")]) {
        let func = if file == "right" { "right" } else { "wrong" };
        let outputs = if file == "OutputsAlias" { "\"f64[?]\", \"f64[?]\"" } else { "\"f64[?]\"" };
        writeln!(
            manifest,
            "[[external]]\nname = \"{file}\"\nfiles = [\"{file}.c\"]\nfunc = \"{func}\"\n\
             inputs = [\"f64[?]\"]\noutputs = [{outputs}]"
        )
        .unwrap();
    }
    place.write("precast.toml", manifest);
    place
}

fn of<'a>(report: &'a Value, name: &str) -> &'a Value {
    let applies = report["applies"].as_array().unwrap();
    applies.iter().find(|apply| apply["name"] == name).unwrap_or_else(|| panic!("{name}: {report:#}"))
}

/// Runs a printed command by its arguments after `precast`.
fn again(place: &Sandbox, command: &str) -> Ended {
    let arguments: Vec<&str> = command.split(' ').skip(1).collect();
    place.run(&arguments)
}

#[test]
fn every_broken_rule_has_a_reproducer() {
    let place = place();
    let ended = place.run(&["check-op", "--manifest", "precast.toml", "--json"]);
    assert_eq!(ended.code, 5, "{}{}", ended.out, ended.err);
    let report = ended.json();
    let right = of(&report, "right");
    assert_eq!(right["violations"], serde_json::json!([]));
    assert!(right["reference"] == false && right["accepted"].as_u64().unwrap() > 5);
    let mut missing = String::new();
    for (file, rule) in WRONG {
        let violations = of(&report, file)["violations"].as_array().unwrap();
        let Some(found) = violations.iter().find(|violation| violation["kind"] == rule) else {
            writeln!(missing, "{file}: {rule} is not among {violations:#?}").unwrap();
            continue;
        };
        let repeated = again(&place, found["again"].as_str().unwrap());
        if repeated.code != 5 || !repeated.out.contains(&format!("{rule}: ")) {
            writeln!(missing, "{file}: not repeated: {}{}", repeated.out, repeated.err).unwrap();
        }
    }
    assert!(missing.is_empty(), "{missing}");
}

#[test]
fn debug_run_names_the_op_and_its_reproducer() {
    let place = place();
    place.npy("x.npy", &[50], (0..50).map(|i| f64::from(20 - i)).collect());
    place.run(&["check-op", "InputChanged", "--manifest", "precast.toml"]);
    let graph = "precast-repro/InputChanged-InputChanged/graph.json";
    let run = |debug: &str| {
        let mut command = place.command(["run", "--graph", graph, "-i", "0=x.npy", "-o", "0=out.npy"]);
        Ended::of(command.env("PRECAST_DEBUG", debug).output().unwrap())
    };
    run("0").ok();
    fs_err::remove_file(place.path("out.npy")).unwrap();
    let ended =
        run("1").fails(5, &["InputChanged: apply 0, `InputChanged(f64[?])", "precast check-op --graph"]);
    assert!(!place.path("out.npy").exists());
    // The fifty elements are reduced to the few that matter.
    let hint = ended.err.lines().find(|line| line.contains("reproduce it with")).unwrap();
    let command = hint.split('`').nth(1).unwrap();
    assert!(place.read_npy::<f64>("precast-repro/InputChanged-InputChanged/0.npy").len() < 50);
    assert_eq!(again(&place, command).code, 5);
}

#[test]
fn uncheckable_ops_are_errors_with_reason() {
    let place = place();
    place.run(&["check-op", "nosuch"]).fails(1, &["unknown op `nosuch`", "known: abs"]);
    place
        .run(&["check-op", "nosuch", "--manifest", "precast.toml"])
        .fails(1, &["`precast.toml` does not declare `nosuch`"]);
    place.run(&["check-op", "exp", "--dtype", "f33"]).fails(2, &["f33"]);
    place.run(&["check-op"]).fails(2, &["OP"]);
    let skipped = place.run(&["check-op", "exp", "--ndim", "1", "--policy", "strict"]);
    assert!(
        skipped.out.contains("skipped  exp(f64[?])") && skipped.out.contains("0 checked"),
        "{}",
        skipped.out
    );
    skipped.fails(1, &["nothing was checked"]);
}
