//! gdb stops at breakpoints by the names of ops, with the generated C beside them, and perf names ops (`crates/cli/DEBUGGING.md`).

use crate::sandbox::Sandbox;
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

/// What gdb says when it runs an entry of the debug profile in a place, by some commands; else why it cannot.
fn debugged(place: &Sandbox, commands: &str, run: &[&str]) -> Result<String, &'static str> {
    let Ok(gdb) = Command::new("gdb").arg("--version").output() else {
        return Err("no `gdb` here");
    };
    assert!(gdb.status.success());
    place.write("commands", commands);
    let arguments = [&["run", "--debug-info", "--store", "s", "--policy", "strict"], run].concat();
    let precast = place.command(arguments);
    let output = Command::new("gdb")
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
fn a_breakpoint_by_op_name_stops_in_the_generated_c() {
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
    let text = match debugged(&place, COMMANDS, &["--entry", "score", "-i", "x=x.npy"]) {
        Ok(text) => text,
        Err(why) => return println!("skipped: {why}"),
    };
    for part in ["Breakpoint 1, precast_op_exp", "_body (pc_self=", "precast_op_exp();"] {
        assert!(text.contains(part), "`{part}` is not in:\n{text}");
    }
}

#[test]
fn a_breakpoint_by_the_name_of_an_own_op_stops_in_its_c() {
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
    let text = match debugged(&place, &commands, &["--entry", "g", "-i", "n=n.npy"]) {
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
fn both_profiles_live_in_one_store_and_give_the_same_bits() {
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
fn perf_names_ops_and_their_callers() {
    let place = Sandbox::new();
    place.npy("x.npy", &[4_000_000], vec![0.5; 4_000_000]);
    let expression = ["--expr", "sum(exp(-x*x)*sin(x)*tanh(x))", "--type", "x=f64[?]", "-i", "x=x.npy"];
    let precast = place.command([&["run", "--policy", "jit"], &expression[..]].concat());
    let recorded = Command::new("perf")
        .args(["record", "-q", "-e", "cpu-clock", "-F", "2000", "--call-graph", "fp", "-o", "perf.data"])
        .arg(precast.get_program())
        .args(precast.get_args())
        .env("PRECAST_PROFILING", place.path("modules"))
        .current_dir(place.path("."))
        .output();
    let Ok(recorded) = recorded else { return println!("skipped: no `perf` here") };
    if !recorded.status.success() || !place.path("perf.data").is_file() {
        return println!("skipped: perf records nothing: {}", String::from_utf8_lossy(&recorded.stderr));
    }
    let report = ["report", "-i", "perf.data", "--stdio", "--no-children", "--percent-limit", "1"];
    let report = Command::new("perf").args(report).current_dir(place.path(".")).output().unwrap();
    let text = String::from_utf8_lossy(&report.stdout);
    for part in ["sum{of=composite{", "exp(v", "sin(v", "tanh(v", "pc_reduce"] {
        assert!(text.contains(part), "`{part}` is not in:\n{text}");
    }
}
