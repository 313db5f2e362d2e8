//! Headers and libraries that no key covers: the current file decides, whatever was built before and wherever the store
//! was copied to.

use crate::sandbox::{Ended, ISA, Sandbox};
use precast_store::Store;
use std::process::Command;
use std::time::SystemTime;

/// Creates a manifest with an op that multiplies by `K`, a macro of `<value.h>` in the first of two directories that
/// has it.
pub(super) fn place() -> Sandbox {
    let place = Sandbox::new();
    for directory in ["first", "second"] {
        fs_err::create_dir(place.path(directory)).unwrap();
    }
    let directories = ["first", "second"].map(|name| format!("{:?}", place.path(name)));
    let manifest = "[[external]]\nname = \"k\"\nfiles = [\"k.c\"]\nheaders = [\"<value.h>\"]\ninputs = [\"f64\"]\n\
                    outputs = [\"f64\"]\n";
    place.write("precast.toml", format!("{manifest}header_dirs = [{}]\n", directories.join(", ")));
    place.write("k.c", "#section code\nOUTPUT_0 = INPUT_0 * K;\n");
    place.npy("one.npy", &[], vec![1.0]);
    place
}

pub(super) fn set(place: &Sandbox, header: &str, k: u32) {
    place.write(header, format!("#define K {k}\n"));
}

pub(super) fn build(place: &Sandbox, store: &str, more: &[&str]) {
    place.run(&[&["build", "--store", store], more].concat()).ok();
}

pub(super) fn run(place: &Sandbox, store: &str, policy: &str) -> Ended {
    let input = ["-i", "0=one.npy", "-o", "0=z.npy"];
    let _ = fs_err::remove_file(place.path("z.npy"));
    place.run(&[&["run", "--entry", "k", "--store", store, "--policy", policy], &input[..]].concat())
}

#[track_caller]
pub(super) fn gives(place: &Sandbox, store: &str, policy: &str, k: u32) {
    run(place, store, policy).ok();
    let found = place.read_npy::<f64>("z.npy").into_raw_vec_and_offset().0;
    assert_eq!(found, [f64::from(k)], "{store} under {policy}");
}

/// Copies a store as `cp -r` does, and gives all files of the copy one time.
fn copy(place: &Sandbox, from: &str, to: &str) {
    let copied = Command::new("cp").arg("-r").args([from, to]).current_dir(place.path("")).status().unwrap();
    assert!(copied.success());
    let now = SystemTime::now();
    for file in walkdir::WalkDir::new(place.path(to)) {
        let file = file.unwrap();
        if file.file_type().is_file() {
            fs_err::File::open(file.path()).unwrap().set_modified(now).unwrap();
        }
    }
}

#[test]
fn other_levels_of_an_earlier_header_are_not_used() {
    let place = place();
    set(&place, "second/value.h", 3);
    build(&place, "s", &[]);
    gives(&place, "s", "strict", 3);
    set(&place, "second/value.h", 7);
    build(&place, "s", &["--isa", ISA]);
    for policy in ["strict", "interpret", "auto"] {
        gives(&place, "s", policy, 7);
    }
    place.run(&["verify", "--store", "s"]).ok();
    place.run(&["export", "--store", "s", "--out", "s.export"]).ok();
    place.run(&["import", "s.export", "--unsigned", "--store", "imported"]).ok();
    gives(&place, "imported", "strict", 7);
    // The other levels are explained, and can be collected.
    let levels: Vec<String> =
        Store::open(place.path("s")).unwrap().records().map(|record| record.unwrap().isa).collect();
    assert!(levels.len() > 2, "{levels:?}");
    place.run(&["gc", "--store", "s", "precast.toml", "--grace", "0s"]).ok();
    assert_eq!(Store::open(place.path("s")).unwrap().records().count(), 1);
    gives(&place, "s", "strict", 7);
}

#[test]
fn current_header_is_known_without_times() {
    let place = place();
    for k in [3, 7, 3] {
        set(&place, "second/value.h", k);
        build(&place, "s", &["--isa", ISA]);
    }
    assert_eq!(Store::open(place.path("s")).unwrap().records().count(), 2);
    copy(&place, "s", "copied");
    place.run(&["export", "--store", "s", "--out", "s.export"]).ok();
    place.run(&["import", "s.export", "--unsigned", "--store", "imported"]).ok();
    assert_eq!(Store::open(place.path("imported")).unwrap().records().count(), 1);
    for store in ["s", "copied", "imported"] {
        gives(&place, store, "strict", 3);
        let verified = place.run(&["verify", "--store", store, "--json"]).ok();
        assert_eq!(verified.json()["problems"].as_array().map_or(0, Vec::len), 0, "{}", verified.out);
        gives(&place, store, "strict", 3);
    }
}

