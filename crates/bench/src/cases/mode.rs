//! Functions of PyTensor in mode PRECAST, and in PyTensor's own modes.

use super::Bench;
use super::models::script;
use crate::report::Found;
use anyhow::Result;

pub(crate) fn run(bench: &Bench) -> Result<Found> {
    script(bench, "PyTensor", "mode.py")
}
