//! gdb stops at breakpoints on names of ops and shows the generated C, and perf names ops
//! (`crates/cli/DEBUGGING.md`).

use crate::sandbox::Sandbox;
use object::{Object as _, ObjectSymbol as _};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

const COMMANDS: &str = "\
set breakpoint pending on
set debuginfod enabled off
set substitute-path /precast src
break precast_op_exp
run
up
list
";

/// Returns the output of gdb for a run of an entry in a place with some commands, or the reason why gdb cannot run.
/// Modules are loaded from memory, or from files for profilers.
fn debugged(
    place: &Sandbox,
    commands: &str,
    run: &[&str],
    profiling: Option<&str>,
) -> Result<String, &'static str> {
    let Ok(gdb) = Command::new("gdb").arg("--version").output() else {
        return Err("no `gdb` here");
    };
    assert!(gdb.status.success());
    place.write("commands", commands);
    let precast = place.command([&["run", "--store", "s", "--policy", "strict"], run].concat());
    let output = Command::new("gdb")
        .envs(profiling.map(|directory| ("PRECAST_PROFILING", place.path(directory))))
        .args(["-q", "-batch", "-x", "commands", "--args"])
        .arg(precast.get_program())
        .args(precast.get_args())
        .current_dir(place.path("."))
        .env_remove("DEBUGINFOD_URLS")
        .output()
        .unwrap();
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    if text.contains("ptrace") && text.contains("not permitted") {
        return Err("this host forbids ptrace");
    }
    Ok(text)
}

#[test]
fn breakpoint_on_op_stops_in_generated_c() {
    let place = Sandbox::new();
    place.npy("x.npy", &[3], vec![0.0, 1.0, 2.0]);
    place.write(
        "precast.toml",
        "[[graph]]\nname = \"score\"\ninputs = [\"x: f64[?]\"]\noutputs = [\"sum(exp(-x*x))\"]\n",
    );
    place.run(&["build", "--debug-info", "--store", "s"]).ok();
    let entry: serde_json::Value =
        serde_json::from_str(&place.run(&["show", "score", "--store", "s", "--json"]).ok().out).unwrap();
    place.run(&["show", entry["program"][0].as_str().unwrap(), "--store", "s", "--extract", "src"]).ok();
    assert!(place.path("src/unit.c").is_file());
    let text = match debugged(&place, COMMANDS, &["--debug-info", "--entry", "score", "-i", "x=x.npy"], None)
    {
        Ok(text) => text,
        Err(why) => return println!("skipped: {why}"),
    };
    for part in ["Breakpoint 1, precast_op_exp", "_body (pc_self=", "precast_op_exp();"] {
        assert!(text.contains(part), "`{part}` is not in:\n{text}");
    }
}

#[test]
fn breakpoint_on_own_op_stops_in_its_c() {
    let place = Sandbox::new();
    place.npy("n.npy", &[], vec![2.0]);
    let graph =
        "[[graph]]\nname = \"g\"\ninputs = [\"n: f64[]\"]\noutputs = [\"exp(thrice(n)) + thrice(1)\"]\n";
    let op =
        "[[external]]\nname = \"thrice\"\nfiles = [\"thrice.c\"]\ninputs = [\"f64\"]\noutputs = [\"f64\"]\n";
    place.write("precast.toml", format!("{op}{graph}"));
    place.write("thrice.c", "#section code\ndouble half = INPUT_0 / 2;\nOUTPUT_0 = 6 * half;\n");
    place.run(&["build", "--debug-info", "--store", "s"]).ok();
    let commands = COMMANDS.replace("precast_op_exp", "precast_op_thrice").replace("list\n", "");
    let commands = commands + "continue\nup\nbreak thrice.c:3\ncontinue\nprint half\n";
    let text = match debugged(&place, &commands, &["--debug-info", "--entry", "g", "-i", "n=n.npy"], None) {
        Ok(text) => text,
        Err(why) => return println!("skipped: {why}"),
    };
    let stops = text.matches("precast_op_thrice () at").count();
    assert_eq!(stops, 2, "at each Apply:\n{text}");
    for part in ["at thrice/thrice.c:3", "$1 = 0.5"] {
        assert!(text.contains(part), "`{part}` is not in:\n{text}");
    }
}

