//! `precast.h` as Markdown: each declaration with the comment above it.

use anyhow::Result;
use regex::Regex;
use std::fmt::Write as _;

/// The names that a declaration introduces: macros, types, function types, functions.
const NAMES: &str = r"#define (\w+)|typedef (?:struct|enum) (\w+)|\(\*(\w+)\)\(void\)|\b(precast_\w+)\(";

/// Returns the page.
pub(super) fn page(header: &str) -> Result<String> {
    let names = Regex::new(NAMES)?;
    let (head, rest) = header.split_once("*/").unwrap_or_default();
    let mut page = format!("```text\n{}\n```\n", uncommented(head));
    for paragraph in declarations(rest).split("\n\n").map(str::trim).filter(|text| !text.is_empty()) {
        if let Some(section) = paragraph.strip_prefix("/* ---- ") {
            writeln!(page, "\n## {}", section.trim_end_matches(['-', ' ', '*', '/']))?;
            continue;
        }
        let comment = paragraph.strip_prefix("/*").and_then(|text| text.split_once("*/"));
        let (comment, declaration) = comment.unwrap_or(("", paragraph));
        let found =
            names.captures_iter(declaration).filter_map(|found| found.iter().skip(1).flatten().next());
        let found: Vec<String> = found.map(|name| format!("`{}`", name.as_str())).collect();
        if !found.is_empty() {
            let (declaration, comment) = (declaration.trim(), uncommented(comment).replace('<', "\\<"));
            writeln!(page, "\n### {}\n```c\n{declaration}\n```\n{comment}", found.join(", "))?;
        }
    }
    Ok(page)
}

/// Returns the text without conditional parts: declarations of other libraries.
fn declarations(text: &str) -> String {
    let mut depth = 0_usize;
    let kept = text.lines().skip_while(|line| !line.starts_with("#define")).skip(1).filter(|line| {
        depth += usize::from(line.starts_with("#if"));
        let is_kept = depth == 0;
        depth = depth.saturating_sub(usize::from(line.starts_with("#endif")));
        is_kept
    });
    kept.map(|line| format!("{line}\n")).collect()
}

/// Returns the text of a comment.
fn uncommented(comment: &str) -> String {
    let lines = comment.trim_start_matches("/*").trim().lines();
    lines.map(|line| line.strip_prefix(" *").unwrap_or(line).trim_end().to_owned() + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::page;

    #[test]
    fn every_function_of_the_header_has_a_heading() {
        let header = fs_err::read_to_string(crate::root().join("crates/capi/include/precast.h")).unwrap();
        let page = page(&header).unwrap();
        for part in
            ["## Calls\n", "### `precast_call`\n", "### `PRECAST_MAX_NDIM`\n", "### `precast_native`\n"]
        {
            assert!(page.contains(part), "no {part} in:\n{page}");
        }
        assert!(!page.contains("typedef struct {"), "other libraries:\n{page}");
    }
}
