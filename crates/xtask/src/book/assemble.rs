//! Copies the pages of the site to the folder that mdBook reads.
//!
//! | in the tree | in the site |
//! |---|---|
//! | `README.md` | `index.md` of its folder |
//! | `.github/` | `github/`: web servers hide names that begin with a dot |
//! | a link to another page | the link to its place |
//! | a link to any other file or folder | the link to it in the repository |
//! | a comment `generated: NAME` | the text of that name, from `generated` |

use super::{DECISIONS, FOLDER, SETTINGS, SUMMARY, generated};
use crate::markdown::{links, resolve, title, with_links};
use anyhow::{Context as _, Result};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

/// The site: its pages, and the location of everything else.
struct Site<'a> {
    root: &'a Path,
    pages: BTreeSet<String>,
    repository: String,
}

/// Writes the settings and all pages below `book`. Pages link to the API of the crates if it is part of the site.
pub(super) fn write(root: &Path, book: &Path, with_api: bool) -> Result<()> {
    let summary = with_decisions(root, &fs_err::read_to_string(root.join(SUMMARY))?)?;
    let pages = links(&summary).iter().filter_map(|(_, target)| Some(resolve(SUMMARY, target)?.0)).collect();
    let site = Site { root, pages, repository: repository(root)? };
    let source = book.join("src");
    for page in &site.pages {
        let text = fs_err::read_to_string(root.join(page)).with_context(|| format!("a page of {SUMMARY}"))?;
        let text = site.place_links(page, &generated::insert(root, &text, with_api)?);
        let place = source.join(place(page));
        fs_err::create_dir_all(place.parent().context("pages are in folders")?)?;
        fs_err::write(place, text)?;
    }
    let summary = with_links(&summary, |target| site.target(SUMMARY, target, ""));
    fs_err::write(source.join("SUMMARY.md"), summary)?;
    for file in SETTINGS {
        fs_err::copy(root.join(FOLDER).join(file), book.join(file))?;
    }
    Ok(())
}

/// Adds the decisions to the summary, below the page with their list.
fn with_decisions(root: &Path, summary: &str) -> Result<String> {
    let (folder, first) = DECISIONS.rsplit_once('/').context("a folder and the beginning of names")?;
    let mut names: Vec<String> = fs_err::read_dir(root.join(folder))?
        .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
        .collect::<Result<_>>()?;
    names.retain(|name| name.starts_with(first));
    names.sort_unstable();
    let mut list = String::new();
    for name in names {
        let page = fs_err::read_to_string(root.join(folder).join(&name))?;
        let title = title(&page).with_context(|| format!("{name} has no title"))?;
        writeln!(list, "  - [{title}](../../decisions/{name})")?;
    }
    let parent = summary.lines().find(|line| line.contains("decisions/README.md")).context("decisions")?;
    Ok(summary.replacen(parent, &format!("{parent}\n{}", list.trim_end()), 1))
}

/// Returns the URL of the repository.
fn repository(root: &Path) -> Result<String> {
    let manifest: toml::Table = fs_err::read_to_string(root.join("Cargo.toml"))?.parse()?;
    let url = manifest["workspace"]["package"]["repository"].as_str();
    Ok(url.context("the workspace has no repository")?.to_owned())
}

/// Returns the place of a page in the site.
fn place(page: &str) -> String {
    let visible = page.strip_prefix('.').unwrap_or(page);
    match visible.strip_suffix("README.md") {
        Some(folder) => format!("{folder}index.md"),
        None => visible.to_owned(),
    }
}

impl Site<'_> {
    /// Returns the text of a page with the links of the site.
    fn place_links(&self, page: &str, text: &str) -> String {
        let up = "../".repeat(place(page).matches('/').count());
        with_links(text, |target| self.target(page, target, &up))
    }

    /// Returns a link of the site for a link of a page; `up` leads to the top of the site.
    fn target(&self, page: &str, target: &str, up: &str) -> String {
        if let Some(api) = target.strip_prefix(generated::API) {
            return format!("{up}api/{api}");
        }
        let Some((path, anchor)) = resolve(page, target).filter(|_| !target.starts_with('#')) else {
            return target.to_owned();
        };
        let anchor = anchor.map_or_else(String::new, |anchor| format!("#{anchor}"));
        let readme = format!("{path}/README.md");
        match [&path, &readme].into_iter().find(|page| self.pages.contains(*page)) {
            Some(page) => format!("{up}{}{anchor}", place(page)),
            None => {
                let kind = if self.root.join(&path).is_dir() { "tree" } else { "blob" };
                format!("{}/{kind}/main/{path}{anchor}", self.repository)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Site;

    #[test]
    fn links_lead_to_pages_else_to_the_repository() {
        let root = crate::root();
        let pages = ["README.md", "crates/README.md", "crates/cli/CI.md", ".github/SECURITY.md"];
        let site =
            Site { root: &root, pages: pages.map(str::to_owned).into(), repository: "https://r".to_owned() };
        let target = |target| site.target("crates/cli/CI.md", target, "../../");
        assert_eq!(target("../README.md#a"), "../../crates/index.md#a");
        assert_eq!(target("../../README.md"), "../../index.md");
        assert_eq!(target(".."), "../../crates/index.md");
        assert_eq!(target("../../.github/SECURITY.md"), "../../github/SECURITY.md");
        assert_eq!(target("src/lib.rs"), "https://r/blob/main/crates/cli/src/lib.rs");
        assert_eq!(target("src"), "https://r/tree/main/crates/cli/src");
        assert_eq!((target("#b"), target("https://x.y")), ("#b".to_owned(), "https://x.y".to_owned()));
    }
}
