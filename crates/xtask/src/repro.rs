//! `cargo xtask repro`: builds the same declarations in every way that must not matter, and compares one digest per
//! compiler.
//!
//! A row is a circumstance; a column is a compiler with its target. In each cell the command `precast` builds a
//! manifest into an empty directory. The comparison covers the names of the archives, which are their digests, and
//! the bytes of the bundle. If this machine lacks a requirement (a second user, `faketime`, a compiler), that cell is
//! skipped with a message.

use crate::tools::{answers, cargo};
use anyhow::{Context as _, Result, bail};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

const MANIFEST: &str = r#"[[op]]
name = "add"
dtypes = ["f32", "f64"]
ndim = [1, 2]

[[op]]
name = "exp"
dtypes = ["f64"]
ndim = [1]

[[graph]]
name = "score"
inputs = ["x: f64[?]", "y: f64[?]", "z: f64[?]"]
outputs = ["out = sum(exp(-x*x)*y + z)"]
"#;

/// A file system in memory, which lists the last file first; a disk lists files by hashed names.
const MEMORY: &str = "/dev/shm";

/// The id of a user without files.
const NOBODY: u32 = 65534;

/// The circumstance of a row.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Row {
    Plain,
    LongDirectory,
    Reversed,
    OneJob,
    ManyJobs,
    TimeZone,
    Locale,
    Umask,
    HalfFilled,
    OtherFileSystem,
    LinkedCompiler,
    OtherUser,
    OtherClock,
}

const ROWS: [(Row, &str); 13] = [
    (Row::Plain, "as it is"),
    (Row::LongDirectory, "a long directory"),
    (Row::Reversed, "declared in another order"),
    (Row::OneJob, "one compiler at once"),
    (Row::ManyJobs, "seven compilers at once"),
    (Row::TimeZone, "another time zone"),
    (Row::Locale, "another locale"),
    (Row::Umask, "umask 077"),
    (Row::HalfFilled, "a store that has half of it"),
    (Row::OtherFileSystem, "half of it, on a file system that lists files in another order"),
    (Row::LinkedCompiler, "the compiler by a link"),
    (Row::OtherUser, "another user"),
    (Row::OtherClock, "a clock years ahead"),
];

/// A compiler: its program, and its target if that differs from this machine's.
struct Column {
    compiler: &'static str,
    target: Option<&'static str>,
}

const COLUMNS: [Column; 3] = [
    Column { compiler: "gcc", target: None },
    Column { compiler: "clang", target: None },
    Column { compiler: "aarch64-linux-gnu-gcc", target: Some("aarch64-unknown-linux-gnu") },
];

/// Builds all cells; returns `true` if each compiler gave one digest.
pub(crate) fn run(root: &Path) -> Result<bool> {
    let built = Command::new(cargo()).args(["build", "--quiet", "-p", "precast-cli"]).status()?;
    if !built.success() {
        bail!("cannot build the command `precast`");
    }
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let place = std::env::temp_dir().join(format!("precast-repro-{}", std::process::id()));
    let fine = matrix(&std::path::absolute(target.join("debug/precast"))?, &place);
    for place in [in_memory(&place), place] {
        let _ = fs_err::remove_dir_all(place);
    }
    fine
}

fn matrix(precast: &Path, place: &Path) -> Result<bool> {
    let (mut same_cells, mut other_cells) = (0, 0);
    for (number, column) in COLUMNS.iter().enumerate() {
        if !answers(Command::new(column.compiler).arg("--version")) {
            println!("skipped: no `{}` here", column.compiler);
            continue;
        }
        let mut expected = None;
        for (row, name) in ROWS {
            if let Some(why) = impossible(row) {
                println!("skipped: {}, {name}: {why}", column.compiler);
                continue;
            }
            let found = cell(precast, &place.join(format!("{number}-{}", row as u8)), row, column)
                .with_context(|| format!("{}, {name}", column.compiler))?;
            let same = *expected.get_or_insert_with(|| found.clone()) == found;
            println!("{:7} {:22} {name}: {}", if same { "ok" } else { "DIFFERS" }, column.compiler, found.0);
            *(if same { &mut same_cells } else { &mut other_cells }) += 1;
        }
    }
    println!("test result: {same_cells} passed; {other_cells} failed");
    Ok(other_cells == 0)
}

fn impossible(row: Row) -> Option<&'static str> {
    match row {
        Row::OtherFileSystem if !is_elsewhere(Path::new(MEMORY)) => {
            Some("no other file system at `/dev/shm`")
        }
        Row::OtherUser if !answers(Command::new("true").uid(NOBODY)) => Some("only root can be another user"),
        Row::OtherClock if !answers(Command::new("faketime").args(["2031-01-01", "true"])) => {
            Some("no `faketime`")
        }
        _ => None,
    }
}

