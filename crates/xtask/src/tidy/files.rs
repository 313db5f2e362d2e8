//! Rules about file locations, required files, and forbidden text.

use super::Findings;
use super::tree::Tree;
use std::collections::BTreeSet;

/// All that may be at the top, besides files and folders whose name begins with a dot.
const TOP: [&str; 9] = [
    "Cargo.toml",
    "Cargo.lock",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "build-support",
    "crates",
    "artifacts",
    "tests",
];

/// Files that someone relies on.
const REQUIRED: [&str; 14] = [
    ".ci/run",
    ".github/CONTRIBUTING.md",
    ".github/SECURITY.md",
    "Cargo.lock",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "artifacts/README.md",
    "artifacts/STORE",
    "crates/README.md",
    "crates/precast/CHANGELOG.md",
    "crates/precast/README.md",
    "crates/precast/STABILITY.md",
    "tests/README.md",
];

/// The commands that README.md promises and .ci/run runs.
const COMMANDS: [&str; 2] = ["cargo run --release -p precast-quickstart", "cargo xtask test"];

/// Path prefixes of build machines. A file that contains one works on no other machine.
const MACHINE: [&str; 3] = ["/work/", "/root/", "/home/"];

/// The allowed example directory in documents.
const NOBODY: &str = "/home/me/";

/// What Git writes around the two sides of a conflict.
const CONFLICT: [&str; 2] = ["<<<<<<< ", ">>>>>>> "];

/// The file that lists these prefixes.
const MACHINE_LIST: &str = "crates/xtask/src/tidy/files.rs";

/// Checks all of these rules.
pub(super) fn check(tree: &Tree, findings: &mut Findings) {
    let tops: BTreeSet<&str> = tree.files.keys().filter_map(|path| path.split('/').next()).collect();
    for top in tops {
        if !top.starts_with('.') && !TOP.contains(&top) {
            findings.problem(top, "not allowed at the top level");
        }
    }
    for path in REQUIRED {
        if !tree.files.contains_key(path) {
            findings.problem(path, "must be there");
        }
    }
    let readme = tree.files.get("README.md").and_then(Option::as_deref).unwrap_or_default();
    for command in COMMANDS {
        if !readme.contains(command) {
            findings.problem("README.md", format!("must show the command `{command}`"));
        }
    }
    for (path, text) in tree.with_suffix("").filter(|(path, _)| *path != MACHINE_LIST) {
        for (index, line) in text.lines().enumerate() {
            if MACHINE.iter().any(|prefix| names_absolute(line, prefix)) {
                findings.problem(format!("{path}:{}", index + 1), "names a path of a build machine");
            }
            if CONFLICT.iter().any(|mark| line.starts_with(mark)) {
                findings.problem(format!("{path}:{}", index + 1), "is a mark of an unfinished merge");
            }
        }
    }
}

/// Returns whether `prefix` begins a path in `line`, rather than continuing one (`crates/work/`).
fn names_absolute(line: &str, prefix: &str) -> bool {
    line.match_indices(prefix).filter(|(at, _)| !line[*at..].starts_with(NOBODY)).any(|(at, _)| {
        !line[..at].ends_with(|before: char| before.is_alphanumeric() || "._-/}*".contains(before))
    })
}

#[cfg(test)]
mod tests {
    use super::names_absolute;

    #[test]
    fn only_path_prefixes_are_machine_paths() {
        assert!(names_absolute("open(\"/work/main\")", "/work/"));
        assert!(names_absolute("/work/main", "/work/"));
        assert!(!names_absolute("crates/work/main", "/work/"));
        assert!(!names_absolute("mine v0.1.0 (/home/me/mine)", "/home/"));
        assert!(!names_absolute("{root}/work/main", "/work/"));
    }
}
