//! Reads the output of `cargo metadata`.

use super::{Dependencies, DependenciesError, Query};
use cargo_metadata::{DependencyKind, Metadata, Package, PackageId};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Walks the normal dependencies of the package.
pub(super) fn walk(query: &Query, metadata: &Metadata) -> Result<Dependencies, DependenciesError> {
    let packages: BTreeMap<&PackageId, &Package> =
        metadata.packages.iter().map(|package| (&package.id, package)).collect();
    let root = own(query, metadata)?;
    let nodes = metadata.resolve.iter().flat_map(|resolve| &resolve.nodes);
    let nodes: BTreeMap<&PackageId, _> = nodes.map(|node| (&node.id, node)).collect();
    let mut met = BTreeSet::from([&root.id]);
    let mut open = vec![&root.id];
    while let Some(node) = open.pop().and_then(|id| nodes.get(id)) {
        for dependency in &node.deps {
            let normal = dependency.dep_kinds.iter().any(|kind| kind.kind == DependencyKind::Normal);
            let is_macro = packages.get(&dependency.pkg).is_some_and(|package| is_macro(package));
            if normal && !is_macro && met.insert(&dependency.pkg) {
                open.push(&dependency.pkg);
            }
        }
    }
    met.remove(&root.id);
    let seen = met.into_iter().filter_map(|id| packages.get(id).copied());
    let mut found = workspace(metadata)?;
    found.add_all(seen.map(|package| Seen {
        manifest: package.manifest_path.as_std_path().to_owned(),
        declares: declares(package),
        is_local: package.source.is_none(),
    }));
    Ok(found.finish(query, metadata))
}

/// One dependency, reduced to the fields used here.
pub(super) struct Seen {
    pub(super) manifest: PathBuf,
    pub(super) declares: bool,
    pub(super) is_local: bool,
}

impl Dependencies {
    pub(super) fn add_all(&mut self, dependencies: impl IntoIterator<Item = Seen>) {
        for Seen { manifest, declares, is_local } in dependencies {
            if declares {
                self.declaring.push(manifest.clone());
            }
            // A registry package cannot change unless the lock file changes.
            if declares || is_local {
                self.inputs.push(manifest);
            }
        }
    }

    pub(super) fn finish(mut self, query: &Query, metadata: &Metadata) -> Self {
        let root = metadata.workspace_root.as_std_path();
        self.inputs.extend([query.manifest(), root.join("Cargo.toml"), root.join("Cargo.lock")]);
        self.inputs.retain(|path| path.is_file());
        for list in [&mut self.declaring, &mut self.inputs] {
            list.sort();
            list.dedup();
        }
        self
    }
}

/// Returns the package being built.
pub(super) fn own<'m>(query: &Query, metadata: &'m Metadata) -> Result<&'m Package, DependenciesError> {
    let manifest = query.manifest();
    let canonical = fs_err::canonicalize(&manifest).unwrap_or_else(|_| manifest.clone());
    let is_own = |path: &Path| path == manifest || path == canonical;
    let found = metadata.packages.iter().find(|package| is_own(package.manifest_path.as_std_path()));
    found.ok_or(DependenciesError::Package { manifest })
}

/// Creates an answer that contains the workspace's own table.
pub(super) fn workspace(metadata: &Metadata) -> Result<Dependencies, DependenciesError> {
    /// `[workspace.metadata.precast]`
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Table {
        store: Option<PathBuf>,
    }
    let root = metadata.workspace_root.as_std_path();
    let store = match metadata.workspace_metadata.get("precast") {
        None => None,
        Some(value) => {
            let table: Table = serde_json::from_value(value.clone()).map_err(|error| {
                DependenciesError::Workspace { manifest: root.join("Cargo.toml"), message: error.to_string() }
            })?;
            table.store.map(|store| root.join(store))
        }
    };
    Ok(Dependencies { declaring: Vec::new(), inputs: Vec::new(), store, unseen: Vec::new() })
}

fn is_macro(package: &Package) -> bool {
    package.targets.iter().any(cargo_metadata::Target::is_proc_macro)
}

fn declares(package: &Package) -> bool {
    package.metadata.get("precast").is_some()
}
