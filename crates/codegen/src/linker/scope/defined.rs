//! Which names a C text defines at file scope: functions, variables, types, constants, macros.
//!
//! A reading of the text's words, not a parser: declarations at depth 0 are told apart by their brackets. A name too many
//! costs nothing unless another op defines it too; one too few is the compiler's error that it was before.

use crate::params::is_c_name;
use crate::tokens::{Kind, Token};
use std::collections::{BTreeMap, BTreeSet};

/// What a text defines.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Defined<'t> {
    /// Functions, variables, types, constants.
    pub(super) names: BTreeSet<&'t str>,
    /// Macros that are still there at the end, with their words; the guards of headers are marked as such.
    pub(super) macros: BTreeMap<&'t str, Macro<'t>>,
}

/// A macro.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Macro<'t> {
    pub(super) words: Vec<&'t str>,
    /// Whether an `#ifndef` asks for it first.
    pub(super) is_guard: bool,
}

/// Reads a text.
pub(super) fn defined<'t>(tokens: &[Token<'t>], text: &'t str) -> Defined<'t> {
    let mut found = Defined { macros: macros(tokens), ..Defined::default() };
    let mark = |token: &&Token<'t>| {
        token.is("@") || (is_marked(token, text) && text[token.end()..].starts_with('@'))
    };
    let plain: Vec<Token<'t>> = tokens.iter().filter(|t| !t.directive && !mark(t)).copied().collect();
    scope(&plain, &mut found.names);
    // A name with a mark in front is the Apply's own.
    let own = plain.iter().filter(|token| is_marked(token, text)).map(|token| token.text);
    let gone: BTreeSet<&str> = directives(tokens, "undef").map(|rest| rest[0].text).chain(own).collect();
    found.names.retain(|name| !gone.contains(name) && *name != "std" && is_c_name(name));
    found
}

/// Whether a template's mark stands before or around a word, as in `@M@_n0_helper`.
pub(super) fn is_marked(token: &Token<'_>, text: &str) -> bool {
    text[..token.at].ends_with('@')
}

/// The directives of a kind, each from the word behind it.
fn directives<'a, 't>(
    tokens: &'a [Token<'t>],
    kind: &'static str,
) -> impl Iterator<Item = &'a [Token<'t>]> + use<'a, 't> {
    let starts = move |at: &usize| {
        let word = tokens.get(at + 1).filter(|word| word.is(kind) && word.directive);
        tokens[*at].directive && tokens[*at].is("#") && word.is_some()
    };
    (0..tokens.len()).filter(starts).filter_map(|at| {
        let rest = &tokens[at + 2..];
        let next = |(i, token): (usize, &Token<'_>)| i > 0 && token.is("#") && rest[i - 1].line < token.line;
        let end = rest.iter().enumerate().position(|pair| !pair.1.directive || next(pair));
        Some(&rest[..end.unwrap_or(rest.len())]).filter(|rest| !rest.is_empty())
    })
}

fn macros<'t>(tokens: &[Token<'t>]) -> BTreeMap<&'t str, Macro<'t>> {
    let mut found: BTreeMap<&str, Macro<'_>> = BTreeMap::new();
    for rest in directives(tokens, "define") {
        let words = rest.iter().map(|token| token.text).collect();
        found.insert(rest[0].text, Macro { words, is_guard: false });
    }
    for rest in directives(tokens, "undef") {
        found.remove(rest[0].text);
    }
    for rest in directives(tokens, "ifndef") {
        if let Some(guard) = found.get_mut(rest[0].text) {
            guard.is_guard = true;
        }
    }
    found
}

