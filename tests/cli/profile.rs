//! `profile`: the facts about each kernel, as a table, as JSON and as a page. No measured time is compared with a
//! limit.

use crate::sandbox::{INPUTS, ISA, Sandbox, args};

const QUICK: [&str; 2] = ["--time", "1"];

#[test]
fn a_deployed_entry_is_profiled_without_a_compiler() {
    let (place, _) = Sandbox::scored();
    place.run(&["build", "--bundle", "score.precast"]).ok();
    let entry = ["profile", "--entry", "score", "--bundle", "score.precast", "--policy", "strict"];
    let told =
        place.run_bare(&args(&[&entry, INPUTS, &QUICK, &["--json", "--html", "page.html"]])).ok().json();
    assert_eq!(told["served"], serde_json::json!([ISA]), "{told:#}");
    let [kernel] = &told["kernels"].as_array().unwrap()[..] else { panic!("{told:#}") };
    let ops: Vec<&str> = kernel["ops"].as_array().unwrap().iter().map(|op| op.as_str().unwrap()).collect();
    assert_eq!(ops, ["neg", "mul", "exp", "mul", "add", "sum"], "{told:#}");
    let measured = &kernel["measured"];
    // Three vectors of f64 and a number; per element five cheap ops, including the sum, and one function.
    assert_eq!(
        (&measured["bytes"], &measured["operations"]),
        (&240_032.into(), &250_025.0.into()),
        "{told:#}"
    );
    assert_eq!((&measured["isa"], &measured["threads"]), (&ISA.into(), &1.into()));
    for figure in ["seconds", "bytes_per_second", "operations_per_second", "limit_seconds", "share"] {
        assert!(measured[figure].as_f64().unwrap() > 0.0, "{figure}: {told:#}");
    }
    assert!(["memory", "arithmetic"].contains(&measured["limited_by"].as_str().unwrap()));
    assert!(told["machine"]["bytes_per_second"].as_f64().unwrap() > 0.0);
    let page = fs_err::read_to_string(place.path("page.html")).unwrap();
    for part in ["<!doctype html>", "entry score", "neg mul exp mul add sum", "<circle ", "polyline"] {
        assert!(page.contains(part), "{part} is not in:\n{page}");
    }
    assert!(!page.contains("http") && !page.contains('@'), "{page}");
    let table = place.run_bare(&args(&[&entry, INPUTS, &QUICK])).ok().out;
    for part in
        ["kernel", "of limit", "GB/s", ISA, "kernel 0 returns [[]]: neg mul exp mul add sum", "machine"]
    {
        assert!(table.contains(part), "{part} is not in:\n{table}");
    }
}

#[test]
fn missing_inputs_are_filled() {
    let place = Sandbox::new();
    let wanted = ["profile", "--expr", "x[v] + 1", "--type", "x=f32[?]", "--type", "v=i64[?]"];
    let rest = ["--policy", "interpret", "--json"];
    let told = place.run_bare(&args(&[&wanted, &QUICK, &rest, &["--extent", "7"]])).ok().json();
    assert_eq!(told["served"], serde_json::json!([null]));
    assert_eq!(told["kernels"][0]["shapes"], serde_json::json!([[7]]), "{told:#}");
    assert!(told["kernels"][0]["measured"]["isa"].is_null());
    assert!(
        told["kernels"][0]["measured"]["advice"].as_array().is_some_and(|advice| !advice.is_empty()),
        "{told:#}"
    );
    let much = place.run_bare(&args(&[&wanted, &rest, &["--extent", "10000000000"]]));
    much.fails(2, &["input `x`", "--extent", "-i x=FILE"]);
}

#[test]
fn missing_module_is_a_miss_without_compiling() {
    let place = Sandbox::new();
    let wanted = ["profile", "--expr", "x + 1", "--type", "x=f64[?]", "--policy", "strict"];
    place.run_bare(&wanted).fails(3, &["miss: ", "`add(", "hint: "]);
    place.run_bare(&["profile", "--time", "1"]).fails(2, &["--expr"]);
}

#[test]
fn unmeasurable_kernel_does_not_stop_the_profile() {
    let (place, _) = Sandbox::scored();
    place.write(
        "two.toml",
        format!("isa = [\"{ISA}\"]\n[[graph]]\nname = \"two\"\ninputs = [\"x: f64[?]\"]\noutputs = [\"a = cumsum(x)\", \"b = sum(x)\"]\n"),
    );
    place.run(&["build", "two.toml", "--store", "two"]).ok();
    // The store has the function but none of its kernels alone, and nothing compiles them.
    let wanted = ["profile", "--entry", "two", "--store", "two", "--policy", "jit", "-i", "x=x.npy"];
    let told = place.run_bare(&args(&[&wanted, &QUICK, &["--json"]])).ok().json();
    let kernels = told["kernels"].as_array().unwrap();
    assert_eq!(kernels.len(), 2, "{told:#}");
    for kernel in kernels {
        assert!(kernel["skipped"].is_string(), "{told:#}");
    }
    assert!(told["seconds"].as_f64().unwrap() > 0.0);
    place.run_bare(&args(&[&wanted, &QUICK])).ok();
}
