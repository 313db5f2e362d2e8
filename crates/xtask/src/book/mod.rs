//! `cargo xtask book`: builds the documentation site in `target/book/site`.
//!
//! ```text
//! crates/precast/book/SUMMARY.md ─▶ pages ── links, generated parts ──▶ target/book/src ── mdbook ──▶ target/book/site
//! `cargo doc` of the libraries ──▶ target/book/site/api
//! ```
//! mdBook is installed under `target/tools` on first use; after that, nothing uses the network. `--test` opens the site
//! in a browser. A page is published where it is in the tree, so that its links stay short; `assemble` has the details.

mod assemble;
mod browser;
mod generated;
mod header;
mod server;

use crate::steps::run as run_command;
use crate::tidy;
use crate::tools::cargo;
use anyhow::{Result, bail};
use std::path::Path;
use std::process::Command;
use walkdir::WalkDir;

/// The folder of the site's own pages.
const FOLDER: &str = "crates/precast/book";

/// The list of all pages.
pub(crate) const SUMMARY: &str = "crates/precast/book/SUMMARY.md";

/// The folder of decisions. Each of its pages is part of the site, below the page with their list.
pub(crate) const DECISIONS: &str = "crates/decisions/0";

/// The files in the folder that configure mdBook.
const SETTINGS: [&str; 2] = ["book.toml", "contrast.css"];

/// The version of mdBook.
const MDBOOK: &str = "0.5.4";

/// Builds the site, and tests it if `args` ask for that; returns `true` on success.
pub(crate) fn run(root: &Path, args: &[&str]) -> Result<bool> {
    if let Some(unknown) = args.iter().find(|arg| !["--test", "--without-api"].contains(arg)) {
        bail!("unknown option `{unknown}`");
    }
    let with_api = !args.contains(&"--without-api");
    let book = root.join("target/book");
    for old in ["src", "site"].map(|name| book.join(name)) {
        if old.is_dir() {
            fs_err::remove_dir_all(old)?;
        }
    }
    assemble::write(root, &book, with_api)?;
    let fine = build(root, &book)? && (!with_api || document(root, &book.join("site/api"))?);
    if fine {
        println!("the site is in `{}`", book.join("site").display());
    }
    Ok(fine && (!args.contains(&"--test") || browser::test(&book.join("site"))?))
}

/// Runs mdBook, after its installation if necessary.
fn build(root: &Path, book: &Path) -> Result<bool> {
    let tools = root.join("target/tools");
    let mdbook = tools.join("bin/mdbook");
    let version = Command::new(&mdbook).arg("--version").output();
    let is_installed = version.is_ok_and(|output| output.stdout.ends_with(format!("v{MDBOOK}\n").as_bytes()));
    if !is_installed {
        // Without optimization: a build of this book takes seconds, an optimized build of mdBook minutes.
        let mut install = Command::new(cargo());
        install.args(["install", "--locked", "--debug", "--version", MDBOOK, "mdbook"]);
        install.args(["--no-default-features", "--features", "search", "--root"]).arg(&tools);
        if !run_command(&mut install)? {
            return Ok(false);
        }
    }
    run_command(Command::new(mdbook).arg("build").arg(book))
}

/// Generates the documentation of the libraries, and copies it to `to`.
fn document(root: &Path, to: &Path) -> Result<bool> {
    let mut doc = Command::new(cargo());
    doc.args(["doc", "--locked", "--lib", "--no-deps"]).current_dir(root);
    doc.args(tidy::libraries().flat_map(|package| ["-p", package]));
    if !run_command(&mut doc)? {
        return Ok(false);
    }
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), Into::into);
    copy(&target.join("doc"), to)?;
    Ok(true)
}

/// Copies a folder with everything in it.
fn copy(from: &Path, to: &Path) -> Result<()> {
    for entry in WalkDir::new(from) {
        let entry = entry?;
        let place = to.join(entry.path().strip_prefix(from)?);
        if entry.file_type().is_dir() {
            fs_err::create_dir_all(place)?;
        } else {
            fs_err::copy(entry.path(), place)?;
        }
    }
    Ok(())
}
