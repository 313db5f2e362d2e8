//! Commands that load no code.

use crate::sandbox::{ISA, SCORE, Sandbox, args};

#[test]
fn ls_lists_entries_then_modules() {
    let (place, _) = Sandbox::scored();
    place.run(&["build", "--bundle", "score.precast"]).ok();
    for layer in [&[][..], &["--store", "artifacts"], &["--bundle", "score.precast"]] {
        let ended = place.run_bare(&args(&[&["ls"], layer])).ok();
        let entry = ended.out.find("(x: f64[?], y: f64[?], z: f64[?]) -> out: f64[]").unwrap();
        assert!(entry < ended.out.find("add(f32").unwrap(), "{}", ended.out);
        let json = place.run_bare(&args(&[&["ls", "--json"], layer])).ok().json();
        assert_eq!(json["entries"][0]["name"], "score");
        let filtered =
            place.run_bare(&args(&[&["ls", "--json", "--signature", "add(f32*)"], layer])).ok().json();
        let signatures: Vec<&str> = filtered["modules"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|module| module["signature"].as_str())
            .collect();
        assert!(
            !signatures.is_empty() && signatures.iter().all(|signature| signature.starts_with("add(f32"))
        );
    }
}

#[test]
fn ls_without_layers_has_a_hint() {
    Sandbox::new()
        .run_bare(&["ls"])
        .fails(1, &["no store or bundle", "hint: name a store or bundle with `--store DIR`"]);
}

#[test]
fn miss_without_layers_has_a_hint() {
    let (place, _) = Sandbox::scored();
    let run = |arguments: &[&str]| {
        let run = ["run", "--policy", "strict", "-i", "x=x.npy"];
        place.run(&args(&[&run, arguments])).fails(3, &["error: "]).err
    };
    let graph = ["--expr", "exp(x)"];
    for told in [run(&graph), run(&["--entry", "score"])] {
        assert!(told.contains("`--store DIR` or `--bundle FILE`"), "{told}");
    }
    let check = ["check", "--expr", "exp(x)", "--type", "x=f64[?]"];
    place.run(&check).fails(3, &["name a store or bundle with `--store DIR`"]);
    place.run(&["build", "--store", "store"]).ok();
    let named = run(&args(&[&graph, &["--store", "store"]]));
    assert!(!named.contains("--bundle FILE"), "{named}");
}

#[test]
fn show_finds_a_module_by_key_prefix() {
    let (place, _) = Sandbox::scored();
    place.run(&["build"]).ok();
    let entry = place.run_bare(&["show", "score", "--json"]).ok().json();
    let key = entry["program"][0].as_str().unwrap();
    let module = place.run_bare(&["show", &key[..12], "--json"]).ok().json();
    assert_eq!(module["key"], *key);
    assert_eq!(module["variants"][0]["record"]["isa"], ISA);
    let text = place.run_bare(&["show", &key[..12]]).ok().out;
    assert!(
        text.contains("PC_MODULE") && text.contains(&format!("requires  {} ", std::env::consts::ARCH)),
        "{text}"
    );
    let source = place.run_bare(&["show", key, "--source"]).ok().out;
    assert!(source.contains(&format!("m{}_entry", &key[..16])), "{source}");
}

#[test]
fn show_describes_the_native_function() {
    let place = Sandbox::new();
    let graph = |name: &str, input: &str, serve: &str| {
        format!(
            "[[graph]]\nname = {name:?}\ninputs = [{input:?}]\noutputs = [\"exp(-x*x)*0.5\"]\nserve = [{serve:?}]\n"
        )
    };
    let graphs = [("gauss", "x: f64", "whole"), ("array", "x: f64[?]", "whole"), ("parts", "x: f64", "ops")];
    let graphs = graphs.map(|(name, input, serve)| graph(name, input, serve));
    place.write("precast.toml", format!("isa = [{ISA:?}]\n{}", graphs.concat()));
    place.run(&["build"]).ok();
    for (name, told) in [
        ("gauss", "native      d)d~\n"),
        ("array", "native      none: `input 0` is `f64[..]`, expected a C scalar\n"),
        ("parts", "native      none: the graph is computed by 4 modules, expected one\n"),
    ] {
        let shown = place.run_bare(&["show", name]).ok().out;
        assert!(shown.contains(told), "{shown}");
        let json = place.run_bare(&["show", name, "--json"]).ok().json();
        assert_eq!(json["native"].as_str(), (name == "gauss").then_some("d)d~"));
    }
}

#[test]
fn show_rejects_unknown_and_ambiguous_keys() {
    let (place, _) = Sandbox::scored();
    place.run(&["build"]).ok();
    place.run_bare(&["show", "nothing"]).fails(1, &["`nothing`", "hint: run `precast ls`"]);
    place.run_bare(&["show", ""]).fails(1, &["hint: run `precast ls`"]);
    // An entry stands for its modules; a bundle does not contain their C.
    assert!(place.run_bare(&["show", "score", "--source"]).ok().out.contains("#include"));
    place.run(&["build", "--bundle", "score.precast"]).ok();
    let source = ["show", "score", "--source", "--bundle", "score.precast"];
    place.run_bare(&source).fails(1, &["bundles do not contain C"]);
}

