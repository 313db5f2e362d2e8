//! Reads the manifest of a build.

use std::path::Path;

use precast_build::{DeclareError, Declared, Manifest, Plan, plan_after};
use precast_ops::Ops;

use crate::error::Failure;
use crate::term;

/// Reads a manifest and plans its declarations. On failure nothing has been written or started.
pub(crate) fn read(path: &Path, ops: Ops) -> Result<(Manifest, Plan), Failure> {
    if fs_err::metadata(path).is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound) {
        return Err(Failure::new(format!("there is no manifest `{}`", path.display()))
            .hint("name one, or write one; `precast build --help` shows how it looks"));
    }
    let refused = |error: DeclareError| {
        Failure::new(format!("cannot build what `{}` declares", path.display())).because(error)
    };
    let manifest = match path.file_name().is_some_and(|name| name == "Cargo.toml") {
        false => Manifest::read(path).map_err(refused)?,
        true => Manifest::read_metadata(path).map_err(refused)?.ok_or_else(|| {
            Failure::new(format!("`{}` has no table `[package.metadata.precast]`", path.display()))
        })?,
    };
    let mut declared = Declared::new(ops);
    let declaring = manifest.declare(&mut declared);
    if declaring.is_ok() && declared.is_empty() {
        term::warning(&format!("`{}` declares nothing", path.display()));
    }
    let plan = plan_after(declaring, &declared).map_err(refused)?;
    Ok((manifest, plan))
}