/// Returns the directory in memory that replaces one on a disk.
fn in_memory(place: &Path) -> PathBuf {
    let below = place.strip_prefix(std::env::temp_dir()).unwrap_or(place);
    Path::new(MEMORY).join(below)
}

/// Returns whether a directory is on a different file system than temporary files.
fn is_elsewhere(directory: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let device = |path: &Path| fs_err::metadata(path).map(|found| found.dev());
    matches!((device(directory), device(&std::env::temp_dir())), (Ok(one), Ok(other)) if one != other)
}

/// Builds one cell; returns a summary of its archives, and the bytes that must be equal in all rows.
fn cell(precast: &Path, place: &Path, row: Row, column: &Column) -> Result<(String, Vec<u8>)> {
    let place = match row {
        Row::LongDirectory => place.join("a-directory-with-a-name-".repeat(6)),
        Row::OtherFileSystem => in_memory(place),
        _ => place.to_owned(),
    };
    fs_err::create_dir_all(&place)?;
    let text = match row {
        Row::Reversed => MANIFEST.trim().rsplit("\n\n").collect::<Vec<_>>().join("\n\n") + "\n",
        _ => MANIFEST.to_owned(),
    };
    fs_err::write(place.join("precast.toml"), text)?;
    if matches!(row, Row::HalfFilled | Row::OtherFileSystem) {
        // The batching of ops depends on all declarations, but each graph is a separate unit.
        let half = MANIFEST.rsplit("\n\n").next().unwrap_or_default();
        fs_err::write(place.join("half.toml"), half)?;
        build(precast, &place, Row::Plain, column, "half.toml")?;
    }
    if row == Row::OtherUser {
        std::os::unix::fs::chown(&place, Some(NOBODY), Some(NOBODY))?;
    }
    build(precast, &place, row, column, "precast.toml")?;
    let mut names = Vec::new();
    for shard in fs_err::read_dir(place.join("artifacts/objects"))? {
        for object in fs_err::read_dir(shard?.path())? {
            names.push(object?.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort();
    let mut all = names.join("\n").into_bytes();
    all.extend(fs_err::read(place.join("model.precast"))?);
    Ok((
        format!("{} archives, the first `{}`", names.len(), names.first().map_or("", |name| &name[..16])),
        all,
    ))
}

fn build(precast: &Path, place: &Path, row: Row, column: &Column, manifest: &str) -> Result<()> {
    let mut words = vec![precast.to_string_lossy().into_owned()];
    words.extend(["build", manifest, "--store", "artifacts", "--bundle", "model.precast"].map(str::to_owned));
    words.extend(column.target.into_iter().flat_map(|target| ["--target".to_owned(), target.to_owned()]));
    match row {
        Row::OneJob => words.push("-j1".to_owned()),
        Row::ManyJobs => words.push("-j7".to_owned()),
        Row::Umask => {
            drop(words.splice(0..0, ["sh", "-c", "umask 077; exec \"$@\"", "sh"].map(str::to_owned)));
        }
        Row::OtherClock => drop(words.splice(0..0, ["faketime", "2031-01-01"].map(str::to_owned))),
        _ => {}
    }
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).current_dir(place).env_clear();
    command
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("PRECAST_CACHE", place.join("cache"));
    if column.target.is_none() {
        command.env("CC", compiler(place, row, column)?);
    }
    match row {
        Row::TimeZone => drop(command.env("TZ", "Pacific/Kiritimati")),
        Row::Locale => drop(command.env("LC_ALL", "tr_TR.UTF-8").env("LANG", "tr_TR.UTF-8")),
        Row::OtherUser => drop(command.uid(NOBODY).gid(NOBODY).env("HOME", place)),
        _ => {}
    }
    let output = command.output()?;
    if !output.status.success() {
        bail!("`precast build` failed:\n{}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(())
}

/// Returns the compiler's name, or a link to it in `place`.
fn compiler(place: &Path, row: Row, column: &Column) -> Result<PathBuf> {
    if row != Row::LinkedCompiler {
        return Ok(column.compiler.into());
    }
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let found =
        std::env::split_paths(&paths).map(|path| path.join(column.compiler)).find(|path| path.is_file());
    let link = place.join(column.compiler);
    std::os::unix::fs::symlink(found.context("the compiler is not on PATH")?, &link)?;
    Ok(link)
}
