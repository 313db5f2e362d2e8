//! Ends the tools that this process runs, for a program that is told to end.
//!
//! A compiler's driver that is killed leaves its `cc1` running, and a terminal's signal reaches all of them but `kill` only
//! the process it names. So every tool is known here from its start to its end. Nothing here handles a signal: that is the
//! program's to do, see `precast_build::interrupt`.

use std::collections::BTreeSet;
use std::io;
use std::process::{Child, Command};
use std::sync::{Mutex, PoisonError};

use crate::tree::end_tree;

/// The tools that run; `None` once no more are to be started.
static RUNNING: Mutex<Option<BTreeSet<u32>>> = Mutex::new(Some(BTreeSet::new()));

/// Ends every tool that this process runs, with all that they have started, and lets no more be started. What waits for them
/// gets an error and cleans up after itself.
pub fn cancel() {
    let running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner).take();
    running.into_iter().flatten().for_each(end_tree);
}

/// Says that a tool runs. Dropped before the tool is waited for: its number may be another's afterwards.
pub(crate) struct Running(u32);

/// Starts a tool, unless everything has been cancelled.
pub(crate) fn spawn(command: &mut Command) -> io::Result<(Child, Running)> {
    let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    let known = running.as_mut().ok_or_else(|| io::Error::new(io::ErrorKind::Interrupted, "cancelled"))?;
    let child = command.spawn()?;
    known.insert(child.id());
    let running = Running(child.id());
    Ok((child, running))
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(known) = RUNNING.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            known.remove(&self.0);
        }
    }
}
