//! Finds the commit of the source tree; the build script uses it so that `precast --version` can print it.
//!
//! ```text
//! PRECAST_COMMIT          set by the builder: a distribution, a release
//! .cargo_vcs_info.json    in a package from Cargo, packed from a tree without changes
//! ```
//! Otherwise no commit is printed. A Git checkout is not inspected, because later changes to it would go unnoticed.

use std::path::Path;

/// The file in a package in which Cargo records the commit.
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

/// Returns the suffix of a version: the commit, shortened to 12 digits if it is a hash.
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
    fn commit_comes_from_builder_or_clean_package() {
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
