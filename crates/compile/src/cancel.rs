//! Kills the tools that this process runs, for a program that received a signal to terminate.
//!
//! A killed compiler driver leaves its `cc1` running. A terminal sends its signal to all of these processes, but `kill`
//! signals only one. So this module tracks every tool from start to end. It does not handle signals; that is the
//! program's task, see `precast_build::interrupt`.

use std::collections::BTreeSet;
use std::io;
use std::process::{Child, Command};
use std::sync::{Mutex, PoisonError};

use crate::tree::end_tree;

/// The process IDs of running tools; `None` after cancellation, when no tool may be started any more.
static RUNNING: Mutex<Option<BTreeSet<u32>>> = Mutex::new(Some(BTreeSet::new()));

/// Kills every tool that this process runs, with all their child processes, and prevents new ones from starting.
/// Callers that wait for a tool get an error and clean up.
pub fn cancel() {
    let running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner).take();
    running.into_iter().flatten().for_each(end_tree);
}

/// Registers a running tool. Must be dropped before the tool is waited for, since its process ID may be reused
/// afterwards.
pub(crate) struct Running(u32);

/// Starts a tool, unless everything was canceled.
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
