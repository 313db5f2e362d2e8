//! Which commit a tree is of; for the build script, which has it printed by `precast --version`.
//!
//! ```text
//! PRECAST_COMMIT          who builds says it: a distribution, a release
//! .cargo_vcs_info.json    a package as Cargo packs it, of a tree without changes
//! ```
//! Else nothing is said. A checkout is not asked: what was changed in it since would go unnoticed.

use std::path::Path;

/// Where Cargo says in a package which commit it is of.
pub(crate) const PACKED: &str = ".cargo_vcs_info.json";

/// Finds the commit of the package in `here`.
pub(crate) fn find(here: &Path, named: Option<String>) -> Option<String> {
    named.or_else(|| {
        let text = fs_err::read_to_string(here.join(PACKED)).ok()?;
        let (_, rest) = text.split_once("\"sha1\"")?;
        let commit = rest.split('"').nth(1)?;
        (!text.contains("\"dirty\": true")).then(|| commit.to_owned())
    })
}

/// What stands behind a version: the commit, of a hash its first 12 digits.
pub(crate) fn shown(commit: Option<&str>) -> String {
    let is_hash = |commit: &str| commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    match commit {
        Some(commit) if is_hash(commit) => format!(" ({})", &commit[..12]),
        Some(commit) => format!(" ({commit})"),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_is_named_by_who_builds_or_by_a_package_without_changes() {
        let here = tempfile::tempdir().unwrap();
        assert_eq!(find(here.path(), None), None);
        let hash = "0123456789abcdef0123456789abcdef01234567";
        let packed = |more: &str| {
            let text = format!("{{\n  \"git\": {{\n    \"sha1\": \"{hash}\"{more}\n  }}\n}}");
            fs_err::write(here.path().join(PACKED), text).unwrap();
        };
        packed("");
        assert_eq!(find(here.path(), None).as_deref(), Some(hash));
        assert_eq!(find(here.path(), Some("tag".to_owned())).as_deref(), Some("tag"));
        packed(",\n    \"dirty\": true");
        assert_eq!(find(here.path(), None), None);
        assert_eq!(shown(Some(hash)), " (0123456789ab)");
        assert_eq!(shown(Some("2024-01-15-release")), " (2024-01-15-release)");
        assert_eq!(shown(None), "");
    }
}