/// Reads the declarations of a scope, one after the other.
fn scope<'t>(tokens: &[Token<'t>], names: &mut BTreeSet<&'t str>) {
    let mut at = 0;
    // The declaration so far, bodies of types and initialisers left out.
    let mut head: Vec<Token<'t>> = Vec::new();
    while at < tokens.len() {
        let token = tokens[at];
        if token.is("template") && head.is_empty() {
            at = after_angles(tokens, at + 1);
            continue;
        }
        if token.is(";") || (token.is("}") && head.is_empty()) {
            declaration(&head, names);
            head.clear();
        } else if token.is("{") {
            let end = closing(tokens, at);
            let body = &tokens[at + 1..end.min(tokens.len())];
            match braces(&head) {
                Braces::Transparent => {
                    scope(body, names);
                    head.clear();
                }
                Braces::Namespace(name) => {
                    names.insert(name);
                    head.clear();
                }
                Braces::Type { tag, is_enum } => {
                    names.extend(tag);
                    if is_enum {
                        constants(body, names);
                    }
                    // What follows are variables of the type, or its names.
                    head.retain(|token| token.is("typedef"));
                    head.push(Token { kind: Kind::Word, text: "int", ..token });
                }
                Braces::Value => {}
                Braces::Function(name) => {
                    names.extend(name);
                    head.clear();
                }
            }
            at = end;
        } else {
            head.push(token);
        }
        at += 1;
    }
}

/// What opens with a brace.
enum Braces<'t> {
    /// `extern "C"` and namespaces without a name.
    Transparent,
    Namespace(&'t str),
    Type {
        tag: Option<&'t str>,
        is_enum: bool,
    },
    Value,
    Function(Option<&'t str>),
}

fn braces<'t>(head: &[Token<'t>]) -> Braces<'t> {
    let last = |n: usize| head.len().checked_sub(n).map(|at| head[at]);
    if last(2).is_some_and(|t| t.is("extern")) && last(1).is_some_and(|t| t.kind == Kind::Literal) {
        return Braces::Transparent;
    }
    if let Some(at) = head.iter().position(|t| t.is("namespace")) {
        return head.get(at + 1).map_or(Braces::Transparent, |name| Braces::Namespace(name.text));
    }
    if outer(head).any(|t| t.is("=")) {
        return Braces::Value;
    }
    let kind = head.iter().position(|t| ["struct", "union", "class", "enum"].iter().any(|kind| t.is(kind)));
    if let Some(kind) = kind.filter(|_| function(head).is_none()) {
        let word = |t: &&Token<'t>| t.kind == Kind::Word && !t.is("class") && !t.is("struct");
        let tag = outer(&head[kind + 1..]).find(word).map(|t| t.text);
        return Braces::Type { tag, is_enum: head[kind].is("enum") };
    }
    Braces::Function(function(head))
}

/// The name of the function that a declaration declares: the word before its first brackets; `std`, which nobody renames, for
/// a member of something else.
fn function<'t>(head: &[Token<'t>]) -> Option<&'t str> {
    let mut depth = 0_usize;
    for (at, token) in head.iter().enumerate() {
        if token.is("(") {
            let before = at.checked_sub(1).map(|before| head[before]);
            let name = before.filter(|t| t.kind == Kind::Word && !is_attribute(t));
            if name.is_some() && depth == 0 && at >= 2 && head[at - 2].is("::") {
                return Some("std");
            }
            if let Some(name) = name.filter(|_| depth == 0) {
                return Some(name.text);
            }
            depth += 1;
        } else if token.is(")") {
            depth = depth.saturating_sub(1);
        }
    }
    None
}

fn is_attribute(token: &Token<'_>) -> bool {
    ["__attribute__", "__declspec", "alignas", "_Alignas", "decltype", "typeof", "__typeof__"]
        .iter()
        .any(|word| token.is(word))
}

/// The tokens outside of brackets.
fn outer<'a, 't>(head: &'a [Token<'t>]) -> impl Iterator<Item = &'a Token<'t>> {
    let mut depth = 0_usize;
    head.iter().filter(move |token| {
        if token.is("(") || token.is("[") {
            depth += 1;
        }
        let outside = depth == 0;
        if token.is(")") || token.is("]") {
            depth = depth.saturating_sub(1);
        }
        outside && !is_attribute(token)
    })
}

/// The names of `enum` constants.
fn constants<'t>(body: &[Token<'t>], names: &mut BTreeSet<&'t str>) {
    let mut expected = true;
    for token in outer(body) {
        if expected && token.kind == Kind::Word {
            names.insert(token.text);
        }
        expected = token.is(",");
    }
}

