//! Rules about Rust files that clippy does not have.
//!
//! Test code (files below `tests`, files named `tests.rs`, items with `#[cfg(test)]`) may contain any text.

use super::Findings;
use super::code::{Token, tokens};
use super::layers::Tier;
use super::manifests::Member;
use super::tree::Tree;

/// The numbers of lines in a file that cause a warning and an error.
const FILE_LINES: (usize, usize) = (400, 600);

/// The directories and files in which Rust code may use `unsafe`.
const UNSAFE: [&str; 7] = [
    "crates/abi/",
    "crates/bridgestan/src/boundary/",
    "crates/bridgestan/tests/it/library.rs",
    "crates/capi/src/boundary/",
    "crates/core/src/native/",
    "crates/ops/src/math/",
    "crates/python/src/boundary/",
];

/// The items of `std::fs` that `fs_err` lacks or re-exports unchanged. clippy's disallowed methods catch
/// `File::open`.
const PLAIN_FS: [&str; 7] =
    ["DirBuilder", "File", "FileTimes", "FileType", "Metadata", "Permissions", "TryLockError"];

/// The crates that generate C from templates. Text like C in their string literals belongs in a template.
const GENERATORS: [&str; 2] = ["crates/codegen/src/", "crates/ops/src/"];
const LIKE_C: [&str; 6] = ["for (", "while (", "switch (", "static ", "typedef ", "sizeof("];

/// Checks every Rust file.
pub(super) fn check(tree: &Tree, members: &[Member], findings: &mut Findings) {
    for (path, text) in tree.with_suffix(".rs") {
        size(path, text, findings);
        if !text.starts_with("//!") {
            findings.problem(path, "does not open with `//!`: what it is for, and its design");
        }
        let mut tokens = match tokens(text) {
            Ok(tokens) => tokens,
            Err(error) => {
                findings.problem(path, error.to_string());
                continue;
            }
        };
        unsafe_code(path, &tokens, findings);
        let is_test = is_test(path);
        tokens.retain(|token| !token.in_test && !is_test);
        if is_library(path, members) {
            files(path, &tokens, findings);
        }
        if GENERATORS.iter().any(|folder| path.starts_with(folder)) {
            literals(path, &tokens, findings);
        }
    }
}

fn size(path: &str, text: &str, findings: &mut Findings) {
    let lines = text.lines().count();
    if lines > FILE_LINES.1 {
        findings.problem(path, format!("{lines} lines, more than {}", FILE_LINES.1));
    } else if lines > FILE_LINES.0 {
        findings.warning(path, format!("{lines} lines; can it be two files?"));
    }
}

fn unsafe_code(path: &str, tokens: &[Token], findings: &mut Findings) {
    if UNSAFE.iter().any(|folder| path.starts_with(folder)) {
        return;
    }
    for token in tokens.iter().filter(|token| token.text == "unsafe") {
        findings.problem(place(path, token), format!("`unsafe` outside {}", UNSAFE.join(", ")));
    }
}

fn files(path: &str, tokens: &[Token], findings: &mut Findings) {
    for (at, window) in tokens.windows(4).enumerate() {
        if window.iter().map(|token| token.text.as_str()).ne(["std", ":", ":", "fs"]) {
            continue;
        }
        let after = |n: usize| tokens.get(at + n).map_or("", |token| token.text.as_str());
        let item = if after(4) == ":" { after(6) } else { "" };
        if !PLAIN_FS.contains(&item) || item == "File" && after(7) != ";" {
            findings.problem(place(path, &window[0]), "`std::fs`: fs_err names the path in its errors");
        }
    }
}

fn literals(path: &str, tokens: &[Token], findings: &mut Findings) {
    for (token, literal) in tokens.iter().filter_map(|token| Some((token, token.string()?))) {
        // Code that parses or writes include lines contains no name of a header.
        let include = literal.contains("#include") && literal.contains(".h");
        let statement = LIKE_C.iter().any(|c| literal.contains(c)) && literal.contains(['{', ';']);
        if include || statement {
            let problem = format!("C in a string literal: {literal:?}; use a template");
            findings.problem(place(path, token), problem);
        }
    }
}

fn place(path: &str, token: &Token) -> String {
    format!("{path}:{}", token.line)
}

fn is_test(path: &str) -> bool {
    path.split('/').any(|name| matches!(name, "tests" | "benches" | "examples" | "tests.rs"))
}

fn is_library(path: &str, members: &[Member]) -> bool {
    let member = members.iter().find(|m| path.starts_with(&format!("{}/src/", m.folder)));
    member.and_then(|m| Tier::find(&m.package)).is_some_and(Tier::is_library)
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tidy::Findings;
    use crate::tidy::manifests::members;
    use crate::tidy::tree::Tree;

    fn problems(path: &str, text: &str) -> Vec<String> {
        let manifest = |name: &str| Some(format!("[package]\nname = \"{name}\"\n"));
        let files = [
            ("crates/codegen/Cargo.toml".to_owned(), manifest("precast-codegen")),
            ("crates/cli/Cargo.toml".to_owned(), manifest("precast-cli")),
            (path.to_owned(), Some(format!("//! Text.\n{text}"))),
        ];
        let (tree, mut findings) = (Tree { files: files.into() }, Findings::default());
        check(&tree, &members(&tree).expect("both manifests parse"), &mut findings);
        findings.problems
    }

    #[test]
    fn libraries_do_not_use_std_fs() {
        assert_eq!(problems("crates/codegen/src/a.rs", "fn f() { std::fs::read(p); }").len(), 1);
        assert_eq!(problems("crates/codegen/src/a.rs", "fn f(m: std::fs::Metadata) {}").len(), 0);
        assert_eq!(problems("crates/codegen/src/a.rs", "use std::fs::File;").len(), 0);
        assert_eq!(problems("crates/codegen/src/a.rs", "fn f() { std::fs::File::open(p); }").len(), 1);
        let test = "#[cfg(test)]\nmod t { fn f() { std::fs::read(p); } }";
        assert_eq!(problems("crates/codegen/src/a.rs", test).len(), 0);
    }

    #[test]
    fn unsafe_is_found_in_code_only() {
        assert_eq!(problems("crates/cli/src/a.rs", "fn f() { unsafe { g() } }").len(), 1);
        assert_eq!(problems("crates/cli/src/a.rs", "// unsafe\nfn f() { g(\"unsafe\") }").len(), 0);
        assert_eq!(problems("crates/abi/src/a.rs", "unsafe fn f() {}").len(), 0);
    }

    #[test]
    fn c_in_literals_is_found() {
        assert_eq!(problems("crates/codegen/src/a.rs", r#"const C: &str = "for (i = 0; ;) {";"#).len(), 1);
        assert_eq!(problems("crates/codegen/src/a.rs", r#"const C: &str = "wait for (it)";"#).len(), 0);
        assert_eq!(problems("crates/ops/src/a.rs", r##"const C: &str = "#include <math.h>";"##).len(), 1);
        assert_eq!(problems("crates/ops/src/a.rs", r##"const C: &str = "#include <{header}>";"##).len(), 0);
    }

    #[test]
    fn long_files_are_found() {
        assert_eq!(problems("crates/cli/src/a.rs", &"// line\n".repeat(600)).len(), 1);
    }
}
