//! Prepares the embedded data: compiled graphs, the data set as plain numbers, and the model as constants.
//!
//! ```text
//! precast.toml ────▶ precast.bundle, precast.rs    by precast-build, with the C compiler
//! model/*.csv ─────▶ wine.f64    measurements in C order, then the grades; f64, little endian
//! model/model.toml ─▶ model.rs   constants; `{:?}` of an f64 reads back to the same bits
//! ```

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=model/model.toml");
    println!("cargo::rerun-if-changed=model/winequality-red.csv");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").ok_or("OUT_DIR is not set: not run by cargo")?);
    let columns = data(&out)?;
    model(&out, columns)?;
    precast_build::Build::new().run();
    Ok(())
}

/// Writes the data set; returns the number of measurements.
fn data(out: &Path) -> Result<usize, Box<dyn Error>> {
    let text = fs_err::read_to_string("model/winequality-red.csv")?;
    let mut rows = text.lines().filter(|line| !line.starts_with('#'));
    let columns = rows.next().ok_or("no names of columns")?.split(',').count() - 1;
    let (mut measurements, mut grades) = (Vec::new(), Vec::new());
    for (number, row) in rows.enumerate() {
        let row: Vec<f64> = row.split(',').map(str::parse).collect::<Result<_, _>>()?;
        let [measured @ .., grade] = &row[..] else { return Err(format!("row {number} is empty").into()) };
        if measured.len() != columns {
            return Err(format!("row {number} has {} measurements, not {columns}", measured.len()).into());
        }
        measurements.extend(measured.iter().flat_map(|x| x.to_le_bytes()));
        grades.extend(grade.to_le_bytes());
    }
    fs_err::write(out.join("wine.f64"), [measurements, grades].concat())?;
    Ok(columns)
}

/// Writes the model's constants, after checking that they fit the data set.
fn model(out: &Path, columns: usize) -> Result<(), Box<dyn Error>> {
    let model: Table = fs_err::read_to_string("model/model.toml")?.parse()?;
    let mut text = String::new();
    for (key, meaning) in [
        ("mean", "Mean of each measurement"),
        ("scale", "Standard deviation of each"),
        ("weights", "Weight of each"),
    ] {
        let values = model
            .get(key)
            .and_then(Value::as_array)
            .ok_or_else(|| format!("no array `{key}` in model.toml"))?;
        let values: Vec<f64> = values.iter().filter_map(Value::as_float).collect();
        if values.len() != columns {
            return Err(format!(
                "`{key}` of model.toml has {} numbers; the data has {columns} columns",
                values.len()
            )
            .into());
        }
        writeln!(
            text,
            "/// {meaning}.\npub(crate) const {}: [f64; {columns}] = {values:?};",
            key.to_uppercase()
        )?;
    }
    let bias = model.get("bias").and_then(Value::as_float).ok_or("no number `bias` in model.toml")?;
    writeln!(text, "/// Added to the weighted sum.\npub(crate) const BIAS: f64 = {bias:?};")?;
    for (key, meaning) in [
        ("good_from_grade", "A wine of this grade or above is good"),
        ("held_out_every", "The first of each so many rows was not used for training"),
    ] {
        let value =
            model.get(key).and_then(Value::as_integer).ok_or_else(|| format!("no `{key}` in model.toml"))?;
        writeln!(text, "/// {meaning}.\npub(crate) const {}: usize = {value};", key.to_uppercase())?;
    }
    fs_err::write(out.join("model.rs"), text)?;
    Ok(())
}
