//! ISA levels of a deployed program: from a bundle with all levels it loads the best one that its CPU and
//! `PRECAST_ISA_LIMIT` allow. The limit simulates a CPU without a feature, so no instruction above the limit is ever
//! executed.

use crate::compiled::{levels, toolchain, variant};
use crate::graphs::{score, values};
use crate::process::{self, answer, bare};
use precast::{ArrayRef, CodeOrigin, Loader};
use precast_build::{Declared, Execution, SourceLocation, execute, plan};
use precast_compile::Isa;

use precast_graph::interpret;
use precast_store::event::chain;
use std::path::Path;

/// Writes a bundle of the graph `score` for every level, including levels that this CPU cannot run.
fn deploy(place: &Path) {
    let mut declared = Declared::default();
    declared.graph("score", score(), SourceLocation::in_file(Path::new("precast.toml"))).unwrap();
    let own = levels()[0].arch();
    let all: Vec<_> = Isa::ALL.iter().filter(|isa| isa.arch() == own).map(|isa| variant(*isa)).collect();
    let (plan, toolchain) = (plan(&declared).unwrap(), toolchain());
    let execution = Execution::new(&toolchain, &all);
    let executed = execute(&plan, &execution).unwrap();
    fs_err::write(place.join("bundle"), executed.bundle(&toolchain).unwrap()).unwrap();
}

/// Runs a program that has only a bundle.
pub(crate) fn role(place: &Path) -> String {
    let loader = Loader::open(place.join("bundle")).unwrap();
    let function = match loader.entry("score") {
        Ok(function) => function,
        Err(error) => return chain(&error),
    };
    let inputs = values(3, 1000);
    let results = function.call(&inputs.iter().map(ArrayRef::from).collect::<Vec<_>>()).unwrap();
    assert_eq!(results, interpret(&score(), &inputs).unwrap());
    match &function.provenance()[0].served {
        CodeOrigin::Artifact { isa, .. } => isa.clone(),
        other => format!("{other:?}"),
    }
}

#[test]
fn each_limit_loads_the_best_variant_below_it() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    deploy(place);
    let limited = |limit: &str| {
        let mut command = bare(process::role("isa", place));
        command.env("PRECAST_ISA_LIMIT", limit);
        answer(command, place)
    };
    let own = levels();
    let best = own.last().unwrap();
    for level in Isa::ALL.iter().filter(|isa| isa.arch() == best.arch()) {
        assert_eq!(limited(level.name()), level.min(best).name());
    }
    assert_eq!(limited(""), best.name());
    let refused = limited("x86-64-v9");
    assert!(
        refused.starts_with(
            "cannot load entry `score`: invalid `PRECAST_ISA_LIMIT`: unknown ISA level `x86-64-v9`"
        ),
        "{refused}"
    );
    assert!(refused.contains("\nhint: set it to one of `"), "{refused}");
}
