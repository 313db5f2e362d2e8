//! Rules about the packages that are published on crates.io: their metadata, licence texts and file lists.
//!
//! `cargo xtask package` compiles the packages; these rules need neither cargo nor a compiler.

use super::Findings;
use super::manifests::Member;
use super::tree::Tree;
use anyhow::Result;
use regex::Regex;
use toml::{Table, Value};

/// The keys of `package` that crates.io or docs.rs show.
const KEYS: [&str; 8] = [
    "categories",
    "documentation",
    "include",
    "keywords",
    "license",
    "repository",
    "rust-version",
    "version",
];

/// The categories of crates.io that packages here use; crates.io drops unknown ones.
const CATEGORIES: [&str; 14] = [
    "algorithms",
    "caching",
    "command-line-utilities",
    "data-structures",
    "development-tools::build-utils",
    "development-tools::cargo-plugins",
    "development-tools::ffi",
    "development-tools::profiling",
    "external-ffi-bindings",
    "filesystem",
    "mathematics",
    "network-programming",
    "science",
    "visualization",
];

/// The limit of crates.io for keywords and for categories, and the limit for the length of a keyword.
const WORDS: usize = 5;
const KEYWORD_LENGTH: usize = 20;

/// The licence texts at the top, which every package repeats.
const LICENCES: [&str; 2] = ["LICENSE-APACHE", "LICENSE-MIT"];

/// Entries of every `include` list.
const INCLUDED: [&str; 3] = ["/LICENSE-*", "/README.md", "/src"];

/// Checks every published package, and the versions under which they depend on each other.
pub(super) fn check(tree: &Tree, members: &[Member], findings: &mut Findings) -> Result<()> {
    let embedded = Regex::new(r#"include(?:_str|_bytes)?!\(\s*"([^"]+)""#)?;
    for member in members.iter().filter(|member| member.is_published()) {
        let problems = [metadata(member), files(tree, member), unpacked(tree, member, &embedded)];
        for problem in problems.into_iter().flatten() {
            findings.problem(format!("{}/Cargo.toml", member.folder), problem);
        }
    }
    if let Some(text) = tree.files.get("Cargo.toml").and_then(Option::as_deref) {
        let root: Table = text.parse()?;
        for problem in versions(&root, members) {
            findings.problem("Cargo.toml", problem);
        }
    }
    Ok(())
}

/// Returns missing and invalid metadata.
fn metadata(member: &Member) -> Vec<String> {
    let missing = KEYS.iter().filter(|key| member.get(key).is_none());
    let mut problems: Vec<String> = missing.map(|key| format!("missing key `package.{key}`")).collect();
    let words = |key: &str| strings(member.get(key));
    for key in ["keywords", "categories"] {
        if !(1..=WORDS).contains(&words(key).len()) {
            problems.push(format!("expected 1 to {WORDS} {key}"));
        }
    }
    problems.extend(
        words("keywords")
            .iter()
            .filter(|word| !is_keyword(word))
            .map(|word| format!("invalid keyword `{word}`")),
    );
    let unknown = words("categories").into_iter().filter(|name| !CATEGORIES.contains(name));
    problems.extend(
        unknown.map(|name| format!("unknown category `{name}`; xtask's published.rs lists the known ones")),
    );
    let docs = member.get("metadata").and_then(|metadata| metadata.get("docs")?.get("rs"));
    if member.manifest.contains_key("features") && docs.is_none() {
        problems.push("a package with features needs a table `[package.metadata.docs.rs]`".to_owned());
    }
    problems
}

/// Returns the problems of the `include` list, and the missing files that every package has.
fn files(tree: &Tree, member: &Member) -> Vec<String> {
    let include = strings(member.get("include"));
    let missing = INCLUDED.iter().filter(|entry| !include.contains(entry));
    let mut problems: Vec<String> = missing.map(|entry| format!("`include` lacks `{entry}`")).collect();
    let loose = include.iter().filter(|entry| !entry.starts_with('/') || entry.starts_with("/tests"));
    problems.extend(
        loose.map(|entry| format!("`include` must list anchored paths without tests, found `{entry}`")),
    );
    let read = |path: &str| tree.files.get(path).and_then(Option::as_deref);
    if read(&format!("{}/README.md", member.folder)).is_none() {
        problems.push("missing file `README.md`".to_owned());
    }
    let differs = |name: &&&str| read(&format!("{}/{name}", member.folder)) != read(name);
    let texts = LICENCES.iter().filter(|name| read(name).is_some()).filter(differs);
    problems.extend(texts.map(|name| format!("`{name}` must be a link to the file at the top")));
    problems
}

/// Returns the files that code embeds although the package does not contain them.
fn unpacked(tree: &Tree, member: &Member, embedded: &Regex) -> Vec<String> {
    let include = strings(member.get("include"));
    let mut problems = Vec::new();
    let sources = tree
        .with_suffix(".rs")
        .filter_map(|(path, text)| Some((path.strip_prefix(&member.folder)?.strip_prefix("/src/")?, text)));
    for (path, text) in sources {
        for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
            for name in embedded.captures_iter(line).filter_map(|groups| groups.get(1)) {
                let file = resolve(&format!("src/{path}"), name.as_str());
                if !file.is_some_and(|file| include.iter().any(|entry| is_included(&file, entry))) {
                    problems.push(format!(
                        "`src/{path}` embeds `{}`, which is not in the package",
                        name.as_str()
                    ));
                }
            }
        }
    }
    problems
}

