//! The files to check: those that git tracks or would track, or without git, all files of the directory tree.

use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use walkdir::WalkDir;

/// The tree's files by path relative to its root, with `/` between names.
pub(super) struct Tree {
    /// The text of each file; `None` if it is not UTF-8.
    pub(super) files: BTreeMap<String, Option<String>>,
}

impl Tree {
    /// Reads all files of the tree at `root`.
    pub(super) fn open(root: &Path) -> Result<Self> {
        let mut files = BTreeMap::new();
        for path in listed_by_git(root).map_or_else(|| walked(root), Ok)? {
            let full = root.join(&path);
            if full.is_file() {
                files.insert(path, String::from_utf8(fs_err::read(full)?).ok());
            }
        }
        Ok(Self { files })
    }

    /// Returns the text files whose path ends in `suffix`.
    pub(super) fn with_suffix(&self, suffix: &str) -> impl Iterator<Item = (&str, &str)> {
        self.files
            .iter()
            .filter(move |(path, _)| path.ends_with(suffix))
            .filter_map(|(path, text)| Some((path.as_str(), text.as_deref()?)))
    }
}

fn listed_by_git(root: &Path) -> Option<Vec<String>> {
    let args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let output = Command::new("git").current_dir(root).args(args).output().ok()?;
    let list = output.status.success().then(|| String::from_utf8(output.stdout).ok()).flatten()?;
    Some(list.split_terminator('\0').map(str::to_owned).collect())
}

/// Returns every file, except those in directories that git ignores too.
fn walked(root: &Path) -> Result<Vec<String>> {
    let ignored = [root.join("target"), root.join(".git")];
    let mut found = Vec::new();
    for entry in WalkDir::new(root).into_iter().filter_entry(|e| !ignored.iter().any(|path| path == e.path()))
    {
        let entry = entry?;
        // A link to a file counts as the file, as for git.
        if entry.path().is_file() {
            let path: PathBuf = entry.path().strip_prefix(root)?.components().collect();
            found.push(path.to_str().context("a file name that is not UTF-8")?.replace('\\', "/"));
        }
    }
    Ok(found)
}
