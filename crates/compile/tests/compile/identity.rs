//! Tests that the toolchain's identity changes with everything that affects its output.

use std::process::Command;

use precast_compile::{CompileError, Toolchain, compile};
use precast_store::key::Language;

use crate::farm::{Farm, ask, script};
use crate::modules::{kernel, single, toolchain, variant};

#[test]
fn specs_file_changes_the_identity() {
    let Some(farm) = Farm::new() else { return };
    let plain = farm.id();
    for directory in [&*farm.parts, farm.parts.ancestors().nth(2).unwrap()] {
        let specs = directory.join("specs");
        let text = ask(&farm.driver(), &["-dumpspecs"]) + "\n\n";
        fs_err::write(&specs, text.replace("*cc1_options:\n", "*cc1_options:\n-fno-tree-vectorize "))
            .unwrap();
        let with = farm.id();
        assert_ne!(with, plain, "{}", specs.display());
        fs_err::write(&specs, text.replace("*cc1_options:\n", "*cc1_options:\n-fno-tree-vectorise "))
            .unwrap();
        assert_ne!(farm.id(), with, "{}", specs.display());
        fs_err::remove_file(&specs).unwrap();
        assert_eq!(farm.id(), plain);
    }
}

#[test]
fn earlier_tool_in_search_path_is_detected() {
    let Some(farm) = Farm::new() else { return };
    let plain = farm.id();
    let machine = ask(&farm.driver(), &["-dumpmachine"]);
    let own = |name: &str| farm.parts.join(name);
    let places = [
        ("as", farm.bin.join("as")),
        ("ld", farm.bin.join("ld")),
        ("objcopy", farm.bin.join("objcopy")),
        ("as", own("as")),
        ("as", own(&format!("{machine}-as"))),
        ("ld", own("ld")),
        ("ld", own("collect-ld")),
        ("ld", own("real-ld")),
    ];
    for (tool, place) in places {
        script(&place, &format!("exec /usr/bin/{tool} \"$@\""));
        assert_ne!(farm.id(), plain, "{}", place.display());
        fs_err::remove_file(&place).unwrap();
        assert_eq!(farm.id(), plain, "{}", place.display());
    }
}

#[test]
fn tool_rewritten_with_same_time_is_detected() {
    let Some(farm) = Farm::new() else { return };
    let tool = farm.bin.join("as");
    script(&tool, "exec /usr/bin/as \"$@\" # 1");
    let time = fs_err::metadata(&tool).unwrap().modified().unwrap();
    let first = farm.id();
    fs_err::write(&tool, "#!/bin/sh\nexec /usr/bin/as \"$@\" # 2\n").unwrap();
    std::fs::File::options().write(true).open(&tool).unwrap().set_modified(time).unwrap();
    assert_ne!(farm.id(), first);
}

#[test]
fn link_driver_tools_change_the_identity() {
    let Some(farm) = Farm::new() else { return };
    for name in ["collect2", "lto-wrapper", "lto1", "liblto_plugin.so"] {
        let part = farm.parts.join(name);
        let Ok(mut bytes) = fs_err::read(&part) else {
            eprintln!("skipped: no {name}");
            continue;
        };
        let before = farm.id();
        let mode = fs_err::metadata(&part).unwrap().permissions();
        fs_err::remove_file(&part).unwrap();
        bytes.push(0);
        fs_err::write(&part, bytes).unwrap();
        fs_err::set_permissions(&part, mode).unwrap();
        assert_ne!(farm.id(), before, "{name}");
    }
}

#[test]
fn loaded_libraries_change_the_identity() {
    let Some(farm) = Farm::new() else { return };
    let cc = |directory: &std::path::Path, arguments: &[&str]| {
        let status = Command::new(toolchain().driver()).args(arguments).current_dir(directory).status();
        assert!(status.unwrap().success(), "{arguments:?}");
    };
    let tool = "int folds(void); int execv(const char *, char **);\n\
                int main(int n, char **v) { (void)n; folds(); return execv(\"/usr/bin/as\", v); }\n";
    fs_err::write(farm.bin.join("as.c"), tool).unwrap();
    let library = |directory: &str, value: u32| {
        let directory = farm.bin.join(directory);
        fs_err::create_dir_all(&directory).unwrap();
        fs_err::write(directory.join("folds.c"), format!("int folds(void) {{ return {value}; }}\n")).unwrap();
        cc(&directory, &["-shared", "-fPIC", "folds.c", "-o", "libfolds.so"]);
    };
    library("second", 1);
    let paths = "-Wl,-rpath,$ORIGIN/first:$ORIGIN/second";
    cc(&farm.bin, &["as.c", "-o", "as", "-Lsecond", "-lfolds", paths]);
    let first = farm.id();
    library("second", 2);
    let second = farm.id();
    assert_ne!(second, first);
    library("first", 3);
    assert_ne!(farm.id(), second, "found earlier");
}

