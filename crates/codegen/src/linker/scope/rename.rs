//! Says other names in a text: word by word, so that comments, literals and members of other structs stay as they are.

use super::defined::is_marked;
use crate::tokens::{Kind, Token, tokens};
use std::collections::BTreeMap;

/// Directives whose words are not C.
const FOREIGN: [&str; 6] = ["include", "line", "pragma", "error", "warning", "include_next"];

/// The text with the names of `names` changed.
pub(super) fn rename(text: &str, names: &BTreeMap<String, String>) -> String {
    let words = tokens(text);
    let mut out = String::with_capacity(text.len());
    let (mut done, mut is_foreign) = (0, false);
    // Whether each brace that is open is a struct's.
    let mut types: Vec<bool> = Vec::new();
    for (at, token) in words.iter().enumerate() {
        if token.is("{") {
            types.push(is_struct(&words[..at]));
        } else if token.is("}") {
            types.pop();
        }
        if token.directive && token.is("#") {
            is_foreign = words.get(at + 1).is_some_and(|word| FOREIGN.iter().any(|kind| word.is(kind)));
        }
        let is_member = types.last() == Some(&true) && ends_declarator(words.get(at + 1));
        let skipped = is_member
            || (token.directive && is_foreign)
            || is_foreigner(&words[..at])
            || is_marked(token, text);
        if let Some(new) = names.get(token.text).filter(|_| token.kind == Kind::Word && !skipped) {
            out.push_str(&text[done..token.at]);
            out.push_str(new);
            done = token.end();
        }
    }
    out.push_str(&text[done..]);
    out
}

/// Whether a brace behind these words opens the body of a struct.
fn is_struct(before: &[Token<'_>]) -> bool {
    let kind = |token: &Token<'_>| ["struct", "union", "class"].iter().any(|kind| token.is(kind));
    before.iter().rev().take(2).any(kind)
}

/// Whether a word in front of this one is the name of a member.
fn ends_declarator(next: Option<&Token<'_>>) -> bool {
    next.is_some_and(|token| [";", ",", "[", ":"].iter().any(|mark| token.is(mark)))
}

/// Whether what stands before a word makes it a member of something else, a name of `std`, or a directive's own name.
fn is_foreigner(before: &[Token<'_>]) -> bool {
    let [.., whose, last] = before else { return before.last().is_some_and(|t| t.is("#") && t.directive) };
    let own = whose.is("self") || whose.is("this");
    let member = last.is(".") || (last.is("->") && !own);
    member || (last.is("::") && whose.is("std")) || (last.is("#") && last.directive)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_change_and_members_literals_comments_and_foreign_directives_do_not() {
        let names = [("f", "f__1"), ("line", "line__1"), ("data", "data__1"), ("M", "M__1")];
        let names = names.map(|(old, new)| (old.to_owned(), new.to_owned())).into();
        for (text, expected) in [
            ("f(f, \"f\", 'f') /* f */ // f", "f__1(f__1, \"f\", 'f') /* f */ // f"),
            (
                "#line 3 \"f\"\n#include <f/line.h>\nline = 1;",
                "#line 3 \"f\"\n#include <f/line.h>\nline__1 = 1;",
            ),
            (
                "#define f(x) line(x)\n#undef f\n#ifdef f",
                "#define f__1(x) line__1(x)\n#undef f__1\n#ifdef f__1",
            ),
            ("x->data + y.data + self->data + data", "x->data + y.data + self->data__1 + data__1"),
            ("@M@_n0_f + @LINE@ + M", "@M@_n0_f + @LINE@ + M__1"),
            ("struct f { f *data; int f, line[3]; };", "struct f__1 { f__1 *data; int f, line[3]; };"),
            ("std::f(1) + ::f(2) + detail::f(3)", "std::f(1) + ::f__1(2) + detail::f__1(3)"),
        ] {
            assert_eq!(rename(text, &names), expected);
        }
    }
}
