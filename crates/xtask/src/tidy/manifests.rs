//! Rules about Cargo.toml files.

use super::Findings;
use super::layers::Tier;
use super::tree::Tree;
use anyhow::{Context, Result};
use toml::{Table, Value};

/// A member of the workspace.
pub(super) struct Member {
    /// The directory, relative to the root.
    pub(super) folder: String,
    /// The name of the package.
    pub(super) package: String,
    pub(super) manifest: Table,
}

impl Member {
    /// Returns a value of the table `package`.
    pub(super) fn get(&self, key: &str) -> Option<&Value> {
        self.manifest.get("package")?.get(key)
    }

    /// Returns whether the package is published on crates.io.
    pub(super) fn is_published(&self) -> bool {
        self.get("publish") != Some(&Value::Boolean(false))
    }

    /// Returns the names of the normal dependencies, for all targets.
    fn dependencies(&self) -> Vec<String> {
        let targets = self.manifest.get("target").and_then(Value::as_table);
        let tables = targets.into_iter().flat_map(Table::values).filter_map(Value::as_table);
        std::iter::once(&self.manifest)
            .chain(tables)
            .filter_map(|table| table.get("dependencies").and_then(Value::as_table))
            .flat_map(|table| table.iter().map(|(name, value)| renamed(name, value)))
            .collect()
    }

    /// Returns whether the package inherits the lints of the workspace.
    fn is_linted(&self) -> bool {
        self.manifest.get("lints").and_then(|lints| lints.get("workspace")) == Some(&Value::Boolean(true))
    }
}

/// Checks descriptions, lints and the direction of dependencies.
pub(super) fn check(members: &[Member], findings: &mut Findings) {
    for member in members {
        let manifest = format!("{}/Cargo.toml", member.folder);
        if member.get("description").and_then(Value::as_str).is_none_or(str::is_empty) {
            findings.problem(&manifest, "the package has no description");
        }
        if !member.is_linted() {
            findings.problem(&manifest, "the package does not say `[lints] workspace = true`");
        }
        let Some(tier) = Tier::find(&member.package) else {
            findings.problem(&manifest, format!("`{}` has no layer in xtask's layers.rs", member.package));
            continue;
        };
        for dependency in member.dependencies().iter().filter(|d| members.iter().any(|m| m.package == **d)) {
            if !Tier::find(dependency).is_none_or(|other| tier.may_use(other)) {
                findings
                    .problem(&manifest, format!("depends on `{dependency}`, which is not in a lower layer"));
            }
        }
    }
}

/// Returns all packages of the tree.
pub(super) fn members(tree: &Tree) -> Result<Vec<Member>> {
    let mut members = Vec::new();
    for (path, text) in tree.with_suffix("/Cargo.toml") {
        if path.split('/').any(|name| name == "fixtures") {
            continue;
        }
        let manifest: Table = text.parse().with_context(|| path.to_owned())?;
        // An example with many dependencies is a workspace of its own, and no member.
        if manifest.contains_key("workspace") {
            continue;
        }
        let package = manifest.get("package").with_context(|| path.to_owned())?;
        members.push(Member {
            folder: path.trim_end_matches("/Cargo.toml").to_owned(),
            package: package.get("name").and_then(Value::as_str).unwrap_or_default().to_owned(),
            manifest,
        });
    }
    Ok(members)
}

/// Returns the package name of a dependency: its `package` key, else its own name.
fn renamed(name: &str, value: &Value) -> String {
    value.get("package").and_then(Value::as_str).unwrap_or(name).to_owned()
}

#[cfg(test)]
mod tests {
    use super::{check, members};
    use crate::tidy::Findings;
    use crate::tidy::tree::Tree;

    #[test]
    fn upward_dependency_is_found_in_every_table() {
        let head = "package = { name = 'precast-codegen', description = 'x' }\nlints.workspace = true\n";
        let problems = |dependencies: &str| {
            let manifest = |text: &str| Some(text.to_owned());
            let higher = "package = { name = 'precast-ops', description = 'x' }\nlints.workspace = true\n";
            let files = [
                ("crates/codegen/Cargo.toml".to_owned(), manifest(&format!("{head}{dependencies}"))),
                ("crates/ops/Cargo.toml".to_owned(), manifest(higher)),
            ];
            let mut findings = Findings::default();
            let members = members(&Tree { files: files.into() }).expect("both manifests parse");
            check(&members, &mut findings);
            findings.problems.len()
        };
        assert_eq!(problems(""), 0);
        assert_eq!(problems("dev-dependencies.precast-ops.workspace = true"), 0);
        assert_eq!(problems("dependencies.precast-ops.workspace = true"), 1);
        assert_eq!(problems("dependencies.o = { package = 'precast-ops' }"), 1);
        assert_eq!(problems("[target.'cfg(unix)'.dependencies]\nprecast-ops.workspace = true"), 1);
    }
}
