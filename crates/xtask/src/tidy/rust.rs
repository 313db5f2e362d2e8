//! Rules about Rust files.
//!
//! Test code (files below `tests`, files named `tests.rs`, items with `#[cfg(test)]`) may print and contain any text.

use super::Findings;
use super::layers::Tier;
use super::lex::{Line, lex};
use super::manifests::Member;
use super::tree::Tree;
use std::ops::Range;

/// The numbers of lines in a file that cause a warning and an error.
const FILE_LINES: (usize, usize) = (400, 600);
/// The maximum lines of code in a function's body, without blank lines and comments.
const FUNCTION_LINES: usize = 80;

/// The directories and files in which Rust code may use `unsafe`.
const UNSAFE: [&str; 5] = [
    "crates/abi/",
    "crates/capi/src/boundary/",
    "crates/core/src/native/",
    "crates/ops/src/math/",
    "crates/python/src/boundary/",
];

/// The items of `std::fs` that `fs_err` lacks or re-exports unchanged. clippy's disallowed methods catch
/// `File::open`.
const PLAIN_FS: [&str; 7] =
    ["DirBuilder", "File;", "FileTimes", "FileType", "Metadata", "Permissions", "TryLockError"];

/// The crates that generate C from templates. Text like C in their string literals belongs in a template.
const GENERATORS: [&str; 2] = ["crates/codegen/src/", "crates/ops/src/"];
const LIKE_C: [&str; 6] = ["for (", "while (", "switch (", "static ", "typedef ", "sizeof("];

/// A file, split once for all rules.
struct Source<'a> {
    path: &'a str,
    text: &'a str,
    lines: Vec<Line>,
    /// The lines of items with `#[cfg(test)]`.
    tests: Vec<Range<usize>>,
    /// Whether users' programs contain it.
    library: bool,
}

impl Source<'_> {
    /// Returns the lines of code outside tests, with one-based line numbers.
    fn shipped(&self) -> impl Iterator<Item = (usize, &Line)> {
        let numbered = self.lines.iter().enumerate();
        numbered.filter(|(n, _)| !self.tests.iter().any(|t| t.contains(n))).map(|(n, line)| (n + 1, line))
    }

    fn place(&self, line: usize) -> String {
        format!("{}:{line}", self.path)
    }
}

/// Checks every Rust file.
pub(super) fn check(tree: &Tree, members: &[Member], findings: &mut Findings) {
    for (path, text) in tree.with_suffix(".rs") {
        let lines = lex(text);
        let tests =
            if is_test(path) { std::iter::once(0..lines.len()).collect() } else { test_items(&lines) };
        let source = Source { path, text, tests, library: is_library(path, members), lines };
        size(&source, findings);
        functions(&source, findings);
        opening(&source, findings);
        unsafe_code(&source, findings);
        if source.library {
            files(&source, findings);
            prints(&source, findings);
        }
        if GENERATORS.iter().any(|folder| path.starts_with(folder)) {
            literals(&source, findings);
        }
    }
}

fn size(source: &Source<'_>, findings: &mut Findings) {
    let lines = source.text.lines().count();
    if lines > FILE_LINES.1 {
        findings.problem(source.path, format!("{lines} lines, more than {}", FILE_LINES.1));
    } else if lines > FILE_LINES.0 {
        findings.warning(source.path, format!("{lines} lines; can it be two files?"));
    }
}

fn functions(source: &Source<'_>, findings: &mut Findings) {
    for (at, line) in source.lines.iter().enumerate() {
        if !words(&line.code).any(|word| word == "fn") {
            continue;
        }
        // clippy has the same rule; a function that allows or expects that lint already states a reason
        let attributes =
            source.lines[..at].iter().rev().take_while(|line| line.code.trim_start().starts_with('#'));
        if attributes.into_iter().any(|line| line.code.contains("clippy::too_many_lines")) {
            continue;
        }
        let body = body(&source.lines, at);
        let lines = source.lines[body].iter().filter(|line| !line.code.trim().is_empty()).count();
        if lines > FUNCTION_LINES {
            findings.problem(source.place(at + 1), format!("{lines} lines of code in a function"));
        }
    }
}

fn opening(source: &Source<'_>, findings: &mut Findings) {
    if !source.text.starts_with("//!") {
        findings.problem(source.path, "does not open with `//!`: what it is for, and its design");
    }
}

fn unsafe_code(source: &Source<'_>, findings: &mut Findings) {
    if UNSAFE.iter().any(|folder| source.path.starts_with(folder)) {
        return;
    }
    for (at, line) in source.lines.iter().enumerate() {
        if words(&line.code).any(|word| word == "unsafe") {
            findings.problem(source.place(at + 1), format!("`unsafe` outside {}", UNSAFE.join(", ")));
        }
    }
}

