//! Plain English in the comments of Rust files: a count of constructs that readers must translate.
//!
//! The limit is a rate over all comments, since a construct can be right in some sentence. CONTRIBUTING.md has the rules.

use super::Findings;
use super::tree::Tree;
use anyhow::Result;
use regex::Regex;

/// The constructs, as regular expressions.
const CONSTRUCTS: [&str; 10] = [
    // A clause without a noun: "what is missing".
    r"\b[Ww]hat (?:is|was|are|were|has|have|had|it|a|an|the|they|this|that|came|comes|takes|nobody|others|no|can|cannot|reads|of|precast|serves|stands|another|each)\b",
    // "who" without a person before it.
    r"(?:^|[,;:.] |\bfor |\bby |\bto |\bof |\bbut )[Ww]ho(?:ever)? \w+",
    r"\b(?:is|are|was|be|were) told\b|\btells? of\b|\btells? that\b",
    r"\b(?:is|are|be|was) said\b",
    r"\banew\b",
    r"\bis none\b|\bare none\b|\bis no [a-z]+\b|\bthere is none\b",
    r"\bha(?:s|ve) to (?:have|be)\b",
    r"\bis (?:not )?there\b",
    r"\bnobody\b|\belsewhere\b|\bothers\b",
    r"\bas (?:it|they) (?:is|was|are|were|came|stands|lies)\b",
];

/// The constructs that are allowed in 10 000 words.
const LIMIT: usize = 10;

/// The file that lists the constructs.
const LIST: &str = "crates/xtask/src/tidy/english.rs";

/// Counts the constructs. Above the limit, each is a problem with its file and line.
pub(super) fn check(tree: &Tree, findings: &mut Findings) -> Result<()> {
    let comment = Regex::new(r"^\s*//[/!]? ?(.*)")?;
    let constructs =
        CONSTRUCTS.iter().map(|construct| Regex::new(construct)).collect::<Result<Vec<_>, _>>()?;
    let (mut words, mut found) = (0, Vec::new());
    for (path, text) in tree.with_suffix(".rs").filter(|(path, _)| *path != LIST) {
        for (at, line) in text.lines().enumerate() {
            let Some(text) = comment.captures(line).and_then(|groups| groups.get(1)) else { continue };
            words += text.as_str().split_whitespace().count();
            let hits = constructs.iter().flat_map(|construct| construct.find_iter(text.as_str()));
            found.extend(hits.map(|hit| (format!("{path}:{}", at + 1), hit.as_str().trim().to_owned())));
        }
    }
    if found.len() * 10_000 > LIMIT * words {
        let count = found.len();
        findings.problem(
            "Rust comments",
            format!("{count} unclear constructs, more than {LIMIT} in 10 000 words"),
        );
        for (place, construct) in found {
            findings.problem(place, format!("reword \"{construct}\""));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Tree, check};
    use crate::tidy::Findings;

    #[test]
    fn unclear_comments_are_named_with_file_and_line() {
        let found = |text: &str| {
            let files = [("a.rs".to_owned(), Some(text.to_owned()))].into();
            let mut findings = Findings::default();
            check(&Tree { files }, &mut findings).unwrap();
            findings.problems
        };
        assert!(found("//! Reads a file.\n/// Returns its lines.\nlet what_is = 1;\n").is_empty());
        let problems = found("/// Reads a file.\n// What is missing is told.\n");
        assert!(
            problems.len() == 3 && problems[1..].iter().all(|one| one.starts_with("a.rs:2:")),
            "{problems:?}"
        );
    }
}
