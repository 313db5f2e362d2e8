//! The tokens of a Rust file outside of comments.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::iter::Peekable;

/// A token, with its one-based line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) line: usize,
    pub(super) text: String,
    /// Whether it belongs to an item with `#[cfg(test)]`.
    pub(super) in_test: bool,
}

impl Token {
    /// Returns the content of a string literal, with escapes as written.
    pub(super) fn string(&self) -> Option<&str> {
        let text = self.text.trim_start_matches(['b', 'c', 'r']).trim_matches('#');
        text.strip_prefix('"')?.strip_suffix('"')
    }
}

/// Returns the tokens of a file.
///
/// # Errors
/// The text is not Rust.
pub(super) fn tokens(text: &str) -> anyhow::Result<Vec<Token>> {
    let stream: TokenStream = text.parse().map_err(|error| anyhow::anyhow!("{error}"))?;
    let mut found = Vec::new();
    collect(stream, false, &mut found);
    Ok(found)
}

fn collect(stream: TokenStream, in_test: bool, found: &mut Vec<Token>) {
    let mut trees = stream.into_iter().peekable();
    while let Some(tree) = trees.next() {
        match attribute(&tree, &mut trees).as_deref() {
            Some("cfg (test)" | "cfg(test)") => add_test(&mut trees, found),
            Some(_) => {}
            None => add(tree, in_test, found),
        }
    }
}

/// Takes an attribute that only a comment or a test has, and returns its content.
fn attribute(tree: &TokenTree, trees: &mut Peekable<impl Iterator<Item = TokenTree>>) -> Option<String> {
    let is_mark = |tree: &TokenTree, mark| matches!(tree, TokenTree::Punct(punct) if punct.as_char() == mark);
    if !is_mark(tree, '#') {
        return None;
    }
    trees.next_if(|next| is_mark(next, '!'));
    let content = |tree: &TokenTree| match tree {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket => group.stream().to_string(),
        _ => String::new(),
    };
    let content =
        trees.peek().map(content).filter(|text| text.starts_with("doc") || text.starts_with("cfg"))?;
    trees.next();
    Some(content)
}

/// Adds the rest of an item of the tests: up to a `;` or a block.
fn add_test(trees: &mut Peekable<impl Iterator<Item = TokenTree>>, found: &mut Vec<Token>) {
    while let Some(tree) = trees.next() {
        if attribute(&tree, trees).is_some() {
            continue;
        }
        let is_last = match &tree {
            TokenTree::Punct(punct) => punct.as_char() == ';',
            TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
            _ => false,
        };
        add(tree, true, found);
        if is_last {
            return;
        }
    }
}

fn add(tree: TokenTree, in_test: bool, found: &mut Vec<Token>) {
    let line = tree.span().start().line;
    match tree {
        TokenTree::Group(group) => {
            let (open, close) = match group.delimiter() {
                Delimiter::Parenthesis => ("(", ")"),
                Delimiter::Brace => ("{", "}"),
                Delimiter::Bracket => ("[", "]"),
                Delimiter::None => ("", ""),
            };
            found.push(Token { line, text: open.to_owned(), in_test });
            collect(group.stream(), in_test, found);
            found.push(Token { line: group.span_close().start().line, text: close.to_owned(), in_test });
        }
        other => found.push(Token { line, text: other.to_string(), in_test }),
    }
}

#[cfg(test)]
mod tests {
    use super::tokens;

    #[test]
    fn comments_and_tests_are_left_out() {
        let text = "//! a\n/// unsafe\n#[cfg(test)]\nmod t { fn f() {} }\n#[derive(Debug)]\nstruct S; // b\n";
        let tokens = tokens(text).unwrap();
        let all = |tests| {
            let kept = tokens.iter().filter(|token| tests || !token.in_test);
            kept.map(|token| token.text.as_str()).collect::<Vec<_>>()
        };
        assert_eq!(all(false).join(" "), "# [ derive ( Debug ) ] struct S ;");
        assert_eq!(all(true).join(" "), "mod t { fn f ( ) { } } # [ derive ( Debug ) ] struct S ;");
    }

    #[test]
    fn string_literals_have_their_content_and_line() {
        let tokens = tokens("f(\n\"one\", r#\"two \" 2\"#, 'c', b\"three\")").unwrap();
        let strings: Vec<_> = tokens.iter().filter_map(|token| Some((token.line, token.string()?))).collect();
        assert_eq!(strings, [(2, "one"), (2, "two \" 2"), (2, "three")]);
    }
}