/// Returns the published packages in the table of dependencies without the exact version of the workspace.
fn versions(root: &Table, members: &[Member]) -> Vec<String> {
    let Some(workspace) = root.get("workspace") else { return Vec::new() };
    let version = workspace.get("package").and_then(|package| package.get("version")?.as_str());
    let exact = Value::String(format!("={}", version.unwrap_or_default()));
    let dependencies = workspace.get("dependencies").and_then(Value::as_table);
    let ours = members
        .iter()
        .filter(|member| member.is_published())
        .filter_map(|member| Some((&member.package, dependencies?.get(&member.package)?.get("version"))));
    let other = ours.filter(|(_, found)| *found != Some(&exact));
    other.map(|(package, _)| format!("`{package}` must have the version {exact}")).collect()
}

/// Returns the strings of an array; none if it is missing or inherited.
fn strings(value: Option<&Value>) -> Vec<&str> {
    value.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}

fn is_keyword(word: &str) -> bool {
    word.len() <= KEYWORD_LENGTH
        && word.starts_with(|first: char| first.is_ascii_alphanumeric())
        && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
}

/// Returns whether an entry of `include` covers a file. Entries are files, directories, or end in `*`.
fn is_included(file: &str, entry: &str) -> bool {
    let entry = entry.trim_start_matches('/');
    match entry.strip_suffix('*') {
        Some(start) => file.starts_with(start),
        None => file.strip_prefix(entry).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')),
    }
}

/// Returns the path of `name`, relative to the directory of `file`; `None` if it leaves the package.
fn resolve(file: &str, name: &str) -> Option<String> {
    let mut path: Vec<&str> = file.split('/').collect();
    path.pop();
    for part in name.split('/') {
        if part == ".." {
            path.pop()?;
        } else {
            path.push(part);
        }
    }
    Some(path.join("/"))
}

#[cfg(test)]
mod tests {
    use super::{check, is_included, resolve};
    use crate::tidy::Findings;
    use crate::tidy::manifests::members;
    use crate::tidy::tree::Tree;

    const MANIFEST: &str = "features.a = []
[package]
name = 'precast-core'
version.workspace = true
rust-version.workspace = true
license.workspace = true
repository.workspace = true
documentation = 'https://docs.rs/precast-core'
keywords = ['numeric']
categories = ['mathematics']
include = ['/src', '/c', '/README.md', '/LICENSE-*']
metadata.docs.rs.all-features = true
";
    const ROOT: &str = "[workspace]
package.version = '1.2.3'
dependencies.precast-core.version = '=1.2.3'
";

    /// Returns the problems of a tree with one package.
    fn problems(manifest: &str, root: &str, code: &str, licence: &str) -> Vec<String> {
        let files = [
            ("Cargo.toml", root),
            ("LICENSE-MIT", "text"),
            ("core/Cargo.toml", manifest),
            ("core/LICENSE-MIT", licence),
            ("core/README.md", "text"),
            ("core/src/a/b.rs", code),
        ];
        let files = files.map(|(path, text)| (path.to_owned(), Some(text.to_owned())));
        let (tree, mut findings) = (Tree { files: files.into() }, Findings::default());
        check(&tree, &members(&tree).unwrap(), &mut findings).unwrap();
        findings.problems
    }

    #[test]
    fn incomplete_packages_are_problems() {
        assert_eq!(problems(MANIFEST, ROOT, "", "text"), Vec::<String>::new());
        for line in MANIFEST.lines().skip(3) {
            let cut: String =
                MANIFEST.lines().filter(|kept| *kept != line).flat_map(|kept| [kept, "\n"]).collect();
            assert!(!problems(&cut, ROOT, "", "text").is_empty(), "without {line}");
            assert_eq!(problems(&format!("{cut}publish = false"), ROOT, "", ""), Vec::<String>::new());
        }
        for (old, new) in
            [("numeric", "a b"), ("mathematics", "maths"), ("'/c'", "'/tests'"), ("'/c'", "'c'")]
        {
            assert_eq!(problems(&MANIFEST.replace(old, new), ROOT, "", "text").len(), 1, "{new}");
        }
        assert_eq!(problems(MANIFEST, ROOT, "", "other text").len(), 1);
        assert_eq!(problems(MANIFEST, &ROOT.replace("=1.2.3", "1.2.3"), "", "text").len(), 1);
    }

    #[test]
    fn embedded_files_are_in_the_package() {
        let embeds = |name: &str| {
            let code = format!("include_str!(\"{name}\")\n// include_str!(\"comment\")\n");
            problems(MANIFEST, ROOT, &code, "text").is_empty()
        };
        assert!(embeds("c.txt") && embeds("../c.txt") && embeds("../../c/d/e.c"));
        assert!(
            !embeds("../../tests/c.txt") && !embeds("../../../../artifacts/c") && !embeds("../../cc/d.c")
        );
        assert_eq!(resolve("src/a.rs", "../../b"), None);
        assert!(is_included("LICENSE-MIT", "/LICENSE-*") && !is_included("NOTICE", "/LICENSE-*"));
    }
}
