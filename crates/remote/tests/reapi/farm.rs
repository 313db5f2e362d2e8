//! Compilers on a farm.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use precast_build::{ExecuteError, Manifest, Plan};
use precast_compile::{CompileError, Toolchain};
use precast_remote::Patience;
use precast_remote::reapi::{Access, Farm};
use precast_store::Store;
use precast_store::key::Language;
use precast_testkit::compiler::{clang, toolchain};
use precast_testkit::farm::{Code, Faults, Server};

use super::{build, declared, farm, local, on_farm, patience, small};

#[test]
fn farm_and_local_bytes_are_equal() {
    let (server, plan) = (Server::start(), small());
    let (farm, toolchain) = on_farm(&server);
    let (here, there) = (local(&plan), build(&plan, None, None, &toolchain).unwrap());
    assert_eq!(there.artifacts, here.artifacts);
    let units = plan.units.len() as u64;
    assert_eq!((farm.report().ran, farm.report().known, farm.report().repetitions()), (units, 0, None));
    // Other clients that compile the same units find the results.
    let (farm, toolchain) = on_farm(&server);
    assert_eq!(build(&plan, None, None, &toolchain).unwrap().artifacts, here.artifacts);
    assert_eq!((farm.report().ran, farm.report().known), (0, units));
    // A worker receives no path of this machine except its compiler's.
    for command in &server.state().commands {
        let mut arguments = command.arguments.iter().skip(1);
        assert!(command.arguments[0] == "sha256sum" || arguments.all(|argument| !argument.starts_with('/')));
    }
}

#[test]
#[allow(deprecated, reason = "servers of versions before 2.2 look for properties here")]
fn workers_are_chosen_by_toolchain_and_properties() {
    let (server, plan) = (Server::start(), small());
    let image = ("container-image".to_owned(), "docker://example.org/gcc@sha256:0".to_owned());
    let (url, access) = (server.url.parse().unwrap(), Access::default());
    let farm = Farm::new(url, &access, patience(), vec![image.clone()]).unwrap();
    build(&plan, None, None, &toolchain().running_on(Arc::new(farm))).unwrap();
    let id = toolchain().id(Language::C).unwrap().to_string();
    let asked = [image, ("precast-toolchain".to_owned(), id)];
    let state = server.state();
    assert_eq!(state.commands.len(), plan.units.len() + 1);
    for command in &state.commands {
        let properties = &command.platform.as_ref().unwrap().properties;
        let properties: Vec<_> =
            properties.iter().map(|property| (property.name.clone(), property.value.clone())).collect();
        assert_eq!(properties, asked);
    }
}

#[test]
fn retries_are_reported() {
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
            "unavailable",
        ),
        (
            Faults { refuse: [("find missing", (Code::Unavailable, 2))].into(), ..Faults::default() },
            "unavailable",
        ),
        (
            Faults { refuse: [("find missing", (Code::DeadlineExceeded, 2))].into(), ..Faults::default() },
            "timed out",
        ),
        (Faults { kill: units, ..Faults::default() }, "interrupted"),
        (Faults { leave: units, ..Faults::default() }, "interrupted stream"),
        (Faults { leave: 1, forget: true, ..Faults::default() }, "interrupted"),
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
fn lost_results_are_compiled_again() {
    let (server, plan) = (Server::start(), small());
    let (_, toolchain) = on_farm(&server);
    let here = build(&plan, None, None, &toolchain).unwrap();
    // The results stay, but all blobs that they refer to are gone, and so are the inputs.
    server.state().blobs.clear();
    let there = build(&plan, None, None, &toolchain).unwrap();
    assert_eq!(there.artifacts, here.artifacts);
}

