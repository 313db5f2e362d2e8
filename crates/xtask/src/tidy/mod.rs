//! Rules about the tree that no compiler checks.
//!
//! ```text
//! tree      files that git tracks (or would track): paths and text
//! environment  the page of environment variables
//! english   the rate of unclear constructs in comments
//! files     top level, required files, paths of a build machine
//! manifests every crate has a description; dependencies point to lower layers only
//! links     loaders and deployed programs link nothing asynchronous
//! pages     links between Markdown pages; the site has every page
//! published metadata, licence texts and files of the packages on crates.io
//! stability the tests that the page on stability names exist
//! rust      one rule per function, over the tokens from `code`
//! ```
//! To break a rule, change it here; other files have no switches to disable rules.

mod code;
mod english;
mod environment;
mod files;
mod layers;
mod links;
mod manifests;
mod pages;
mod published;
mod rust;
mod stability;
mod tree;

pub(crate) use layers::libraries;

use anyhow::Result;
use manifests::members;
use std::path::Path;
use tree::Tree;

/// The findings of the rules.
#[derive(Default)]
struct Findings {
    /// The broken rules, each with its location.
    problems: Vec<String>,
    /// Possible problems that break no rule.
    warnings: Vec<String>,
}

impl Findings {
    fn problem(&mut self, place: impl std::fmt::Display, what: impl std::fmt::Display) {
        self.problems.push(format!("{place}: {what}"));
    }

    fn warning(&mut self, place: impl std::fmt::Display, what: impl std::fmt::Display) {
        self.warnings.push(format!("{place}: {what}"));
    }
}

/// Prints broken rules of the tree at `root`; returns `true` if there are no such findings.
pub(crate) fn run(root: &Path) -> Result<bool> {
    let findings = check(root)?;
    for warning in &findings.warnings {
        println!("warning: {warning}");
    }
    for problem in &findings.problems {
        println!("error: {problem}");
    }
    println!("tidy: {} problems, {} warnings", findings.problems.len(), findings.warnings.len());
    Ok(findings.problems.is_empty())
}

/// Returns the names of the packages that are not published on crates.io.
pub(crate) fn unpublished(root: &Path) -> Result<Vec<String>> {
    let members = members(&Tree::open(root)?)?;
    Ok(members.into_iter().filter(|member| !member.is_published()).map(|member| member.package).collect())
}

fn check(root: &Path) -> Result<Findings> {
    let tree = Tree::open(root)?;
    let members = members(&tree)?;
    let mut findings = Findings::default();
    files::check(&tree, &mut findings);
    english::check(&tree, &mut findings)?;
    environment::check(&tree, &mut findings)?;
    pages::check(&tree, &mut findings);
    manifests::check(&members, &mut findings);
    published::check(&tree, &members, &mut findings)?;
    stability::check(&tree, &mut findings)?;
    rust::check(&tree, &members, &mut findings);
    links::check(root, &mut findings)?;
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::check;
    use anyhow::Result;

    #[test]
    fn tree_keeps_every_rule() -> Result<()> {
        let findings = check(&crate::root())?;
        assert!(findings.problems.is_empty(), "\n{}", findings.problems.join("\n"));
        Ok(())
    }
}
