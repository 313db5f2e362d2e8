//! `PRODUCTION.md`: every example is executed.
//!
//! | block | action |
//! |---|---|
//! | `toml` | written to the file that the text before it names |
//! | `console` | run by `sh`, in order, in one directory |
//! | `dockerfile` | `COPY` copies into a read-only directory; `ENTRYPOINT` runs there with the variables of `ENV`, as `USER` |
//! | `ini` | `systemd-analyze` checks the unit; `ExecStart` runs with its `Environment` and limits |
//! | `rust`, `c`, `python` | parts of the program that the text before them names, which tests of its package run |

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use crate::document::{Block, blocks, examples, path};
use crate::sandbox::{Ended, assert_close};
use precast_testkit::package::root;

const PAGE: &str = "crates/cli/PRODUCTION.md";

/// Writes the input arrays; returns the value of `score` for them.
fn arrays(directory: &Path) -> f64 {
    let starts = [("x", 0.5), ("y", -1.0), ("z", 2.0)];
    let [x, y, z] = starts.map(|(name, start)| {
        let array = ndarray::Array1::linspace(start, start + 1.0, 11);
        ndarray_npy::write_npy(directory.join(format!("{name}.npy")), &array).unwrap();
        array
    });
    x.iter().zip(&y).zip(&z).map(|((x, y), z): ((&f64, _), _)| (-x * x).exp() * y + z).sum()
}

#[test]
fn every_example_of_the_page_works() {
    let directory = tempfile::tempdir().unwrap();
    let (directory, path) = (directory.path(), path());
    let expected = arrays(directory);
    let (mut ran, mut failures) = (0, String::new());
    for block in &blocks(PAGE) {
        ran += 1;
        match block.language.as_str() {
            "toml" => fs_err::write(directory.join(block.file.as_ref().unwrap()), &block.text).unwrap(),
            "console" => {
                for example in examples(&block.text) {
                    failures.extend(example.run(directory, &path));
                }
            }
            "dockerfile" => contain(&block.text, directory, expected),
            "ini" => start(&block.text, directory, expected),
            "rust" | "c" | "python" => is_shown(block),
            other => panic!("nothing executes a block of `{other}`"),
        }
    }
    assert!(failures.is_empty(), "{failures}");
    assert!(ran >= 12, "only {ran} blocks");
}

/// Checks that a file of the repository contains the block.
fn is_shown(block: &Block) {
    let file = block.file.as_ref().unwrap_or_else(|| panic!("which file is this?\n{}", block.text));
    let text = fs_err::read_to_string(root().join(file)).unwrap();
    assert!(text.contains(&block.text), "`{file}` does not have:\n{}", block.text);
}

/// Checks the value that `precast run` prints.
#[track_caller]
fn prints(command: &mut Command, expected: f64) {
    let ended = Ended::of(command.output().unwrap()).ok();
    let value = ended.out.trim().strip_prefix("out: f64[] = ").unwrap_or_else(|| panic!("{}", ended.out));
    assert_close(value.parse().unwrap(), expected);
}

/// Creates the directory of an image and runs its entry point there.
fn contain(text: &str, directory: &Path, expected: f64) {
    let image = tempfile::tempdir().unwrap();
    fs_err::set_permissions(image.path(), Permissions::from_mode(0o755)).unwrap();
    let app = image.path().join("app");
    fs_err::create_dir(&app).unwrap();
    let mut command = Command::new(app.join("precast"));
    command.env_clear().current_dir(&app);
    for line in text.lines() {
        let (instruction, rest) = line.split_once(' ').unwrap();
        match instruction {
            "FROM" => {}
            "WORKDIR" => assert_eq!(rest, "/app"),
            "COPY" => {
                let (files, place) = rest.rsplit_once(' ').unwrap();
                assert_eq!(place, "/app/");
                files.split(' ').for_each(|file| copy(file, directory, &app));
            }
            "USER" => is_user(rest, &mut command),
            "ENV" => {
                let (name, value) = rest.split_once('=').unwrap();
                command.env(name, value);
            }
            "ENTRYPOINT" => {
                let words: Vec<String> = serde_json::from_str(rest).unwrap();
                assert_eq!(words[0], "/app/precast");
                command.args(&words[1..]);
            }
            other => panic!("nothing executes `{other}`"),
        }
    }
    fs_err::set_permissions(&app, Permissions::from_mode(0o555)).unwrap();
    prints(&mut command, expected);
    fs_err::set_permissions(&app, Permissions::from_mode(0o755)).unwrap();
}

/// Copies a file of the page, or the command itself.
fn copy(file: &str, directory: &Path, app: &Path) {
    let (from, mode) = match file {
        "precast" => (Path::new(env!("CARGO_BIN_EXE_precast")).to_owned(), 0o755),
        other => (directory.join(other), 0o644),
    };
    fs_err::copy(from, app.join(file)).unwrap();
    fs_err::set_permissions(app.join(file), Permissions::from_mode(mode)).unwrap();
}

/// Sets the user and group of a command, if this test runs as the superuser.
#[allow(clippy::print_stderr, reason = "says that it is skipped")]
fn is_user(user: &str, command: &mut Command) {
    use std::os::unix::process::CommandExt as _;
    let (user, group) = user.split_once(':').unwrap();
    if std::os::unix::fs::MetadataExt::uid(&fs_err::metadata("/proc/self").unwrap()) == 0 {
        command.uid(user.parse().unwrap()).gid(group.parse().unwrap());
    } else {
        eprintln!("skipped: another user: only the superuser becomes one");
    }
}

/// Checks a systemd unit, and runs its command with its variables and limits.
#[allow(clippy::print_stderr, reason = "says that it is skipped")]
fn start(text: &str, directory: &Path, expected: f64) {
    let values = |key: &str| -> Vec<&str> {
        text.lines().filter_map(|line| line.strip_prefix(key)?.strip_prefix('=')).collect()
    };
    let unit = directory.join("score.service");
    let checked = text.replace("/usr/bin/precast", env!("CARGO_BIN_EXE_precast"));
    fs_err::write(&unit, checked.replace("/srv/score", directory.to_str().unwrap())).unwrap();
    match Command::new("systemd-analyze").arg("verify").arg(&unit).output() {
        Ok(output) => {
            let told = String::from_utf8_lossy(&output.stderr).into_owned();
            let of_unit = told.lines().filter(|line| line.contains("score.service"));
            assert_eq!(of_unit.collect::<Vec<_>>(), [""; 0], "{told}");
        }
        Err(_) => eprintln!("skipped: the check of a unit: no `systemd-analyze`"),
    }
    let [line] = values("ExecStart")[..] else { panic!("one command is expected") };
    let mut command = Command::new("prlimit");
    for (key, option) in [("LimitNOFILE", "--nofile"), ("LimitCORE", "--core")] {
        command.args(values(key).iter().map(|value| format!("{option}={value}")));
    }
    command.arg(env!("CARGO_BIN_EXE_precast")).args(line.split(' ').skip(1));
    command.env_clear().envs(values("Environment").iter().filter_map(|pair| pair.split_once('=')));
    command.env("PATH", std::env::var_os("PATH").unwrap());
    prints(command.current_dir(directory), expected);
}
