//! Runs the built binary, and compares its weights with those that NumPy found (quickstart/model/train.py).

use anyhow::{Context, Result, ensure};
use std::process::Command;
use toml::Table;

const BINARY: &str = env!("CARGO_BIN_EXE_precast-training");

/// Returns what the program prints on a CPU of a level.
fn printed(level: &str) -> Result<String> {
    let output = Command::new(BINARY).env("PRECAST_ISA_LIMIT", level).output()?;
    ensure!(output.status.success(), "{}: {}", output.status, String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?)
}

#[test]
fn weights_match_numpy() -> Result<()> {
    let (found, model): (Table, Table) = {
        let printed = printed("x86-64-v4")?;
        let last = printed.lines().rev().take(2).map(|line| line.replacen(' ', " = ", 1)).collect::<Vec<_>>();
        let model =
            fs_err::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../quickstart/model/model.toml"))?;
        (last.join("\n").parse()?, model.parse()?)
    };
    let numbers = |table: &Table| -> Result<Vec<f64>> {
        let weights = table.get("weights").and_then(|list| list.as_array()).context("weights")?;
        Ok(weights.iter().chain(table.get("bias")).filter_map(|number| number.as_float()).collect())
    };
    let (found, expected) = (numbers(&found)?, numbers(&model)?);
    ensure!(found.len() == 12 && expected.len() == 12, "{found:?}");
    for (a, b) in found.iter().zip(&expected) {
        ensure!((a - b).abs() <= 1e-10 * b.abs().max(1.0), "{found:?}\n{expected:?}");
    }
    Ok(())
}

#[test]
fn steps_have_the_same_bits_at_every_level() -> Result<()> {
    let first = printed("x86-64-v2")?;
    for level in ["x86-64-v3", "x86-64-v4"] {
        ensure!(printed(level)? == first, "{level} differs from x86-64-v2");
    }
    Ok(())
}
