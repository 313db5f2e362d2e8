//! Paths of stores and bundles on the command line.

use std::path::PathBuf;

use clap::builder::{PathBufValueParser, TypedValueParser};

/// Parses a path. A URL is an error: as a path, its password would become the name of a directory.
pub(super) fn local() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| match path.to_string_lossy().contains("://") {
        true => Err("expected a path, found a URL; name a remote store with `--remote`"),
        false => Ok(path),
    })
}
