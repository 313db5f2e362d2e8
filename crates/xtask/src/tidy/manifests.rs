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
    /// The names of its normal dependencies, for all targets.
    dependencies: Vec<String>,
    described: bool,
    /// Whether it inherits the lints of the workspace.
    linted: bool,
}

/// Checks descriptions, lints and the direction of dependencies.
pub(super) fn check(tree: &Tree, findings: &mut Findings) -> Result<()> {
    let members = members(tree)?;
    for member in &members {
        let manifest = format!("{}/Cargo.toml", member.folder);
        if !member.described {
            findings.problem(&manifest, "the package has no description");
        }
        if !member.linted {
            findings.problem(&manifest, "the package does not say `[lints] workspace = true`");
        }
        let Some(tier) = Tier::find(&member.package) else {
            findings.problem(&manifest, format!("`{}` has no layer in xtask's layers.rs", member.package));
            continue;
        };
        for dependency in member.dependencies.iter().filter(|d| members.iter().any(|m| m.package == **d)) {
            if !Tier::find(dependency).is_none_or(|other| tier.may_use(other)) {
                findings
                    .problem(&manifest, format!("depends on `{dependency}`, which is not in a lower layer"));
            }
        }
    }
    Ok(())
}

/// Returns all packages of the tree.
pub(super) fn members(tree: &Tree) -> Result<Vec<Member>> {
    let mut members = Vec::new();
    for (path, text) in tree.with_suffix("/Cargo.toml") {
        if path.split('/').any(|name| name == "fixtures") {
            continue;
        }
        let manifest: Table = text.parse().with_context(|| path.to_owned())?;
        let package = manifest.get("package").and_then(Value::as_table).with_context(|| path.to_owned())?;
        members.push(Member {
            folder: path.trim_end_matches("/Cargo.toml").to_owned(),
            package: package.get("name").and_then(Value::as_str).unwrap_or_default().to_owned(),
            dependencies: dependencies(&manifest),
            linted: manifest.get("lints").and_then(|lints| lints.get("workspace"))
                == Some(&Value::Boolean(true)),
            described: package.get("description").and_then(Value::as_str).is_some_and(|d| !d.is_empty()),
        });
    }
    Ok(members)
}

fn dependencies(manifest: &Table) -> Vec<String> {
    let targets = manifest.get("target").and_then(Value::as_table);
    let tables = targets.into_iter().flat_map(Table::values).filter_map(Value::as_table);
    std::iter::once(manifest)
        .chain(tables)
        .filter_map(|table| table.get("dependencies").and_then(Value::as_table))
        .flat_map(|table| table.iter().map(|(name, value)| renamed(name, value)))
        .collect()
}

/// Returns the package name of a dependency: its `package` key, else its own name.
fn renamed(name: &str, value: &Value) -> String {
    value.get("package").and_then(Value::as_str).unwrap_or(name).to_owned()
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tidy::Findings;
    use crate::tidy::tree::Tree;

    #[test]
    fn a_dependency_on_a_higher_layer_is_found_in_every_table() {
        let head = "package = { name = 'precast-codegen', description = 'x' }\nlints.workspace = true\n";
        let problems = |dependencies: &str| {
            let manifest = |text: &str| Some(text.to_owned());
            let higher = "package = { name = 'precast-ops', description = 'x' }\nlints.workspace = true\n";
            let files = [
                ("crates/codegen/Cargo.toml".to_owned(), manifest(&format!("{head}{dependencies}"))),
                ("crates/ops/Cargo.toml".to_owned(), manifest(higher)),
            ];
            let mut findings = Findings::default();
            check(&Tree { files: files.into() }, &mut findings).expect("both manifests parse");
            findings.problems.len()
        };
        assert_eq!(problems(""), 0);
        assert_eq!(problems("dev-dependencies.precast-ops.workspace = true"), 0);
        assert_eq!(problems("dependencies.precast-ops.workspace = true"), 1);
        assert_eq!(problems("dependencies.o = { package = 'precast-ops' }"), 1);
        assert_eq!(problems("[target.'cfg(unix)'.dependencies]\nprecast-ops.workspace = true"), 1);
    }
}
