//! The tests that freeze formats: `STABILITY.md` names each one, so a renamed or deleted test is a problem.

use super::Findings;
use super::tree::Tree;
use anyhow::Result;
use regex::Regex;

const PAGE: &str = "crates/precast/STABILITY.md";

/// Checks that each test on the page, in the form `` `file.rs`: `name` ``, exists.
pub(super) fn check(tree: &Tree, findings: &mut Findings) -> Result<()> {
    let named = Regex::new(r"`([\w./-]+\.rs)`: `(\w+)`")?;
    let page = tree.files.get(PAGE).and_then(Option::as_deref).unwrap_or_default();
    for groups in named.captures_iter(page) {
        let (file, test) = (&groups[1], &groups[2]);
        // Paths on the page are relative to `crates`.
        let path = file.strip_prefix("../").map_or_else(|| format!("crates/{file}"), str::to_owned);
        let text = tree.files.get(&path).and_then(Option::as_deref).unwrap_or_default();
        if !text.contains(&format!("fn {test}(")) {
            findings.problem(PAGE, format!("`{path}` has no test `{test}`"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{PAGE, Tree, check};
    use crate::tidy::Findings;

    #[test]
    fn missing_tests_are_problems() {
        let page = "| bundle | `a/t.rs`: `here` |\n`../b.rs`: `here`\n`a/t.rs`: `gone`\n`none.rs`: `here`\n";
        let files = [(PAGE, page), ("crates/a/t.rs", "fn here() {}"), ("b.rs", "fn here() {}")];
        let files = files.map(|(path, text)| (path.to_owned(), Some(text.to_owned())));
        let mut findings = Findings::default();
        check(&Tree { files: files.into() }, &mut findings).unwrap();
        let expected = ["`crates/a/t.rs` has no test `gone`", "`crates/none.rs` has no test `here`"];
        assert_eq!(findings.problems, expected.map(|problem| format!("{PAGE}: {problem}")));
    }
}
