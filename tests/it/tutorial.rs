//! The tutorial for Rust (`crates/precast/book/rust.md`), executed from the first to the last line.
//!
//! | block | action |
//! |---|---|
//! | `toml`, `rust,ignore` | written to the file that the text before it names |
//! | `console` | run by `sh` in the package, in order |
//!
//! The package differs from a reader's in three places: its dependencies are those of this checkout, it has the
//! profiles and the target directory of this workspace, and Cargo works offline.

use precast_testkit::document::{Example, blocks, examples};
use precast_testkit::package::{profiles, root, target};
use std::ffi::OsString;
use std::path::Path;

const PAGE: &str = "crates/precast/book/rust.md";

/// Returns the `PATH` of the commands: the directory of this Cargo comes first.
fn path() -> OsString {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let cargo = std::env::var_os("CARGO").unwrap_or_default();
    let folder = Path::new(&cargo).parent().unwrap_or(Path::new("")).as_os_str();
    [folder, &path].join(":".as_ref())
}

/// Returns the text of a file in the package of the test.
fn localized(file: &str, text: &str) -> String {
    if file != "Cargo.toml" {
        return text.to_owned();
    }
    let checkout = fs_err::canonicalize(root()).unwrap();
    let text = text.replace("\"../precast/", &format!("\"{}/", checkout.display()));
    format!("{text}\n[workspace]\n\n{}", profiles())
}

#[test]
fn rust_tutorial_works_to_the_last_line() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    fs_err::copy(root().join("Cargo.lock"), directory.join("Cargo.lock")).unwrap();
    let target = target(env!("CARGO_TARGET_TMPDIR"));
    let target = target.to_str().unwrap();
    let cargo = format!(
        "unset PRECAST_ISA PRECAST_LOCKED DOCS_RS CARGO_BUILD_TARGET; export CARGO_TARGET_DIR={target} CARGO_NET_OFFLINE=true CARGO_TERM_COLOR=never; "
    );
    let mut ran = 0;
    for block in blocks(PAGE) {
        match block.language.as_str() {
            "console" => {
                for example in examples(&block.text) {
                    let command =
                        cargo.clone() + &example.command.replace("target/debug", &format!("{target}/debug"));
                    let example = Example { command: &command, ..example };
                    // Later steps need the earlier ones.
                    assert_eq!(example.run(directory, &path()), None);
                    ran += 1;
                }
            }
            "toml" | "rust,ignore" => {
                let file = block.file.unwrap_or_else(|| panic!("which file is this?\n{}", block.text));
                let place = directory.join(&file);
                fs_err::create_dir_all(place.parent().unwrap()).unwrap();
                fs_err::write(place, localized(&file, &block.text)).unwrap();
            }
            other => panic!("nothing executes a block of `{other}`:\n{}", block.text),
        }
    }
    assert!(ran >= 8, "only {ran} commands were run");
}
