//! "Writing an Op in C" and "From PyTensor": every example of the pages is executed.
//!
//! | block | action |
//! |---|---|
//! | `toml`, `c`, `c++` | written to the file that the text before it names, in the directory of the page |
//! | blocks of files in `tests/` | compared with that file, which is compiled and run in `tests/it/writing_ops` |
//! | `rust` | part of a named file, which is compiled and run there |
//! | `console` | run by `sh`, in order, in the directory of those files; `? code`, output, `...` for any lines |

use crate::document::{Block, blocks, examples, path};
use precast_testkit::package::root;
use std::path::Path;

const PAGES: [&str; 2] = ["crates/codegen/WRITING_OPS.md", "crates/codegen/FROM_PYTENSOR.md"];

/// Writes the arrays that the pages assume.
fn arrays(directory: &Path) {
    let write = |name: &str, array: ndarray::ArrayD<f64>| {
        ndarray_npy::write_npy(directory.join(format!("{name}.npy")), &array).unwrap();
    };
    let vector = |values: &[f64]| ndarray::Array1::from(values.to_vec()).into_dyn();
    write("x", vector(&[-0.5, 0.25, 2.0]));
    write("y", vector(&[1.0, 2.0, 3.0]));
    write("w", vector(&[0.0, 1.0, 1.0]));
    write("short", vector(&[1.0]));
    write("none", vector(&[]));
    write("n", ndarray::arr0(6.0).into_dyn());
    write("m", ndarray::array![[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]].into_dyn());
}

/// Checks a block against its file in `tests/`; returns `false` if the block belongs to no such file.
fn is_shown(block: &Block) -> bool {
    let Some(file) = block.file.as_ref().filter(|file| file.starts_with("tests/")) else { return false };
    let text = fs_err::read_to_string(root().join(file)).unwrap();
    assert!(text.contains(&block.text), "`{file}` does not have:\n{}", block.text);
    true
}

#[test]
fn every_example_matches_its_page() {
    let path = path();
    let compiler = std::process::Command::new("cc").arg("--version").output().unwrap();
    let is_gcc = String::from_utf8_lossy(&compiler.stdout).contains("Free Software Foundation");
    for page in PAGES {
        let directory = tempfile::tempdir().unwrap();
        arrays(directory.path());
        let (mut ran, mut failures) = (0, String::new());
        for block in blocks(page) {
            match block.language.as_str() {
                "console" => {
                    for example in examples(&block.text) {
                        // A line with a bar is output of the compiler.
                        let of_gcc = example.output.iter().any(|line| line.starts_with("        | "));
                        if of_gcc && !is_gcc {
                            println!("skipped: what gcc says in `{page}`: the compiler here is another");
                            continue;
                        }
                        failures.extend(example.run(directory.path(), &path));
                        ran += 1;
                    }
                }
                "toml" | "c" | "c++" | "rust" if is_shown(&block) => {}
                "toml" | "c" | "c++" => {
                    let file = block.file.unwrap_or_else(|| panic!("which file is this?\n{}", block.text));
                    fs_err::write(directory.path().join(file), &block.text).unwrap();
                }
                "text" => {}
                other => panic!("{page}: nothing executes this block of `{other}`:\n{}", block.text),
            }
        }
        assert!(failures.is_empty(), "{page}\n{failures}");
        assert!(ran >= 2, "{page}: only {ran} commands were run");
    }
}
