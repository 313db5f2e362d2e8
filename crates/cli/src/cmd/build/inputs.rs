//! The files that a build read, for build systems that run it again when one of them changes.

use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use precast_build::Executed;

use super::Planned;
use crate::error::Failure;
use crate::kind::Kind;
use crate::whole;

impl Planned<'_> {
    /// Lists the files that the build read: those of the manifest, the lock file, and headers and libraries of the system.
    /// The files of the compiler are not listed: `precast build` compares their digests.
    pub(super) fn inputs(&self, executed: &Executed) -> Vec<PathBuf> {
        let mut inputs = self.read.clone();
        inputs.extend(Some(self.lock_path.clone()).filter(|path| path.is_file()));
        let outside = executed.artifacts.iter().flat_map(|artifact| &artifact.record.outside);
        let mut outside: Vec<PathBuf> = outside.map(|file| PathBuf::from(&file.path)).collect();
        outside.sort();
        outside.dedup();
        inputs.extend(outside);
        inputs
    }
}

/// Writes a rule of make: `target: inputs`, then an empty rule for each input, so that a deleted file is not an error.
pub(super) fn write_depfile(file: &Path, target: &Path, inputs: &[PathBuf]) -> Result<(), Failure> {
    let names: Vec<Vec<u8>> = inputs.iter().map(|path| escaped(path)).collect();
    let mut rule = escaped(target);
    rule.push(b':');
    for name in &names {
        rule.extend_from_slice(b" \\\n  ");
        rule.extend_from_slice(name);
    }
    rule.push(b'\n');
    for name in &names {
        rule.extend_from_slice(name);
        rule.extend_from_slice(b":\n");
    }
    whole::write(file, Kind::Text, |out| out.write_all(&rule))?.commit()?;
    Ok(())
}

/// Escapes a path as compilers do in dependency files.
fn escaped(path: &Path) -> Vec<u8> {
    let mut out = Vec::new();
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b' ' | b'#' | b'\\' => out.extend([b'\\', *byte]),
            b'$' => out.extend(*b"$$"),
            _ => out.push(*byte),
        }
    }
    out
}
