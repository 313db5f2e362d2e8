//! What can be wrong with a text.

use super::position::Position;
use crate::build_error::BuildError;
use crate::nearest::suggestion;
use precast_core::names::excerpt;

/// Why a text is not a graph. Each message has the line in question with a caret under the place,
/// then a remedy where one is known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseTextError {
    /// Something else was expected here.
    #[error(
        "{place}: expected {expected}, found {found}{}{}",
        place.caret(),
        hint(of_token(found.trim_matches('`'), expected))
    )]
    Unexpected {
        /// Where.
        place: Box<Position>,
        /// What was found, in words.
        found: String,
        /// What was expected, in words.
        expected: &'static str,
    },
    /// A character that no token begins with.
    #[error("{place}: unexpected character `{found}`{}{}", place.caret(), hint(of_character(*found)))]
    Character {
        /// Where.
        place: Box<Position>,
        /// The character.
        found: char,
    },
    /// A literal that cannot be read.
    #[error("{place}: `{found}` is not {expected}{}", place.caret())]
    Literal {
        /// Where.
        place: Box<Position>,
        /// The literal.
        found: String,
        /// What it should be, in words.
        expected: &'static str,
    },
    /// `a < b < c`.
    #[error("{place}: comparisons cannot be chained; write `(a < b) & (b < c)`{}", place.caret())]
    Chained {
        /// Where the second one is.
        place: Box<Position>,
    },
    /// A name that nothing is bound to.
    #[error("{place}: unknown name `{found}`{}{}", suggestion(nearest.as_deref()), place.caret())]
    UnknownName {
        /// Where.
        place: Box<Position>,
        /// The name.
        found: String,
        /// A name that was perhaps meant.
        nearest: Option<String>,
    },
    /// A function that the op library does not have.
    #[error("{place}: unknown function `{found}`{}{}", suggestion(nearest.as_deref()), place.caret())]
    UnknownFunction {
        /// Where.
        place: Box<Position>,
        /// The name of the function; for an operator, that of the function it calls.
        found: String,
        /// A name that was perhaps meant.
        nearest: Option<String>,
    },
    /// A function that is not called.
    #[error("{place}: `{found}` is a function; call it: `{found}(…)`{}", place.caret())]
    Function {
        /// Where.
        place: Box<Position>,
        /// Its name.
        found: String,
    },
    /// A method or an attribute that arrays do not have.
    #[error("{place}: {}{}", member(found, *is, nearest.as_deref()), place.caret())]
    UnknownMember {
        /// Where.
        place: Box<Position>,
        /// Its name.
        found: String,
        /// What has that name.
        is: Member,
        /// A name that was perhaps meant.
        nearest: Option<String>,
    },
    /// A tuple of arrays at the end of a text.
    #[error(
        "{place}: a text gives one output, found a tuple{}\nhint: several outputs are several texts; `stack((x, y))` makes \
         one array",
        place.caret()
    )]
    Tuple {
        /// Where it begins.
        place: Box<Position>,
    },
    /// Several names for what is no tuple of as many.
    #[error(
        "{place}: expected a tuple of {names}, one for each name{}\nhint: `rows, columns = x.shape` works, since the rank \
         of `x` is known",
        place.caret()
    )]
    Unpack {
        /// Where the value is.
        place: Box<Position>,
        /// How many names there are.
        names: usize,
    },
    /// A name bound twice.
    #[error(
        "{place}: duplicate name `{name}`: a name is bound once{}\nhint: write `y = x + 1` for `x = x + 1`",
        place.caret()
    )]
    Duplicate {
        /// Where the second time is.
        place: Box<Position>,
        /// The name.
        name: String,
    },
    /// A statement whose value is neither an output nor used by name.
    #[error(
        "{place}: nothing uses this statement{}\nhint: remove it, use its name below, or put an expression of several lines \
         in parentheses",
        place.caret()
    )]
    Unused {
        /// Where it begins.
        place: Box<Position>,
    },
    /// Brackets or signs nested deeper than anyone writes.
    #[error("{place}: nested more than {limit} deep{}", place.caret())]
    Depth {
        /// Where it is too deep.
        place: Box<Position>,
        /// The most that is read.
        limit: usize,
    },
    /// Arguments that a function refuses.
    #[error("{place}: cannot apply `{function}`{}{}", place.caret(), hint(usage.as_deref()))]
    Call {
        /// Where.
        place: Box<Position>,
        /// The function.
        function: String,
        /// How it is called, where the arguments are not those of it.
        usage: Option<String>,
        /// What it says; boxed, as errors stand in every frame of the parser.
        source: Box<BuildError>,
    },
    /// An input whose name cannot stand in a text, or stands there twice.
    #[error("input `{}` {problem}", excerpt(name))]
    Input {
        /// Its name.
        name: String,
        /// What is wrong, in words.
        problem: &'static str,
    },
    /// An input that no text names.
    #[error(
        "nothing uses input `{name}`{}\nhint: remove it, or name it in an expression",
        suggestion(nearest.as_deref())
    )]
    UnusedInput {
        /// Its name.
        name: String,
        /// A name in the texts that was perhaps meant.
        nearest: Option<String>,
    },
    /// More text than anyone writes.
    #[error(
        "found {found} tokens, expected at most {limit}\nhint: make the numbers an input, and use `sum`, `dot` or `join` over it"
    )]
    Long {
        /// How many there are up to the end of the text that is one too many.
        found: usize,
        /// The most that is read.
        limit: usize,
    },
    /// No text at all.
    #[error("no outputs are given")]
    NoOutputs,
}

/// The tail of a message about a method: what to write instead.
/// What has the name of a method or attribute that arrays do not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Member {
    /// A function of the library.
    Function,
    /// An attribute, which is not called.
    Attribute,
    /// Nothing.
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
    /// The place in the text, where there is one.
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
            | Self::Call { place, .. } => Some(place),
            Self::Input { .. } | Self::UnusedInput { .. } | Self::Long { .. } | Self::NoOutputs => None,
        }
    }
}

/// The tail of a message with a remedy, where one is known.
fn hint(remedy: Option<&str>) -> String {
    remedy.map_or_else(String::new, |remedy| format!("\nhint: {remedy}"))
}

/// What to write for a character that begins no token.
fn of_character(found: char) -> Option<&'static str> {
    Some(match found {
        '!' => "write `~x` for not, `!=` for unequal",
        '\\' => "an expression goes on in the next line inside of brackets",
        '{' | '}' => "there are no dicts or sets; a list is `[1, 2]`, a tuple `(1, 2)`",
        '×' | '·' => "write `*`",
        '÷' => "write `/`",
        '≤' => "write `<=`",
        '≥' => "write `>=`",
        '≠' => "write `!=`",
        '−' | '–' => "write `-`",
        _ => return None,
    })
}

/// What to write for a word or sign of Python's, or of other languages, that stands where it cannot.
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
        "for" | "while" | "lambda" => "functions are of whole arrays: write `f(x)` for `[f(a) for a in x]`",
        "def" | "return" | "import" | "del" => {
            "a text is `name = expression; …; expression`; every function is there without an import"
        }
        "=" if value => "a name is bound once: write `z = x + 1` for `x += 1`",
        "=" => "write `z = set_subtensor(x[0], 1)` for `x[0] = 1`, `==` to compare",
        "," if expected.ends_with("the end") => {
            "several outputs are several texts; a tuple stands in parentheses"
        }
        "*" | "**" if value => "arguments are written out; there is no `*args`",
        ":" => "a slice stands in brackets: `x[1:n]`",
        _ => return None,
    })
}
