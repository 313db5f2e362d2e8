//! `--stabilise` and `stabilise = true`: stable formulas keep their digits, but only on request.

use crate::sandbox::{Sandbox, args};

const FORMULA: [&str; 7] = ["--expr", "out = log(1 + x)", "-i", "x=x.npy", "--policy", "interpret", "--json"];

#[test]
fn formulas_are_stabilised_on_request() {
    let place = Sandbox::new();
    place.npy("x.npy", &[1], vec![1e-20]);
    let value = |options: &[&str]| {
        let told = place.run_bare(&args(&[&["run"], &FORMULA, options])).ok().json();
        told["outputs"][0]["data"][0].as_f64().unwrap()
    };
    assert_eq!((value(&[]), value(&["--stabilise"])), (0.0, 1e-20));
    // An entry is used as declared, so the option is rejected.
    place.run_bare(&["run", "--entry", "score", "--stabilise"]).fails(2, &["--stabilise", "--entry"]);
    let graph = "[[graph]]\nname = \"g\"\ninputs = [\"x: f64[?]\"]\noutputs = [\"out = log(1 + x)\"]\n";
    for (key, op) in [("", "add"), ("stabilise = true\n", "log1p")] {
        place.write("precast.toml", format!("{graph}{key}"));
        place.run(&["build", "--store", "artifacts"]).ok();
        let shown = place.run_bare(&["show", "g", "--store", "artifacts"]).ok().out;
        assert_eq!(shown.contains("log1p"), op == "log1p", "{shown}");
    }
    place.write("precast.toml", format!("{graph}stabilise = \"yes\"\n"));
    place.run(&["build"]).fails(1, &["precast.toml:5", "boolean"]);
}
