//! What can be wrong with a text.

use super::place::Place;
use crate::graph::BuildError;
use crate::nearest::suggestion;

/// Why a text is not a graph. Each message ends with the line in question and a caret under the place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseTextError {
    /// Something else was expected here.
    #[error("{place}: expected {expected}, found {found}{}", place.caret())]
    Unexpected {
        /// Where.
        place: Box<Place>,
        /// What was found, in words.
        found: String,
        /// What was expected, in words.
        expected: &'static str,
    },
    /// A character that no token begins with.
    #[error("{place}: unexpected character `{found}`{}", place.caret())]
    Character {
        /// Where.
        place: Box<Place>,
        /// The character.
        found: char,
    },
    /// A literal that cannot be read.
    #[error("{place}: `{found}` is not {expected}{}", place.caret())]
    Literal {
        /// Where.
        place: Box<Place>,
        /// The literal.
        found: String,
        /// What it should be, in words.
        expected: &'static str,
    },
    /// `a < b < c`.
    #[error("{place}: comparisons cannot be chained; write `(a < b) & (b < c)`{}", place.caret())]
    Chained {
        /// Where the second one is.
        place: Box<Place>,
    },
    /// A name that nothing is bound to.
    #[error("{place}: unknown name `{found}`{}{}", suggestion(nearest.as_deref()), place.caret())]
    UnknownName {
        /// Where.
        place: Box<Place>,
        /// The name.
        found: String,
        /// A name that was perhaps meant.
        nearest: Option<String>,
    },
    /// A function that the op library does not have.
    #[error("{place}: unknown function `{found}`{}{}", suggestion(nearest.as_deref()), place.caret())]
    UnknownFunction {
        /// Where.
        place: Box<Place>,
        /// The name of the function; for an operator, that of the function it calls.
        found: String,
        /// A name that was perhaps meant.
        nearest: Option<String>,
    },
    /// A function that is not called.
    #[error("{place}: `{found}` is a function; call it: `{found}(…)`{}", place.caret())]
    Function {
        /// Where.
        place: Box<Place>,
        /// Its name.
        found: String,
    },
    /// A method or an attribute that arrays do not have.
    #[error("{place}: arrays have no method or attribute `{found}`{}{}", member(found, *is_function, nearest.as_deref()), place.caret())]
    UnknownMember {
        /// Where.
        place: Box<Place>,
        /// Its name.
        found: String,
        /// Whether the library has a function of that name.
        is_function: bool,
        /// A name that was perhaps meant.
        nearest: Option<String>,
    },
    /// A name bound twice.
    #[error("{place}: duplicate name `{name}`: a name is bound once{}", place.caret())]
    Duplicate {
        /// Where the second time is.
        place: Box<Place>,
        /// The name.
        name: String,
    },
    /// A statement whose value is neither an output nor used by name.
    #[error("{place}: nothing uses this statement{}", place.caret())]
    Unused {
        /// Where it begins.
        place: Box<Place>,
    },
    /// Brackets or signs nested deeper than anyone writes.
    #[error("{place}: nested more than {limit} deep{}", place.caret())]
    Depth {
        /// Where it is too deep.
        place: Box<Place>,
        /// The most that is read.
        limit: usize,
    },
    /// Arguments that a function refuses.
    #[error("{place}: cannot apply `{function}`{}", place.caret())]
    Call {
        /// Where.
        place: Box<Place>,
        /// The function.
        function: String,
        /// What it says.
        source: BuildError,
    },
    /// An input whose name cannot stand in a text, or stands there twice.
    #[error("input `{name}` {problem}")]
    Input {
        /// Its name.
        name: String,
        /// What is wrong, in words.
        problem: &'static str,
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
fn member(found: &str, is_function: bool, nearest: Option<&str>) -> String {
    if is_function { format!("; write `{found}(…)`") } else { suggestion(nearest) }
}

impl ParseTextError {
    /// The place in the text, where there is one.
    #[must_use]
    pub fn place(&self) -> Option<&Place> {
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
            | Self::Depth { place, .. }
            | Self::Call { place, .. } => Some(place),
            Self::Input { .. } | Self::Long { .. } | Self::NoOutputs => None,
        }
    }

    /// What the user can do about it, where that is known.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        let found = match self {
            Self::Unused { .. } => {
                return Some(
                    "remove it, use its name below, or put an expression of several lines in parentheses",
                );
            }
            Self::Unexpected { found, .. } => found,
            _ => return None,
        };
        match found.as_str() {
            "`and`" => Some("write `&`, with comparisons in parentheses"),
            "`or`" => Some("write `|`, with comparisons in parentheses"),
            "`not`" => Some("write `~`"),
            "`if`" => Some("write `switch(condition, a, b)`"),
            _ => None,
        }
    }
}
