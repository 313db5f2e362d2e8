//! Digests the sources that generate C, and lists the headers that modules include.
//!
//! `GENERATOR`, part of every fingerprint, is a digest of those sources.
//! In this workspace that is every file of the crates below; in a package of a registry, whose files never change under
//! one version, the version stands for the crates that are not there to be read.

use std::path::{Path, PathBuf};

/// Folders whose content decides what C a graph becomes.
const SOURCES: [&str; 10] = [
    "src",
    "c",
    "../abi/include",
    "../abi/compat",
    "../abi/src",
    "../core/src/key",
    "../core/src/value",
    "../graph/src",
    "../codegen/src",
    "../codegen/c",
];

fn main() -> std::io::Result<()> {
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let mut hasher = blake3::Hasher::new_derive_key("precast v1 generator");
    hasher.update(env!("CARGO_PKG_VERSION").as_bytes());
    for source in SOURCES {
        let folder = root.join(source);
        if folder.is_dir() {
            println!("cargo::rerun-if-changed={}", folder.display());
            add(&mut hasher, source, &folder)?;
        }
    }
    headers(&root.join("c"))?;
    let out = PathBuf::from(std::env::var_os("OUT_DIR").unwrap_or_default()).join("generator.rs");
    let digest = hasher.finalize().to_hex();
    fs_err::write(out, format!("\"{digest}\"\n"))
}

/// Writes the list of all headers below `precast`: logical name and content, in the order of the names.
fn headers(folder: &Path) -> std::io::Result<()> {
    let mut list = String::from("&[\n");
    for entry in walkdir::WalkDir::new(folder.join("precast")).sort_by_file_name() {
        let entry = entry?;
        if entry.path().extension().is_some_and(|e| e == "h") {
            let name = entry.path().strip_prefix(folder).unwrap_or(entry.path());
            let name = name.to_string_lossy().replace('\\', "/");
            list += &format!("({name:?}, include_str!({:?})),\n", entry.path().display().to_string());
        }
    }
    let out = PathBuf::from(std::env::var_os("OUT_DIR").unwrap_or_default()).join("headers.rs");
    fs_err::write(out, list + "]\n")
}

/// Adds the names and contents of all files below a folder, in the order of their names.
fn add(hasher: &mut blake3::Hasher, name: &str, folder: &Path) -> std::io::Result<()> {
    for entry in walkdir::WalkDir::new(folder).sort_by_file_name() {
        let entry = entry?;
        if !entry.file_type().is_file() {
            continue;
        }
        let relative = entry.path().strip_prefix(folder).unwrap_or(entry.path());
        let content = fs_err::read(entry.path())?;
        for part in [name.as_bytes(), relative.to_string_lossy().replace('\\', "/").as_bytes(), &content] {
            hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
        }
    }
    Ok(())
}
