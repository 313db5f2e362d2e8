//! `RELEASING.md`: every command is executed, in order, in one directory.

use crate::document::{blocks, examples, path};

#[test]
fn release_follows_the_page_end_to_end() {
    let (blocks, directory) = (blocks("crates/cli/RELEASING.md"), tempfile::tempdir().unwrap());
    let directory = directory.path();
    for (name, start) in [("x", 0.5), ("y", -1.0), ("z", 2.0)] {
        let array = ndarray::Array1::linspace(start, start + 1.0, 11);
        ndarray_npy::write_npy(directory.join(format!("{name}.npy")), &array).unwrap();
    }
    let (path, mut ran, mut failures) = (path(), 0, String::new());
    for block in &blocks {
        match block.language.as_str() {
            "toml" => fs_err::write(directory.join(block.file.as_ref().unwrap()), &block.text).unwrap(),
            "console" => {
                for example in examples(&block.text) {
                    failures.extend(example.run(directory, &path));
                    ran += 1;
                }
            }
            other => panic!("nothing executes a block of `{other}`"),
        }
    }
    assert!(failures.is_empty(), "{failures}");
    assert!(ran >= 25, "only {ran} commands were run");
}
