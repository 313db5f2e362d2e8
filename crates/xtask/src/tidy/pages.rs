//! Rules about Markdown pages: every link leads to a file and a heading of the tree, and the site has every page.

use super::Findings;
use super::tree::Tree;
use crate::book::{DECISIONS, SUMMARY};
use crate::markdown::{anchors, links, resolve};
use std::collections::BTreeSet;

/// Folders and files of Markdown that are not pages of the site.
const APART: [&str; 5] = [
    ".github/pull_request_template.md",
    "crates/bench/src/",
    "crates/graph/tests/",
    "artifacts/README.md",
    SUMMARY,
];

/// Checks all pages.
pub(super) fn check(tree: &Tree, findings: &mut Findings) {
    for (page, text) in tree.with_suffix(".md") {
        for (line, target) in links(text) {
            if let Some(problem) = problem(tree, page, target) {
                findings.problem(format!("{page}:{line}"), problem);
            }
        }
    }
    let Some(Some(summary)) = tree.files.get(SUMMARY) else {
        return;
    };
    let listed: BTreeSet<String> =
        links(summary).iter().filter_map(|(_, target)| Some(resolve(SUMMARY, target)?.0)).collect();
    for (page, _) in tree.with_suffix(".md") {
        let is_apart = APART.iter().any(|apart| page.starts_with(apart)) || page.starts_with(DECISIONS);
        if !is_apart && !listed.contains(page) {
            findings.problem(page, format!("not a page of the site; add it to `{SUMMARY}`"));
        }
    }
}

/// Returns the problem with a link.
fn problem(tree: &Tree, page: &str, target: &str) -> Option<String> {
    let (path, anchor) = resolve(page, target)?;
    let Some(file) = tree.files.get(&path) else {
        let folder = format!("{path}/");
        let is_folder = tree.files.keys().any(|file| file.starts_with(&folder));
        return (!is_folder).then(|| format!("the link `{target}` leads to no file"));
    };
    let (anchor, text) = (anchor?, file.as_deref().unwrap_or_default());
    let is_page = path.ends_with(".md");
    (!is_page || !anchors(text).contains(anchor))
        .then(|| format!("the link `{target}` leads to no heading of `{path}`"))
}

#[cfg(test)]
mod tests {
    use super::{Tree, check};
    use crate::tidy::Findings;

    #[test]
    fn dead_links_and_unlisted_pages_are_found() {
        let files = [
            ("README.md", "# Top\n[a](crates/a.md#one) [b](crates/a.md#two) [c](none.md) [d](crates)\n"),
            ("crates/a.md", "# One\n[up](../README.md#top)\n"),
            (super::SUMMARY, "# Summary\n- [Top](../../../README.md)\n"),
        ];
        let files = files.map(|(path, text)| (path.to_owned(), Some(text.to_owned())));
        let mut findings = Findings::default();
        check(&Tree { files: files.into() }, &mut findings);
        let places: Vec<&str> =
            findings.problems.iter().map(|problem| &problem[..problem.find(": ").unwrap()]).collect();
        assert_eq!(places, ["README.md:2", "README.md:2", "crates/a.md"], "{:?}", findings.problems);
    }
}