/// A declaration without a body: variables, or names of types.
fn declaration<'t>(head: &[Token<'t>], names: &mut BTreeSet<&'t str>) {
    if head.len() < 2 || head[0].is("using") || head[0].is("static_assert") || head[0].is("_Static_assert") {
        if head.get(2).is_some_and(|t| t.is("=")) {
            names.insert(head[1].text);
        }
        return;
    }
    let has_value = outer(head).any(|t| t.is("="));
    if head[0].is("extern") && !has_value {
        return;
    }
    // `typedef int (*name)(int);`
    for triple in head.windows(3) {
        if triple[0].is("(") && triple[1].is("*") && triple[2].kind == Kind::Word {
            names.insert(triple[2].text);
            return;
        }
    }
    if function(head).is_some() && !has_value {
        return;
    }
    // Each word at the end of a declarator.
    let (mut last, mut in_value, mut is_member) = (None, false, false);
    for token in outer(head) {
        if token.is(",") {
            names.extend(last.take());
            in_value = false;
        } else if token.is("=") && !in_value {
            names.extend(last.take());
            in_value = true;
        } else if token.kind == Kind::Word && !in_value {
            last = (!is_member).then_some(token.text);
        }
        is_member = token.is("::");
    }
    names.extend(last);
}

/// The position of the brace that closes the one at `open`; the end of the text if none does.
fn closing(tokens: &[Token<'_>], open: usize) -> usize {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        if token.is("{") {
            depth += 1;
        } else if token.is("}") {
            depth -= 1;
            if depth == 0 {
                return at;
            }
        }
    }
    tokens.len()
}

/// The position behind `<…>`.
fn after_angles(tokens: &[Token<'_>], open: usize) -> usize {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        if token.is("<") {
            depth += 1;
        } else if token.is(">") {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                return at + 1;
            }
        } else if token.is("{") || token.is(";") {
            return at;
        }
    }
    tokens.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::tokens;

    fn names(text: &str) -> String {
        let tokens = tokens(text);
        defined(&tokens, text).names.into_iter().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn functions_variables_types_and_constants_are_names() {
        for (text, expected) in [
            ("static int f(int x) { int y = g(x); return y; }", "f"),
            ("int f(int);\nextern double gamma(double);\nextern int n;", ""),
            ("static int a, b[3] = {1, 2}, *c = &b[0];", "a b c"),
            ("typedef struct point { int x, y; } point_t; struct box { point_t p; };", "box point point_t"),
            ("typedef int (*fn)(int); enum side { LEFT = 2, RIGHT };", "LEFT RIGHT fn side"),
            ("enum { ONE, TWO } which;", "ONE TWO which"),
            ("__attribute__((unused)) static double h(void) { return 0; }", "h"),
            (
                "template <typename T> struct X { T t; };\ntemplate <class T, int N = 3> T g(T t) { return t; }",
                "X g",
            ),
            (
                "extern \"C\" { int f(void) { return 1; } }\nnamespace { int n; }\nnamespace detail { int m; }",
                "detail f n",
            ),
            (
                "template <typename X> X T<X>::count = 7;\ntemplate <typename X> X T<X>::get() { return 1; }",
                "",
            ),
            (
                "namespace std { }\nusing real = double; using namespace detail; class K : public B { int k; };",
                "K real",
            ),
            (
                "static double @M@_n0_scale(double x) { return x; }\nint APPLY(f)(int x) { return x; }\n#undef APPLY",
                "",
            ),
            ("static int f(void) { return 1; }\nint v;\nunsigned long w = sizeof(struct s);", "f v w"),
            ("double @M@_n0_x;\nvoid *@M@_n0_memory; static int @M@_n1_f(int x) { return x; } int y;", "y"),
            ("}", ""),
            ("{ ( ; <", ""),
        ] {
            assert_eq!(names(text), expected, "{text}");
        }
    }

    #[test]
    fn macros_are_known_by_their_words_until_they_are_gone() {
        let text = "#ifndef G_H\n#define G_H\n#define TWO(x) \\\n  (2 * x)\n#define GONE\n#undef GONE\n#endif\nint x;";
        let tokens = tokens(text);
        let found = defined(&tokens, text).macros;
        assert_eq!(found.keys().copied().collect::<Vec<_>>(), ["G_H", "TWO"]);
        assert!(found["G_H"].is_guard && !found["TWO"].is_guard);
        assert_eq!(found["TWO"].words, ["TWO", "(", "x", ")", "(", "2", "*", "x", ")"]);
    }
}
