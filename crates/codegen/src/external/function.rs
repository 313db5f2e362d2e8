//! The function that `func` names: determines how to call it, and checks its definition against the call.

use super::error::{ExternalError, SourceLine};
use super::section::{Part, Section};
use crate::module::SourceSet;
use crate::tokens::{Kind, Token, tokens};
use precast_graph::nearest;

/// A function defined in the op's C code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Function {
    /// The callee expression: `f`, or `APPLY_SPECIFIC(f)`.
    pub(super) call: String,
    pub(super) name: String,
    /// Whether its first parameter is a `pc_context *`.
    pub(super) takes_context: bool,
    definitions: Vec<Definition>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Definition {
    place: SourceLine,
    /// `None` if the number of parameters is unknown: `...`, default arguments.
    parameters: Option<usize>,
    is_void: bool,
    takes_context: bool,
}

impl Function {
    /// Parses `func` and finds its definition in the op's text.
    pub(super) fn find(
        op: &str,
        func: &str,
        parts: &[Part],
        sources: &SourceSet,
    ) -> Result<Self, ExternalError> {
        let form = || ExternalError::FuncForm { found: func.to_owned() };
        let specific = func.trim().strip_prefix("APPLY_SPECIFIC").map(str::trim);
        let inner = specific.map(|rest| rest.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')));
        let name = match inner {
            Some(inner) => inner.ok_or_else(form)?.trim(),
            None => func.trim(),
        };
        let letter = |c: char| c == '_' || c.is_ascii_alphabetic();
        if !name.starts_with(letter) || !name.chars().all(|c| letter(c) || c.is_ascii_digit()) {
            return Err(form());
        }
        let call = if specific.is_some() { format!("APPLY_SPECIFIC({name})") } else { name.to_owned() };
        let (mut definitions, mut words) = (Vec::new(), Vec::new());
        for part in parts {
            let support = [Section::SupportCode, Section::SupportCodeApply, Section::SupportCodeStruct];
            if support.contains(&part.section) {
                let found = tokens(&part.text);
                definitions
                    .extend(self::definitions(&found, name, specific.is_some(), |line| part.place(line)));
                words.extend(found.iter().filter(|t| t.kind == Kind::Word).map(|t| t.text));
            }
        }
        for (file, text) in sources {
            let found = tokens(text);
            let place = |line| SourceLine { file: file.clone(), line: line + 1 };
            definitions.extend(self::definitions(&found, name, specific.is_some(), place));
        }
        let in_headers = || sources.values().any(|text| tokens(text).iter().any(|token| token.is(name)));
        if !words.contains(&name) && !in_headers() {
            let near = nearest(name, words.iter().copied()).map(str::to_owned);
            return Err(ExternalError::FuncMissing {
                op: op.to_owned(),
                func: func.trim().to_owned(),
                nearest: near,
            });
        }
        let takes_context = definitions.iter().any(|definition| definition.takes_context);
        Ok(Self { call, name: name.to_owned(), takes_context, definitions })
    }

    /// Checks the definition against a call with the given numbers of inputs and outputs, with or without params.
    pub(super) fn check(&self, [inputs, outputs]: [usize; 2], has_params: bool) -> Result<(), ExternalError> {
        let expected = inputs + outputs + usize::from(has_params) + usize::from(self.takes_context);
        let fits = |d: &Definition| d.parameters.is_none_or(|found| found == expected);
        if let Some(void) = self.definitions.iter().find(|d| d.is_void) {
            let place = void.place.clone();
            return Err(ExternalError::FuncVoid { place, func: self.name.clone() });
        }
        let Some(first) = self.definitions.first() else { return Ok(()) };
        if self.definitions.iter().any(fits) {
            return Ok(());
        }
        let mut call = format!("{inputs} input(s), {outputs} output(s)");
        for (is, what) in [(self.takes_context, "the context"), (has_params, "the params")] {
            call.push_str(if is { ", " } else { "" });
            call.push_str(if is { what } else { "" });
        }
        Err(ExternalError::FuncArity {
            place: first.place.clone(),
            func: self.name.clone(),
            found: first.parameters.unwrap_or(0),
            expected,
            call,
        })
    }
}

/// Finds the definitions of a function among the tokens of a part: name, parenthesized parameters and a body.
fn definitions(
    tokens: &[Token<'_>],
    name: &str,
    specific: bool,
    place: impl Fn(u32) -> SourceLine,
) -> Vec<Definition> {
    let mut found = Vec::new();
    let tokens: Vec<&Token<'_>> = tokens.iter().filter(|token| !token.directive).collect();
    for (at, token) in tokens.iter().enumerate().filter(|(_, token)| token.is(name)) {
        let (before, open) = if specific {
            let wrapped = at >= 2
                && tokens[at - 2].is("APPLY_SPECIFIC")
                && tokens[at - 1].is("(")
                && tokens.get(at + 1).is_some_and(|t| t.is(")"));
            if !wrapped {
                continue;
            }
            (at.checked_sub(3), at + 2)
        } else {
            (at.checked_sub(1), at + 1)
        };
        let Some(close) = closing(&tokens, open) else { continue };
        if tokens.get(close + 1).is_some_and(|t| t.is("{")) {
            let inside = &tokens[open + 1..close];
            found.push(Definition {
                place: place(token.line),
                parameters: count(inside),
                is_void: before.is_some_and(|before| tokens[before].is("void")),
                takes_context: first(inside).iter().any(|t| t.is("pc_context")),
            });
        }
    }
    found
}

/// Returns the position of the parenthesis that closes the one at `open`.
pub(super) fn closing(tokens: &[&Token<'_>], open: usize) -> Option<usize> {
    tokens.get(open).filter(|token| token.is("("))?;
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        if token.is("(") {
            depth += 1;
        } else if token.is(")") {
            depth -= 1;
            if depth == 0 {
                return Some(at);
            }
        }
    }
    None
}

/// Returns the positions of the commas between parameters.
pub(super) fn commas(inside: &[&Token<'_>]) -> Vec<usize> {
    let mut depth = 0_i64;
    let mut commas = Vec::new();
    for (at, token) in inside.iter().enumerate().filter(|(_, token)| token.kind == Kind::Mark) {
        match token.text {
            "(" | "[" | "{" | "<" => depth += 1,
            ")" | "]" | "}" | ">" => depth -= 1,
            "," if depth == 0 => commas.push(at),
            _ => {}
        }
    }
    commas
}

fn first<'a, 't>(inside: &'a [&'t Token<'t>]) -> &'a [&'t Token<'t>] {
    &inside[..commas(inside).first().copied().unwrap_or(inside.len())]
}

fn count(inside: &[&Token<'_>]) -> Option<usize> {
    if inside.iter().any(|token| token.is(".") || token.is("=")) {
        return None;
    }
    let none = inside.is_empty() || (inside.len() == 1 && inside[0].is("void"));
    Some(if none { 0 } else { commas(inside).len() + 1 })
}

#[cfg(test)]
mod tests {
    use super::super::section::split;
    use super::*;

    fn check(func: &str, text: &str, counts: [usize; 2]) -> Result<bool, String> {
        let parts = split("op/f.c", text).unwrap();
        let found =
            Function::find("op", func, &parts, &SourceSet::new()).map_err(|error| error.to_string())?;
        found.check(counts, false).map_err(|error| error.to_string())?;
        Ok(found.takes_context)
    }

    #[test]
    fn parameters_are_counted() {
        let text = "#section support_code\nint f(int (*g)(int, int), double a[2], x<int, 3> *b);\n\
                    int f(int (*g)(int, int), double a[2], x<int, 3> *b) { return f(0, 0); }\n";
        assert_eq!(check("f", text, [2, 1]), Ok(false));
        assert_eq!(
            check("f", text, [3, 1]).unwrap_err(),
            "op/f.c:3: `f` has 3 parameter(s), expected 4: 3 input(s), 1 output(s)"
        );
        assert_eq!(
            check("f", "#section support_code\nint f(pc_context *c, int x, ...) {}\n", [9, 9]),
            Ok(true)
        );
        assert_eq!(check("f", "#section support_code\nint f(void) {}\n", [0, 0]), Ok(false));
    }

    #[test]
    fn specific_function_differs_from_plain_one() {
        let text = "#section support_code_apply\nint f(int x) { return x; }\n\
                    static int APPLY_SPECIFIC(f)(int x, int y) { return APPLY_SPECIFIC(f)(x, y) + f(x); }\n";
        assert_eq!(check("APPLY_SPECIFIC( f )", text, [1, 1]), Ok(false));
        assert!(check("f", text, [1, 1]).unwrap_err().starts_with("op/f.c:2: `f` has 1 parameter"));
    }

    #[test]
    fn uncallable_functions_are_rejected() {
        let text = "#section support_code\nvoid vector_times(int x) {}\n";
        assert_eq!(
            check("vector_time", text, [1, 0]).unwrap_err(),
            "`op` calls `vector_time`, which is not defined in any section; nearest `vector_times`"
        );
        assert!(
            check("vector_times", text, [1, 0])
                .unwrap_err()
                .ends_with("returns void, expected int (0 for success)")
        );
        for func in ["f()", "APPLY_SPECIFIC(f", "2f", "", "APPLY_SPECIFIC f", "a b"] {
            assert!(check(func, text, [1, 0]).unwrap_err().contains("expected a name or"), "{func}");
        }
    }
}
