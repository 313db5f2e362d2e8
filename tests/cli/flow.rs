//! The main workflow: declare, build, deploy, run.

use std::process::Stdio;

use crate::sandbox::{Ended, INPUTS, ISA, SCORE, Sandbox, args, assert_close};

#[test]
fn a_declared_graph_runs_without_a_compiler() {
    let (place, expected) = Sandbox::scored();
    place.run(&["build", "--store", "cache", "--bundle", "score.precast"]).ok();
    let sources: [&[&str]; 2] = [SCORE, &["--entry", "score"]];
    let layers: [&[&str]; 2] = [&["--store", "cache"], &["--bundle", "score.precast"]];
    for source in sources {
        for layer in layers {
            let run = args(&[&["run"], source, INPUTS, &["-o", "out=out.npy", "--policy", "strict"], layer]);
            let ended = place.run_bare(&run).ok();
            assert_eq!((ended.out.as_str(), ended.err.as_str()), ("", ""));
            let out = place.read_npy::<f64>("out.npy");
            assert_eq!(out.ndim(), 0);
            assert_close(out.sum(), expected);
            fs_err::remove_file(place.path("out.npy")).unwrap();
        }
    }
}

#[test]
fn a_package_declares_in_its_cargo_toml() {
    let place = Sandbox::new();
    place.write("Cargo.toml", "[package]\nname = \"p\"\n");
    place.run(&["build", "Cargo.toml"]).fails(1, &["`[package.metadata.precast]`"]);
    let declared = format!(
        "[package]\nname = \"p\"\n[package.metadata.precast]\nisa = [\"{ISA}\"]\n[[package.metadata.precast.graph]]\nname \
         = \"twice\"\ninputs = [\"x: f64[?]\"]\noutputs = [\"x+x\"]\n"
    );
    place.write("Cargo.toml", declared);
    let json = place.run(&["build", "Cargo.toml", "--json"]).ok().json();
    assert_eq!(json["entries"], serde_json::json!(["twice"]));
}

#[test]
fn a_bundle_alone_is_enough() {
    let (place, expected) = Sandbox::scored();
    place.run(&["build", "--bundle", "score.precast"]).ok();
    fs_err::remove_dir_all(place.path("artifacts")).unwrap();
    let ended = place
        .run_bare(&args(&[&["run", "--entry", "score", "--bundle", "score.precast", "--json"], INPUTS]))
        .ok();
    let json = ended.json();
    assert_close(json["outputs"][0]["data"].as_f64().unwrap(), expected);
    assert_eq!(json["provenance"][0]["served"], "artifact");
    assert_eq!(json["provenance"][0]["isa"], ISA);
}

#[test]
fn inputs_match_by_name_or_position() {
    let (place, expected) = Sandbox::scored();
    place.run(&["build"]).ok();
    let run = [
        "run",
        "--entry",
        "score",
        "--store",
        "artifacts",
        "-i",
        "2=z.npy",
        "-i",
        "x=x.npy",
        "-i",
        "1=y.npy",
    ];
    place.run_bare(&args(&[&run, &["-o", "0=out.npy"]])).ok();
    assert_close(place.read_npy::<f64>("out.npy").sum(), expected);
}

#[test]
fn a_declared_op_serves_expressions_op_by_op() {
    let (place, _) = Sandbox::scored();
    place.run(&["build"]).ok();
    place.npy("a.npy", &[2, 3], vec![1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0]);
    place.npy("b.npy", &[2, 1], vec![10.0_f32, 20.0]);
    let run = ["run", "--expr", "a + b + a", "-i", "a=a.npy", "-i", "b=b.npy", "--store", "artifacts"];
    let ended = place.run_bare(&args(&[&run, &["--policy", "strict", "-v"]])).ok();
    assert_eq!(ended.out, "out: f32[2, 3]\n[[12.0, 14.0, 16.0],\n [28.0, 30.0, 32.0]]\n");
    assert_eq!(ended.err.matches("served by key").count(), 2, "{}", ended.err);
}

#[test]
fn timings_list_each_compiled_unit() {
    let (place, _) = Sandbox::scored();
    place.run(&["build", "--timings", "times.html"]).ok();
    let page = fs_err::read_to_string(place.path("times.html")).unwrap();
    let units = page.matches("<rect ").count();
    assert!(units > 0 && page.matches("<tr><td>").count() == units, "{page}");
    // Nothing is compiled again.
    place.run(&["build", "--timings", "again.html"]).ok();
    assert!(fs_err::read_to_string(place.path("again.html")).unwrap().contains("0 units took"));
}

#[test]
fn second_build_compiles_nothing() {
    let (place, _) = Sandbox::scored();
    let first = place.run(&["build", "--json", "--bundle", "1.precast"]).ok().json();
    let second = place.run(&["build", "--json", "--bundle", "2.precast", "-j", "1"]).ok().json();
    assert_eq!((&first["hits"], &second["compiled"]), (&0.into(), &0.into()));
    assert_eq!(first["artifacts"], second["hits"]);
    assert_eq!(first["entries"], serde_json::json!(["score"]));
    assert_eq!(
        fs_err::read(place.path("1.precast")).unwrap(),
        fs_err::read(place.path("2.precast")).unwrap()
    );
}