#[test]
fn both_profiles_share_a_store_and_bits() {
    let place = Sandbox::new();
    place.npy("x.npy", &[4], vec![0.3, -1.5, 2.25, 700.0]);
    place.write(
        "precast.toml",
        "[[graph]]\nname = \"f\"\ninputs = [\"x: f64[?]\"]\noutputs = [\"y = tanh(exp(x/3) - x)\"]\n",
    );
    place.run(&["build", "--store", "s"]).ok();
    let run = |more: &[&str], out: &str| {
        let out = format!("y={out}");
        let words =
            ["run", "--entry", "f", "-i", "x=x.npy", "-o", &out, "--store", "s", "--policy", "strict"];
        place.run(&[&words[..], more].concat())
    };
    run(&["--debug-info"], "debug.npy").fails(3, &["profile"]);
    place.run(&["build", "--debug-info", "--store", "s"]).ok();
    run(&[], "release.npy").ok();
    run(&["--debug-info"], "debug.npy").ok();
    assert_eq!(
        fs_err::read(place.path("release.npy")).unwrap(),
        fs_err::read(place.path("debug.npy")).unwrap()
    );
}

#[test]
fn a_profiled_debug_build_keeps_its_lines() {
    let place = Sandbox::new();
    place.npy("x.npy", &[3], vec![0.0, 1.0, 2.0]);
    place.write(
        "precast.toml",
        "[[graph]]\nname = \"score\"\ninputs = [\"x: f64[?]\"]\noutputs = [\"sum(exp(-x*x))\"]\n",
    );
    place.run(&["build", "--debug-info", "--store", "s"]).ok();
    let commands = COMMANDS.replace("list\n", "info line\nbacktrace\n");
    let run = ["--debug-info", "--entry", "score", "-i", "x=x.npy"];
    let text = match debugged(&place, &commands, &run, Some("modules")) {
        Ok(text) => text,
        Err(why) => return println!("skipped: {why}"),
    };
    for part in ["of \"unit.c\" starts at address", "_body (pc_self=", ") at unit.c:", " in precast::main"] {
        assert!(text.contains(part), "`{part}` is not in:\n{text}");
    }
    let names: Vec<_> = fs_err::read_dir(place.path("modules")).unwrap().collect();
    assert_eq!(names.len(), 1);
}

#[test]
fn crash_backtrace_has_op_and_callers() {
    let place = Sandbox::new();
    place.npy("n.npy", &[], vec![2.0]);
    let graph = "[[graph]]\nname = \"g\"\ninputs = [\"n: f64[]\"]\noutputs = [\"halt(n)\"]\n";
    let op = "[[external]]\nname = \"halt\"\nfiles = [\"halt.c\"]\ninputs = [\"f64\"]\noutputs = [\"f64\"]\n";
    place.write("precast.toml", format!("{op}{graph}"));
    place.write("halt.c", "#section code\nif (INPUT_0 > 1) __builtin_trap();\nOUTPUT_0 = INPUT_0;\n");
    place.run(&["build", "--store", "s"]).ok();
    let commands = "set debuginfod enabled off\nrun\nbacktrace\n";
    let text = match debugged(&place, commands, &["--entry", "g", "-i", "n=n.npy"], Some("modules")) {
        Ok(text) => text,
        Err(why) => return println!("skipped: {why}"),
    };
    for part in ["SIGILL", "halt(", " in precast::main"] {
        assert!(text.contains(part), "`{part}` is not in:\n{text}");
    }
}

/// Returns the names of the functions in a shared object, each with its number of occurrences.
fn functions(file: &Path) -> BTreeMap<String, usize> {
    let data = fs_err::read(file).unwrap();
    let file = object::File::parse(&*data).unwrap();
    let mut names = BTreeMap::new();
    for symbol in file.symbols().filter(|symbol| symbol.is_definition()) {
        *names.entry(symbol.name().unwrap().to_owned()).or_default() += 1;
    }
    names
}