#[test]
fn worker_with_other_tools_compiles_nothing() {
    let (server, plan) = (Server::start(), small());
    server.faults(Faults { other_tools: true, ..Faults::default() });
    let (farm, toolchain) = on_farm(&server);
    let error = build(&plan, None, None, &toolchain).unwrap_err().to_string();
    assert!(
        error.contains("has a different toolchain: `/")
            && error.contains("hint: give workers with the property"),
        "{error}"
    );
    assert_eq!((farm.report().ran, server.state().calls["execute"]), (0, 1));
}

#[test]
fn compiler_output_is_returned() {
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
fn unreachable_farm_fails_without_partial_publish() {
    let (server, plan) = (Server::start(), small());
    let directory = tempfile::tempdir().unwrap();
    let store = Store::create(directory.path()).unwrap();
    server
        .faults(Faults { refuse: [("execute", (Code::Unavailable, u32::MAX))].into(), ..Faults::default() });
    let (_, toolchain) = on_farm(&server);
    let start = Instant::now();
    let Err(ExecuteError::Compile { failures }) = build(&plan, Some(&store), None, &toolchain) else {
        panic!("an error")
    };
    assert!(start.elapsed() < Duration::from_secs(20));
    assert_eq!(failures.len(), plan.units.len());
    assert!(failures.iter().all(|failure| matches!(failure.error, CompileError::Elsewhere { .. })));
    assert!(failures[0].to_string().contains("hint: build again when the farm is back"), "{}", failures[0]);
    assert!(store.records().next().is_none() && store.verify().unwrap().is_intact());
    // The server recovers.
    server.faults(Faults::default());
    let (_, toolchain) = on_farm(&server);
    assert_eq!(build(&plan, Some(&store), None, &toolchain).unwrap().artifacts, local(&plan).artifacts);
}

/// Returns a plan of two ops in C++ and a graph in C. One op includes system headers, so its unit is sent
/// preprocessed.
fn in_cpp(directory: &Path) -> Plan {
    let write = |name: &str, text: &str| {
        let path = directory.join(name);
        fs_err::write(&path, text).unwrap();
        path
    };
    write(
        "twice.cc",
        "#section code\n{ auto twice = [](double v) { return v + v; };\nOUTPUT_0 = twice(INPUT_0); }\n",
    );
    write("most.cc", "#section code\nOUTPUT_0 = std::max(INPUT_0, 2.0);\n");
    let op = |name: &str, more: &str| {
        format!(
            "[[external]]\nname = \"{name}\"\nfiles = [\"{name}.cc\"]\ninputs = [\"f64\"]\noutputs = [\"f64\"]\n{more}\n"
        )
    };
    let ops = op("twice", "") + &op("most", "headers = [\"<algorithm>\"]\n");
    let graph = "[[graph]]\nname = \"score\"\ninputs = [\"x: f64[?]\"]\noutputs = [\"sum(exp(x))\"]\n";
    declared(Manifest::read(&write("precast.toml", &(ops + graph))).unwrap())
}

#[test]
fn farm_compiles_cxx_and_clang_units() {
    let directory = tempfile::tempdir().unwrap();
    let plan = in_cpp(directory.path());
    let clang = clang();
    if clang.is_none() {
        eprintln!("skipped: units of clang on a farm: there is no clang");
    }
    for (toolchain, compiler) in [(Some(toolchain()), "g++"), (clang, "clang")] {
        let Some(toolchain) = toolchain else { continue };
        let server = Server::start();
        let here = build(&plan, None, None, &toolchain).unwrap();
        let farm = farm(&server);
        let there = build(&plan, None, None, &toolchain.running_on(farm.clone())).unwrap();
        assert_eq!(there.artifacts, here.artifacts, "{compiler}");
        assert_eq!(farm.report().ran, plan.units.len() as u64);
        let state = server.state();
        let programs: Vec<&str> = state.commands.iter().map(|command| &*command.arguments[0]).collect();
        // Each language has its own toolchain, which is checked.
        assert_eq!(programs.iter().filter(|program| **program == "sha256sum").count(), 2, "{programs:?}");
        assert!(programs.iter().any(|program| program.contains("++")), "{programs:?}");
    }
}

#[test]
fn silent_farm_is_awaited_within_patience() {
    let (server, plan) = (Server::start(), small());
    server.faults(Faults { silent: Some("find missing"), ..Faults::default() });
    let patience = Patience { answer: Duration::from_millis(500), tries: 2, ..patience() };
    let farm = Farm::new(server.url.parse().unwrap(), &Access::default(), patience, Vec::new()).unwrap();
    let farm = Arc::new(farm);
    let start = Instant::now();
    let error = build(&plan, None, None, &toolchain().running_on(farm.clone())).unwrap_err().to_string();
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    assert!(error.contains("cannot query missing blobs: timed out"), "{error}");
    assert!(farm.report().repetitions().unwrap().contains("timed out"));
}

#[test]
fn slow_remote_compiler_is_not_restarted() {
    let (server, plan) = (Server::start(), small());
    let (farm, toolchain) = on_farm(&server);
    build(&plan, None, None, &toolchain).unwrap();
    server.state().actions.clear();
    server.state().calls.clear();
    server.faults(Faults { late: 1, ..Faults::default() });
    let directory = tempfile::tempdir().unwrap();
    let store = Store::create(directory.path()).unwrap();
    let Err(ExecuteError::Compile { failures }) = build(&plan, Some(&store), None, &toolchain) else {
        panic!("an error")
    };
    assert_eq!(failures.len(), 1);
    assert!(matches!(failures[0].error, CompileError::Timeout { .. }), "{}", failures[0]);
    assert_eq!(server.state().calls["execute"], plan.units.len() as u32);
    assert_eq!(farm.report().repetitions(), None);
    // The remaining units are complete.
    assert_eq!(store.records().count(), plan.units.len() - 1);
    assert!(store.verify().unwrap().is_intact());
}

#[test]
fn quota_keeps_complete_results() {
    let (server, plan) = (Server::start(), small());
    let directory = tempfile::tempdir().unwrap();
    let store = Store::create(directory.path()).unwrap();
    // One action checks the toolchain.
    server.faults(Faults { quota: Some(2), ..Faults::default() });
    let (farm, toolchain) = on_farm(&server);
    let Err(ExecuteError::Compile { failures }) = build(&plan, Some(&store), None, &toolchain) else {
        panic!("an error")
    };
    assert_eq!(failures.len(), plan.units.len() - 1);
    let told = failures[0].to_string();
    assert!(
        told.contains("quota exceeded (`the quota of this month`)\nhint: build again when the farm is back"),
        "{told}"
    );
    assert!(farm.report().repetitions().unwrap().contains("quota exceeded"));
    assert_eq!(store.records().count(), 1);
    assert!(store.verify().unwrap().is_intact());
    // The quota is renewed.
    server.faults(Faults::default());
    let (farm, toolchain) = on_farm(&server);
    let built = build(&plan, Some(&store), None, &toolchain).unwrap();
    assert_eq!((built.hits, built.compiled), (1, plan.units.len() - 1));
    assert_eq!((farm.report().ran, &built.artifacts), (built.compiled as u64, &local(&plan).artifacts));
}

#[test]
fn blocking_calls_work_inside_another_runtime() {
    let (server, plan) = (Server::start(), small());
    for mut runtime in
        [tokio::runtime::Builder::new_current_thread(), tokio::runtime::Builder::new_multi_thread()]
    {
        server.state().actions.clear();
        let (farm, toolchain) = on_farm(&server);
        let units = plan.units.len();
        let cache = super::cache::cache(&server);
        let built = runtime.build().unwrap().block_on(async {
            build(&plan, None, Some(&cache), &toolchain).unwrap();
            build(&plan, None, Some(&cache), &toolchain).unwrap()
        });
        assert_eq!((farm.report().ran, built.fetched), (units as u64, units));
    }
}
