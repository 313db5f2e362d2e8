//! The parts of pages that are generated: commands, the list of crates, the Python API and the C API.

use super::header;
use crate::tidy;
use crate::tools::{answers, cargo};
use anyhow::{Context as _, Result, bail};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

/// The beginning of links to the documentation of crates.
pub(super) const API: &str = "api:";

/// Prints the names of the Python package with their docstrings.
const PYTHON: &str = include_str!("python_api.py");

/// Returns a page with generated text in place of its comments `generated: NAME`.
pub(super) fn insert(root: &Path, page: &str, with_api: bool) -> Result<String> {
    let mut text = String::new();
    for line in page.lines() {
        match line.strip_prefix("<!-- generated: ").and_then(|rest| rest.strip_suffix(" -->")) {
            Some("c") => {
                let header = fs_err::read_to_string(root.join("crates/capi/include/precast.h"))?;
                text += &header::page(&header)?;
            }
            Some("python") => text += &python(root)?,
            Some("commands") if with_api => text += &commands(root)?,
            Some("commands") => text += "The list of commands is not part of this build.\n",
            Some("crates") => text += &crates(root, with_api)?,
            Some(other) => bail!("unknown generated text `{other}`"),
            None => writeln!(text, "{line}")?,
        }
    }
    Ok(text)
}

/// Returns the commands and options of the command line, which clap knows.
fn commands(root: &Path) -> Result<String> {
    let mut command = Command::new(cargo());
    command.args([
        "run",
        "--quiet",
        "--locked",
        "-p",
        "precast-cli",
        "--features",
        "remote",
        "--bin",
        "precast",
        "--",
        "man",
        "--markdown",
    ]);
    let output = command.current_dir(root).output()?;
    if !output.status.success() {
        bail!("cannot list the commands:\n{}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// Returns the Python API.
fn python(root: &Path) -> Result<String> {
    if !answers(Command::new("python3").arg("--version")) {
        println!("skipped: the page of the Python API: no `python3`");
        return Ok("The Python API is not part of this build.\n".to_owned());
    }
    let package = root.join("crates/python/python/precast");
    let output = Command::new("python3").args(["-B", "-c", PYTHON]).arg(package).output()?;
    if !output.status.success() {
        bail!("cannot read the Python package:\n{}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// Returns the table of the library crates.
fn crates(root: &Path, with_api: bool) -> Result<String> {
    let mut folders: Vec<_> = fs_err::read_dir(root.join("crates"))?.collect::<Result<Vec<_>, _>>()?;
    folders.sort_by_key(|folder| folder.file_name());
    let folders = folders.iter().map(|folder| folder.path()).chain([root.join("build-support")]);
    let mut descriptions = BTreeMap::new();
    for manifest in folders.map(|folder| folder.join("Cargo.toml")).filter(|manifest| manifest.is_file()) {
        let manifest: toml::Table = fs_err::read_to_string(manifest)?.parse()?;
        let value = |key: &str| Some(manifest.get("package")?.get(key)?.as_str()?.to_owned());
        descriptions.extend(value("name").zip(value("description")));
    }
    let mut table = "| crate | contents |\n|---|---|\n".to_owned();
    for name in tidy::libraries() {
        let about = descriptions.get(name).with_context(|| format!("`{name}` has no description"))?;
        if with_api {
            writeln!(table, "| [{name}]({API}{}/index.html) | {about} |", name.replace('-', "_"))?;
        } else {
            writeln!(table, "| {name} | {about} |")?;
        }
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::{crates, python};

    #[test]
    fn every_library_is_in_the_table() {
        let table = crates(&crate::root(), true).unwrap();
        assert!(table.contains("| [precast-build](api:precast_build/index.html) | "), "{table}");
    }

    #[test]
    fn python_page_has_functions_methods_and_exceptions() {
        let page = python(&crate::root()).unwrap();
        for part in ["### `load`", "### `Model`", "`entries`", "### `MissError`", "### `freeze`"] {
            assert!(
                page.contains(part) || page.starts_with("The Python API is not"),
                "no {part} in:\n{page}"
            );
        }
    }
}
