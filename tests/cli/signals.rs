//! Signals: the processes that they end, the files that are left, and the processes that they are forwarded to.

use std::io::Read as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::faults::{await_end, soon};
use crate::sandbox::Sandbox;

/// Writes an op that compiles practically forever, because its macros expand without end.
fn endless(place: &Sandbox) {
    let mut text = String::from("#section support_code\n#define A(x) x x x x x x x x x x\n");
    for (name, of) in [("B", "A"), ("C", "B"), ("D", "C"), ("E", "D"), ("F", "E"), ("G", "F"), ("H", "G")] {
        text.push_str(&format!("#define {name}(x) {of}({of}(x))\n"));
    }
    text.push_str("static double endless(void) { return 0 H(+ 1.0); }\n");
    text.push_str("int op(pc_context *ctx, pc_tensor *x, pc_tensor **z) { return endless() > 0; }\n");
    place.write("op.c", text);
    place.write(
        "precast.toml",
        "[[external]]\nname = \"op\"\nfiles = [\"op.c\"]\nfunc = \"op\"\ninputs = [\"f64[?]\"]\noutputs = [\"f64[?]\"]\n",
    );
}

/// Returns the processes whose working directory is below a place.
fn processes(place: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs_err::read_dir("/proc").unwrap().flatten() {
        if let Ok(directory) = fs_err::read_link(entry.path().join("cwd"))
            && directory.starts_with(place)
        {
            found.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    found
}

/// Waits until a condition holds; fails after a time that is far too long.
#[track_caller]
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_signal_ends_compilers_and_removes_scratch_directories() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
        let place = Sandbox::new();
        endless(&place);
        let scratch = place.path("tmp");
        fs_err::create_dir(&scratch).unwrap();
        let mut command = place.command(["build"]);
        command.env("TMPDIR", &scratch).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let compiling = || processes(&scratch).len() >= 2;
        until("no compiler is started", || compiling() || child.try_wait().unwrap().is_some());
        assert!(compiling(), "the compiler has ended: {child:?}");
        kill_process(Pid::from_raw(child.id().cast_signed()).unwrap(), signal).unwrap();
        await_end(&mut child);
        let mut words = String::new();
        child.stderr.take().unwrap().read_to_string(&mut words).unwrap();
        let status = child.wait().unwrap();
        assert_eq!(status.code(), Some(code), "{words} {:?}", status.signal());
        until("a compiler goes on", || processes(&scratch).is_empty());
        assert_eq!(fs_err::read_dir(&scratch).unwrap().count(), 0);
    }
}

#[test]
fn next_build_removes_files_of_a_killed_one() {
    let place = Sandbox::new();
    endless(&place);
    let scratch = place.path("tmp");
    fs_err::create_dir(&scratch).unwrap();
    let mut child = place.command(["build"]).env("TMPDIR", &scratch).stderr(Stdio::null()).spawn().unwrap();
    until("no compiler is started", || processes(&scratch).len() >= 2);
    child.kill().unwrap();
    child.wait().unwrap();
    for process in processes(&scratch) {
        let _ = kill_process(Pid::from_raw(process.parse().unwrap()).unwrap(), Signal::KILL);
    }
    assert_ne!(fs_err::read_dir(&scratch).unwrap().count(), 0);
    place.npy("x.npy", &[2], vec![1.0, 2.0]);
    let mut run = place.command(["run", "--policy", "jit", "--expr", "x + 3.25", "-i", "x=x.npy"]);
    assert!(run.env("TMPDIR", &scratch).status().unwrap().success());
    assert_eq!(fs_err::read_dir(&scratch).unwrap().count(), 0);
}

#[test]
fn signal_reaches_the_recorded_program() {
    let place = Sandbox::new();
    let mut command = place.command([
        "record",
        "sh",
        "-c",
        "trap 'echo told; exit 7' TERM; echo ready; while :; do sleep 0.01; done",
    ]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut out = child.stdout.take().unwrap();
    let mut line = [0; 6];
    out.read_exact(&mut line).unwrap();
    kill_process(Pid::from_raw(child.id().cast_signed()).unwrap(), Signal::TERM).unwrap();
    await_end(&mut child);
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    assert_eq!((child.wait().unwrap().code(), &*rest), (Some(7), "told\n"));
}

#[test]
fn check_ends_a_stopped_op() {
    let place = Sandbox::new();
    place.write(
        "op.c",
        "#section support_code\n#include <signal.h>\n#include <unistd.h>\n\
         int op(pc_context *ctx, pc_tensor *x, pc_tensor **z) { fork(); raise(SIGSTOP); return 0; }\n",
    );
    place.write(
        "precast.toml",
        "[[external]]\nname = \"op\"\nfiles = [\"op.c\"]\nfunc = \"op\"\ninputs = [\"f64[?]\"]\noutputs = [\"f64[?]\"]\n",
    );
    let ended = soon(place.command(["check-op", "--manifest", "precast.toml", "--timeout", "1"]));
    assert_eq!(ended.code, 5, "{ended:?}");
    assert!(ended.out.contains("Hangs") && ended.out.contains("child process was stopped"), "{ended:?}");
    assert_eq!(processes(&place.path("")), Vec::<String>::new());
}
