//! Runs a tool with a time limit and captures its output.

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

/// The result of a finished tool, with its output.
#[derive(Debug)]
pub struct Ended {
    /// The exit code, or the signal that killed it.
    pub status: ExitStatus,
    /// The standard output.
    pub stdout: String,
    /// The standard error.
    pub stderr: String,
    /// The files written on a remote machine, by name in the unit's directory; empty if the tool ran in that directory.
    pub files: Vec<(String, Vec<u8>)>,
}

/// The reason why a tool did not finish normally.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The tool could not be started, or its output could not be read.
    #[error("cannot be started")]
    Start(#[source] io::Error),
    /// The tool exceeded the time limit and was stopped.
    #[error("timed out")]
    Timeout,
    /// The tool could not be run on the remote machine.
    #[error(transparent)]
    Elsewhere(Box<dyn Error + Send + Sync>),
}

/// Creates a command with the fixed environment of all tools. The user's settings (`CPATH`, `GCC_EXEC_PREFIX`,
/// `COMPILER_PATH`, `DEPENDENCIES_OUTPUT`, `LD_LIBRARY_PATH`, …) could change the output, but are not part of any key.
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

/// Reads a pipe to its end on a separate thread. The pipe ends when the tool and all its child processes have exited.
///
/// # Errors
/// Fails if no thread can be created, because of a user limit or lack of memory.
fn collect(mut pipe: impl Read + Send + 'static) -> io::Result<mpsc::Receiver<Vec<u8>>> {
    let (send, receive) = mpsc::channel();
    let reader = thread::Builder::new().name("precast-pipe".to_owned());
    reader.spawn(move || {
        let mut bytes = Vec::new();
        // A broken pipe ends the output, and the receiver may already be gone.
        let _ = pipe.read_to_end(&mut bytes);
        let _ = send.send(bytes);
    })?;
    Ok(receive)
}

/// Stops a tool and its child processes.
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
    fn hanging_tool_is_stopped_with_children() {
        let start = Instant::now();
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "sleep 30; true"]);
        assert!(matches!(run(&mut command, Duration::from_millis(100)), Err(RunError::Timeout)));
        assert!(start.elapsed() < Duration::from_secs(10));
    }

    #[test]
    fn run_returns_output_and_status() {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "echo out; echo err >&2; exit 3"]);
        let ended = run(&mut command, Duration::from_secs(10)).unwrap();
        assert_eq!((ended.status.code(), &*ended.stdout, &*ended.stderr), (Some(3), "out\n", "err\n"));
    }
}