#[test]
fn two_processes_build_one_store_at_once() {
    let (place, expected) = Sandbox::scored();
    let start = |bundle: &str| {
        let mut command = place.command(["build", "--store", "cache", "--bundle", bundle]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let both = [start("1.precast"), start("2.precast")];
    for child in both {
        Ended::of(child.wait_with_output().unwrap()).ok();
    }
    assert_eq!(
        fs_err::read(place.path("1.precast")).unwrap(),
        fs_err::read(place.path("2.precast")).unwrap()
    );
    place.run_bare(&["doctor", "--verify", "--store", "cache"]).ok();
    let ended =
        place.run_bare(&args(&[&["run", "--entry", "score", "--store", "cache", "--json"], INPUTS])).ok();
    assert_close(ended.json()["outputs"][0]["data"].as_f64().unwrap(), expected);
}

#[test]
fn next_process_hits_jit_results() {
    let (place, _) = Sandbox::scored();
    place.npy("v.npy", &[3], vec![1.0, 4.0, 9.0]);
    let run = ["run", "--expr", "sqrt(v) * 2.0", "-i", "v=v.npy", "--json"];
    let first = place.run(&args(&[&run, &["--policy", "jit", "--writable", "fresh"]])).ok().json();
    let second = place.run_bare(&args(&[&run, &["--policy", "strict", "--store", "fresh"]])).ok().json();
    assert_eq!(first["provenance"][0]["served"], "jit");
    assert_eq!(second["provenance"][0]["served"], "artifact");
    assert_eq!(second["outputs"][0]["data"], serde_json::json!([2.0, 4.0, 6.0]));
    assert_eq!(first["outputs"], second["outputs"]);
}

#[test]
fn a_miss_under_strict_names_the_nearest() {
    let (place, _) = Sandbox::scored();
    place.run(&["build"]).ok();
    place.npy("i.npy", &[3], vec![1_i64, 2, 3]);
    let run = ["run", "--expr", "i + i", "-i", "i=i.npy", "-o", "out=out.npy", "--store", "artifacts"];
    let ended = place.run_bare(&args(&[&run, &["--policy", "strict"]]));
    ended.fails(3, &["error: miss: `add(i64", "nearest", "add(f", "dtype of input 0", "hint: "]);
    assert!(!place.path("out.npy").exists());
}

#[test]
fn jit_without_compiler_is_an_error() {
    let place = Sandbox::new();
    place.npy("x.npy", &[1], vec![1.0]);
    let run = ["run", "--expr", "exp(x)", "-i", "x=x.npy", "--policy"];
    place.run_bare(&args(&[&run, &["jit"]])).fails(1, &["compiler", "hint: install one"]);
    place.run_bare(&args(&[&run, &["strict"]])).fails(3, &["miss"]);
    let ended = place.run_bare(&args(&[&run, &["interpret"]])).ok();
    assert!(ended.out.starts_with("out: f64[1]\n[2.71828182845904"), "{}", ended.out);
}

#[test]
fn several_outputs_are_written_and_printed() {
    let place = Sandbox::new();
    place.npy("x.npy", &[4], vec![3_i64, 1, 4, 1]);
    let run =
        ["run", "--expr", "top = max(x)", "--expr", "twice = x + x", "-i", "x=x.npy", "-o", "twice=t.npy"];
    let ended = place.run_bare(&args(&[&run, &["--policy", "interpret"]])).ok();
    assert_eq!(ended.out, "top: i64[] = 4\n");
    assert_eq!(place.read_npy::<i64>("t.npy").into_raw_vec_and_offset().0, [6, 2, 8, 2]);
}

#[test]
fn closed_pipe_is_not_an_error() {
    let place = Sandbox::new();
    place.npy("x.npy", &[64], vec![1.0; 64]);
    let mut command = place.command(["run", "--expr", "x", "-i", "x=x.npy", "--policy", "interpret"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let ended = Ended::of(child.wait_with_output().unwrap()).ok();
    assert_eq!(ended.err, "");
}

#[cfg(unix)]
#[test]
fn paths_may_be_invalid_utf8() {
    use std::os::unix::ffi::OsStrExt as _;
    let place = Sandbox::new();
    let name = std::ffi::OsStr::from_bytes(b"\xff.npy");
    place.npy(name, &[2], vec![1.0, 2.0]);
    let mut input = std::ffi::OsString::from("x=");
    input.push(name);
    let mut output = std::ffi::OsString::from("out=");
    output.push(std::ffi::OsStr::from_bytes(b"\xfe.npy"));
    let mut command = place.command(["run", "--expr", "x+x", "--policy", "interpret", "-i"]);
    command.arg(input).arg("-o").arg(output);
    Ended::of(command.output().unwrap()).ok();
    assert!(place.path(std::ffi::OsStr::from_bytes(b"\xfe.npy")).exists());
}

#[test]
fn cargo_precast_is_the_same_command() {
    let place = Sandbox::new();
    place.npy("x.npy", &[2], vec![1.0, 2.0]);
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_cargo-precast"));
    command.args(["precast", "run", "--expr", "x+x", "--policy", "interpret", "-i", "x=x.npy"]);
    let ended = Ended::of(command.current_dir(place.path("")).output().unwrap()).ok();
    assert_eq!(ended.out, "out: f64[2]\n[2.0, 4.0]\n");
}
