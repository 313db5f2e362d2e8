//! Errors found while a text is parsed.

use super::position::Position;
use crate::build_error::BuildError;
use crate::nearest::suggestion;
use precast_core::ParseTypeError;
use precast_core::names::excerpt;

/// Why a text is not a graph. Each message shows the line with a caret under the position, then a hint if one is
/// known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseTextError {
    /// Unexpected token.
    #[error(
        "{place}: expected {expected}, found {found}{}{}",
        place.caret(),
        hint(of_token(found.trim_matches('`'), expected))
    )]
    Unexpected {
        /// The position.
        place: Box<Position>,
        /// A description of the found token.
        found: String,
        /// A description of the expected token.
        expected: &'static str,
    },
    /// A character that starts no token.
    #[error("{place}: unexpected character `{found}`{}{}", place.caret(), hint(of_character(*found)))]
    Character {
        /// The position.
        place: Box<Position>,
        /// The character.
        found: char,
    },
    /// Invalid literal.
    #[error("{place}: `{found}` is not {expected}{}", place.caret())]
    Literal {
        /// The position.
        place: Box<Position>,
        /// The literal.
        found: String,
        /// A description of the expected literal.
        expected: &'static str,
    },
    /// `a < b < c`.
    #[error("{place}: comparisons cannot be chained; write `(a < b) & (b < c)`{}", place.caret())]
    Chained {
        /// The position of the second comparison.
        place: Box<Position>,
    },
    /// Unknown name.
    #[error("{place}: unknown name `{found}`{}{}", suggestion(nearest.as_deref()), place.caret())]
    UnknownName {
        /// The position.
        place: Box<Position>,
        /// The name.
        found: String,
        /// The most similar known name.
        nearest: Option<String>,
    },
    /// Unknown function.
    #[error("{place}: unknown function `{found}`{}{}", suggestion(nearest.as_deref()), place.caret())]
    UnknownFunction {
        /// The position.
        place: Box<Position>,
        /// The name of the function; for an operator, the name of its function.
        found: String,
        /// The most similar known name.
        nearest: Option<String>,
    },
    /// A function is named but not called.
    #[error("{place}: `{found}` is a function; call it: `{found}(…)`{}", place.caret())]
    Function {
        /// The position.
        place: Box<Position>,
        /// The name of the function.
        found: String,
    },
    /// Arrays have no such method or attribute.
    #[error("{place}: {}{}", member(found, *is, nearest.as_deref()), place.caret())]
    UnknownMember {
        /// The position.
        place: Box<Position>,
        /// The name of the method or attribute.
        found: String,
        /// The kind of the object that has this name.
        is: Member,
        /// The most similar known name.
        nearest: Option<String>,
    },
    /// A text ends in a tuple of arrays.
    #[error(
        "{place}: expected one output, found a tuple{}\nhint: write one text for each output, or use `stack((x, y))` \
         to make one array",
        place.caret()
    )]
    Tuple {
        /// The position where the tuple begins.
        place: Box<Position>,
    },
    /// Several names on the left, but the value is not a tuple of that length.
    #[error(
        "{place}: expected a tuple of {names}, one for each name{}\nhint: write `rows, columns = x.shape`, which \
         works because the rank of `x` is known; an array has a row for each name",
        place.caret()
    )]
    Unpack {
        /// The position of the value.
        place: Box<Position>,
        /// The number of names.
        names: usize,
    },
    /// The declared type of a statement is invalid.
    #[error("{place}: invalid declared type{}", place.caret())]
    Type {
        /// The position of the type.
        place: Box<Position>,
        /// Why it is invalid.
        source: ParseTypeError,
    },
    /// The value of a statement has another type than declared.
    #[error("{place}: `{name}` is `{found}`, declared as `{declared}`{}{}", place.caret(), hint(remedy.as_deref()))]
    Declared {
        /// The position of the declared type.
        place: Box<Position>,
        /// The name that the statement binds.
        name: String,
        /// The type of its value.
        found: String,
        /// The declared type.
        declared: String,
        /// A way to change the value.
        remedy: Option<String>,
    },
    /// A name is bound twice.
    #[error(
        "{place}: duplicate name `{name}`{}\nhint: write `y = x + 1` instead of `x = x + 1`: a name is bound once",
        place.caret()
    )]
    Duplicate {
        /// The position of the second binding.
        place: Box<Position>,
        /// The name.
        name: String,
    },
    /// A statement whose value is neither an output nor used by name.
    #[error(
        "{place}: unused statement{}\nhint: remove it, use its name below, or put a multi-line expression in \
         parentheses",
        place.caret()
    )]
    Unused {
        /// The position where the statement begins.
        place: Box<Position>,
    },
    /// Brackets or signs are nested too deeply.
    #[error("{place}: more than {limit} levels of nesting{}", place.caret())]
    Depth {
        /// The position where the limit is exceeded.
        place: Box<Position>,
        /// The maximum depth.
        limit: usize,
    },
    /// A function rejects its arguments.
    #[error("{place}: cannot apply `{function}`{}{}", place.caret(), hint(usage.as_deref()))]
    Call {
        /// The position.
        place: Box<Position>,
        /// The function.
        function: String,
        /// The call signature, if the arguments do not match it.
        usage: Option<String>,
        /// The error of the function. Boxed, because errors are part of every stack frame of the parser.
        source: Box<BuildError>,
    },
    /// The name of an input is invalid in a text, or occurs twice.
    #[error("input `{}` {problem}", excerpt(name))]
    Input {
        /// The name of the input.
        name: String,
        /// A description of the problem.
        problem: &'static str,
    },
    /// An input that no text uses.
    #[error(
        "unused input `{name}`{}\nhint: remove it, or use it in an expression",
        suggestion(nearest.as_deref())
    )]
    UnusedInput {
        /// The name of the input.
        name: String,
        /// The most similar name in the texts.
        nearest: Option<String>,
    },
    /// The texts have too many tokens.
    #[error(
        "found {found} tokens, expected at most {limit}\nhint: make the numbers an input, and use `sum`, `dot` or `join` over it"
    )]
    Long {
        /// The number of tokens up to the end of the text that exceeds the limit.
        found: usize,
        /// The maximum.
        limit: usize,
    },
    /// No texts are given.
    #[error("no outputs")]
    NoOutputs,
}