#[test]
fn pack_functions_have_graph_names() {
    let place = Sandbox::new();
    place.npy("x.npy", &[3], vec![0.0, 1.0, 2.0]);
    let graphs = [("score", "sum(exp(-x*x)*x)"), ("sums", "cumsum(x)"), ("two", "dot(x,x)*tanh(x)")];
    let declared = graphs.map(|(name, output)| {
        format!("[[graph]]\nname = \"{name}\"\ninputs = [\"x: f64[?]\"]\noutputs = [\"{output}\"]\n")
    });
    place.write("precast.toml", declared.concat());
    place.run(&["build", "--store", "s", "--bundle", "m.precast"]).ok();
    let loaded = |entry: &str, layer: &[&str], directory: &str| {
        let run = [&["run", "--policy", "strict", "-i", "x=x.npy", "--entry", entry], layer].concat();
        let ended = place.command(run).env("PRECAST_PROFILING", place.path(directory)).output().unwrap();
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
        let mut files = fs_err::read_dir(place.path(directory)).unwrap();
        let path = files.next().unwrap().unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        assert!(name.starts_with(&format!("precast-{entry}-")) && files.next().is_none(), "{name}");
        functions(&path)
    };
    let mut alone = BTreeMap::new();
    for (name, _) in graphs {
        let found = loaded(name, &["--store", "s"], name);
        assert!(found.len() == 1 && found.keys().all(|symbol| symbol.starts_with(name)), "{found:?}");
        alone.extend(found);
    }
    assert!(alone.keys().any(|symbol| symbol.starts_with("score: sum(exp(neg(x) * x) * x) [")), "{alone:?}");
    let pack = loaded("two", &["--bundle", "m.precast"], "pack");
    if cfg!(target_arch = "x86_64") {
        assert_eq!(pack, alone);
    } else {
        println!("skipped: the functions of a pack are told apart on x86-64 only");
    }
}

/// Returns the stacks of a recording, each as the names of its frames, innermost first.
fn stacks(place: &Sandbox, mode: &str) -> Result<Vec<Vec<String>>, String> {
    let expression = ["--expr", "sum(exp(-x*x)*sin(x)*tanh(x))", "--type", "x=f64[?]", "-i", "x=x.npy"];
    let precast = place.command([&["run", "--policy", "jit"], &expression[..]].concat());
    let recorded = Command::new("perf")
        .args(["record", "-q", "-e", "cpu-clock", "-F", "500", "--call-graph", mode, "-o", "perf.data"])
        .arg(precast.get_program())
        .args(precast.get_args())
        .env("PRECAST_PROFILING", place.path("modules"))
        .current_dir(place.path("."))
        .output();
    let recorded = recorded.map_err(|_| "no `perf` here".to_owned())?;
    if !recorded.status.success() || !place.path("perf.data").is_file() {
        return Err(format!("perf records nothing: {}", String::from_utf8_lossy(&recorded.stderr)));
    }
    // Resolving the lines of inlined functions would take as long as a debugger does.
    let script = ["script", "-i", "perf.data", "--no-inline", "-F", "ip,sym"];
    let script = Command::new("perf").args(script).current_dir(place.path(".")).output().unwrap();
    let text = String::from_utf8_lossy(&script.stdout).into_owned();
    let frame = |line: &str| line.trim().split_once(' ').map(|(_, name)| name.to_owned());
    Ok(text.split("\n\n").map(|stack| stack.lines().filter_map(frame).collect()).collect())
}

#[test]
fn perf_names_ops_and_their_callers() {
    let place = Sandbox::new();
    place.npy("x.npy", &[4_000_000], vec![0.5; 4_000_000]);
    // Drivers keep blocks on the stack, so the unwinder needs as much of the stack as perf copies. Rust's own code
    // has no frame pointers: the chain ends at the function that the call was inlined into.
    let modes = [("fp", "precast_core::"), ("dwarf,65528", "precast_cli::cmd::run")];
    for (mode, caller) in modes {
        let stacks = match stacks(&place, mode) {
            Ok(stacks) => stacks,
            Err(why) => return println!("skipped: {why}"),
        };
        let op = "sum((exp(neg(x) * x) * sin(x)) * tanh(x)) [";
        let is_whole = |stack: &Vec<String>| {
            let mut frames = stack.iter();
            [op, "pc_reduce", op, caller].iter().all(|name| frames.any(|frame| frame.starts_with(name)))
        };
        let with_op = stacks.iter().filter(|stack| stack.iter().any(|frame| frame.starts_with(op)));
        let with_op: Vec<_> = with_op.cloned().collect();
        assert!(with_op.iter().any(is_whole), "{mode}: {:#?} …", with_op.first());
    }
}
