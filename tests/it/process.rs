//! Other processes: this test binary, started again in a role.
//!
//! A role is a function of a test file. It gets a directory and writes its answer to the file `answer` there. Its
//! output goes to the test's output.

use std::path::{Path, PathBuf};
use std::process::Command;

const ROLE: &str = "PRECAST_TESTS_ROLE";
const PLACE: &str = "PRECAST_TESTS_PLACE";

/// The work of a role in its directory; returns the answer.
type Role = fn(&Path) -> String;

const ROLES: [(&str, Role); 9] = [
    ("build", crate::same_bytes::build_role),
    ("exit", crate::exit::role),
    ("isa", crate::isa::role),
    ("keys", crate::keys::role),
    ("policy", crate::policy::role),
    ("publish", crate::race::publish_role),
    ("read", crate::race::read_role),
    ("record", crate::record::role),
    ("tiered", crate::policy::tiered_role),
];

/// Returns the command of a process in a role.
pub(crate) fn role(name: &str, place: &Path) -> Command {
    assert!(ROLES.iter().any(|(known, _)| *known == name), "no role `{name}`");
    in_role(Command::new(program()), name, place)
}

/// Does the same as [`role`], but starts the process in a shell with another umask.
pub(crate) fn role_with_umask(name: &str, place: &Path, umask: &str) -> Command {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(format!("umask {umask}; exec \"$0\" \"$@\"")).arg(program());
    in_role(shell, name, place)
}

fn program() -> PathBuf {
    std::env::current_exe().unwrap()
}

fn in_role(mut command: Command, name: &str, place: &Path) -> Command {
    command.args(["--exact", "process::role_of_another_process", "--ignored", "--nocapture"]);
    command.env(ROLE, name).env(PLACE, place);
    command
}

/// Runs a command to its end and returns its answer.
pub(crate) fn answer(mut command: Command, place: &Path) -> String {
    let output = command.output().unwrap();
    let told =
        || String::from_utf8_lossy(&[output.stdout.clone(), output.stderr.clone()].concat()).into_owned();
    assert!(output.status.success(), "the process failed:\n{}", told());
    fs_err::read_to_string(place.join("answer")).unwrap()
}

/// Removes everything that a deployed program may not rely on: environment, compiler, home.
pub(crate) fn bare(mut command: Command) -> Command {
    let kept: Vec<(&str, std::ffi::OsString)> =
        [ROLE, PLACE].into_iter().filter_map(|name| Some((name, value(&command, name)?))).collect();
    command.env_clear().envs(kept).env("PATH", "/nonexistent");
    command
}

fn value(command: &Command, name: &str) -> Option<std::ffi::OsString> {
    command.get_envs().find(|(key, _)| *key == name).and_then(|(_, value)| value.map(ToOwned::to_owned))
}

#[test]
#[ignore = "runs in the processes that other tests start"]
fn role_of_another_process() {
    let Ok(name) = std::env::var(ROLE) else { return };
    let place = PathBuf::from(std::env::var_os(PLACE).unwrap());
    let (_, run) = ROLES.iter().find(|(known, _)| *known == name).unwrap();
    fs_err::write(place.join("answer"), run(&place)).unwrap();
}
