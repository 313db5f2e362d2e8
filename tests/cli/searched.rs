//! Which headers and libraries are found: every change of a search that changes a result is noticed, and no other is.

use crate::outside::{build, gives, place, run, set};
use crate::sandbox::Sandbox;
use std::process::Command;

/// Replaces a value in the manifest.
fn change(place: &Sandbox, from: &str, to: &str) {
    let manifest = fs_err::read_to_string(place.path("precast.toml")).unwrap();
    assert!(manifest.contains(from), "{manifest}");
    place.write("precast.toml", manifest.replace(from, to));
}

/// Replaces the header directories; the names are relative to the place.
fn header_dirs(place: &Sandbox, names: &[&str]) {
    let manifest = fs_err::read_to_string(place.path("precast.toml")).unwrap();
    let lines = manifest.lines().filter(|line| !line.starts_with("header_dirs"));
    let named: Vec<String> = names.iter().map(|name| format!("{:?}", place.path(name))).collect();
    let text: String = lines.map(|line| format!("{line}\n")).collect();
    place.write("precast.toml", format!("{text}header_dirs = [{}]\n", named.join(", ")));
}

/// Checks that programs and builds agree on the value now, and that neither repeats its work.
#[track_caller]
fn is_now(place: &Sandbox, k: u32) {
    if !place.path("s").exists() {
        build(place, "s", &[]);
    }
    gives(place, "s", "jit", k);
    gives(place, "s", "strict", k);
    let again = run(place, "s", "jit").ok();
    assert_eq!(again.err, "", "served at once");
    build(place, "b", &[]);
    gives(place, "b", "strict", k);
    gives(place, "b", "jit", k);
    let built = place.run(&["build", "--store", "b", "--json"]).ok().json();
    assert_eq!(
        built["compiled"].as_array().map(Vec::len).or(built["compiled"].as_u64().map(|n| n as usize)),
        Some(0)
    );
}

fn make_dir(place: &Sandbox, name: &str) {
    fs_err::create_dir_all(place.path(name)).unwrap();
}

fn remove(place: &Sandbox, name: &str) {
    let path = place.path(name);
    if path.is_dir() { fs_err::remove_dir_all(path).unwrap() } else { fs_err::remove_file(path).unwrap() }
}

#[test]
fn comment_changes_nothing() {
    let place = place();
    set(&place, "second/value.h", 3);
    build(&place, "s", &[]);
    place.write("second/value.h", "/* three */\n#define K 3\n");
    let ran = run(&place, "s", "jit").ok();
    assert_eq!(ran.err, "");
    is_now(&place, 3);
}

#[test]
fn missing_directory_that_appears_is_searched() {
    let place = place();
    set(&place, "second/value.h", 3);
    header_dirs(&place, &["absent/deep", "first", "second"]);
    is_now(&place, 3);
    make_dir(&place, "absent/deep");
    is_now(&place, 3);
    set(&place, "absent/deep/value.h", 7);
    is_now(&place, 7);
    remove(&place, "absent");
    is_now(&place, 3);
}

#[test]
fn tested_file_that_appears_is_noticed() {
    for tested in ["<deep/opt.h>", "\"/PLACE/first/opt.h\""] {
        let place = place();
        make_dir(&place, "first/deep");
        let tested = tested.replace("/PLACE", place.path("").to_str().unwrap().trim_end_matches('/'));
        let text = format!("#if __has_include({tested})\n#define K 7\n#else\n#define K 3\n#endif\n");
        place.write("second/value.h", text);
        is_now(&place, 3);
        let file = if tested.contains("deep") { "first/deep/opt.h" } else { "first/opt.h" };
        place.write(file, "");
        is_now(&place, 7);
        remove(&place, file);
        is_now(&place, 3);
    }
}

#[test]
fn links_in_a_header_directory_are_followed() {
    let place = place();
    make_dir(&place, "x");
    let link =
        |from: &str, to: &str| fs_err::os::unix::fs::symlink(place.path(to), place.path(from)).unwrap();
    link("first/opt.h", "x/opt.h");
    link("first/deep", "x/deep");
    let tests = "#if __has_include(<opt.h>)\n#define K 7\n#elif __has_include(<deep/opt.h>)\n#define K 5\n#else\n#define K 3\n#endif\n";
    place.write("second/value.h", tests);
    is_now(&place, 3);
    place.write("x/opt.h", "");
    is_now(&place, 7);
    remove(&place, "x/opt.h");
    is_now(&place, 3);
    make_dir(&place, "x/deep");
    place.write("x/deep/opt.h", "");
    is_now(&place, 5);
}

