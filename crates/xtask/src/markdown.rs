//! The links and anchors of Markdown pages. Code blocks and code spans have none.

use regex::{Captures, Regex};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// A code span on one line, or the target of a link.
static LINK: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"`[^`]*`|\]\(([^)\s]+)\)").expect("a valid expression"));

/// A link in text, which a heading may contain.
static TEXT: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\[([^\]]*)\]\([^)]*\)").expect("a valid expression"));

/// Returns the lines of a page, each with `true` if it belongs to a code block.
fn lines(page: &str) -> impl Iterator<Item = (&str, bool)> {
    let mut is_code = false;
    page.lines().map(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        (line, is_code || is_fence)
    })
}

/// Returns the targets of the links of a page, each with its line number.
pub(crate) fn links(page: &str) -> Vec<(usize, &str)> {
    let text = lines(page).enumerate().filter(|(_, (_, is_code))| !is_code);
    text.flat_map(|(at, (line, _))| {
        LINK.captures_iter(line).filter_map(move |found| Some((at + 1, found.get(1)?.as_str())))
    })
    .collect()
}

/// Returns a page whose links have the targets that `target` returns for the old ones.
pub(crate) fn with_links(page: &str, target: impl Fn(&str) -> String) -> String {
    let replaced = |found: &Captures<'_>| match found.get(1) {
        Some(old) => format!("]({})", target(old.as_str())),
        None => found[0].to_owned(),
    };
    let text = lines(page).map(|(line, is_code)| {
        if is_code { line.to_owned() } else { LINK.replace_all(line, &replaced).into_owned() }
    });
    text.map(|line| line + "\n").collect()
}

/// Returns the anchors of the headings of a page, as GitHub and mdBook name them.
pub(crate) fn anchors(page: &str) -> BTreeSet<String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let headings = lines(page).filter(|(_, is_code)| !is_code).filter_map(|(line, _)| {
        let text = line.trim_start_matches('#');
        (text.len() < line.len()).then(|| text.strip_prefix(' ')).flatten()
    });
    headings
        .map(|heading| {
            let anchor = anchor(heading.trim());
            let count = seen.entry(anchor.clone()).or_default();
            *count += 1;
            if *count == 1 { anchor } else { format!("{anchor}-{}", *count - 1) }
        })
        .collect()
}

/// Returns the anchor of the first heading with this text.
pub(crate) fn anchor(heading: &str) -> String {
    let text = TEXT.replace_all(heading, "$1").to_lowercase();
    let kept = text.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// Returns the first heading of a page.
pub(crate) fn title(page: &str) -> Option<&str> {
    page.lines().find_map(|line| line.strip_prefix("# "))
}

/// Returns the path and the anchor of a link in the file `from`, relative to the root of the tree. `None` for a URL.
pub(crate) fn resolve<'a>(from: &str, target: &'a str) -> Option<(String, Option<&'a str>)> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (path, anchor) = match target.split_once('#') {
        Some((path, anchor)) => (path, Some(anchor)),
        None => (target, None),
    };
    if path.is_empty() {
        return Some((from.to_owned(), anchor));
    }
    let mut names: Vec<&str> = from.split('/').collect();
    names.pop();
    for name in path.trim_end_matches('/').split('/') {
        match name {
            "." => {}
            ".." if names.last().is_some_and(|last| *last != "..") => {
                names.pop();
            }
            name => names.push(name),
        }
    }
    Some((names.join("/"), anchor))
}

#[cfg(test)]
mod tests {
    use super::{anchors, links, resolve, with_links};

    #[test]
    fn links_are_found_outside_of_code() {
        let page = "[`a`](b.md)\n```c\n[x](y)\n```\nan `[index](no)` and [c](d#e)\n";
        assert_eq!(links(page), [(1, "b.md"), (5, "d#e")]);
        let changed = with_links(page, |old| format!("../{old}"));
        assert_eq!(links(&changed), [(1, "../b.md"), (5, "../d#e")]);
        assert!(changed.contains("\n[x](y)\n"));
    }

    #[test]
    fn anchors_match_github() {
        let page = "# `out=` and [more](x.md)\n## What's new?\n```\n# no\n```\n## What's new?\n#tag\n";
        let expected = ["out-and-more", "whats-new", "whats-new-1"].map(str::to_owned);
        assert_eq!(anchors(page), expected.into());
    }

    #[test]
    fn paths_are_relative_to_the_page() {
        let found = |target| resolve("crates/a/B.md", target).map(|(path, anchor)| (path, anchor.is_some()));
        assert_eq!(found("../../C.md#d"), Some(("C.md".to_owned(), true)));
        assert_eq!(found("#d"), Some(("crates/a/B.md".to_owned(), true)));
        assert_eq!(found("../e/"), Some(("crates/e".to_owned(), false)));
        assert_eq!(found("https://a.b/c"), None);
    }
}
