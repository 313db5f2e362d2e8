//! Finds usable programs on this machine.

use std::ffi::OsString;
use std::process::{Command, Stdio};

/// Returns the cargo that started this program, else the one on PATH.
pub(crate) fn cargo() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// Returns the compiler that `variable` names, else `fallback`; `None` if it does not run.
pub(crate) fn compiler(variable: &str, fallback: &str) -> Option<String> {
    let name = std::env::var(variable).unwrap_or_else(|_| fallback.to_owned());
    answers(Command::new(&name).arg("--version")).then_some(name)
}

/// Returns whether a command starts and succeeds; its output is dropped.
pub(crate) fn answers(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|s| s.success())
}
