//! Tests of bundles whose entries have named extents.

use super::Package;
use precast_core::{Loader, value::Array};

const NAMED: &str = "[[graph]]\nname = \"score\"\ninputs = [\"x: f64[n]\", \"y: f64[n]\"]\n\
    outputs = \"\"\"\nh = x * y\nout: f64[n] = h + 1\n\"\"\"\n";

#[test]
fn functions_of_bundles_check_extents() {
    let package = Package::new(NAMED);
    let outcome = package.build().unwrap();
    assert_eq!(outcome.warnings, Vec::<String>::new());
    let function = Loader::open(outcome.bundle).unwrap().entry("score").unwrap();
    assert_eq!(function.inputs()[1].to_string(), "y: f64[n]");
    assert_eq!(function.outputs()[0].to_string(), "out: f64[n]");
    assert!(function.direct().is_some());
    let array = |shape: &[usize]| Array::zeros(precast_core::DType::F64, shape);
    let call = |x: &[usize], y: &[usize]| {
        let (x, y) = (array(x), array(y));
        function.call(&[(&x).into(), (&y).into()]).map(|results| results[0].shape().to_vec())
    };
    assert_eq!(call(&[4], &[4]).unwrap(), [4]);
    assert_eq!(call(&[0], &[0]).unwrap(), [0]);
    let error = call(&[4], &[1]).unwrap_err();
    assert_eq!(error.to_string(), "input `y` has extent 1 on axis 0, but `n` is 4 (axis 0 of input `x`)");
    let model = fs_err::read_to_string(outcome.model).unwrap();
    assert!(model.contains("`score(x: f64[n], y: f64[n]) -> out: f64[n]`"), "{model}");
}

#[test]
fn bundles_without_names_have_the_same_modules() {
    let keys = |manifest: &str| {
        let package = Package::new(manifest);
        let bundle = precast_store::Bundle::open(&package.build().unwrap().bundle).unwrap();
        let entry = bundle.find_entry("score").unwrap();
        (entry.program.keys().collect::<Vec<_>>(), entry.to_bytes()[3])
    };
    let (named, plain) = (keys(NAMED), keys(&NAMED.replace("[n]", "[?]")));
    // The format of the entry is 4 with names, and 2 without.
    assert_eq!((named.0, named.1, plain.1), (plain.0, 4, 2));
}
