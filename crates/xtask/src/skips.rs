//! The tests that skipped themselves, from the report of `cargo nextest`.
//!
//! A test without its optional tool prints `skipped: REASON` and passes. The runner hides the output of passing tests,
//! but writes it to a JUnit report (see `.config/nextest.toml`).

use anyhow::{Context as _, Result};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Returns a table of the reasons in a JUnit report, each with the tests that gave it; empty without skipped tests.
pub(crate) fn table(report: &str) -> Result<String> {
    let options = roxmltree::ParsingOptions { nodes_limit: u32::MAX, ..Default::default() };
    let document =
        roxmltree::Document::parse_with_options(report, options).context("cannot parse the JUnit report")?;
    let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for case in document.descendants().filter(|node| node.has_tag_name("testcase")) {
        let name = case.attribute("name").unwrap_or("?");
        let output = case.children().filter_map(|child| child.text());
        for reason in output.flat_map(str::lines).filter_map(|line| line.trim().strip_prefix("skipped: ")) {
            let tests = reasons.entry(reason).or_default();
            if tests.last() != Some(&name) {
                tests.push(name);
            }
        }
    }
    if reasons.is_empty() {
        return Ok(String::new());
    }
    let mut text = String::from("skipped tests, or parts of tests:\n");
    for (reason, tests) in reasons {
        let more = if tests.len() > 1 { format!(" and {} more", tests.len() - 1) } else { String::new() };
        writeln!(text, "{:>5}  {reason} ({}{more})", tests.len(), tests[0])?;
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::table;

    #[test]
    fn table_groups_tests_by_reason() {
        let case = |name: &str, out: &str| {
            format!("<testcase name=\"{name}\"><system-out>{out}</system-out><system-err/></testcase>")
        };
        let cases = [
            case("a::first", "running 1 test\nskipped: no `perf` here\n"),
            case("a::second", "skipped: no `perf` here\nskipped: no `perf` here"),
            case("b", "not skipped: fine"),
            case("c", "skipped: &lt;none&gt;"),
        ];
        let report = format!("<testsuites><testsuite>{}</testsuite></testsuites>", cases.concat());
        let expected = "skipped tests, or parts of tests:\n    1  <none> (c)\n    2  no `perf` here (a::first and 1 more)\n";
        assert_eq!(table(&report).unwrap(), expected);
        assert_eq!(table("<testsuites/>").unwrap(), "");
        assert!(table("<testsuites>").is_err());
    }
}
