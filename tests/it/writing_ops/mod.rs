//! "Writing an Op in C": every example of the page is executed, and its table is complete.
//!
//! | block | what is done |
//! |---|---|
//! | `toml`, `c`, `c++` | written to the file that the text before it names, where the page stands |
//! | those of files in `tests/` | compared with that file: it is compiled and run below |
//! | `rust` | part of a file that is named, which is compiled and run below |
//! | `console` | run by `sh`, in order, in the directory of those files; `? code`, output, `...` for any lines |

mod degrees;
mod limit;
mod table;

use crate::document::{Block, blocks, examples, path, root};
use crate::external::{call, chain, vector};
use degrees::{Degrees, Turn};
use limit::Limit;
use precast::{Array, FunctionGraph, Policy, Runtime};
use precast_codegen::external::{Declaration, ExternalCOp};
use precast_graph::Op;
use precast_ops::Ops;
use std::path::Path;
use std::sync::Arc;

const PAGES: [&str; 2] = ["crates/codegen/WRITING_OPS.md", "crates/codegen/FROM_PYTENSOR.md"];

/// The arrays that the pages assume.
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

/// Shows a block of a file that stands in the repository; `false` if it is another's.
fn is_shown(block: &Block) -> bool {
    let Some(file) = block.file.as_ref().filter(|file| file.starts_with("tests/")) else { return false };
    let text = fs_err::read_to_string(root().join(file)).unwrap();
    assert!(text.contains(&block.text), "`{file}` does not have:\n{}", block.text);
    true
}

#[test]
fn every_example_does_what_its_page_shows() {
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
                        // A line with a bar is the compiler's.
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

/// The function of a graph of one input and the ops of a chain.
fn function(ops: &[Arc<dyn Op>]) -> precast::Function {
    let mut graph = FunctionGraph::new();
    let mut last = graph.input("x", "f64[?]".parse().unwrap()).unwrap();
    for op in ops {
        last = graph.apply(Arc::clone(op), &[last]).unwrap()[0];
    }
    graph.output(last, None).unwrap();
    let ops = Ops::standard().with_c::<Limit>();
    Runtime::builder().ops(ops).policy(Policy::Jit).build().unwrap().function(&graph).unwrap()
}

#[test]
fn the_op_in_rust_clamps_wraps_and_refuses() {
    let limit = |low, high, mode| -> Arc<dyn Op> { Arc::new(Limit { low, high, mode }) };
    let x = [vector(&[-0.25, 0.5, 2.25])];
    assert_eq!(call(&function(&[limit(0.0, 1.0, "CLAMP")]), &x).unwrap(), [vector(&[0.0, 0.5, 1.0])]);
    let twice = [limit(0.0, 1.0, "modulo"), limit(0.5, 0.75, "CLAMP")];
    assert_eq!(call(&function(&twice), &x).unwrap(), [vector(&[0.75, 0.5, 0.5])]);
    let error = call(&function(&[limit(2.0, 1.0, "CLAMP")]), &x).unwrap_err();
    assert!(chain(&error).contains("limit: 2 is above 1"), "{}", chain(&error));
}

#[test]
fn the_op_in_place_overwrites_a_temporary_and_no_input() {
    let negate = Declaration {
        destroy_map: vec![(0, 0)],
        ..Declaration::new("negate").file("negate.c", include_str!("c/negate.c"))
    };
    let negate: Arc<dyn Op> = Arc::new(ExternalCOp::new(negate.input("f64[?]").output("f64[?]")).unwrap());
    let limit: Arc<dyn Op> = Arc::new(Limit { low: 0.0, high: 1.0, mode: "CLAMP" });
    let x = [vector(&[-1.0, 0.5])];
    assert_eq!(call(&function(&[limit, Arc::clone(&negate)]), &x).unwrap(), [vector(&[-0.0, -0.5])]);
    assert_eq!(x, [vector(&[-1.0, 0.5])]);
    let mut graph = FunctionGraph::new();
    let input = graph.input("x", "f64[?]".parse().unwrap()).unwrap();
    let output = graph.apply(negate, &[input]).unwrap()[0];
    graph.output(output, None).unwrap();
    let refused = crate::external::refused(&graph);
    assert!(refused.contains("overwrites `x`, which is the caller's"), "{refused}");
}

#[test]
fn the_type_holds_an_angle_and_refuses_another_number() {
    let mut graph = FunctionGraph::new();
    let ty = || "degrees<f64[]>".parse().unwrap();
    let inputs = ["a", "b"].map(|name| graph.input(name, ty()).unwrap());
    let sum = graph.apply(Arc::new(Turn), &inputs).unwrap()[0];
    let again = graph.apply(Arc::new(Turn), &[sum, inputs[1]]).unwrap()[0];
    graph.output(again, None).unwrap();
    let ops = Ops::standard().with_c::<Turn>().with_type("degrees", Arc::new(Degrees));
    let runtime = Runtime::builder().ops(ops).policy(Policy::Jit).build().unwrap();
    let function = runtime.function(&graph).unwrap();
    let angle = |x: f64| Array::from(x);
    assert_eq!(call(&function, &[angle(300.0), angle(90.0)]).unwrap(), [angle(120.0)]);
    let error = call(&function, &[angle(300.0), angle(400.0)]).unwrap_err();
    assert!(chain(&error).contains("400 is no angle"), "{}", chain(&error));
}
