//! Checks the version numbers that authors give their ops' C code against the code itself.
//!
//! Keys are hashes of content, so a version can never cause old code to be used for new code. A version is the author's
//! promise, and this module checks it. Each document stores, in addition to the key's inputs, an op's version with the
//! digests of its files. If a known document has the same op and version but other files, the author forgot to raise
//! the version. [`stale`] reports that before the module is rebuilt.
//!
//! Ops without a version promise nothing and are not listed. Versions are not part of any hash.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Serialize;

use super::{ContentId, KeyDocument, Versioned};

/// A file that changed under an unchanged version.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct ChangedFile {
    /// The file's logical name.
    pub file: String,
    /// The content in the earlier build; `None` if the file did not exist.
    pub old: Option<ContentId>,
    /// The content now; `None` if the file was removed.
    pub new: Option<ContentId>,
}

/// An op with changed C code under an unchanged version.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct StaleVersion {
    /// The printable signature of the Apply, or the type.
    pub op: String,
    /// The version.
    pub version: Vec<u32>,
    /// The changed files.
    pub files: Vec<ChangedFile>,
}

/// Finds ops of `wanted` that the `known` documents have at the same version, but only with other files.
pub fn stale<'a>(
    wanted: &KeyDocument,
    known: impl IntoIterator<Item = &'a KeyDocument>,
) -> Vec<StaleVersion> {
    if wanted.versions.is_empty() {
        return Vec::new();
    }
    let known: Vec<&Versioned> = known.into_iter().flat_map(|document| &document.versions).collect();
    let mut found = BTreeSet::new();
    for new in &wanted.versions {
        let same = |old: &&&Versioned| old.op == new.op && old.version == new.version;
        let mut earlier = known.iter().filter(same).peekable();
        // If a known document has this exact source, the change was already reported when that document was built.
        if let Some(first) = earlier.peek().copied()
            && earlier.all(|old| old.files != new.files)
        {
            found.insert(between(first, new));
        }
    }
    found.into_iter().collect()
}

/// Finds ops with different files under one version in these documents. It is unknown which of them is older.
pub fn ambiguous<'a>(known: impl IntoIterator<Item = &'a KeyDocument>) -> Vec<StaleVersion> {
    let mut seen: BTreeMap<(&str, &[u32]), BTreeSet<&Versioned>> = BTreeMap::new();
    for versioned in known.into_iter().flat_map(|document| &document.versions) {
        seen.entry((&versioned.op, &versioned.version)).or_default().insert(versioned);
    }
    let pair = |all: BTreeSet<&Versioned>| {
        let mut all = all.into_iter();
        Some(between(all.next()?, all.next()?))
    };
    seen.into_values().filter_map(pair).collect()
}

fn between(old: &Versioned, new: &Versioned) -> StaleVersion {
    let names: BTreeSet<&String> = old.files.keys().chain(new.files.keys()).collect();
    let files = names.into_iter().map(|file| ChangedFile {
        file: file.clone(),
        old: old.files.get(file).copied(),
        new: new.files.get(file).copied(),
    });
    let files = files.filter(|changed| changed.old != changed.new).collect();
    StaleVersion { op: new.op.clone(), version: new.version.clone(), files }
}

impl StaleVersion {
    /// Returns the version as its author wrote it, e.g. `1.2`.
    #[must_use]
    pub fn version(&self) -> String {
        self.version.iter().map(u32::to_string).collect::<Vec<_>>().join(".")
    }

    /// Formats each changed file with `one`, from its name and the first 16 digits of both digests.
    #[must_use]
    pub fn changes(&self, one: impl Fn(&str, &str, &str) -> String) -> String {
        let id = |id: &Option<ContentId>| id.as_ref().map_or_else(|| "none".to_owned(), ContentId::short);
        let each = self.files.iter().map(|c| one(&c.file, &id(&c.old), &id(&c.new)));
        each.collect::<Vec<_>>().join("; ")
    }
}

impl fmt::Display for StaleVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let changes = self.changes(|file, old, new| format!("`{file}` was `{old}`, is `{new}`"));
        write!(f, "the C of `{}` changed under version `{}`: {changes}", self.op, self.version())?;
        f.write_str(
            "; artifacts with the old code are not used\nhint: raise the version with each change, or omit it",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::{BuildInputs, HostAbi, Language, Profile};

    fn document(op: &str, version: &[u32], files: &[(&str, &str)]) -> KeyDocument {
        let inputs = BuildInputs {
            host_abi: HostAbi::Native,
            profile: Profile::Release,
            language: Language::C,
            text: String::new(),
            sources: BTreeMap::new(),
            flags: Vec::new(),
            libraries: Vec::new(),
        };
        let files = files.iter().map(|(name, text)| ((*name).to_owned(), ContentId::of(text)));
        let one = Versioned { op: op.to_owned(), version: version.to_vec(), files: files.collect() };
        KeyDocument { versions: vec![one], ..inputs.document(Vec::new()) }
    }

    #[test]
    fn change_under_one_version_lists_its_files() {
        let old = document("f", &[1, 2], &[("f/f.c", "a"), ("f/gone.h", "x"), ("f/same.h", "s")]);
        let new = document("f", &[1, 2], &[("f/f.c", "b"), ("f/same.h", "s")]);
        let found = stale(&new, [&old]);
        let [one] = found.as_slice() else { panic!("{found:?}") };
        let files: Vec<&str> = one.files.iter().map(|changed| changed.file.as_str()).collect();
        assert_eq!((one.version().as_str(), files.as_slice()), ("1.2", ["f/f.c", "f/gone.h"].as_slice()));
        let (a, b) = (ContentId::of("a").short(), ContentId::of("b").short());
        assert!(one.to_string().contains(&format!("`f/f.c` was `{a}`, is `{b}`")), "{one}");
        assert!(
            one.to_string().contains("`f/gone.h` was `") && one.to_string().contains("is `none`"),
            "{one}"
        );
    }

    #[test]
    fn other_versions_and_known_sources_are_not_reported() {
        let new = document("f", &[1], &[("f.c", "b")]);
        let old = document("f", &[1], &[("f.c", "a")]);
        for other in [document("f", &[2], &[("f.c", "a")]), document("g", &[1], &[("f.c", "a")])] {
            assert_eq!(stale(&new, [&other]), []);
        }
        assert_eq!(stale(&new, [&old, &new]), []);
        assert_eq!(stale(&new, []), []);
        assert_eq!(ambiguous([&old, &new]).len(), 1);
        assert_eq!(ambiguous([&old, &old]), []);
    }

    #[test]
    fn versions_stay_out_of_the_key() {
        let with = document("f", &[1], &[("f.c", "a")]);
        let without = KeyDocument { versions: Vec::new(), ..with.clone() };
        assert_eq!(with.key(), without.key());
        let json = serde_json::to_string(&without).unwrap();
        assert!(!json.contains("versions"));
        assert_eq!(serde_json::from_str::<KeyDocument>(&json).unwrap(), without);
    }
}
