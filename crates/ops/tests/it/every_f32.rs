//! The f32 functions that are computed in f64: their errors over all f32 numbers, by `tests/c/every_f32.c`.
//!
//! The test takes a part of the numbers. `PRECAST_EVERY_F32=1` takes all of them, which needs half an hour of one CPU.

use crate::compiler;
use std::path::Path;
use std::process::Command;

/// The distance of the bit patterns that the test takes. It is odd, so the patterns have all endings.
const STEP: &str = "20011";

/// The largest error in ulp. Half an ulp is due to the last rounding.
const LIMIT: f64 = 0.51;

#[test]
fn short_functions_round_like_exact_ones() {
    let step = if std::env::var_os("PRECAST_EVERY_F32").is_some() { "1" } else { STEP };
    let folder = tempfile::tempdir().unwrap();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c/every_f32.c");
    let program = compiler::program(folder.path(), compiler::levels()[0], &[file], "gnu11");
    let output = Command::new(program).arg(step).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let lines = String::from_utf8(output.stdout).unwrap();
    assert_eq!(lines.lines().count(), 17, "{lines}");
    for line in lines.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let error: f64 = words[1].parse().unwrap();
        assert!(error < LIMIT && words[3..] == ["0", "0"], "{line}");
    }
}
