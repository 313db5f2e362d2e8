//! Log-densities of PyMC models and their gradients, as written by `precast.pytensor.freeze`, run without Python.
//!
//! `crates/python/tests/frozen` has each graph as JSON, and next to it the point, the log-density and the gradient
//! from PyMC.

use crate::compiled::{toolchain, variant};
use ndarray::{Array1, IxDyn};
use precast::{Array, ArrayRef, Loader};
use precast_build::{Declared, Execution, SourceLocation, execute, plan};
use precast_compile::Isa;
use precast_graph::json;
use precast_ops::Ops;
use std::path::PathBuf;

const MODELS: [&str; 3] = ["eight_schools", "logistic", "varying_intercepts"];

fn read(name: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../crates/python/tests/frozen");
    fs_err::read_to_string(folder.join(name)).unwrap()
}

/// Returns the rows of numbers in a file: a point, and PyMC's results there.
fn numbers(name: &str) -> Vec<Vec<f64>> {
    let text = read(&format!("{name}.txt"));
    text.lines().map(|row| row.split(' ').map(|number| number.parse().unwrap()).collect()).collect()
}

/// Opens a bundle of all models like a deployed program.
fn loader() -> Loader {
    let mut declared = Declared::new(Ops::standard());
    for name in MODELS {
        let graph = json::parse(&read(&format!("{name}.json")), declared.ops()).unwrap();
        declared.graph(name, graph, SourceLocation::default()).unwrap();
    }
    let toolchain = toolchain();
    let variants = [variant(Isa::native().unwrap())];
    let execution = Execution::new(&toolchain, &variants);
    let executed = execute(&plan(&declared).unwrap(), &execution).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("models.precast");
    fs_err::write(&path, executed.bundle(&toolchain).unwrap()).unwrap();
    Loader::open(&path).unwrap()
}

#[test]
fn frozen_pymc_models_match_pymc() {
    let loader = loader();
    for name in MODELS {
        let function = loader.entry(name).unwrap();
        let mut rows = numbers(name).into_iter();
        let point = Array::from(Array1::from_vec(rows.next().unwrap()).into_dyn());
        let outputs = function.call(&[ArrayRef::from(&point)]).unwrap();
        for (output, wanted) in outputs.iter().zip(rows) {
            let Array::F64(output) = output else { panic!("{name}: {:?}", output.dtype()) };
            let wanted = ndarray::Array::from_shape_vec(IxDyn(&[wanted.len()]), wanted).unwrap();
            let nearly = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-13 * (1.0 + b.abs());
            assert_eq!(output.len(), wanted.len());
            assert!(output.iter().zip(&wanted).all(nearly), "{name}: {output}, PyMC {wanted}");
        }
    }
}
