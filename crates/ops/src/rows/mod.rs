//! What can be called by name: one row each.
//!
//! [`elementwise`] is the table of elementwise functions, which are scalar ops too, [`structural`] that of the others, [`composed`] that
//! of functions that are made of these and may have several results. Lists are made from them: names, promotion, headers, costs, combinations, methods of the builder, the C that the build script compiles,
//! the tests' functions. [`Ops::rows`](crate::Ops::rows) gives them as data.

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

/// Applies a function to the arguments of a call; several results are a list.
pub(crate) type Function = fn(&mut Operands<'_>, &Row, &Props) -> Result<Operand, BuildError>;

/// A function that can be called by name, in text and with [`crate::build::Graph::apply`].
#[derive(Debug)]
#[non_exhaustive]
pub struct Row {
    /// Its name.
    pub name: &'static str,
    /// Other names, most of them NumPy's.
    pub aliases: &'static [&'static str],
    /// Its arguments; one that ends in `…` may come more than once, or not at all.
    pub arguments: &'static [&'static str],
    /// What it takes besides, by name.
    pub keywords: &'static [Keyword],
    /// What it is, in a line of Markdown.
    pub help: &'static str,
    /// What a call does, if it is not elementwise; without it the op of this name is applied to its arguments as they are.
    pub(crate) apply: Option<Function>,
    /// Adds the op of this name, for JSON and for C.
    pub(crate) register: fn(Library) -> Library,
    /// The graphs that a declared `[[op]]` stands for.
    pub(crate) combinations: Option<Combine>,
    /// Whether one array in the place of several stands for its rows.
    pub(crate) takes_rows: bool,
    /// What is done to each element, if it is elementwise.
    pub(crate) scalar: Option<Scalar>,
}

/// What a function takes by name: a setting that is known when the graph is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Keyword {
    /// Its name.
    pub name: &'static str,
    /// What it is when it is not given, as text.
    pub default: &'static str,
    /// Whether it can also be given by its position, behind the arguments.
    pub positional: bool,
    /// Whether it is an optional argument, such as `weights`: its value may be a variable.
    pub is_argument: bool,
}

impl Keyword {
    /// A setting with a default.
    pub(crate) const fn setting(name: &'static str, default: &'static str, positional: bool) -> Self {
        Self { name, default, positional, is_argument: false }
    }

    /// An optional argument that is passed by name.
    pub(crate) const fn argument(name: &'static str) -> Self {
        Self { name, default: "None", positional: false, is_argument: true }
    }

    /// The default as Python writes it; the compiler puts a space behind a sign.
    #[must_use]
    pub fn default_text(&self) -> String {
        self.default.replace("- ", "-")
    }

    /// The default as a prop; none for `None`.
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
    /// The arguments that come once each.
    #[must_use]
    pub fn fixed(&self) -> &'static [&'static str] {
        if self.variadic().is_some() { &self.arguments[..self.arguments.len() - 1] } else { self.arguments }
    }

    /// The argument of which there may be several: as arguments of their own, or as one list.
    #[must_use]
    pub fn variadic(&self) -> Option<&'static str> {
        self.arguments.last()?.strip_suffix('…')
    }

    /// Whether it is made of other functions, and has neither an op nor declared combinations of its own.
    #[must_use]
    pub fn is_composed(&self) -> bool {
        COMPOSED.iter().any(|row| row.name == self.name)
    }

    /// What it takes by this name, if anything.
    #[must_use]
    pub fn keyword(&self, name: &str) -> Option<&'static Keyword> {
        self.keywords.iter().find(|keyword| keyword.name == name)
    }

    /// The position of an optional argument that is passed by name only: behind the fixed arguments.
    pub(crate) fn named_position(&self, name: &str) -> Option<usize> {
        let mut named = self.keywords.iter().filter(|keyword| keyword.is_argument);
        named.position(|keyword| keyword.name == name).map(|position| self.fixed().len() + position)
    }

    /// How it is called, as Python writes it: `sum(x, axis=None, dtype=None, *, keepdims=False)`.
    #[must_use]
    pub fn signature(&self) -> String {
        self.signature_as(self.name)
    }

    /// The same by another name of the function.
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
