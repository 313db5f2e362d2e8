//! Tests that the directory of a compilation affects neither key nor bytes, however its path is spelled.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::process::Command;

use precast_compile::{Variant, compile};
use precast_store::key::Profile;

use crate::modules::{kernel, module, single, toolchain, variant};

/// Returns the keys and digests of a lean and of a hosted unit, for the release and debug profiles.
fn all() -> String {
    let mut text = String::new();
    for profile in [Profile::Release, Profile::Debug] {
        let mut hosted = module("sin(f64) -> f64", "", "    volatile double x = 0.5; return sin(x) > 9.0;");
        hosted.includes.push("<math.h>".to_owned());
        hosted.libraries.push("m".to_owned());
        for mut unit in [kernel(7), hosted] {
            unit.profile = profile;
            let made = compile(&single(unit), toolchain(), &Variant { profile, ..variant() });
            let record = made.expect("it compiles").record;
            text.push_str(&format!("{} {}; ", record.action, record.digest));
        }
    }
    text
}

#[test]
#[ignore = "the child of scratch_directory_stays_out_of_key_and_bytes"]
fn child_prints_all() {
    println!("all={}", all());
}

#[test]
fn scratch_directory_stays_out_of_key_and_bytes() {
    let expected = format!("all={}", all());
    let root = tempfile::tempdir().unwrap();
    let names: [&[u8]; 9] = [
        b"plain",
        b"a=b",
        b"back\\slash",
        b"two words",
        b"quote'\"q",
        b"new\nline",
        b"not utf-8 \xff\xfe",
        b"dollar$x#y%z",
        b"a=b\\c d\n\xff",
    ];
    for name in names {
        let directory = root.path().join(OsStr::from_bytes(name));
        fs_err::create_dir(&directory).unwrap();
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--ignored", "--exact", "places::child_prints_all", "--nocapture"]);
        let output = command.env("TMPDIR", &directory).output().unwrap();
        let words = String::from_utf8_lossy(&output.stdout).into_owned();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(words.contains(&expected), "{name:?}: {words}{errors}");
    }
}

#[test]
fn header_directory_stays_out_of_key_and_bytes() {
    let made = |name: &str| {
        let root = tempfile::tempdir().unwrap();
        let directory = root.path().join(name);
        fs_err::create_dir(&directory).unwrap();
        fs_err::write(directory.join("outer.h"), "static const char *where(void) { return __FILE__; }\n")
            .unwrap();
        let mut module = module("outer() -> f64", "", "    return where()[0];");
        module.includes.push("outer.h".to_owned());
        module.header_dirs.push(directory.display().to_string());
        module.profile = Profile::Debug;
        let variant = Variant { profile: Profile::Debug, ..variant() };
        let compiled = compile(&single(module), toolchain(), &variant).unwrap();
        (compiled.record.action, compiled.record.digest)
    };
    let expected = made("plain");
    for name in ["a=b", "back\\slash", "two words", "quote'\"q", "dollar$x#y", "ünï"] {
        assert_eq!(made(name), expected, "{name}");
    }
}
