//! Compilers on a farm.

use std::time::Duration;

use precast_build::{ExecuteError, Manifest};
use precast_compile::{CompileError, Toolchain};
use precast_store::Store;
use tonic::Code;

use super::server::{Faults, Server};
use super::{build, declared, local, on_farm, small, toolchain};

#[test]
fn what_a_farm_compiles_is_what_is_compiled_here_byte_for_byte() {
    let (server, plan) = (Server::start(), small());
    let (farm, toolchain) = on_farm(&server);
    let (here, there) = (local(&plan), build(&plan, None, None, &toolchain).unwrap());
    assert_eq!(there.artifacts, here.artifacts);
    let units = plan.units.len() as u64;
    assert_eq!((farm.report().ran, farm.report().known, farm.report().repetitions()), (units, 0, None));
    // Others who compile the same find it done.
    let (farm, toolchain) = on_farm(&server);
    assert_eq!(build(&plan, None, None, &toolchain).unwrap().artifacts, here.artifacts);
    assert_eq!((farm.report().ran, farm.report().known), (0, units));
    // No path of this machine is asked of a worker but its compiler's.
    for command in &server.state().commands {
        let mut arguments = command.arguments.iter().skip(1);
        assert!(command.arguments[0] == "sha256sum" || arguments.all(|argument| !argument.starts_with('/')));
    }
}

#[test]
fn what_passes_is_repeated_and_told() {
    let (server, plan) = (Server::start(), small());
    let here = local(&plan);
    let units = plan.units.len() as u32;
    for (faults, reason) in [
        (
            Faults { refuse: [("execute", (Code::ResourceExhausted, units))].into(), ..Faults::default() },
            "quota",
        ),
        (
            Faults { refuse: [("execute", (Code::Unavailable, units))].into(), ..Faults::default() },
            "reachable",
        ),
        (
            Faults { refuse: [("find missing", (Code::Unavailable, 2))].into(), ..Faults::default() },
            "reachable",
        ),
        (Faults { kill: units, ..Faults::default() }, "broken off"),
        (Faults { leave: units, ..Faults::default() }, "stream was cut"),
        (Faults { leave: 1, forget: true, ..Faults::default() }, "broken off"),
        (Faults { lie: 1, ..Faults::default() }, "damaged"),
        (
            Faults { refuse: [("execute", (Code::FailedPrecondition, 1))].into(), ..Faults::default() },
            "inputs",
        ),
    ] {
        server.state().actions.clear();
        server.faults(faults.clone());
        let (farm, toolchain) = on_farm(&server);
        let there =
            build(&plan, None, None, &toolchain).unwrap_or_else(|error| panic!("{faults:?}: {error}"));
        assert_eq!(there.artifacts, here.artifacts, "{faults:?}");
        let told = farm.report().repetitions().unwrap_or_default();
        assert!(told.contains(reason), "{faults:?}: {told}");
    }
}

#[test]
fn results_that_the_farm_has_lost_are_made_anew() {
    let (server, plan) = (Server::start(), small());
    let (_, toolchain) = on_farm(&server);
    let here = build(&plan, None, None, &toolchain).unwrap();
    // The results stay, and all that they speak of is gone, with the inputs.
    server.state().blobs.clear();
    let there = build(&plan, None, None, &toolchain).unwrap();
    assert_eq!(there.artifacts, here.artifacts);
}

#[test]
fn a_worker_with_other_tools_compiles_nothing() {
    let (server, plan) = (Server::start(), small());
    server.faults(Faults { other_tools: true, ..Faults::default() });
    let (farm, toolchain) = on_farm(&server);
    let error = build(&plan, None, None, &toolchain).unwrap_err().to_string();
    assert!(error.contains("is another: `/") && error.contains("hint: workers with the property"), "{error}");
    assert_eq!((farm.report().ran, server.state().calls["execute"]), (0, 1));
}

#[test]
fn what_the_compiler_says_comes_back() {
    let server = Server::start();
    let directory = tempfile::tempdir().unwrap();
    fs_err::write(directory.path().join("broken.c"), "#section code\nOUTPUT_0 = INPUT_0 this is no C;\n")
        .unwrap();
    let path = directory.path().join("precast.toml");
    let text =
        "[[external]]\nname = \"broken\"\nfiles = [\"broken.c\"]\ninputs = [\"f64\"]\noutputs = [\"f64\"]\n";
    fs_err::write(&path, text).unwrap();
    let plan = declared(Manifest::read(&path).unwrap());
    let said = |toolchain: &Toolchain| build(&plan, None, None, toolchain).unwrap_err().to_string();
    let there = said(&on_farm(&server).1);
    assert_eq!(there, said(&toolchain()));
    assert!(there.contains("this is no C") || there.contains("error"), "{there}");
}

#[test]
fn a_farm_that_is_away_fails_the_build_soon_and_publishes_nothing_by_halves() {
    let (server, plan) = (Server::start(), small());
    let directory = tempfile::tempdir().unwrap();
    let store = Store::create(directory.path()).unwrap();
    server
        .faults(Faults { refuse: [("execute", (Code::Unavailable, u32::MAX))].into(), ..Faults::default() });
    let (_, toolchain) = on_farm(&server);
    let start = std::time::Instant::now();
    let Err(ExecuteError::Compile { failures }) = build(&plan, Some(&store), None, &toolchain) else {
        panic!("an error")
    };
    assert!(start.elapsed() < Duration::from_secs(20));
    assert_eq!(failures.len(), plan.units.len());
    assert!(failures.iter().all(|failure| matches!(failure.error, CompileError::Elsewhere { .. })));
    assert!(failures[0].to_string().contains("hint: what was compiled is published"), "{}", failures[0]);
    assert!(store.records().next().is_none() && store.verify().unwrap().is_intact());
    // It comes back.
    server.faults(Faults::default());
    let (_, toolchain) = on_farm(&server);
    assert_eq!(build(&plan, Some(&store), None, &toolchain).unwrap().artifacts, local(&plan).artifacts);
}
