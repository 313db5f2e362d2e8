//! Runs the built binary the way it is deployed, and compares its figures with those of NumPy (model/train.py).

use anyhow::{Context, Result, ensure};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};
use toml::{Table, Value};

/// Sums of 400 terms in another order differ by a few hundred ulp at most; `exp` and `log` may differ in the last
/// bit.
const RTOL: f64 = 1e-12;

const BINARY: &str = env!("CARGO_BIN_EXE_precast-quickstart");

/// The paths where the dynamic linker finds the C library, and where the kernel describes processes.
const SYSTEM: [&str; 5] = ["/lib", "/usr/lib", "/etc/ld.so", "/proc/", "/sys/"];

/// The maximum number of files that the dynamic linker and the C library open: the linker's cache, the C libraries,
/// and files in `/proc`.
const HANDFUL: usize = 12;

/// Returns a command with an empty environment, except for a useless PATH.
fn bare(program: &Path, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_clear().env("PATH", "/nonexistent").current_dir(folder);
    command
}

/// Creates a directory that only root can write to, as is usual for services.
fn read_only() -> Result<tempfile::TempDir> {
    let folder = tempfile::tempdir()?;
    let mut permissions = fs_err::metadata(folder.path())?.permissions();
    permissions.set_readonly(true);
    fs_err::set_permissions(folder.path(), permissions)?;
    Ok(folder)
}

fn text(output: &Output) -> Result<String> {
    ensure!(output.status.success(), "{}: {}", output.status, String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout.clone())?)
}

/// Parses the lines of the report that consist of a name, at least two spaces, and numbers.
fn figures(report: &str) -> BTreeMap<String, Vec<f64>> {
    let lines = report.lines().filter_map(|line| line.split_once("  "));
    lines
        .map(|(name, rest)| {
            (name.to_owned(), rest.split_whitespace().map_while(|word| word.parse().ok()).collect())
        })
        .collect()
}

#[test]
fn results_match_numpy() -> Result<()> {
    let folder = read_only()?;
    let report = text(&bare(Path::new(BINARY), folder.path()).output()?)?;
    let found = figures(&report);
    let expected: Table =
        fs_err::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/model/expected.toml"))?.parse()?;
    let number = |key: &str| -> Result<f64> {
        let value = expected.get(key).with_context(|| format!("expected.toml has no `{key}`"))?;
        value
            .as_float()
            .or(value.as_integer().map(|n| n as f64))
            .with_context(|| format!("`{key}` is no number"))
    };
    for name in ["rows", "held out", "good", "log loss", "accuracy", "precision", "recall", "auc"] {
        close(&found, name, &[number(&name.replace(' ', "_"))?])?;
    }
    close(&found, "is good", &[number("true_positives")?, number("false_negatives")?])?;
    close(&found, "is not", &[number("false_positives")?, number("true_negatives")?])?;
    let scores = expected.get("first_scores").and_then(Value::as_array).context("first_scores")?;
    for (row, score) in scores.iter().enumerate() {
        close(&found, &format!("wine {}", row * 4), &[score.as_float().context("a score")?])?;
    }
    ensure!(scores.len() == 5, "expected.toml has {} scores", scores.len());
    Ok(())
}

fn close(found: &BTreeMap<String, Vec<f64>>, name: &str, expected: &[f64]) -> Result<()> {
    let found = found.get(name).with_context(|| format!("the report has no line `{name}`"))?;
    ensure!(found.len() == expected.len(), "`{name}`: found {found:?}, expected {expected:?}");
    for (found, expected) in found.iter().zip(expected) {
        let error = (found - expected).abs();
        ensure!(error <= RTOL * expected.abs(), "`{name}`: found {found}, expected {expected}");
    }
    Ok(())
}

/// The system calls that execute a program.
const EXECUTES: [&str; 2] = ["execve", "execveat"];

/// The system calls that start a process or a thread.
const CLONES: [&str; 4] = ["fork", "vfork", "clone", "clone3"];

/// The system calls that open files.
const OPENS: [&str; 4] = ["open", "openat", "openat2", "creat"];

/// The system calls that write to an open file.
const WRITES: [&str; 8] =
    ["write", "writev", "pwrite64", "pwritev", "pwritev2", "sendfile", "copy_file_range", "fallocate"];

/// The system calls that change directories and files by name.
const CHANGES: [&str; 14] = [
    "mkdir",
    "mkdirat",
    "rename",
    "renameat",
    "renameat2",
    "unlink",
    "unlinkat",
    "rmdir",
    "link",
    "linkat",
    "symlink",
    "symlinkat",
    "truncate",
    "mknodat",
];

#[test]
fn quickstart_starts_opens_and_writes_nothing() -> Result<()> {
    let Some(strace) = find("strace") else {
        println!("skipped: `strace` is not installed");
        return Ok(());
    };
    let (folder, log) = (read_only()?, tempfile::NamedTempFile::new()?);
    let calls = [&EXECUTES[..], &CLONES, &OPENS, &WRITES, &CHANGES].concat().join(",");
    let mut command = bare(&strace, folder.path());
    command.args(["-f", "-qq", "-y", "-e", &format!("trace={calls}"), "-o"]).arg(log.path()).arg(BINARY);
    let output = command.output()?;
    let log = fs_err::read_to_string(log.path())?;
    if log.is_empty() {
        println!("skipped: `strace` may not trace here: {}", String::from_utf8_lossy(&output.stderr));
        return Ok(());
    }
    text(&output)?;
    let of = |calls: &[&str]| -> Vec<&str> {
        log.lines().filter(|line| calls.iter().any(|call| line.contains(&format!(" {call}(")))).collect()
    };
    let (executed, cloned) = (of(&EXECUTES), of(&CLONES));
    ensure!(executed.len() == 1, "more than the program itself was executed: {executed:#?}");
    ensure!(cloned.is_empty(), "processes or threads were started: {cloned:#?}");
    let changed = of(&CHANGES);
    ensure!(changed.is_empty(), "the file system was changed: {changed:#?}");
    ensure!(of(&WRITES).iter().any(|line| line.contains("(1<")), "strace saw no report: {log}");
    // Modules are loaded from memory, and the report is written to standard output.
    let places = ["/memfd:precast", "(1<"];
    let elsewhere = |line: &&str| !places.iter().any(|place| line.contains(place));
    let written: Vec<&str> = of(&WRITES).into_iter().filter(elsewhere).collect();
    ensure!(written.is_empty(), "something was written elsewhere: {written:#?}");
    let opened = of(&OPENS);
    ensure!(opened.len() <= HANDFUL, "{} files were opened: {opened:#?}", opened.len());
    for line in opened {
        let writes = ["O_WRONLY", "O_RDWR", "O_CREAT", " creat("].iter().any(|flag| line.contains(flag));
        let path = line.split('"').nth(1).unwrap_or_default();
        ensure!(
            !writes && SYSTEM.iter().any(|folder| path.starts_with(folder)),
            "a file of its own was opened: {line}"
        );
    }
    Ok(())
}

/// Returns the path of a program on PATH.
fn find(name: &str) -> Option<std::path::PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}
