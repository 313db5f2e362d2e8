//! Obstacles to a command: pipes instead of files, sizes beyond memory, no space to work.
//!
//! Each is reported at once and by name. No command hangs, ends without a message, or leaves files behind.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::sandbox::{Ended, ISA, Sandbox, args};

const INTERPRET: &[&str] = &["run", "--policy", "interpret"];

fn fifo(place: &Sandbox, name: &str) {
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mknodat(rustix::fs::CWD, place.path(name), rustix::fs::FileType::Fifo, mode, 0).unwrap();
}

/// Creates a place with one special file of each kind.
fn special() -> (Sandbox, std::os::unix::net::UnixListener) {
    let place = Sandbox::new();
    fifo(&place, "fifo");
    fs_err::create_dir(place.path("directory")).unwrap();
    let socket = std::os::unix::net::UnixListener::bind(place.path("socket")).unwrap();
    place.npy("x.npy", &[2], vec![1.0, 2.0]);
    (place, socket)
}

const SPECIAL: [(&str, &str); 4] = [
    ("fifo", "a FIFO"),
    ("directory", "a directory"),
    ("socket", "a socket"),
    ("/dev/zero", "a character device"),
];

/// Runs a command that must end by itself soon.
pub(crate) fn soon(mut command: Command) -> Ended {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    await_end(&mut child);
    Ended::of(child.wait_with_output().unwrap())
}

