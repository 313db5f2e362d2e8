//! Escapes names and texts for generated Rust: the only file that inserts them into source code.

use precast_core::names::one_line;

/// Renders the lines of a doc comment. Each item of `lines` becomes exactly one line, whatever its content.
pub(super) fn doc(lines: &[&str]) -> String {
    let line = |line: &&str| format!("///{}{}\n", if line.is_empty() { "" } else { " " }, one_line(line));
    lines.iter().map(line).collect()
}

/// Renders a string literal.
pub(super) fn literal(text: &str) -> String {
    format!("{text:?}")
}

/// Returns a Rust name for the name of a graph or an argument. Invalid characters become `_`, and a keyword becomes a
/// raw identifier.
pub(super) fn identifier(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let mut text: String = name.chars().map(plain).collect();
    if text.starts_with(|c: char| c.is_ascii_digit()) || text.is_empty() {
        text.insert(0, '_');
    }
    match text.as_str() {
        "self" | "Self" | "super" | "crate" | "_" => format!("{text}_"),
        keyword if KEYWORDS.contains(&keyword) => format!("r#{keyword}"),
        _ => text,
    }
}

/// Returns whether a Rust name is identical to the original name.
pub(super) fn is_exact(identifier: &str, name: &str) -> bool {
    identifier.strip_prefix("r#").unwrap_or(identifier) == name
}

/// Rust keywords, except those that cannot be raw identifiers.
const KEYWORDS: [&str; 48] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn", "else",
    "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro",
    "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "static", "struct", "trait",
    "true", "try", "type", "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

#[cfg(test)]
mod tests {
    use super::{doc, identifier, is_exact, literal};

    #[test]
    fn every_graph_name_becomes_a_rust_name() {
        for (name, expected) in [
            ("score", "score"),
            ("a-b.f32", "a_b_f32"),
            ("1st", "_1st"),
            ("fn", "r#fn"),
            ("self", "self_"),
            ("_", "__"),
        ] {
            assert_eq!(identifier(name), expected);
            assert_eq!(is_exact(expected, name), matches!(name, "score" | "fn"), "{name}");
        }
    }

    #[test]
    fn hostile_text_stays_inside_comments_and_literals() {
        let text = "x\npub fn injected() {} // \u{202e}\0\x1b*/\"";
        assert_eq!(doc(&["a", text, ""]).lines().collect::<Vec<_>>().len(), 3);
        assert!(!doc(&[text]).contains(['\u{202e}', '\0', '\x1b']));
        let literal = literal(text);
        assert!(
            !literal.contains(['\n', '\0', '\x1b', '\u{202e}']) && literal.ends_with("*/\\\"\""),
            "{literal}"
        );
    }
}
