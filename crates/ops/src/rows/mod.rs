//! The functions that can be called by name, one row each.
//!
//! [`elementwise`] is the table of elementwise functions, which are scalar ops too. [`structural`] has the remaining
//! functions with an op or special arguments, and [`composed`] the functions that are composed of these and may have
//! several results. The tables generate names, promotion, headers, costs, combinations, methods of the builder, the C
//! code that the build script compiles, and the functions for the tests. [`Ops::rows`](crate::Ops::rows) returns them
//! as data.

mod composed;
mod elementwise;
mod find;
mod row;
mod structural;

use crate::combinations::Combine;
use crate::registry::{COMPOSED, Operands};
use crate::scalar::Scalar;
pub(crate) use composed::composed_rows;
pub(crate) use elementwise::scalar_rows;
pub(crate) use find::{all, find};
use precast_codegen::Library;
use precast_graph::{BuildError, Operand, Prop, Props};
pub(crate) use row::{is_there, row};
pub(crate) use structural::structural_rows;

/// A function that builds a call from its arguments; several results form a list.
pub(crate) type Function = fn(&mut Operands<'_>, &Row, &Props) -> Result<Operand, BuildError>;

/// A function that can be called by name, in text and with [`crate::build::Graph::apply`].
#[derive(Debug)]
#[non_exhaustive]
pub struct Row {
    /// The name.
    pub name: &'static str,
    /// Aliases, most of them NumPy's.
    pub aliases: &'static [&'static str],
    /// The arguments. An argument that ends in `…` may be repeated or omitted.
    pub arguments: &'static [&'static str],
    /// The keyword arguments.
    pub keywords: &'static [Keyword],
    /// A description in one line of Markdown.
    pub help: &'static str,
    /// The builder of a call, if the function is not elementwise. Without it, the op of this name is applied to the
    /// unchanged arguments.
    pub(crate) apply: Option<Function>,
    /// A function that registers the op of this name, for JSON and for C.
    pub(crate) register: fn(Library) -> Library,
    /// The generator of the graphs for a declared `[[op]]`.
    pub(crate) combinations: Option<Combine>,
    /// Whether a single array in place of several stands for its rows.
    pub(crate) takes_rows: bool,
    /// The scalar op, if the function is elementwise.
    pub(crate) scalar: Option<Scalar>,
}

/// A keyword argument: a setting that is known when the graph is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Keyword {
    /// The name.
    pub name: &'static str,
    /// The default, as text.
    pub default: &'static str,
    /// Whether it can also be passed by position, after the arguments.
    pub positional: bool,
    /// Whether it is an optional argument such as `weights`, whose value may be a variable.
    pub is_argument: bool,
}

impl Keyword {
    /// Creates a setting with a default.
    pub(crate) const fn setting(name: &'static str, default: &'static str, positional: bool) -> Self {
        Self { name, default, positional, is_argument: false }
    }

    /// Creates an optional argument that is passed by name.
    pub(crate) const fn argument(name: &'static str) -> Self {
        Self { name, default: "None", positional: false, is_argument: true }
    }

    /// Returns the default in Python syntax. The compiler puts a space after a sign, which is removed.
    #[must_use]
    pub fn default_text(&self) -> String {
        self.default.replace("- ", "-")
    }

    /// Returns the default as a prop; `None` for the default `None`.
    pub(crate) fn value(&self) -> Option<Prop> {
        match self.default_text().as_str() {
            "None" => None,
            "True" => Some(Prop::Bool(true)),
            "False" => Some(Prop::Bool(false)),
            text => {
                let number = text.parse().map(Prop::Int).or_else(|_| text.parse().map(Prop::Float));
                Some(number.unwrap_or_else(|_| Prop::Str(text.trim_matches('"').to_owned())))
            }
        }
    }
}

impl Row {
    /// Returns the arguments that cannot be repeated.
    #[must_use]
    pub fn fixed(&self) -> &'static [&'static str] {
        if self.variadic().is_some() { &self.arguments[..self.arguments.len() - 1] } else { self.arguments }
    }

    /// Returns the argument that may be repeated, as separate arguments or as one list.
    #[must_use]
    pub fn variadic(&self) -> Option<&'static str> {
        self.arguments.last()?.strip_suffix('…')
    }

    /// Returns whether the function is composed of other functions, and has neither an op nor combinations of its
    /// own.
    #[must_use]
    pub fn is_composed(&self) -> bool {
        COMPOSED.iter().any(|row| row.name == self.name)
    }

    /// Returns the keyword argument with this name.
    #[must_use]
    pub fn keyword(&self, name: &str) -> Option<&'static Keyword> {
        self.keywords.iter().find(|keyword| keyword.name == name)
    }

    /// Returns the position of an optional keyword argument, counted after the fixed arguments.
    pub(crate) fn named_position(&self, name: &str) -> Option<usize> {
        let mut named = self.keywords.iter().filter(|keyword| keyword.is_argument);
        named.position(|keyword| keyword.name == name).map(|position| self.fixed().len() + position)
    }

    /// Returns the signature in Python syntax: `sum(x, axis=None, dtype=None, *, keepdims=False)`.
    #[must_use]
    pub fn signature(&self) -> String {
        self.signature_as(self.name)
    }

    /// Returns the signature under another name of the function.
    pub(crate) fn signature_as(&self, name: &str) -> String {
        let mut parameters: Vec<String> = self.fixed().iter().map(|name| (*name).to_owned()).collect();
        parameters.extend(self.variadic().map(|name| format!("*{name}")));
        for (position, keyword) in self.keywords.iter().enumerate() {
            let first = position == 0 || self.keywords[position - 1].positional;
            if !keyword.positional && first && self.variadic().is_none() {
                parameters.push("*".to_owned());
            }
            parameters.push(format!("{}={}", keyword.name, keyword.default_text()));
        }
        format!("{name}({})", parameters.join(", "))
    }
}