/// Waits for a process that should end by itself; kills it and fails otherwise.
pub(crate) fn await_end(child: &mut Child) {
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > Duration::from_secs(60) {
            child.kill().unwrap();
            panic!("does not end");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn irregular_files_are_rejected_for_reading() {
    let (place, _socket) = special();
    for (path, kind) in SPECIAL {
        let manifest = |text: &str| place.write("m.toml", text);
        let refused = |arguments: &[&str]| {
            soon(place.command(arguments))
                .fails(1, &[&format!("{path}` is {kind}, expected a regular file"), "hint: "]);
        };
        refused(&["build", path]);
        refused(&args(&[INTERPRET, &["--graph", path]]));
        refused(&args(&[INTERPRET, &["--expr", "x", "-i", &format!("x={path}")]]));
        refused(&args(&[
            INTERPRET,
            &["--expr", "x", "--type", "x=f64[?]", "-i", "x=x.npy", "--bundle", path],
        ]));
        refused(&["check-op", "--manifest", path]);
        let told = soon(place.command(["doctor", "--bundle", path]));
        assert!(told.code == 1 && told.out.contains(&format!("`{path}` is {kind}")), "{told:?}");
        manifest(&format!("[[graph]]\nname = \"g\"\nfile = \"{path}\"\n"));
        refused(&["build", "m.toml"]);
        if path.starts_with('/') {
            continue;
        }
        refused(&["record", "-o", path, "true"]);
        let external = |files: &str| {
            format!(
                "[[external]]\nname = \"op\"\nfiles = [\"{files}\"]\ninputs = [\"f64[?]\"]\noutputs = [\"f64[?]\"]\n"
            )
        };
        manifest(&external(path));
        refused(&["build", "m.toml"]);
        place.write("op.c", format!("#section code\n#include \"{path}\"\n"));
        manifest(&external("op.c"));
        soon(place.command(["build", "m.toml"])).fails(1, &[path]);
    }
}

#[test]
fn unwritable_targets_are_rejected_for_writing() {
    let (place, _socket) = special();
    for (path, kind) in SPECIAL.into_iter().filter(|(path, _)| !path.starts_with('/')) {
        let output = format!("out={path}");
        let run = args(&[INTERPRET, &["--expr", "out = x + x", "-i", "x=x.npy", "-o", &output]]);
        soon(place.command(run)).fails(1, &[&format!("cannot write `{path}`: it is {kind}"), "hint: "]);
    }
    assert_eq!(place.names(), ["directory", "fifo", "socket", "x.npy"]);
}

#[test]
fn array_can_be_written_to_a_pipe() {
    let (place, _socket) = special();
    let run = args(&[INTERPRET, &["--expr", "out = x + x", "-i", "x=x.npy", "-o", "out=/dev/stdout"]]);
    let output = place.command(run).output().unwrap();
    assert!(output.status.success());
    assert!(output.stdout.starts_with(b"\x93NUMPY"));
}

#[test]
fn oversized_arrays_are_an_op_error() {
    let place = Sandbox::new();
    place.npy("n.npy", &[], vec![1_i64 << 40]);
    place.npy("big.npy", &[1 << 20], vec![1.0_f64; 1 << 20]);
    for text in [
        "zeros(n)",
        "zeros(n, n, n)",
        "zeros(n, n, 0)",
        "arange(n)",
        "eye(n)",
        "eye(n, n, 0)",
        "reshape(big, (1048576, 1)) * big",
        "dot(reshape(big, (1048576, 1)), reshape(big, (1, 1048576)))",
        "exp(zeros(n) + 1.5)",
        "zeros(n * 1000000)",
    ] {
        for policy in ["interpret", "jit"] {
            let mut command = place.command(["run", "--policy", policy, "--expr", text]);
            for name in ["n", "big"] {
                if text.split(|c: char| !c.is_alphanumeric()).any(|word| word == name) {
                    command.args(["-i", &format!("{name}={name}.npy")]);
                }
            }
            let ended = soon(command);
            assert!(ended.code == 1 && ended.err.starts_with("error: "), "{text} under {policy}: {ended:?}");
        }
    }
}

#[test]
fn archives_larger_than_memory_are_rejected() {
    let place = Sandbox::new();
    let file = fs_err::File::create(place.path("x.npy")).unwrap();
    file.set_len(1 << 43).unwrap();
    let run = args(&[INTERPRET, &["--expr", "x", "-i", "x=x.npy"]]);
    soon(place.command(run)).fails(1, &["`x.npy`", "8796093022208 bytes"]);
    let run =
        args(&[INTERPRET, &["--expr", "x", "--type", "x=f64[?]", "-i", "x=x.npy", "--bundle", "x.npy"]]);
    soon(place.command(run)).fails(1, &["x.npy"]);
}

#[test]
fn exploding_manifests_are_rejected_before_expansion() {
    let place = Sandbox::new();
    let dtypes: Vec<String> = precast_graph::DType::ALL.iter().map(|dtype| format!("\"{dtype}\"")).collect();
    let dtypes = dtypes.join(", ");
    let ranks: Vec<String> = (0..=32).map(|rank| rank.to_string()).collect();
    let letters = ["A", "B", "C", "D", "E", "F"];
    let lists: Vec<String> = letters.iter().map(|letter| format!("{letter} = [{dtypes}]")).collect();
    let inputs: Vec<String> = letters.iter().map(|letter| format!("\"{{{letter}}}[..]\"")).collect();
    let manifest = format!(
        "[[external]]\nname = \"op\"\nfiles = [\"op.c\"]\ninputs = [{}]\noutputs = [\"{{A}}[..]\"]\nndim = [{}]\n\
         dtypes = {{ {} }}\n",
        inputs.join(", "),
        ranks.join(", "),
        lists.join(", ")
    );
    place.write("op.c", "#section code\n;\n");
    place.write("precast.toml", &manifest);
    soon(place.command(["build"])).fails(1, &["375890625 combinations", "at most 50000", "hint: "]);
    let table = format!("[[op]]\nname = \"dot\"\ndtypes = [{dtypes}]\nndim = [{}]\n", ranks.join(", "));
    place.write("precast.toml", table.repeat(4));
    soon(place.command(["build"])).fails(1, &["precast.toml:", "combinations", "at most 50000"]);
}

#[test]
fn long_lists_take_linear_time() {
    let place = Sandbox::new();
    let list = |item: &str, n: usize| vec![item; n].join(",\n");
    place.write(
        "precast.toml",
        format!("[[op]]\nname = \"add\"\ndtypes = [\"f65\"]\nndim = [{}]\n", list("1", 200_000)),
    );
    soon(place.command(["build"])).fails(1, &["precast.toml:3", "f65"]);
    place.npy("x.npy", &[2], vec![1.0, 2.0]);
    place.write("long.txt", list("x", 200_000).replace(",\n", "+"));
    let text = fs_err::read_to_string(place.path("long.txt")).unwrap();
    let manifest = format!("[[graph]]\nname = \"g\"\ninputs = [\"x: f64[?]\"]\noutputs = [\"{text}\"]\n");
    place.write("precast.toml", manifest);
    soon(place.command(["build"])).fails(1, &["399999 tokens", "at most 100000", "hint: "]);
}

#[test]
fn failed_publish_is_reported() {
    let place = Sandbox::new();
    place.npy("x.npy", &[2], vec![1.0, 2.0]);
    place.run(&["run", "--policy", "jit", "--writable", "s", "--expr", "x + 1.5", "-i", "x=x.npy"]).ok();
    for shard in 0..=255 {
        // A store contains no links, so nothing is written through one.
        let shard = place.path(format!("s/objects/{shard:02x}"));
        if !shard.exists() {
            std::os::unix::fs::symlink("/nonexistent", shard).unwrap();
        }
    }
    let ended =
        place.run(&["run", "--policy", "jit", "--store", "s", "--expr", "x * 2.5", "-i", "x=x.npy"]).ok();
    assert_eq!(ended.warnings(), 1, "{}", ended.err);
}

/// Runs a shell command in a place, with the binary as `$0`.
fn shell(place: &Sandbox, script: &str) -> Ended {
    let mut command = Command::new("sh");
    command.args(["-c", script, env!("CARGO_BIN_EXE_precast")]).current_dir(place.path("")).env_clear();
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.env("PRECAST_CACHE", place.path("cache"));
    soon(command)
}

#[test]
fn too_few_descriptors_are_reported() {
    let place = Sandbox::new();
    place.npy("x.npy", &[2], vec![1.0, 2.0]);
    let text = "exp(x) + sin(x) * cos(x) - tanh(x) / sqrt(x) + log(x) + abs(x) + expm1(x) + log1p(x)";
    let mut refused = 0;
    let mut told = |ended: Ended| {
        if ended.code != 0 {
            refused += 1;
            ended.fails(1, &["Too many open files", "`ulimit -n`"]);
        }
    };
    for limit in [6, 7, 8, 9, 10, 12, 14, 16, 20] {
        let run = |rest: &str| format!("ulimit -n {limit}; exec \"$0\" {rest}");
        told(shell(&place, &run(&format!("run --policy jit --expr '{text}' -i x=x.npy"))));
        place.write("precast.toml", "[[op]]\nname = \"exp\"\ndtypes = [\"f64\", \"f32\"]\nndim = [1]\n");
        told(shell(&place, &run("build -j 4 --store s")));
    }
    assert!(refused > 0);
}

/// Creates a store that serves four functions op by op.
fn served() -> (Sandbox, &'static str) {
    let place = Sandbox::new();
    place.npy("x.npy", &[2], vec![1.0, 2.0]);
    let table = |op: &str| format!("[[op]]\nname = \"{op}\"\ndtypes = [\"f64\"]\nndim = [1]\n");
    let tables: String = ["exp", "sin", "cos", "tanh", "add"].map(table).concat();
    place.write("precast.toml", format!("isa = [\"{ISA}\"]\n{tables}"));
    place.run(&["build", "--store", "s"]).ok();
    (place, "run --policy strict --store s --expr 'exp(x)+sin(x)+cos(x)+tanh(x)' -i x=x.npy")
}

#[test]
fn descriptor_limit_has_its_own_error() {
    let (place, run) = served();
    let mut refused = 0;
    for limit in 4..12 {
        let ended = shell(&place, &format!("ulimit -n {limit}; exec \"$0\" {run}"));
        // Below some limit the system cannot load the program itself, which it reports without our code.
        if ended.code != 0 && !ended.err.contains("error while loading shared libraries") {
            refused += 1;
            ended.fails(1, &["error: ", "Too many open files", "`ulimit -n`"]);
        }
    }
    assert!(refused > 0);
}

#[test]
fn file_size_limit_has_its_own_error() {
    let (place, run) = served();
    let ended = shell(&place, &format!("ulimit -f 1; exec \"$0\" {run}"));
    ended.fails(1, &["error: ", "RLIMIT_FSIZE", "`ulimit -f`"]);
    shell(&place, &format!("ulimit -f 1000; exec \"$0\" {run}")).ok();
}

#[test]
fn noexec_host_gets_one_error() {
    let (place, run) = served();
    fs_err::create_dir(place.path("noexec")).unwrap();
    // Without `/proc` nothing is loaded from memory.
    let mounts = "mount -t tmpfs -o noexec none noexec && mount -t tmpfs none /proc";
    let within = |rest: &str| format!("exec unshare --mount sh -c '{mounts} && {rest}' \"$0\"");
    if shell(&place, &within("true")).code != 0 {
        eprintln!("skipped: no mount namespace may be made here");
        return;
    }
    let run = run.replace('\'', "\"");
    let ended = shell(&place, &within(&format!("TMPDIR=$PWD/noexec exec \"$0\" {run}")));
    let ended = ended.fails(1, &["cannot execute files", "hint: set TMPDIR", "`noexec`"]);
    assert_eq!(ended.err.matches("cannot execute files").count(), 1, "{}", ended.err);
    assert_eq!(ended.warnings(), 0, "{}", ended.err);
}

#[test]
fn host_without_proc_gets_one_error() {
    let (place, run) = served();
    let within =
        |rest: &str| format!("exec unshare --mount sh -c 'mount -t tmpfs none /proc && {rest}' \"$0\"");
    if shell(&place, &within("true")).code != 0 {
        eprintln!("skipped: no mount namespace may be made here");
        return;
    }
    let run = run.replace('\'', "\"");
    shell(&place, &within(&format!("exec \"$0\" {run}"))).ok();
    let ended = shell(&place, &within(&format!("TMPDIR=/nonexistent exec \"$0\" {run}")));
    let ended = ended.fails(1, &["`/proc`", "`/nonexistent`", "hint: mount `/proc`, or set `TMPDIR`"]);
    assert_eq!(ended.warnings(), 0, "{}", ended.err);
}
