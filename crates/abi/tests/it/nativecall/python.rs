//! Tests CPython callables with native functions against every installed Python that has headers.

use super::c::compile;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

const TESTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/c");
const CPYTHON: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/cpython");

/// Returns the header folder of a Python, if it has headers.
fn headers(python: &str) -> Option<String> {
    let ask = "import sysconfig; print(sysconfig.get_path('include'))";
    let output =
        Command::new(python).args(["-c", ask]).output().ok().filter(|output| output.status.success())?;
    let folder = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    Path::new(&folder).join("Python.h").exists().then_some(folder)
}

/// Returns the type flags that a Python's headers define, as a C initializer.
fn flags(include: &str) -> String {
    let mut list = String::new();
    for file in ["object.h", "cpython/object.h"] {
        let Ok(text) = fs_err::read_to_string(Path::new(include).join(file)) else { continue };
        for line in text.lines().filter_map(|line| line.trim_start().strip_prefix('#')) {
            let mut words = line.split_whitespace();
            let name = (words.next() == Some("define")).then(|| words.next()).flatten().unwrap_or_default();
            let is_bit = line.contains("<<");
            if is_bit && (name.starts_with("Py_TPFLAGS_") || name.starts_with("_Py_TPFLAGS_")) {
                write!(list, "\n#ifdef {name}\n{name},\n#endif\n").unwrap();
            }
        }
    }
    list
}

#[test]
fn extensions_call_each_other_natively() {
    let names = [
        "python3",
        "python3.8",
        "python3.9",
        "python3.10",
        "python3.11",
        "python3.12",
        "python3.13",
        "python3.14",
    ];
    let found: Vec<_> = names.iter().filter_map(|python| Some((*python, headers(python)?))).collect();
    if found.is_empty() {
        println!("skipped: no Python with headers (Debian: `apt-get install python3-dev`)");
    }
    for (python, include) in found {
        let scratch = tempfile::tempdir().unwrap();
        let list = flags(&include);
        assert!(list.contains("Py_TPFLAGS_BASETYPE"), "{include}");
        fs_err::write(scratch.path().join("flags.inc"), list).unwrap();
        let scratch_text = scratch.path().display().to_string();
        for party in ["one", "two"] {
            let define = format!("-DPARTY={party}");
            let flags = [
                "-shared",
                "-fPIC",
                "-I",
                CPYTHON,
                "-I",
                &scratch_text,
                "-isystem",
                &include,
                &define,
                "-Wno-missing-field-initializers",
                "-Wno-cast-function-type",
            ];
            let library = scratch.path().join(format!("{party}.so"));
            compile("nativecall_python.c", &library, &flags).unwrap();
        }
        let output = Command::new(python)
            .arg(Path::new(TESTS).join("nativecall_python.py"))
            .env("PYTHONPATH", scratch.path())
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .output()
            .unwrap();
        let text =
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && text.starts_with("ok"), "{python}: {text}");
        println!("{python}: {text}");
    }
}