#[test]
fn link_to_another_directory_is_noticed() {
    let place = place();
    remove(&place, "first");
    for (name, k) in [("three", 3), ("seven", 7)] {
        make_dir(&place, name);
        set(&place, &format!("{name}/value.h"), k);
    }
    for (name, k) in [("three", 3), ("seven", 7), ("three", 3)] {
        let _ = fs_err::remove_file(place.path("first"));
        fs_err::os::unix::fs::symlink(place.path(name), place.path("first")).unwrap();
        is_now(&place, k);
    }
}

#[test]
fn directories_of_headers_and_libraries_are_distinct() {
    let place = place();
    place.write("first/value.h", "#if __has_include(<opt.h>)\n#define K 7\n#else\n#define K 3\n#endif\n");
    place.write("second/opt.h", "");
    is_now(&place, 7);
    let second = format!("{:?}", place.path("second"));
    change(&place, &format!(", {second}]"), &format!("]\nlib_dirs = [{second}]"));
    build(&place, "s", &[]);
    gives(&place, "s", "strict", 3);
    gives(&place, "s", "jit", 3);
}

#[test]
fn missing_directory_of_the_compiler_is_searched_once_it_appears() {
    let place = place();
    header_dirs(&place, &[]);
    set(&place, "second/value.h", 3);
    let (absent, second) = (place.path("absent"), place.path("second"));
    let compiler = format!("cc -isystem {} -isystem {}", absent.display(), second.display());
    let run = |arguments: &[&str]| {
        let ended = place.command(arguments).env("CC", &compiler).output().unwrap();
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    };
    let run_with = |policy: &str| {
        run(&["run", "--entry", "k", "--store", "s", "--policy", policy, "-i", "0=one.npy", "-o", "0=z.npy"]);
        place.read_npy::<f64>("z.npy").into_raw_vec_and_offset().0
    };
    run(&["build", "--store", "s"]);
    assert_eq!(run_with("jit"), [3.0]);
    make_dir(&place, "absent");
    set(&place, "absent/value.h", 7);
    assert_eq!(run_with("jit"), [7.0]);
    run(&["build", "--store", "s"]);
    assert_eq!(run_with("strict"), [7.0]);
}

#[test]
fn nested_directories_are_searched_in_order() {
    let place = place();
    make_dir(&place, "outer/inc");
    header_dirs(&place, &["outer", "outer/inc"]);
    set(&place, "outer/inc/value.h", 3);
    is_now(&place, 3);
    set(&place, "outer/value.h", 7);
    is_now(&place, 7);
}

#[test]
fn directory_with_the_name_of_a_header_is_skipped() {
    let place = place();
    make_dir(&place, "first/value.h");
    set(&place, "second/value.h", 3);
    is_now(&place, 3);
    remove(&place, "first/value.h");
    set(&place, "first/value.h", 7);
    is_now(&place, 7);
}

#[test]
fn file_in_place_of_a_directory_is_skipped() {
    let place = place();
    remove(&place, "first");
    place.write("first", "not a directory");
    set(&place, "second/value.h", 3);
    is_now(&place, 3);
    remove(&place, "first");
    make_dir(&place, "first");
    set(&place, "first/value.h", 7);
    is_now(&place, 7);
}

#[test]
fn deleted_header_uncovers_the_next_one() {
    let place = place();
    set(&place, "first/value.h", 7);
    set(&place, "second/value.h", 3);
    is_now(&place, 7);
    remove(&place, "first/value.h");
    is_now(&place, 3);
}

#[test]
fn header_beside_the_includer_takes_precedence() {
    let place = place();
    make_dir(&place, "outer");
    change(&place, "<value.h>", "<outer.h>");
    header_dirs(&place, &["outer", "second"]);
    place.write("outer/outer.h", "#include \"value.h\"\n");
    set(&place, "second/value.h", 3);
    is_now(&place, 3);
    set(&place, "outer/value.h", 7);
    is_now(&place, 7);
}

