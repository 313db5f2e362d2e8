//! Exports the header folders to the build scripts of dependents (`DEP_PRECAST_ABI_INCLUDE`, `DEP_PRECAST_ABI_COMPAT`).
//! Also generates the list of compat headers, so that new headers are found automatically.

use std::path::{Path, PathBuf};

fn main() -> std::io::Result<()> {
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let compat = root.join("compat");
    println!("cargo::metadata=include={}", root.join("include").display());
    println!("cargo::metadata=compat={}", compat.display());
    println!("cargo::rustc-check-cfg=cfg(loom)");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={}", compat.display());
    let mut names = Vec::new();
    headers(&compat, "", &mut names)?;
    names.sort();
    let mut list = String::from("&[\n");
    for name in names {
        list += &format!("({name:?}, include_str!({:?})),\n", compat.join(&name).display().to_string());
    }
    let out = PathBuf::from(std::env::var_os("OUT_DIR").unwrap_or_default()).join("compat.rs");
    fs_err::write(out, list + "]\n")
}

/// Collects the names of all headers below a folder, relative to the first folder.
fn headers(folder: &Path, prefix: &str, names: &mut Vec<String>) -> std::io::Result<()> {
    for entry in fs_err::read_dir(folder)? {
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            headers(&entry.path(), &format!("{name}/"), names)?;
        } else if name.ends_with(".h") {
            names.push(name);
        }
    }
    Ok(())
}
