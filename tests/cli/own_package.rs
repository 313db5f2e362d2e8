//! The package of "Writing an Op in C": an own op and an own type in a graph, compiled by `build.rs`, called by a
//! runtime-only program.

use crate::document::blocks;
use crate::readme::run_package;
use precast_testkit::package::{profiles, root};

const MANIFEST: &str =
    "[package]\nname = \"own-package\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n";

#[test]
fn package_of_the_page_runs() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let real = fs_err::canonicalize(root()).unwrap();
    let copy = |from: &str, to: &str| {
        let to = directory.join(to);
        fs_err::create_dir_all(to.parent().unwrap()).unwrap();
        fs_err::copy(real.join(from), to).unwrap();
    };
    for file in ["limit.rs", "degrees.rs"] {
        copy(&format!("tests/it/writing_ops/{file}"), &format!("ops/{file}"));
    }
    for file in fs_err::read_dir(real.join("tests/it/writing_ops/c")).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        copy(&format!("tests/it/writing_ops/c/{name}"), &format!("ops/c/{name}"));
    }
    copy("tests/cli/own_package/build.rs", "build.rs");
    copy("tests/cli/own_package/main.rs", "src/main.rs");
    copy("Cargo.lock", "Cargo.lock");
    let page = blocks("crates/codegen/WRITING_OPS.md");
    let dependencies = page.iter().find(|block| block.text.contains("[build-dependencies]"));
    let dependencies = dependencies.expect("the page lists them").text.clone();
    let dependencies = dependencies.replace("\"precast/", &format!("\"{}/", real.to_str().unwrap()));
    let profiles = profiles();
    fs_err::write(directory.join("Cargo.toml"), format!("{MANIFEST}{dependencies}{profiles}")).unwrap();
    let (said, told) = run_package(directory);
    assert!(said.starts_with("4, 40\n") && said.contains("400 is no angle"), "{said}\n{told}");
}
