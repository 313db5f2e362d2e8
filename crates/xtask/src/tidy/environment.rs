//! The page of environment variables has a row for every variable that shipped code reads, and no others.

use super::Findings;
use super::tree::Tree;
use anyhow::Result;
use regex::Regex;
use std::collections::BTreeSet;

/// The page.
const PAGE: &str = "crates/precast/book/environment.md";

/// The help of the command line, which lists some variables.
const HELP: &str = "crates/cli/src/args/mod.rs";

/// Names of C macros and of variables for tests, which have the same form.
const OTHERS: &str = "^PRECAST_(ERROR_|OK$|ABI_VERSION|OF_COMMIT$|TEST_|SCHEDULES$|WRITE_)|_$|_TEST_";

/// Folders of development code.
const DEVELOPMENT: [&str; 4] = ["crates/bench/", "crates/testkit/", "crates/xtask/", "tests/"];

/// Compares the page with the sources.
pub(super) fn check(tree: &Tree, findings: &mut Findings) -> Result<()> {
    let Some(Some(page)) = tree.files.get(PAGE) else {
        return Ok(());
    };
    let (name, others) = (Regex::new("\"(PRECAST_[A-Z_]+)\"")?, Regex::new(OTHERS)?);
    let documented: BTreeSet<&str> = Regex::new(r"(?m)^\| `(PRECAST_[A-Z_]+)`")?
        .captures_iter(page)
        .filter_map(|row| Some(row.get(1)?.as_str()))
        .collect();
    let mut read = BTreeSet::new();
    for (path, text) in tree.with_suffix(".rs").chain(tree.with_suffix(".py")) {
        let is_apart = DEVELOPMENT.iter().any(|folder| path.starts_with(folder)) || path.contains("/tests");
        if !is_apart {
            read.extend(name.captures_iter(text).filter_map(|found| Some(found.get(1)?.as_str())));
        }
    }
    read.retain(|name| !others.is_match(name));
    let help = tree.files.get(HELP).and_then(Option::as_deref).unwrap_or_default();
    let shown = Regex::new(r"(?m)^  (PRECAST_[A-Z_]+) ")?;
    read.extend(shown.captures_iter(help).filter_map(|found| Some(found.get(1)?.as_str())));
    for name in read.difference(&documented) {
        findings.problem(PAGE, format!("has no row for `{name}`"));
    }
    for name in documented.difference(&read) {
        findings.problem(PAGE, format!("no code reads `{name}`"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{HELP, PAGE, Tree, check};
    use crate::tidy::Findings;

    #[test]
    fn mismatched_variables_and_rows_are_found() {
        let files = [
            (PAGE, "| `PRECAST_A` | |\n| `PRECAST_GONE` | |\n"),
            ("crates/core/src/a.rs", "var(\"PRECAST_A\"); var(\"PRECAST_B\"); \"PRECAST_OK\""),
            ("crates/core/tests/a.rs", "var(\"PRECAST_C\")"),
            (HELP, "Environment:\n  PRECAST_D   text"),
        ];
        let files = files.map(|(path, text)| (path.to_owned(), Some(text.to_owned())));
        let mut findings = Findings::default();
        check(&Tree { files: files.into() }, &mut findings).unwrap();
        let named: Vec<&str> =
            findings.problems.iter().filter_map(|problem| problem.split('`').nth(1)).collect();
        assert_eq!(named, ["PRECAST_B", "PRECAST_D", "PRECAST_GONE"]);
    }
}
