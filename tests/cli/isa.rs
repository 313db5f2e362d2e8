//! `PRECAST_ISA_LIMIT`: the variant that is loaded, and the error if none may be loaded.

use precast_compile::Isa;
use serde_json::json;

use crate::sandbox::{Ended, INPUTS, Sandbox, args};

const LEVELS: [Isa; 4] = [Isa::X86_64, Isa::X86_64V2, Isa::X86_64V3, Isa::X86_64V4];

fn limited(place: &Sandbox, limit: &str, arguments: &[&str]) -> Ended {
    Ended::of(place.command(arguments).env("PRECAST_ISA_LIMIT", limit).output().unwrap())
}

/// Creates a place with a bundle of these levels.
fn built(levels: &[Isa]) -> Sandbox {
    let (place, _) = Sandbox::scored();
    let levels = levels.iter().map(|level| level.name()).collect::<Vec<_>>().join(",");
    place.run(&["build", "--isa", &levels, "--bundle", "score.precast"]).ok();
    place
}

#[test]
fn best_variant_within_limit_has_equal_bits() {
    let Some(own) = Isa::native().filter(|isa| isa.arch() == "x86_64") else {
        return println!("skipped: this CPU has one ISA level");
    };
    let place = built(&LEVELS);
    let (entry, bundle) = (["--entry", "score"], ["--bundle", "score.precast"]);
    let mut results = Vec::new();
    for limit in LEVELS {
        let expected = limit.min(own);
        let check = args(&[&["check", "--json"], &entry, &bundle]);
        let told = limited(&place, limit.name(), &check).ok().json();
        assert_eq!(told["isa"], json!([expected.name()]), "{limit}");
        let text = limited(&place, limit.name(), &args(&[&["check"], &entry, &bundle])).ok().out;
        assert!(text.ends_with(&format!(", for {expected}\n")), "{text}");
        let run = args(&[&["run", "--json", "--policy", "strict"], &entry, &bundle, INPUTS]);
        let told = limited(&place, limit.name(), &run).ok().json();
        assert_eq!(told["provenance"][0]["isa"], expected.name(), "{limit}");
        results.push(told["outputs"].to_string());
        let doctor = limited(&place, limit.name(), &["doctor", "--json"]).ok().json();
        assert_eq!((&doctor["isa"], &doctor["isa_limit"]), (&json!(expected.name()), &json!(limit.name())));
    }
    results.dedup();
    assert_eq!(results.len(), 1, "every level gives the same bits");
}

#[test]
fn nothing_above_the_limit_is_compiled_or_loaded() {
    if Isa::native().is_none_or(|own| own < Isa::X86_64V3 || own == Isa::Aarch64) {
        return println!("skipped: this CPU has no level above another");
    }
    let place = built(&[Isa::X86_64V3]);
    let entry = ["--entry", "score", "--bundle", "score.precast"];
    let miss = limited(&place, "x86-64-v2", &args(&[&["explain", "--json"], &entry])).ok().json();
    let reasons = miss["segments"][0]["reasons"].as_array().unwrap();
    assert!(reasons.iter().all(|reason| reason["reason"] == "inadmissible"), "{miss:#}");
    for (policy, code) in [("strict", 3), ("interpret", 0), ("jit", 0), ("tiered", 0)] {
        let run = args(&[&["run", "--json", "--policy", policy], &entry, INPUTS]);
        let ended = limited(&place, "x86-64-v2", &run);
        assert_eq!(ended.code, code, "{policy}: {}", ended.err);
        if ["jit", "tiered"].contains(&policy) {
            assert_eq!(ended.json()["provenance"][0]["isa"], "x86-64-v2", "{policy}");
        }
    }
}

#[test]
fn invalid_limit_is_an_error_on_load() {
    let (place, _) = Sandbox::scored();
    let asks: [&[&str]; 4] = [
        &["check", "--expr", "x+x", "--type", "x=f64[?]"],
        &["explain", "--expr", "x+x", "--type", "x=f64[?]"],
        &["run", "--expr", "x+x", "-i", "x=x.npy", "--policy", "interpret"],
        &["doctor"],
    ];
    for ask in asks {
        limited(&place, "avx9", ask).fails(1, &["unknown ISA level `avx9`", "hint: set it to one of `"]);
        limited(&place, "", ask);
    }
    // Another variable selects the levels of a build.
    limited(&place, "avx9", &["ops"]).ok();
}