fn files(source: &Source<'_>, findings: &mut Findings) {
    for (at, line) in source.shipped() {
        let uses = line.code.split("std::fs").skip(1);
        for after in uses.filter(|after| {
            !PLAIN_FS.iter().any(|t| after.strip_prefix("::").is_some_and(|a| a.starts_with(t)))
        }) {
            findings
                .problem(source.place(at), format!("`std::fs{after}`: fs_err names the path in its errors"));
        }
    }
}

/// Checks that a library which must print (such as a build script's helper) gives a reason in `expect` or `allow`.
fn prints(source: &Source<'_>, findings: &mut Findings) {
    let stated = source.text.contains("clippy::print_stdout") && source.text.contains("reason =");
    for (at, line) in source.shipped().filter(|_| !stated) {
        let print = ["print!", "println!", "eprint!", "eprintln!", "dbg!"];
        if line.code.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '!').any(|w| print.contains(&w))
        {
            findings.problem(source.place(at), "a library prints");
        }
    }
}

fn literals(source: &Source<'_>, findings: &mut Findings) {
    for (at, line) in source.shipped() {
        for literal in &line.literals {
            // code that parses or writes include lines contains no name of a header
            let include = literal.contains("#include") && literal.contains(".h");
            let statement = LIKE_C.iter().any(|c| literal.contains(c)) && literal.contains(['{', ';']);
            if include || statement {
                findings
                    .problem(source.place(at), format!("C in a string literal: {literal:?}; use a template"));
            }
        }
    }
}

fn is_test(path: &str) -> bool {
    path.split('/').any(|name| matches!(name, "tests" | "benches" | "examples" | "tests.rs"))
}

fn is_library(path: &str, members: &[Member]) -> bool {
    let member = members.iter().find(|m| path.starts_with(&format!("{}/src/", m.folder)));
    member.and_then(|m| Tier::find(&m.package)).is_some_and(Tier::is_library)
}

/// Returns the lines of items with `#[cfg(test)]`.
fn test_items(lines: &[Line]) -> Vec<Range<usize>> {
    let attributes = lines.iter().enumerate().filter(|(_, line)| line.code.trim() == "#[cfg(test)]");
    attributes.map(|(at, _)| at..body(lines, at).end).collect()
}

/// Returns the lines from the first `{` after line `at` to its `}`; empty if a `;` ends the item first.
fn body(lines: &[Line], at: usize) -> Range<usize> {
    let (mut braces, mut others, mut first) = (0_usize, 0_usize, at);
    for (number, line) in lines.iter().enumerate().skip(at) {
        for c in line.code.chars() {
            match c {
                '(' | '[' => others += 1,
                ')' | ']' => others = others.saturating_sub(1),
                ';' if braces == 0 && others == 0 => return at..number + 1,
                '{' => {
                    first = if braces == 0 { number } else { first };
                    braces += 1;
                }
                '}' if braces == 1 => return first..number + 1,
                '}' => braces = braces.saturating_sub(1),
                _ => {}
            }
        }
    }
    first..lines.len()
}

fn words(code: &str) -> impl Iterator<Item = &str> {
    code.split(|c: char| !c.is_alphanumeric() && c != '_')
}

#[cfg(test)]
mod tests {
    use super::{body, check, test_items};
    use crate::tidy::Findings;
    use crate::tidy::lex::lex;
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
    fn libraries_neither_print_nor_use_std_fs() {
        assert_eq!(problems("crates/codegen/src/a.rs", "fn f() { println!(); }").len(), 1);
        assert_eq!(problems("crates/codegen/src/a.rs", "fn f() { std::fs::read(p); }").len(), 1);
        assert_eq!(problems("crates/codegen/src/a.rs", "fn f(m: std::fs::Metadata) {}").len(), 0);
        assert_eq!(problems("crates/cli/src/a.rs", "fn f() { println!(); }").len(), 0);
        assert_eq!(
            problems("crates/codegen/src/a.rs", "#[cfg(test)]\nmod t { fn f() { println!(); } }").len(),
            0
        );
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
    fn long_functions_and_files_are_found() {
        let long = format!("fn f() {{\n{}}}\n", "g();\n".repeat(80));
        assert_eq!(problems("crates/cli/src/a.rs", &long).len(), 1);
        let expected = format!("#[expect(clippy::too_many_lines, reason = \"a table\")]\n{long}");
        assert_eq!(problems("crates/cli/src/a.rs", &expected).len(), 0);
        assert_eq!(problems("crates/cli/src/a.rs", &"// line\n".repeat(600)).len(), 1);
    }

    #[test]
    fn a_body_ends_at_its_own_brace() {
        let lines = lex("fn f(a: [u8; 2])\nwhere\n{\n  if a {\n  }\n}\nfn g() {}\n");
        assert_eq!(body(&lines, 0), 2..6);
        let items = test_items(&lex("#[cfg(test)]\nmod tests;\nfn f() {}\n"));
        assert_eq!(items.first(), Some(&(0..2)));
    }
}