#[test]
fn check_exit_code_tells_hit_from_miss() {
    let (place, _) = Sandbox::scored();
    place.run(&["build", "--bundle", "score.precast"]).ok();
    let hits: [&[&str]; 3] =
        [SCORE, &["--entry", "score"], &["--expr", "a+b", "--type", "a=f32[?]", "--type", "b=f32[?]"]];
    for hit in hits {
        let ended = place.run_bare(&args(&[&["check", "--bundle", "score.precast"], hit])).ok();
        assert!(ended.out.starts_with("hit: "), "{}", ended.out);
    }
    let misses: [&[&str]; 2] =
        [&["--expr", "a-a", "--type", "a=f32[?]"], &["--expr", "a+a", "--type", "a=i64[?]"]];
    for miss in misses {
        let ended = place.run_bare(&args(&[&["check", "--store", "artifacts"], miss])).fails(3, &[]);
        assert!(ended.out.starts_with("miss: `"), "{}", ended.out);
    }
    place.run_bare(&["check", "--store", "artifacts", "--entry", "scare"]).fails(3, &["`scare`", "`score`"]);
}

#[test]
fn explain_lists_differences_from_the_nearest() {
    let (place, _) = Sandbox::scored();
    place.run(&["build"]).ok();
    let arguments =
        ["explain", "--store", "artifacts", "--expr", "a+b", "--type", "a=i64[?]", "--type", "b=i64[?]"];
    let json = place.run_bare(&args(&[&arguments, &["--json"]])).ok().json();
    assert_eq!(json["hit"], false);
    let nearest = &json["segments"][0]["reasons"][0];
    assert_eq!(nearest["reason"], "nearest");
    assert!(nearest["signature"].as_str().unwrap().starts_with("add(f"), "{json:#}");
    assert!(!nearest["differences"].as_array().unwrap().is_empty(), "{json:#}");
}

#[test]
fn doctor_reports_the_compiler() {
    let (place, _) = Sandbox::scored();
    place.run(&["build"]).ok();
    let with = place.run(&["doctor", "--json"]).ok().json();
    assert_eq!((&with["compiler"]["found"], &with["policies"][2]), (&true.into(), &"jit".into()));
    assert_eq!(with["layers"][0]["entries"], 1);
    let without = place.run_bare(&["doctor", "--json"]).ok().json();
    assert_eq!(without["compiler"]["found"], false);
    assert_eq!(without["policies"], serde_json::json!(["strict", "interpret"]));
    assert!(place.run_bare(&["doctor"]).ok().hints() > 0);
}

#[test]
fn show_lists_passes_and_their_results() {
    let place = Sandbox::new();
    let listed = place.run_bare(&["show", "--passes", "--json"]).ok().json();
    let names: Vec<&str> =
        listed.as_array().unwrap().iter().filter_map(|pass| pass["name"].as_str()).collect();
    let known = "simplify merge constant_fold copy_outputs copy_overwritten order small_graphs fuse row_programs normalise inplace";
    assert_eq!(names.join(" "), known);
    let text = place.run_bare(&["show", "--passes"]).ok().out;
    assert!(known.split(' ').all(|name| text.contains(name)), "{text}");
    let graph = ["--expr", "exp(x)*exp(x) + 1", "--type", "x=f64[?]"];
    let text = place.run_bare(&args(&[&["show", "--passes"], &graph])).ok().out;
    for part in ["declared", "merge         4 to 3 applies", "fuse          3 to 1 apply\n", "composite{"] {
        assert!(text.contains(part), "`{part}` in {text}");
    }
    let without = place.run_bare(&args(&[&["show", "--passes=all,-fuse", "--json"], &graph])).ok().json();
    let passes = without["passes"].as_array().unwrap();
    assert!(passes.iter().all(|pass| pass["name"] != "fuse"));
    assert_eq!(passes.last().unwrap()["applies"], 3);
    let (scored, _) = Sandbox::scored();
    scored.run(&["build"]).ok();
    assert!(scored.run_bare(&["show", "score", "--passes"]).ok().out.contains("fuse"));
    place.run_bare(&["show", "--passes=fusion"]).fails(2, &["unknown pass `fusion`"]);
}

#[test]
fn graph_serves_requests_with_equal_passes() {
    let (place, _) = Sandbox::scored();
    place.run(&["build", "--passes", "all,-fuse"]).ok();
    let alike: &[&str] = &["check", "--store", "artifacts", "--entry", "score", "--passes"];
    let ended = place.run_bare(&args(&[alike, &["all,-fuse"]])).ok();
    assert!(ended.out.starts_with("hit: "), "{}", ended.out);
    let explained = place.run_bare(&args(&[&["explain"], &alike[1..], &["all,-fuse", "--json"]])).ok().json();
    assert!(!explained.to_string().contains("composite"), "{explained}");
    place.run_bare(&["check", "--store", "artifacts", "--entry", "score"]).fails(3, &[]);
    place.run_bare(&args(&[alike, &["all,-fusion"]])).fails(2, &["unknown pass `fusion`"]);
}
