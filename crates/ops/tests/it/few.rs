//! Tests of reductions of few elements and of few columns, each of which is a separate function per monoid. They must
//! have the same bits as the general functions, which other tests compare with `perform`.

use crate::compiler::{levels, program};
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

/// The headers that define the monoids.
const HEADERS: [&str; 2] =
    [include_str!("../../c/precast/ops/monoid.h"), include_str!("../../c/precast/ops/monoid_complex.h")];

/// Returns the names of all monoids, e.g. `sum_f64`.
fn monoids() -> Vec<&'static str> {
    let defined = |line: &'static str| line.strip_prefix("#define PC_MONOID_")?.split_once("(NAME, WAYS)");
    let lines = HEADERS.iter().flat_map(|header| header.lines());
    lines.filter_map(defined).map(|(name, _)| name).collect()
}

#[test]
fn few_elements_reduce_like_many() {
    let monoids = monoids();
    let mut text = "#include <precast/ops/monoid_complex.h>\n".to_owned();
    monoids.iter().for_each(|name| writeln!(text, "PC_MONOID_{name}({name}, PC_MONOID_COLUMNS)").unwrap());
    text += "#define MONOIDS(X)";
    for name in &monoids {
        let (_, dtype) = name.split_once('_').unwrap();
        write!(text, " X({name}, {dtype})").unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    fs_err::write(folder.path().join("few-monoids.h"), text + "\n").unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c/few.c");
    for level in levels() {
        let program = program(folder.path(), level, std::slice::from_ref(&source), "gnu11");
        let ended = Command::new(program).output().unwrap();
        let told = String::from_utf8_lossy(&ended.stdout);
        assert!(ended.status.success(), "{}: {told}", level.0);
        assert!(monoids.len() > 30 && told == format!("{} monoids\n", monoids.len()), "{told}");
    }
}
