//! The fallback for builds in which `cargo metadata` lacks packages that this build does not need.
//!
//! `cargo tree` lists the linked packages by name and version, but prints paths only for local packages. Registry
//! packages are looked up in Cargo's unpack directory. Packages that are not found are reported, never guessed.

use super::metadata::{Seen, own, workspace};
use super::{Dependencies, DependenciesError, Query};
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Collects the answer; `refused` is the error of `cargo metadata`, which is returned if this fallback fails too.
pub(super) fn collect(
    query: &Query,
    refused: cargo_metadata::Error,
) -> Result<Dependencies, DependenciesError> {
    let refused = || DependenciesError::Cargo { source: Box::new(refused) };
    let Ok(metadata) = query.command().no_deps().exec() else { return Err(refused()) };
    let root = own(query, &metadata)?;
    let mut found = workspace(&metadata)?;
    let Some(listing) = list(query, &root.name) else { return Err(refused()) };
    for line in listing.lines() {
        let Some(package) = Listed::parse(line) else { continue };
        match package.manifest() {
            Some(manifest) if manifest == root.manifest_path.as_std_path() => {}
            Some(manifest) => {
                let declares = declares(&manifest);
                found.add_all([Seen { manifest, declares, is_local: package.directory.is_some() }]);
            }
            None => found.unseen.push(format!("{} {}", package.name, package.version)),
        }
    }
    found.unseen.sort();
    found.unseen.dedup();
    Ok(found.finish(query, &metadata))
}

/// Runs `cargo tree`; returns `None` if it fails.
fn list(query: &Query, package: &str) -> Option<String> {
    let mut command = Command::new(&query.cargo);
    command.current_dir(&query.manifest_dir).arg("tree").arg("--manifest-path").arg(query.manifest());
    command.args(["--offline", "--locked", "--edges", "normal,no-proc-macro", "--prefix", "none"]);
    command.args(["--format", "{p}", "--package", package, "--target", &query.target]);
    if let Some(features) = &query.features {
        command.args(["--no-default-features", "--features", &features.join(",")]);
    }
    let output = command.output().ok().filter(|output| output.status.success())?;
    String::from_utf8(output.stdout).ok()
}

/// A line of the listing: `serde v1.0.228`, `mine v0.1.0 (/home/me/mine)`, possibly followed by `(*)`.
#[derive(Debug, PartialEq)]
struct Listed<'l> {
    name: &'l str,
    version: &'l str,
    /// The directory of a local package.
    directory: Option<&'l Path>,
    is_git: bool,
}

impl<'l> Listed<'l> {
    fn parse(line: &'l str) -> Option<Self> {
        let line = line.trim().trim_end_matches(" (*)");
        let (name, rest) = line.split_once(" v")?;
        let (version, source) = rest.split_once(' ').unwrap_or((rest, ""));
        let source = source.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).unwrap_or("");
        let is_git = source.contains("://");
        let directory = (!source.is_empty() && !is_git).then(|| Path::new(source));
        Some(Self { name, version, directory, is_git })
    }

    fn manifest(&self) -> Option<PathBuf> {
        let found = match self.directory {
            Some(directory) => directory.join("Cargo.toml"),
            None if self.is_git => return None,
            None => unpacked(&format!("{}-{}", self.name, self.version))?,
        };
        found.is_file().then_some(found)
    }
}

/// Returns the directory in which Cargo unpacked a registry package; `None` if none or several exist.
fn unpacked(name: &str) -> Option<PathBuf> {
    let home = match env::var_os("CARGO_HOME") {
        Some(home) => PathBuf::from(home),
        None => PathBuf::from(env::var_os("HOME")?).join(".cargo"),
    };
    let registries = walkdir::WalkDir::new(home.join("registry/src")).min_depth(1).max_depth(1);
    let manifests = registries.into_iter().flatten().map(|entry| entry.path().join(name).join("Cargo.toml"));
    let mut manifests = manifests.filter(|manifest| manifest.is_file());
    let found = manifests.next()?;
    manifests.next().is_none().then_some(found)
}

/// Returns whether a manifest contains the table. An unreadable manifest counts, so that reading it reports the
/// error.
fn declares(manifest: &Path) -> bool {
    let Ok(text) = precast_store::file::read_text(manifest) else { return true };
    let table: Result<toml::Table, _> = text.parse();
    let Ok(table) = table else { return true };
    let at = |table: &toml::Table, key| table.get(key).and_then(toml::Value::as_table).cloned();
    let metadata = at(&table, "package").and_then(|package| at(&package, "metadata"));
    metadata.is_some_and(|metadata| metadata.contains_key("precast"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargo_tree_lines_are_parsed() {
        let serde = Listed { name: "serde", version: "1.0.228", directory: None, is_git: false };
        assert_eq!(Listed::parse("serde v1.0.228 (*)"), Some(serde));
        let mine =
            Listed { name: "mine", version: "0.1.0", directory: Some(Path::new("/a b")), is_git: false };
        assert_eq!(Listed::parse("mine v0.1.0 (/a b)"), Some(mine));
        let git = Listed::parse("g v0.2.0 (https://example.org/g?rev=1#abcdef)").unwrap();
        assert!(git.is_git && git.directory.is_none());
        assert_eq!(Listed::parse(""), None);
    }
}
