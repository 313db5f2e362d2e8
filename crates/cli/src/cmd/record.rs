//! `precast record`: runs a program with recording enabled, and compares its manifest before and after.
//!
//! The programs write the manifest themselves, miss by miss, so it includes the misses of a program that is killed.
//! The command checks before it runs the program that the manifest is writable. Later problems come back in a report
//! file.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::{Mutex, MutexGuard, PoisonError};

use precast_build::Manifest;
use precast_store::file::{Kind, NotReadable};
use rustix::process::{Pid, Signal, kill_process};

use crate::args::RecordArgs;
use crate::error::{Exit, Failure};
use crate::term;

/// Runs the command.
pub(super) fn run(args: &RecordArgs) -> Result<Exit, Failure> {
    let [program, arguments @ ..] = args.program.as_slice() else {
        return Err(Failure::usage("missing program to run"));
    };
    let manifest = std::path::absolute(&args.output)?;
    let before = tables(&manifest)?;
    check_writable(&manifest)?;
    let report = tempfile::NamedTempFile::new()?;
    let mut command = Command::new(program);
    command.args(arguments).env("PRECAST_RECORD", &manifest).env("PRECAST_RECORD_REPORT", report.path());
    let words: Vec<&str> = args.serve.iter().map(|word| word.name()).collect();
    command.env("PRECAST_RECORD_SERVE", words.join(","));
    let status = wait(&mut command).map_err(|error| cannot_start(program, error))?;
    let problems = fs_err::read_to_string(report.path())?;
    let added = tables(&manifest)?.difference(&before).count();
    tell(&args.output, added, &problems);
    Ok(match exit(status) {
        Exit::Ok if !problems.is_empty() => Exit::Error,
        other => other,
    })
}

/// The process of the program, if one runs. It is locked during the start, so that no signal is lost.
static PROGRAM: Mutex<Option<Pid>> = Mutex::new(None);

fn running() -> MutexGuard<'static, Option<Pid>> {
    PROGRAM.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs the program to its end.
fn wait(command: &mut Command) -> std::io::Result<ExitStatus> {
    let mut running_now = running();
    let mut child = command.spawn()?;
    *running_now = Pid::from_raw(child.id().cast_signed());
    drop(running_now);
    let status = child.wait();
    *running() = None;
    status
}

/// Forwards a signal to the program, if one runs, and returns whether one does. The program decides how to handle it,
/// as if it had been started alone; its misses until its end are reported.
pub(super) fn hand_on(signal: i32) -> bool {
    let Some(program) = *running() else { return false };
    let signal = Signal::from_named_raw(signal);
    // A terminal sends its interrupt to both processes.
    if let Some(signal) = signal.filter(|signal| *signal != Signal::INT || !std::io::stderr().is_terminal()) {
        // The program may have ended already.
        let _ = kill_process(program, signal);
    }
    true
}

fn cannot_start(program: &OsStr, error: std::io::Error) -> Failure {
    Failure::new(format!("cannot start `{}`", program.to_string_lossy())).because(error)
}

/// Returns the tables that a manifest declares, each as text; empty if the manifest is missing.
fn tables(path: &Path) -> Result<BTreeSet<String>, Failure> {
    match fs_err::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(BTreeSet::new()),
        Ok(metadata) if !metadata.is_file() => return Ok(BTreeSet::new()),
        _ => {}
    }
    let refused = |error| {
        Failure::new(format!("cannot add to `{}`, which was not changed", path.display())).because(error)
    };
    let manifest = Manifest::read(path).map_err(refused)?;
    manifest.check_keys().map_err(refused)?;
    let document = manifest.document();
    let ops = document.op.iter().map(|table| {
        let table = table.get_ref();
        let dtypes: Vec<&str> = table.dtypes.iter().map(|dtype| dtype.get_ref().as_str()).collect();
        let ndim: Vec<usize> = table.ndim.iter().map(|ndim| *ndim.get_ref()).collect();
        format!("op {} {dtypes:?} {ndim:?}", table.name.get_ref())
    });
    let graphs = document.graph.iter().map(|table| format!("graph {}", table.get_ref().name.get_ref()));
    Ok(ops.chain(graphs).collect())
}

/// Checks whether the manifest can be replaced, without touching it.
fn check_writable(path: &Path) -> Result<(), Failure> {
    let refused =
        |error: std::io::Error| Failure::new(format!("cannot record to `{}`", path.display())).because(error);
    match fs_err::metadata(path).ok().and_then(|found| Kind::of(found.file_type())) {
        None | Some(Kind::CharacterDevice) => {}
        Some(found) => return Err(refused(NotReadable::Kind { path: path.to_owned(), found }.into())),
    }
    if path.exists() {
        fs_err::OpenOptions::new().append(true).open(path).map_err(refused)?;
    }
    if !path.exists() || path.is_file() {
        let target: PathBuf = fs_err::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        tempfile::tempfile_in(target.parent().unwrap_or(Path::new("/"))).map_err(refused)?;
    }
    Ok(())
}

fn tell(manifest: &Path, added: usize, problems: &str) {
    let manifest = manifest.display();
    for problem in problems.lines() {
        term::warning(&format!("not recorded: {problem}"));
    }
    term::note(&match added {
        0 if problems.is_empty() => {
            "no misses recorded: all graphs were cached or already declared".to_owned()
        }
        0 => "no misses recorded".to_owned(),
        1 => format!("recorded 1 miss in `{manifest}`; run `precast build {manifest}` to compile it"),
        n => format!("recorded {n} misses in `{manifest}`; run `precast build {manifest}` to compile them"),
    });
}

/// Returns the exit code of the program as a shell reports it.
fn exit(status: ExitStatus) -> Exit {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return Exit::Program(u8::try_from(128 + signal).unwrap_or(u8::MAX));
    }
    match status.code().map(u8::try_from) {
        Some(Ok(0)) => Exit::Ok,
        Some(Ok(code)) => Exit::Program(code),
        _ => Exit::Error,
    }
}
