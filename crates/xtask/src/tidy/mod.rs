//! Rules about the tree that no compiler knows.
//!
//! ```text
//! tree      what git tracks (or would): paths and text
//! files     top level, files that must be there, paths of a build machine
//! manifests every crate has a description; dependencies point to lower layers only
//! links     loaders and deployed programs link nothing asynchronous
//! rust      one rule a function, over the code without comments and literals that `lex` gives
//! ```
//! A rule that must be broken is changed here, in the open; there are no switches of our own in other files.

mod files;
mod layers;
mod lex;
mod links;
mod manifests;
mod rust;
mod tree;

use anyhow::Result;
use std::path::Path;
use tree::Tree;

/// What the rules found.
#[derive(Default)]
struct Findings {
    /// Broken rules, each with the place.
    problems: Vec<String>,
    /// Things to look at that break no rule.
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

/// Prints what breaks a rule in the tree at `root`; `true` if nothing does.
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

fn check(root: &Path) -> Result<Findings> {
    let tree = Tree::open(root)?;
    let mut findings = Findings::default();
    files::check(&tree, &mut findings);
    manifests::check(&tree, &mut findings)?;
    rust::check(&tree, &mut findings)?;
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
