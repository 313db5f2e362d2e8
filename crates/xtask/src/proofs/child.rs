//! Runs a proof as a child process, copies its output to the terminal and a log, and stops a child that hangs.

use super::list::Proof;
use anyhow::{Context as _, Result};
use std::io::{BufRead as _, BufReader, PipeReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// The extra time after which a proof counts as hanging; builds and installations are not part of its share.
const GRACE: Duration = Duration::from_secs(45 * 60);

/// The variable that long tests read: the seconds after which they start no new work.
const SECONDS: &str = "PRECAST_TEST_SECONDS";

/// The end of a child process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum End {
    Passed,
    Failed,
    /// The child was stopped after its share and [`GRACE`].
    Hung,
}

/// The output of a child, and its end.
pub(super) struct Log {
    pub(super) text: String,
    pub(super) end: End,
}

/// Runs a proof for its share of the time.
///
/// # Errors
/// Fails if the child cannot be started, or its output cannot be written to `path`.
pub(super) fn run(proof: &Proof, share: Duration, path: &Path) -> Result<Log> {
    let (output, input) = std::io::pipe()?;
    let mut command = Command::new(std::env::current_exe()?);
    command.args((proof.command)(share)).env(SECONDS, share.as_secs().to_string());
    // A separate process group, so that the child's own children are stopped with it.
    command.stdout(input.try_clone()?).stderr(input).process_group(0);
    let mut child = command.spawn().context("cannot start this program again")?;
    // The command holds copies of the pipe's end, which would keep the pipe open.
    drop(command);
    let copy = copy_to(output, path)?;
    let end = wait(&mut child, Instant::now() + share + GRACE)?;
    let text = copy.join().ok().context("the thread that copies output panicked")??;
    Ok(Log { text, end })
}

/// Copies each line to the terminal and to the file; the thread returns the text.
fn copy_to(output: PipeReader, path: &Path) -> Result<std::thread::JoinHandle<Result<String>>> {
    let mut file = fs_err::File::create(path)?;
    Ok(std::thread::spawn(move || {
        let mut text = String::new();
        for line in BufReader::new(output).split(b'\n') {
            let line = String::from_utf8_lossy(&line?).into_owned() + "\n";
            print!("{line}");
            file.write_all(line.as_bytes())?;
            text += &line;
        }
        Ok(text)
    }))
}

/// Waits for the child; stops its process group at `limit`.
fn wait(child: &mut Child, limit: Instant) -> Result<End> {
    while Instant::now() < limit {
        if let Some(status) = child.try_wait()? {
            return Ok(if status.success() { End::Passed } else { End::Failed });
        }
        std::thread::sleep(Duration::from_millis(200));
    }
    let group = format!("-{}", child.id());
    Command::new("kill").args(["-KILL", "--", &group]).status().context("cannot run `kill`")?;
    child.wait()?;
    Ok(End::Hung)
}
