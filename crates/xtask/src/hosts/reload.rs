//! `cargo xtask reload`: services of each host reload bundles thousands of times; memory, mappings and descriptors
//! must stay flat.
//!
//! ```text
//! hosts: Rust, C, Python ─ for each line of input: THREADS × ROUNDS reloads and calls, then `done`
//!   └─▶ after each line: VmRSS, lines of maps, descriptors of /proc/PID ─▶ the first line warms up, later ones must not grow
//! ```

use super::scene::{cargo_build, python};
use anyhow::{Context as _, Result, bail, ensure};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// The number of bundles that take turns.
const BUNDLES: usize = 40;

/// The number of reloads after each line of input, over all threads.
const RELOADS: usize = 1000;

/// The number of input lines: one to warm up, and the rest compared with it.
const LINES: usize = 5;

/// The numbers of threads.
const THREADS: [usize; 2] = [1, 4];

/// The growth that an allocator may cause after the first line, in KiB. 40 bundles that stay loaded would take more.
const MEMORY_KIB: usize = 2048;

/// The number of mappings that an allocator's arenas and thread stacks may add.
const MAPPINGS: usize = 12;

/// A host: its program and the arguments before the number of threads.
struct Host {
    name: &'static str,
    words: Vec<String>,
}

/// The resources that a process holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Held {
    memory_kib: usize,
    mappings: usize,
    descriptors: usize,
}

/// Runs all hosts; returns `true` if none grows.
pub(crate) fn run(root: &Path) -> Result<bool> {
    if !cfg!(target_os = "linux") {
        println!("skipped: reloads: figures of processes are in Linux's /proc");
        return Ok(true);
    }
    let folder = root.join("target/reload");
    let _ = fs_err::remove_dir_all(&folder);
    fs_err::create_dir_all(&folder)?;
    let built = built(root)?;
    cargo_build(&["-p", "precast-cli", "-p", "precast-capi"])?;
    cargo_build(&["-p", "precast", "--no-default-features", "--example", "reload"])?;
    let bundles = bundles(&built, &folder)?;
    let (mut passed, mut failed) = (0, 0);
    for host in hosts(root, &built, &folder)? {
        for threads in THREADS {
            let held = reload(&host, threads, &bundles).with_context(|| host.name)?;
            let fine = is_flat(&held);
            *(if fine { &mut passed } else { &mut failed }) += 1;
            print_figures(&host, threads, &held, fine);
        }
    }
    println!("test result: {passed} passed; {failed} failed");
    Ok(failed == 0)
}

/// Returns the directory of programs that cargo builds.
fn built(root: &Path) -> Result<PathBuf> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    Ok(std::path::absolute(target.join("debug"))?)
}

/// Builds the bundles; each returns a different multiple of the sum.
fn bundles(built: &Path, folder: &Path) -> Result<Vec<String>> {
    (1..=BUNDLES)
        .map(|multiple| {
            let manifest = folder.join(format!("{multiple}.toml"));
            let bundle = folder.join(format!("{multiple}.precast"));
            fs_err::write(&manifest, declaration(multiple))?;
            let mut build = Command::new(built.join("precast"));
            build.arg("build").arg(&manifest).arg("--store").arg(folder.join("store"));
            build.arg("--bundle").arg(&bundle).current_dir(folder);
            if cfg!(target_arch = "x86_64") {
                // One variant is enough.
                build.args(["--isa", "x86-64-v2"]);
            }
            let output = build.output()?;
            ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            Ok(bundle.display().to_string())
        })
        .collect()
}

/// Returns the declaration of a graph with distinct C code; graphs that differ only in constants would share a
/// module.
fn declaration(multiple: usize) -> String {
    let terms = vec!["sum(x)"; multiple].join(" + ");
    format!("[[graph]]\nname = \"score\"\ninputs = [\"x: f64[?]\"]\noutputs = [\"out = {terms}\"]\n")
}

/// Returns the available hosts.
fn hosts(root: &Path, built: &Path, folder: &Path) -> Result<Vec<Host>> {
    let path = |path: PathBuf| path.display().to_string();
    let rust = Host { name: "Rust", words: vec![path(built.join("examples/reload"))] };
    let mut hosts = vec![rust, Host { name: "C", words: vec![path(compile(root, built, folder)?)] }];
    match python() {
        Some(python) => {
            let script = path(root.join("crates/xtask/src/hosts/reload.py"));
            hosts.push(Host { name: "Python", words: vec![python, script] });
        }
        None => {
            println!("skipped: Python: no interpreter has the package (`cargo xtask python` installs it)");
        }
    }
    Ok(hosts)
}

