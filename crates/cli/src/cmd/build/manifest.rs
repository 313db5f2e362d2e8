//! Reads the manifest of a build.

use std::path::Path;

use precast_build::{DeclareError, Declared, Manifest, Plan, plan_after};
use precast_ops::Ops;

use crate::error::Failure;
use crate::term;

/// Reads a manifest and plans its declarations. On failure nothing has been written or started.
pub(crate) fn read(path: &Path, ops: Ops) -> Result<(Manifest, Plan), Failure> {
    if fs_err::metadata(path).is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound) {
        return Err(Failure::new(format!("manifest `{}` not found", path.display()))
            .hint("name a manifest, or write one as shown by `precast build --help`"));
    }
    let refused =
        |error: DeclareError| Failure::new(format!("cannot build `{}`", path.display())).because(error);
    let manifest = match path.file_name().is_some_and(|name| name == "Cargo.toml") {
        false => Manifest::read(path).map_err(refused)?,
        true => Manifest::read_metadata(path).map_err(refused)?.ok_or_else(|| {
            Failure::new(format!("missing table `[package.metadata.precast]` in `{}`", path.display()))
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
