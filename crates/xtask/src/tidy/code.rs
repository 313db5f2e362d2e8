//! The tokens of a Rust file outside of tests and comments.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::iter::Peekable;

/// A token, with its one-based line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) line: usize,
    pub(super) text: String,
}

impl Token {
    /// Returns the content of a string literal, with escapes as written.
    pub(super) fn string(&self) -> Option<&str> {
        let text = self.text.trim_start_matches(['b', 'c', 'r']).trim_matches('#');
        text.strip_prefix('"')?.strip_suffix('"')
    }
}

/// Returns the tokens of a file; with `tests`, also those of items with `#[cfg(test)]`.
///
/// # Errors
/// The text is not Rust.
pub(super) fn tokens(text: &str, tests: bool) -> anyhow::Result<Vec<Token>> {
    let stream: TokenStream = text.parse().map_err(|error| anyhow::anyhow!("{error}"))?;
    let mut found = Vec::new();
    collect(stream, tests, &mut found);
    Ok(found)
}

fn collect(stream: TokenStream, tests: bool, found: &mut Vec<Token>) {
    let mut trees = stream.into_iter().peekable();
    while let Some(tree) = trees.next() {
        match attribute(&tree, &mut trees).as_deref() {
            Some("cfg (test)" | "cfg(test)") if !tests => skip_item(&mut trees),
            Some(_) => {}
            None => add(tree, tests, found),
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

/// Skips the rest of an item: up to a `;` or a block.
fn skip_item(trees: &mut impl Iterator<Item = TokenTree>) {
    for tree in trees {
        match tree {
            TokenTree::Punct(punct) if punct.as_char() == ';' => return,
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => return,
            _ => {}
        }
    }
}

fn add(tree: TokenTree, tests: bool, found: &mut Vec<Token>) {
    let line = tree.span().start().line;
    match tree {
        TokenTree::Group(group) => {
            let (open, close) = match group.delimiter() {
                Delimiter::Parenthesis => ("(", ")"),
                Delimiter::Brace => ("{", "}"),
                Delimiter::Bracket => ("[", "]"),
                Delimiter::None => ("", ""),
            };
            found.push(Token { line, text: open.to_owned() });
            collect(group.stream(), tests, found);
            found.push(Token { line: group.span_close().start().line, text: close.to_owned() });
        }
        other => found.push(Token { line, text: other.to_string() }),
    }
}

#[cfg(test)]
mod tests {
    use super::tokens;

    #[test]
    fn comments_and_tests_are_left_out() {
        let text = "//! a\n/// unsafe\n#[cfg(test)]\nmod t { fn f() {} }\n#[derive(Debug)]\nstruct S; // b\n";
        let all =
            |tests| tokens(text, tests).unwrap().iter().map(|token| token.text.clone()).collect::<Vec<_>>();
        assert_eq!(all(false).join(" "), "# [ derive ( Debug ) ] struct S ;");
        assert_eq!(all(true).join(" "), "mod t { fn f ( ) { } } # [ derive ( Debug ) ] struct S ;");
    }

    #[test]
    fn string_literals_have_their_content_and_line() {
        let tokens = tokens("f(\n\"one\", r#\"two \" 2\"#, 'c', b\"three\")", true).unwrap();
        let strings: Vec<_> = tokens.iter().filter_map(|token| Some((token.line, token.string()?))).collect();
        assert_eq!(strings, [(2, "one"), (2, "two \" 2"), (2, "three")]);
    }
}