#[test]
fn import_supersedes_the_modules_of_another_header() {
    let place = place();
    for k in [3, 7] {
        set(&place, "second/value.h", k);
        build(&place, &format!("s{k}"), &["--isa", ISA]);
        place.run(&["export", "--store", &format!("s{k}"), "--out", &format!("{k}.export")]).ok();
    }
    for (k, levels) in [(7, 1), (3, 2), (7, 2)] {
        place.run(&["import", &format!("{k}.export"), "--unsigned", "--store", "s"]).ok();
        copy(&place, "s", "copied");
        for store in ["s", "copied"] {
            assert_eq!(Store::open(place.path(store)).unwrap().records().count(), levels);
            gives(&place, store, "strict", k);
        }
        fs_err::remove_dir_all(place.path("copied")).unwrap();
    }
}

#[test]
fn header_that_appears_earlier_on_the_path_is_noticed() {
    let place = place();
    set(&place, "second/value.h", 3);
    build(&place, "s", &[]);
    gives(&place, "s", "jit", 3);
    set(&place, "first/value.h", 7);
    for policy in ["jit", "tiered", "auto", "strict"] {
        gives(&place, "s", policy, 7);
    }
    fs_err::remove_file(place.path("first/value.h")).unwrap();
    build(&place, "s", &[]);
    gives(&place, "s", "strict", 3);
    gives(&place, "s", "jit", 3);
}

#[test]
fn library_that_appears_earlier_on_the_path_is_noticed() {
    let place = place();
    let library = |directory: &str, k: u32| {
        let folder = place.path(directory);
        fs_err::write(folder.join("f.c"), format!("double f(void) {{ return {k}; }}\n")).unwrap();
        for command in [["cc", "-fPIC", "-c", "f.c"].as_slice(), &["ar", "rcs", "libvalue.a", "f.o"]] {
            let ended = Command::new(command[0]).args(&command[1..]).current_dir(&folder).status().unwrap();
            assert!(ended.success());
        }
    };
    let manifest = fs_err::read_to_string(place.path("precast.toml")).unwrap();
    let manifest = manifest.replace("header_dirs", "libraries = [\"value\"]\nlib_dirs");
    place.write("precast.toml", manifest.replace("headers = [\"<value.h>\"]\n", ""));
    let code = "#section support_code\ndouble f(void);\n#section code\nOUTPUT_0 = INPUT_0 * f();\n";
    place.write("k.c", code);
    library("second", 3);
    build(&place, "s", &[]);
    gives(&place, "s", "jit", 3);
    library("first", 7);
    for policy in ["jit", "strict"] {
        gives(&place, "s", policy, 7);
    }
}

#[test]
fn header_that_changed_back_is_served_without_a_warning() {
    let place = place();
    for k in [3, 7, 3] {
        set(&place, "second/value.h", k);
        gives_jit(&place, k);
    }
    let again = run(&place, "s", "jit").ok();
    assert_eq!(again.err, "");
}

/// Runs under `jit`, with the manifest, since no build has declared the entry.
#[track_caller]
fn gives_jit(place: &Sandbox, k: u32) {
    if k == 3 && !place.path("s").exists() {
        build(place, "s", &["--isa", ISA]);
    }
    gives(place, "s", "jit", k);
}

#[test]
fn processes_create_a_store_together() {
    let place = Sandbox::new();
    place.npy("x.npy", &[2], vec![1.0, 2.0]);
    for policy in ["jit", "tiered"] {
        for round in 0..10 {
            let store = format!("{policy}-{round}");
            let expression = ["run", "--expr", "out = x + 1", "--type", "x=f64[?]", "-i", "x=x.npy"];
            let more = ["--store", &store, "--policy", policy, "-o"];
            let outputs = ["out=a.npy", "out=b.npy"];
            let start = |output: &str| place.command([&expression[..], &more, &[output]].concat()).output();
            std::thread::scope(|scope| {
                let started = outputs.map(|output| scope.spawn(move || Ended::of(start(output).unwrap())));
                started.into_iter().for_each(|ended| drop(ended.join().unwrap().ok()));
            });
        }
    }
}

#[test]
fn unfinished_or_empty_store_is_completed() {
    let place = Sandbox::new();
    place.npy("x.npy", &[2], vec![1.0, 2.0]);
    fs_err::create_dir(place.path("empty")).unwrap();
    fs_err::create_dir_all(place.path("unfinished/objects")).unwrap();
    fs_err::create_dir_all(place.path("foreign/src")).unwrap();
    let run = |store: &str| {
        let expression =
            ["run", "--expr", "out = x + 1", "--type", "x=f64[?]", "-i", "x=x.npy", "-o", "out=z.npy"];
        place.run(&[&expression[..], &["--store", store, "--policy", "jit"]].concat())
    };
    for store in ["empty", "unfinished"] {
        run(store).ok();
        assert_eq!(Store::open(place.path(store)).unwrap().records().count(), 1);
    }
    run("foreign").fails(1, &["src"]);
    assert_eq!(fs_err::read_dir(place.path("foreign")).unwrap().count(), 1);
}
