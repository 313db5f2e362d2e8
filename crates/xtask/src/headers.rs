//! Compiles each header of the workspace alone, and those of ops together, as C and as C++, with warnings as errors.
//!
//! A header that only works after another one, without another one, or in one language, breaks a module far from the edit
//! that caused it.

use crate::tools::compiler;
use anyhow::{Context, Result};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use walkdir::WalkDir;

/// The include directories of the workspace's C code, as the compiler sees them for a module, and of the C API.
const INCLUDE: [&str; 5] =
    ["crates/abi/include", "crates/abi/compat", "crates/capi/include", "crates/codegen/c", "crates/ops/c"];

/// Replacement headers that need CPython's and NumPy's headers; the Python package's tests compile them.
const OF_CPYTHON: &str = "crates/codegen/c/cpython";

/// The headers that one module may include together.
const OF_OPS: &str = "precast/ops";

/// The flags of both languages. Headers define `static` functions that a lone include does not call.
const FLAGS: [&str; 5] = ["-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function"];

/// Compiles all headers; returns `true` if all succeed.
pub(crate) fn run(root: &Path) -> Result<bool> {
    let mut fine = true;
    for (variable, fallback, language, standard) in
        [("CC", "cc", "c", "-std=gnu11"), ("CXX", "c++", "c++", "-std=gnu++17")]
    {
        let Some(compiler) = compiler(variable, fallback) else {
            println!("skipped: headers as {language}: no `{fallback}` here");
            continue;
        };
        let headers = headers(root)?;
        for header in &headers {
            let accepted =
                compile(root, &compiler, &["-x", language, standard], std::slice::from_ref(header))?;
            if !accepted {
                println!("`{}` does not compile on its own in {language}", header.display());
            }
            fine &= accepted;
        }
        let of_ops: Vec<PathBuf> =
            headers.iter().filter(|header| header.starts_with(OF_OPS)).cloned().collect();
        let accepted = compile(root, &compiler, &["-x", language, standard], &of_ops)?;
        if !accepted {
            println!("the headers in `{OF_OPS}` do not compile together in {language}");
        }
        fine &= accepted;
        println!("{} headers as {language} by `{compiler}`", headers.len());
    }
    Ok(fine)
}

/// Returns the sorted paths of all headers, relative to their include directory.
fn headers(root: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for folder in INCLUDE {
        for entry in WalkDir::new(root.join(folder)).sort_by_file_name() {
            let path = entry?.into_path();
            if path.extension().is_some_and(|e| e == "h") && !path.starts_with(root.join(OF_CPYTHON)) {
                found.push(path.strip_prefix(root.join(folder))?.to_path_buf());
            }
        }
    }
    Ok(found)
}

fn compile(root: &Path, compiler: &str, language: &[&str], headers: &[PathBuf]) -> Result<bool> {
    let mut command = Command::new(compiler);
    command.args(FLAGS).args(language);
    for folder in INCLUDE {
        command.arg("-I").arg(root.join(folder));
    }
    let mut child = command.arg("-").stdin(Stdio::piped()).spawn()?;
    let mut input = child.stdin.take().context("a piped standard input")?;
    for header in headers {
        writeln!(input, "#include \"{}\"", header.display())?;
    }
    drop(input);
    Ok(child.wait()?.success())
}