#[test]
fn driver_behind_a_script_changes_the_identity() {
    let Some(farm) = Farm::new() else { return };
    let directory = tempfile::tempdir().unwrap();
    let front = directory.path().join("gcc");
    script(&front, &format!("exec {} \"$@\"", farm.driver().display()));
    let id = || Toolchain::at(&front, None).unwrap().id(Language::C).unwrap();
    let before = id();
    let mut bytes = fs_err::read(farm.driver()).unwrap();
    bytes.push(0);
    fs_err::write(farm.driver(), bytes).unwrap();
    assert_ne!(id(), before);
}

#[test]
fn compiler_replaced_during_compile_publishes_nothing() {
    let Some(farm) = Farm::new() else { return };
    let tool = farm.bin.join("as");
    let replace = "[ -e \"$0.new\" ] && case \" $* \" in *' -o '*) mv \"$0.new\" \"$0\";; esac";
    script(&tool, &format!("{replace}\nexec /usr/bin/as \"$@\""));
    let found = farm.find();
    script(&farm.bin.join("as.new"), "exec /usr/bin/as \"$@\" # new");
    let error = compile(&single(kernel(3)), &found, &variant()).unwrap_err();
    assert!(matches!(&error, CompileError::Changed { path } if *path == tool), "{error}");
    assert!(error.to_string().contains("hint: compile again"), "{error}");
    // The old toolchain is still rejected; a new one works.
    assert!(matches!(compile(&single(kernel(3)), &found, &variant()), Err(CompileError::Changed { .. })));
    compile(&single(kernel(3)), &farm.find(), &variant()).unwrap();
}

/// Finds the compiler in the given environment; the tests below run it.
#[test]
#[ignore = "the child of the user's environment does not reach the search for a compiler"]
fn child_finds_the_compiler() {
    println!("id={}", Toolchain::find(None).unwrap().id(Language::C).unwrap());
}

fn found_with(variables: &[(&str, &std::path::Path)]) -> String {
    let cache = tempfile::tempdir().expect("a child");
    let mut command = Command::new(std::env::current_exe().expect("a child"));
    command.args(["--ignored", "--exact", "identity::child_finds_the_compiler", "--nocapture"]);
    command.env("PRECAST_CACHE", cache.path()).envs(variables.iter().copied());
    let output = command.output().expect("a child");
    let words = String::from_utf8_lossy(&output.stdout).into_owned();
    let id = words.lines().find_map(|line| line.split_once("id=").map(|(_, id)| id.to_owned()));
    id.unwrap_or_else(|| panic!("{words}{}", String::from_utf8_lossy(&output.stderr)))
}

#[test]
fn user_environment_does_not_change_the_search() {
    let directory = tempfile::tempdir().unwrap();
    let (foreign, proof) = (directory.path().join("foreign/"), directory.path().join("proof"));
    fs_err::create_dir_all(&foreign).unwrap();
    for tool in ["cc1", "cc1plus", "as", "ld", "collect2"] {
        script(&foreign.join(tool), &format!("echo {tool} >> {}; exit 1", proof.display()));
    }
    let expected = found_with(&[]);
    for name in
        ["GCC_EXEC_PREFIX", "COMPILER_PATH", "DEPENDENCIES_OUTPUT", "SUNPRO_DEPENDENCIES", "GCC_SPECS"]
    {
        let value = if name.contains("DEPENDENCIES") { &proof } else { &foreign };
        assert_eq!(found_with(&[(name, value)]), expected, "{name}");
        assert!(!proof.exists(), "{name}: {:?}", fs_err::read_to_string(&proof));
    }
    let real = toolchain().driver().to_owned();
    assert_eq!(found_with(&[("CC", &real), ("DEPENDENCIES_OUTPUT", &proof)]), expected);
    assert!(!proof.exists());
}
