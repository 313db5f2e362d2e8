//! Checks for unbalanced braces in a section. An open brace would cause a compiler error far below in the generated
//! text. Sections with `#if` are skipped, since each branch may open a brace that is closed once for all branches.

use super::error::{ExternalError, SourceLine};
use super::section::{Part, Section};
use crate::tokens::{Token, tokens};

/// Checks every section, treating all its parts as one text.
pub(super) fn check(parts: &[Part]) -> Result<(), ExternalError> {
    for section in Section::ALL {
        let of: Vec<&Part> = parts.iter().filter(|part| part.section == section).collect();
        let texts: Vec<(&Part, Vec<Token<'_>>)> = of.iter().map(|part| (*part, tokens(&part.text))).collect();
        let conditional = |token: &Token<'_>| token.directive && token.text.starts_with("if");
        let all = || texts.iter().flat_map(|(part, found)| found.iter().map(move |token| (*part, token)));
        if !all().any(|(_, token)| conditional(token)) {
            braces(all().filter(|(_, token)| !token.directive))?;
        }
    }
    Ok(())
}

fn braces<'a>(tokens: impl Iterator<Item = (&'a Part, &'a Token<'a>)>) -> Result<(), ExternalError> {
    let mut open: Vec<SourceLine> = Vec::new();
    for (part, token) in tokens {
        if token.is("{") {
            open.push(part.place(token.line));
        } else if token.is("}") && open.pop().is_none() {
            return Err(ExternalError::Brace { place: part.place(token.line), found: "}" });
        }
    }
    match open.pop() {
        Some(place) => Err(ExternalError::Brace { place, found: "{" }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::section::split;
    use super::*;

    fn problem(text: &str) -> Option<String> {
        check(&split("op/f.c", text).unwrap()).err().map(|error| error.to_string())
    }

    #[test]
    fn braces_match_over_all_parts_of_a_section() {
        assert_eq!(
            problem("#section code\n{ /* } */\n#section support_code\n#section code\n\"{\"; }\n"),
            None
        );
        let open = problem("#section support_code\nint f(void) {\n{ }\n#section code\n;\n").unwrap();
        assert!(open.starts_with("op/f.c:2: unbalanced `{` in its section"), "{open}");
        let close = problem("#section code\n;\n}\n").unwrap();
        assert!(close.starts_with("op/f.c:3: unbalanced `}`"), "{close}");
        assert_eq!(problem("#section code\n#if A\nif (x) {\n#else\n{\n#endif\n}\n"), None);
    }
}
