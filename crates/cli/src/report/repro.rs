//! Writes reproducers of violations: a directory with the graph of one Apply and its inputs, and the command that
//! checks it again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use precast_runtime::debug::Violation;

use crate::error::Failure;
use crate::kind::Kind;
use crate::{npy, whole};

/// A written reproducer.
#[derive(Debug)]
pub(crate) struct Written {
    pub(crate) directory: PathBuf,
    pub(crate) command: String,
}

/// The directories that one command has written, so that findings for several dtypes do not replace each other.
#[derive(Debug, Default)]
pub(crate) struct Names(BTreeMap<String, usize>);

impl Names {
    /// Returns a name made of op and rule, numbered from the second on.
    fn next(&mut self, violation: &Violation) -> String {
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
        let label: String = violation.op.chars().map(plain).collect();
        let name = format!("{label}-{}", violation.kind);
        let count = self.0.entry(name.clone()).or_default();
        *count += 1;
        if *count == 1 { name } else { format!("{name}-{count}") }
    }
}

/// Writes `graph.json`, an `.npy` for each input, and `README` to a directory in `root`.
pub(crate) fn write(root: &Path, names: &mut Names, violation: &Violation) -> Result<Written, Failure> {
    let directory = root.join(names.next(violation));
    let at = |error| Failure::new(format!("cannot write `{}`", directory.display())).because(error);
    fs_err::create_dir_all(&directory).map_err(|error: std::io::Error| at(error))?;
    let graph = directory.join("graph.json");
    let text = precast_graph::json::render(&violation.graph);
    whole::write(&graph, Kind::Text, |out| out.write_all(text.as_bytes()))?.commit()?;
    let mut command = format!("precast check-op --graph {}", graph.display());
    for (position, input) in violation.inputs.iter().enumerate() {
        let file = directory.join(format!("{position}.npy"));
        npy::write(&file, input)?.commit()?;
        command += &format!(" -i {position}={}", file.display());
    }
    let readme = format!("{violation}\n\n{command}\n");
    whole::write(&directory.join("README"), Kind::Text, |out| out.write_all(readme.as_bytes()))?.commit()?;
    Ok(Written { directory, command })
}