#[test]
fn projects_with_other_directories_share_a_store() {
    let place = place();
    set(&place, "first/value.h", 7);
    set(&place, "second/value.h", 3);
    for _ in 0..2 {
        for (names, k) in [(["first", "second"], 7), (["second", "first"], 3)] {
            header_dirs(&place, &names);
            build(&place, "s", &[]);
            ["strict", "jit"].iter().for_each(|policy| gives(&place, "s", policy, k));
        }
    }
}

/// Makes the op call `f` of a library in the first or second directory.
fn with_library(place: &Sandbox) {
    change(place, "header_dirs", "libraries = [\"value\"]\nlib_dirs");
    change(place, "headers = [\"<value.h>\"]\n", "");
    place.write("k.c", "#section support_code\ndouble f(void);\n#section code\nOUTPUT_0 = INPUT_0 * f();\n");
}

/// Compiles a static library with a function `f`.
fn library(place: &Sandbox, name: &str, k: u32) {
    let directory = place.path(name).parent().unwrap().to_owned();
    fs_err::write(directory.join("f.c"), format!("double f(void) {{ return {k}; }}\n")).unwrap();
    let run = |program: &str, arguments: &[&str]| {
        let ended = Command::new(program).args(arguments).current_dir(&directory).status().unwrap();
        assert!(ended.success());
    };
    run("cc", &["-fPIC", "-c", "f.c"]);
    let _ = fs_err::remove_file(place.path(name));
    run("ar", &["rcs", place.path(name).to_str().unwrap(), "f.o"]);
}

#[test]
fn library_that_appears_earlier_is_linked() {
    let place = place();
    with_library(&place);
    library(&place, "second/libvalue.a", 3);
    is_now(&place, 3);
    library(&place, "first/libvalue.a", 7);
    is_now(&place, 7);
    remove(&place, "first/libvalue.a");
    is_now(&place, 3);
    library(&place, "second/libvalue.a", 5);
    is_now(&place, 5);
}

#[test]
fn linker_script_is_followed() {
    let place = place();
    with_library(&place);
    library(&place, "second/libthree.a", 3);
    library(&place, "second/libseven.a", 7);
    for (name, k) in [("three", 3), ("seven", 7), ("three", 3)] {
        place.write("second/libvalue.a", format!("INPUT({}/lib{name}.a)\n", place.path("second").display()));
        is_now(&place, k);
    }
}

#[test]
fn directory_that_a_linker_script_names_is_searched() {
    let place = place();
    with_library(&place);
    let directory = |name: &str| place.path(name).display().to_string();
    let (first, second) = (directory("e1"), directory("e2"));
    place.write("second/libvalue.a", format!("SEARCH_DIR({first}) SEARCH_DIR({second}) INPUT(-lreal)\n"));
    ["e1", "e2"].iter().for_each(|name| make_dir(&place, name));
    library(&place, "e2/libreal.a", 3);
    is_now(&place, 3);
    library(&place, "e1/libreal.a", 7);
    is_now(&place, 7);
}

#[test]
fn library_of_libc_in_a_named_directory_is_noticed() {
    let place = place();
    with_library(&place);
    library(&place, "second/libvalue.a", 3);
    is_now(&place, 3);
    // Linked before `libvalue.a` by no compiler, but read by each.
    place.write("first/libgcc.a", "INPUT(-lc)\n");
    is_now(&place, 3);
}

#[test]
fn concurrent_imports_leave_a_usable_store() {
    let place = place();
    for k in [3, 7] {
        set(&place, "second/value.h", k);
        build(&place, &format!("s{k}"), &[]);
        place.run(&["export", "--store", &format!("s{k}"), "--out", &format!("{k}.export")]).ok();
    }
    for round in 0..8 {
        let store = format!("t{round}");
        std::thread::scope(|scope| {
            for k in [3, 7] {
                let (place, store) = (&place, &store);
                scope.spawn(move || {
                    place.run(&["import", &format!("{k}.export"), "--unsigned", "--store", store]).ok();
                });
            }
        });
        place.run(&["gc", "--store", &store, "precast.toml", "--grace", "0s"]).ok();
        run(&place, &store, "strict").ok();
        let found = place.read_npy::<f64>("z.npy").into_raw_vec_and_offset().0;
        assert!(found == [3.0] || found == [7.0], "{found:?}");
    }
}
