//! Which commit a tree is of; for the build script, which has it printed by `precast --version`.
//!
//! ```text
//! PRECAST_COMMIT          who builds says it: a distribution, without git
//! .cargo_vcs_info.json    a package as Cargo packs it
//! .git                    a checkout, if git is there
//! ```
//! Else nothing is said: the tree alone decides what is built of it.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A commit, and the files that say it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) commit: Option<String>,
    pub(crate) files: Vec<PathBuf>,
}

/// Finds the commit of the package in `here`; of a checkout only where git may be asked.
pub(crate) fn find(here: &Path, named: Option<String>, asks_git: bool) -> Found {
    if named.is_some() {
        return Found { commit: named, files: Vec::new() };
    }
    let packed = here.join(".cargo_vcs_info.json");
    if let Ok(text) = fs_err::read_to_string(&packed) {
        let commit = text.split_once("\"sha1\"").and_then(|(_, rest)| rest.split('"').nth(1));
        return Found { commit: commit.map(str::to_owned), files: vec![packed] };
    }
    // Not of a repository that has this tree somewhere inside of it.
    let root = here.join("../..");
    if !asks_git || !root.join(".git").exists() {
        return Found::default();
    }
    let git = |arguments: &[&str]| {
        let output = Command::new("git").arg("-C").arg(&root).args(arguments).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim().to_owned())
    };
    // The log has a line for each commit that was checked out or made.
    let logged = git(&["rev-parse", "--git-path", "logs/HEAD"]).map(|path| root.join(path));
    Found {
        commit: git(&["rev-parse", "HEAD"]),
        files: logged.filter(|log| log.exists()).into_iter().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_is_named_by_who_builds_a_package_or_a_checkout() {
        let tree = tempfile::tempdir().unwrap();
        let here = tree.path().join("crates/cli");
        fs_err::create_dir_all(&here).unwrap();
        assert_eq!(find(&here, None, true), Found::default());
        let git = |arguments: &[&str]| {
            let who = ["-c", "user.name=x", "-c", "user.email=x@y"];
            let mut git = Command::new("git");
            git.arg("-C").arg(tree.path()).args(who).args(arguments).env_remove("GIT_DIR").output()
        };
        if git(&["init", "-q"]).is_ok_and(|output| output.status.success()) {
            git(&["commit", "-q", "--allow-empty", "-m", "x"]).unwrap();
            let head = git(&["rev-parse", "HEAD"]).unwrap().stdout;
            let found = find(&here, None, true);
            assert_eq!(found.commit.as_deref(), std::str::from_utf8(&head).ok().map(str::trim));
            assert!(found.commit.is_some_and(|commit| commit.len() == 40) && found.files.len() == 1);
            assert_eq!(find(&here, None, false), Found::default());
        }
        let packed = here.join(".cargo_vcs_info.json");
        fs_err::write(&packed, "{\n  \"git\": {\n    \"sha1\": \"0123456789abcdef\"\n  }\n}").unwrap();
        let found = Found { commit: Some("0123456789abcdef".to_owned()), files: vec![packed] };
        assert_eq!(find(&here, None, true), found);
        let named = find(&here, Some("tag".to_owned()), true);
        assert_eq!((named.commit.as_deref(), named.files.len()), (Some("tag"), 0));
    }
}
