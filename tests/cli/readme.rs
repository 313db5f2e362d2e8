//! The README: every example is executed.
//!
//! | block | action |
//! |---|---|
//! | `toml` | written to the file that the text before it names; `[dependencies]` belong to the package below |
//! | `console` | run by `sh` in one directory, in order; output and `? code` compared, `...` stands for any lines |
//! | `rust` | a doctest of `tests/lib.rs` |
//! | `pycon` | run by `crates/python/tests/test_readme.py` |
//! | `python` | run by `crates/python/tests/with_pytensor/test_front_page.py` |
//! | `rust,ignore` | parts of a package: `build.rs`, named by the text before it, and the body of `main` |
//!
//! Commands of [`ELSEWHERE`] are too large to run inside a test; other CI steps run them, and the test says so.

use crate::document::{Block, blocks, examples, path};
use precast_testkit::package::{cargo, profiles, root, target};
use std::path::Path;

/// The commands that are executed by another step, and the step.
const ELSEWHERE: [(&str, &str); 3] = [
    ("cargo run --release -p precast-quickstart", "a step of CI"),
    ("cargo xtask test", "what runs this test in CI"),
    ("cargo install --locked --path crates/cli", "the same binary is built for this test"),
];

fn readme() -> Vec<Block> {
    blocks("README.md")
}

fn blocks_of<'a>(blocks: &'a [Block], language: &'a str) -> impl Iterator<Item = &'a Block> {
    blocks.iter().filter(move |block| block.language == language)
}

/// Returns whether a block is a part of the package's `Cargo.toml`.
fn has_dependencies(block: &Block) -> bool {
    block.text.lines().any(|line| line == "[dependencies]")
}

/// Writes the files that the README shows.
fn lay_out(directory: &Path, blocks: &[Block]) {
    for block in blocks_of(blocks, "toml").filter(|block| !has_dependencies(block)) {
        let file = block.file.as_ref().unwrap_or_else(|| panic!("which file is this?\n{}", block.text));
        fs_err::write(directory.join(file), &block.text).unwrap();
    }
}

#[test]
fn every_command_matches_the_readme() {
    let (blocks, directory) = (readme(), tempfile::tempdir().unwrap());
    lay_out(directory.path(), &blocks);
    let path = path();
    let (mut ran, mut failures) = (0, String::new());
    for example in
        blocks_of(&blocks, "console").chain(blocks_of(&blocks, "sh")).flat_map(|b| examples(&b.text))
    {
        if let Some((_, by)) = ELSEWHERE.iter().find(|(command, _)| *command == example.command) {
            println!("skipped: `{}`: {by}", example.command);
            continue;
        }
        failures.extend(example.run(directory.path(), &path));
        ran += 1;
    }
    assert!(failures.is_empty(), "{failures}");
    assert!(ran >= 5, "only {ran} commands were run");
    assert!(directory.path().join("out.npy").is_file() && directory.path().join("score.bundle").is_file());
}

const MANIFEST: &str = r#"[package]
name = "readme-example"
version = "0.1.0"
edition = "2024"

[workspace]
"#;

/// The body of the README's `main`, within the parts that the README leaves to the reader.
const MAIN: &str = r#"
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let [x, y, z] = [0.5, 1.0, 2.0].map(|v: f64| ndarray::Array1::from_elem(3, v));
BODY
    assert!((out - 3.0 * ((-0.25_f64).exp() + 2.0)).abs() < 1e-12, "{out}");
    println!("executed");
    Ok(())
}
"#;

#[test]
fn readme_package_runs() {
    let (blocks, directory) = (readme(), tempfile::tempdir().unwrap());
    let directory = directory.path();
    lay_out(directory, &blocks);
    let write = |name: &str, text: &str| fs_err::write(directory.join(name), text).unwrap();
    let real = fs_err::canonicalize(root()).unwrap();
    let profiles = profiles();
    let dependencies: Vec<&Block> =
        blocks_of(&blocks, "toml").filter(|block| has_dependencies(block)).collect();
    let [dependencies] = dependencies[..] else { panic!("one list is expected: {dependencies:?}") };
    // The README assumes a clone next to the package.
    let dependencies = dependencies.text.replace("\"precast/", &format!("\"{}/", real.to_str().unwrap()));
    write("Cargo.toml", &format!("{MANIFEST}{dependencies}{profiles}"));
    fs_err::copy(real.join("Cargo.lock"), directory.join("Cargo.lock")).unwrap();
    fs_err::create_dir(directory.join("src")).unwrap();
    let (scripts, bodies): (Vec<&Block>, Vec<&Block>) =
        blocks_of(&blocks, "rust,ignore").partition(|block| block.file.as_deref() == Some("build.rs"));
    let [script] = scripts[..] else { panic!("one build.rs is expected: {scripts:?}") };
    let [body] = bodies[..] else { panic!("one body of `main` is expected: {bodies:?}") };
    write("build.rs", &script.text);
    write("src/main.rs", &MAIN.replace("BODY", &body.text));
    let (said, told) = run_package(directory);
    assert_eq!(said, "executed\n", "{told}");
}

/// Builds and runs a package; returns its output and the messages of cargo.
pub(crate) fn run_package(directory: &Path) -> (String, String) {
    let output = cargo(directory, &target(env!("CARGO_TARGET_TMPDIR")))
        .args(["run", "--quiet", "--offline"])
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{told}");
    (String::from_utf8_lossy(&output.stdout).into_owned(), told)
}

#[test]
fn every_block_is_executed() {
    let blocks = readme();
    for block in &blocks {
        let known =
            ["toml", "console", "sh", "rust", "rust,no_run", "rust,ignore", "text", "pycon", "python"];
        assert!(known.contains(&block.language.as_str()), "nothing executes a block of `{}`", block.language);
    }
    let all: String = blocks.iter().map(|block| block.text.as_str()).collect();
    assert!(ELSEWHERE[..2].iter().all(|(command, _)| all.contains(command)), "the two commands are gone");
}
