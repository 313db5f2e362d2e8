//! Runs one tool to its end, with a limit of time, and keeps what it says.

use std::error::Error;
use std::ffi::OsStr;
use std::io::{self, Read};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::cancel::spawn;
use crate::tree::end_tree;

/// How a tool ended, with its words.
#[derive(Debug)]
pub struct Ended {
    /// Its exit code, or the signal that ended it.
    pub status: ExitStatus,
    /// What it wrote to its standard output.
    pub stdout: String,
    /// What it wrote to its standard error.
    pub stderr: String,
    /// The files that it wrote elsewhere, by their names in the unit's directory; empty where it ran there itself.
    pub files: Vec<(String, Vec<u8>)>,
}

/// Says why a tool did not end by itself.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// It could not be started, or its words not be read.
    #[error("it cannot be started")]
    Start(#[source] io::Error),
    /// It ran longer than the limit and was stopped.
    #[error("it did not end in time")]
    Timeout,
    /// Where it should have run, it could not be run.
    #[error(transparent)]
    Elsewhere(Box<dyn Error + Send + Sync>),
}

/// A command in the one environment that every tool runs in: the user's settings (`CPATH`, `GCC_EXEC_PREFIX`,
/// `COMPILER_PATH`, `DEPENDENCIES_OUTPUT`, `LD_LIBRARY_PATH`, …) would decide what comes out, and are in no key.
pub(crate) fn command(program: &Path, path: &OsStr) -> Command {
    let mut command = Command::new(program);
    command.env_clear().env("PATH", path).env("LC_ALL", "C");
    command
}

/// Runs a command without input.
pub(crate) fn run(command: &mut Command, limit: Duration) -> Result<Ended, RunError> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let (mut child, running) = spawn(command).map_err(RunError::Start)?;
    let mut running = Some(running);
    let pipes = (child.stdout.take(), child.stderr.take());
    let pipes = pipes.0.map(collect).transpose().and_then(|out| Ok([out, pipes.1.map(collect).transpose()?]));
    let pipes = pipes.map_err(|error| {
        drop(running.take());
        stop(&mut child);
        RunError::Start(error)
    })?;
    let mut words = [String::new(), String::new()];
    for (words, pipe) in words.iter_mut().zip(pipes) {
        let Some(pipe) = pipe else { continue };
        match pipe.recv_timeout(limit) {
            Ok(bytes) => *words = String::from_utf8_lossy(&bytes).into_owned(),
            Err(mpsc::RecvTimeoutError::Timeout) => {
                drop(running.take());
                stop(&mut child);
                return Err(RunError::Timeout);
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => {}
        }
    }
    drop(running);
    let status = child.wait().map_err(RunError::Start)?;
    let [stdout, stderr] = words;
    Ok(Ended { status, stdout, stderr, files: Vec::new() })
}

/// Reads a pipe to its end on a thread of its own: it ends when the tool and all that it started are done.
///
/// # Errors
/// There is no thread to be had: a limit of the user, or no memory.
fn collect(mut pipe: impl Read + Send + 'static) -> io::Result<mpsc::Receiver<Vec<u8>>> {
    let (send, receive) = mpsc::channel();
    let reader = thread::Builder::new().name("precast-pipe".to_owned());
    reader.spawn(move || {
        let mut bytes = Vec::new();
        // A pipe that breaks ends the words; nobody may be left to hear them.
        let _ = pipe.read_to_end(&mut bytes);
        let _ = send.send(bytes);
    })?;
    Ok(receive)
}

/// Stops a tool and what it started.
fn stop(child: &mut Child) {
    end_tree(child.id());
    let _ = child.kill();
    let _ = child.wait();
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn a_tool_that_hangs_is_stopped_with_its_children() {
        let start = Instant::now();
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "sleep 30; true"]);
        assert!(matches!(run(&mut command, Duration::from_millis(100)), Err(RunError::Timeout)));
        assert!(start.elapsed() < Duration::from_secs(10));
    }

    #[test]
    fn words_and_status_come_back() {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "echo out; echo err >&2; exit 3"]);
        let ended = run(&mut command, Duration::from_secs(10)).unwrap();
        assert_eq!((ended.status.code(), &*ended.stdout, &*ended.stderr), (Some(3), "out\n", "err\n"));
    }
}