/// Compiles the C host against the library that cargo built.
fn compile(root: &Path, built: &Path, folder: &Path) -> Result<PathBuf> {
    let (prefix, program) = (folder.join("installed"), folder.join("reload"));
    let mut install = Command::new("sh");
    install.arg(root.join("crates/capi/install.sh")).arg(&prefix).arg(built);
    ensure!(install.status()?.success(), "cannot install the C library");
    let mut compiler = Command::new(crate::tools::compiler("CC", "cc").context("no C compiler")?);
    compiler.arg(root.join("crates/capi/examples/reload.c")).arg("-o").arg(&program);
    compiler.arg("-I").arg(prefix.join("include")).arg("-L").arg(prefix.join("lib"));
    compiler.arg(format!("-Wl,-rpath,{}", prefix.join("lib").display())).args(["-lprecast", "-pthread"]);
    ensure!(compiler.status()?.success(), "cannot compile the C host");
    Ok(program)
}

/// Runs a host and measures it after each line.
fn reload(host: &Host, threads: usize, bundles: &[String]) -> Result<Vec<Held>> {
    let mut service = Service::start(host, threads, bundles)?;
    let held = (0..LINES).map(|_| service.go_on()).collect::<Result<Vec<Held>>>()?;
    service.finish()?;
    Ok(held)
}

/// A running host, killed if it is dropped before its end.
struct Service {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Service {
    fn start(host: &Host, threads: usize, bundles: &[String]) -> Result<Self> {
        let [program, arguments @ ..] = host.words.as_slice() else { bail!("no program") };
        let mut command = Command::new(program);
        command.args(arguments).args([threads.to_string(), (RELOADS / threads).to_string()]).args(bundles);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let output = BufReader::new(child.stdout.take().context("no output")?);
        Ok(Self { input: child.stdin.take(), child, output })
    }

    /// Lets the host reload, then measures it.
    fn go_on(&mut self) -> Result<Held> {
        self.input.as_mut().context("the input is closed")?.write_all(b"\n")?;
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        ensure!(line == "done\n", "the host ended with {:?}", self.child.wait()?);
        Held::by(self.child.id())
    }

    /// Closes the input, which ends the host.
    fn finish(mut self) -> Result<()> {
        drop(self.input.take());
        let status = self.child.wait()?;
        ensure!(status.success(), "the host ended with {status}");
        Ok(())
    }
}

impl Held {
    /// Reads the resources that a process holds now.
    fn by(process: u32) -> Result<Self> {
        let place = PathBuf::from(format!("/proc/{process}"));
        let status = fs_err::read_to_string(place.join("status"))?;
        let memory = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
        Ok(Self {
            memory_kib: memory.trim().trim_end_matches(" kB").parse()?,
            mappings: fs_err::read_to_string(place.join("maps"))?.lines().count(),
            descriptors: fs_err::read_dir(place.join("fd"))?.count(),
        })
    }
}

/// Returns whether nothing grows after the first line.
fn is_flat(held: &[Held]) -> bool {
    let Some((first, later)) = held.split_first() else { return false };
    later.iter().all(|later| {
        later.memory_kib <= first.memory_kib + MEMORY_KIB
            && later.mappings <= first.mappings + MAPPINGS
            && later.descriptors <= first.descriptors
    })
}

fn print_figures(host: &Host, threads: usize, held: &[Held], fine: bool) {
    let row = |figure: fn(&Held) -> usize| {
        held.iter().map(|held| figure(held).to_string()).collect::<Vec<_>>().join(" ")
    };
    println!(
        "{}{}, {threads} threads, {} reloads: RSS {} KiB; mappings {}; descriptors {}",
        if fine { "" } else { "FAILED  " },
        host.name,
        RELOADS * LINES,
        row(|held| held.memory_kib),
        row(|held| held.mappings),
        row(|held| held.descriptors)
    );
}

#[cfg(test)]
mod tests {
    use super::{Held, MEMORY_KIB, is_flat};

    #[test]
    fn growth_of_any_resource_is_detected() {
        let first = Held { memory_kib: 9000, mappings: 60, descriptors: 4 };
        assert!(is_flat(&[first, Held { memory_kib: 9100, mappings: 62, ..first }]));
        for grown in [
            Held { memory_kib: 9001 + MEMORY_KIB, ..first },
            Held { mappings: 100, ..first },
            Held { descriptors: 5, ..first },
        ] {
            assert!(!is_flat(&[first, first, grown]), "{grown:?}");
        }
        assert!(!is_flat(&[]));
    }

    #[test]
    fn resources_of_this_process_are_read() {
        let held = Held::by(std::process::id()).unwrap();
        assert!(held.memory_kib > 0 && held.mappings > 0 && held.descriptors > 2, "{held:?}");
    }
}