/// The kind of object with the name of an unknown method or attribute. It decides the hint in the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Member {
    /// A function of the library.
    Function,
    /// An attribute, which is not called.
    Attribute,
    /// No object has this name.
    Nothing,
}

fn member(found: &str, is: Member, nearest: Option<&str>) -> String {
    let none = format!("arrays have no method or attribute `{found}`");
    match is {
        Member::Function => format!("{none}; write `{found}(…)`"),
        Member::Attribute => {
            format!("`{found}` is an attribute, not a method; write `.{found}` without brackets")
        }
        Member::Nothing => none + &suggestion(nearest),
    }
}

impl ParseTextError {
    /// Returns the position in the text, if the error has one.
    #[must_use]
    pub fn place(&self) -> Option<&Position> {
        match self {
            Self::Unexpected { place, .. }
            | Self::Character { place, .. }
            | Self::Literal { place, .. }
            | Self::Chained { place }
            | Self::UnknownName { place, .. }
            | Self::UnknownFunction { place, .. }
            | Self::UnknownMember { place, .. }
            | Self::Function { place, .. }
            | Self::Duplicate { place, .. }
            | Self::Unused { place }
            | Self::Tuple { place }
            | Self::Unpack { place, .. }
            | Self::Depth { place, .. }
            | Self::Type { place, .. }
            | Self::Declared { place, .. }
            | Self::Call { place, .. } => Some(place),
            Self::Input { .. } | Self::UnusedInput { .. } | Self::Long { .. } | Self::NoOutputs => None,
        }
    }
}

/// Formats a known remedy as the tail of a message.
fn hint(remedy: Option<&str>) -> String {
    remedy.map_or_else(String::new, |remedy| format!("\nhint: {remedy}"))
}

/// Returns the hint for a character that starts no token.
fn of_character(found: char) -> Option<&'static str> {
    Some(match found {
        '!' => "write `~x` for not, `!=` for unequal",
        '\\' => "put an expression of several lines in brackets",
        '{' | '}' => "use a list `[1, 2]` or a tuple `(1, 2)`; dicts and sets are not supported",
        '×' | '·' => "write `*`",
        '÷' => "write `/`",
        '≤' => "write `<=`",
        '≥' => "write `>=`",
        '≠' => "write `!=`",
        '−' | '–' => "write `-`",
        _ => return None,
    })
}

/// Returns the hint for a word or sign of Python or another language that is not valid here.
fn of_token(found: &str, expected: &str) -> Option<&'static str> {
    let value = expected.starts_with("a number");
    Some(match found {
        "and" => "write `&`, with comparisons in parentheses",
        "or" => "write `|`, with comparisons in parentheses",
        "not" => "write `~`",
        "&" if value => "write one `&`",
        "|" if value => "write one `|`",
        "if" | "else" => "write `where(condition, a, b)`",
        "in" => "write `any(array == value)`",
        "is" => "write `==`, or `isnan(x)`",
        "for" | "while" => {
            "apply functions to whole arrays, `f(x)` for `[f(a) for a in x]`, or write a loop with `scan` or \
             `while_loop`"
        }
        "def" | "return" => "write `def f(x): y = x + 1; return y` as a statement of its own",
        "import" | "del" => "write `name = expression; …; expression`; functions need no import",
        "=" if value => "bind a new name: write `z = x + 1` for `x += 1`",
        "=" => "write `z = set_subtensor(x[0], 1)` for `x[0] = 1`, `==` to compare",
        "," if expected.ends_with("the end") => {
            "write one text for each output, or put a tuple in parentheses"
        }
        "*" | "**" if value => "write out the arguments; `*args` is not supported",
        ":" => "put a slice in brackets: `x[1:n]`",
        _ => return None,
    })
}
