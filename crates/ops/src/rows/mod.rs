//! What can be called by name: one row each.
//!
//! [`elementwise`] is the table of elementwise functions, which are scalar ops too, [`structural`] that of the others. Lists are made
//! from them: names, promotion, headers, costs, combinations, methods of the builder, the C that the build script compiles,
//! the tests' functions. [`Ops::rows`] gives them as data.

mod elementwise;
mod structural;

use crate::combinations::Combine;
use crate::registry::{self, Function, Ops};
use crate::scalar::{self, Scalar};
pub(crate) use elementwise::scalar_rows;
use precast_codegen::Library;
use precast_graph::{DType, Prop};
pub(crate) use structural::structural_rows;

/// What a function does to the dtypes of its arguments before its scalar op is applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Promotion {
    /// All to their common dtype.
    Common,
    /// As `registry::compare` says: integers exactly.
    Order,
    /// As [`Promotion::Common`]; literal bounds may lie beyond the dtype.
    Bounds,
    /// All to their common dtype, or i8 if that is bool.
    Number,
    /// All to their common dtype, or f64 if that is bool or an integer.
    Quotient,
    /// Each to the float that holds it, then all to their common dtype.
    Inexact,
    /// As [`Promotion::Common`]; bool and integers are given back as they are.
    Rounding,
    /// As [`Promotion::Rounding`], but bool becomes f16.
    Nearest,
    /// As [`Promotion::Common`]; what is real is given back as it is.
    Complex,
    /// As [`Promotion::Complex`], but bool becomes i8.
    Conjugate,
    /// All to bool.
    Bool,
    /// The first to bool, the others to their common dtype.
    Condition,
    /// As NumPy's operator `**`, which knows literal exponents.
    Power,
    /// As [`Promotion::Inexact`], but bool becomes f64.
    Angle,
}

/// What a scalar op makes of operands of one dtype.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gives {
    /// The dtype of the operands.
    Same,
    /// bool.
    Bool,
    /// The dtype of a part; for real dtypes the same.
    Part,
    /// The complex dtype whose parts the operands are.
    Whole,
    /// The dtype of the operands after the first, which is bool.
    Choice,
}

/// What an element costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cost {
    /// A few instructions.
    Cheap,
    /// More.
    Costly,
}

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
    /// What a call does; without it the op of this name is applied to its arguments as they are.
    pub(crate) apply: Option<Function>,
    /// Adds the op of this name, for JSON and for C.
    pub(crate) register: fn(Library) -> Library,
    /// The graphs that a declared `[[op]]` stands for.
    pub(crate) combinations: Option<Combine>,
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
}

impl Keyword {
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

    /// What it takes by this name, if anything.
    #[must_use]
    pub fn keyword(&self, name: &str) -> Option<&'static Keyword> {
        self.keywords.iter().find(|keyword| keyword.name == name)
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

    /// The dtypes that it can be called with, where its combinations say so: operands of this dtype and one dimension.
    #[must_use]
    pub fn dtypes(&self) -> Vec<DType> {
        let ops = Ops::standard();
        let known = |dtype: &DType| crate::combinations(self.name, &[*dtype], &[1], &ops).is_ok();
        DType::ALL.into_iter().filter(known).collect()
    }
}

impl Row {
    /// [`Row::dtypes`] in words: `all`, or kinds and names; nothing where combinations do not say it.
    #[must_use]
    pub fn takes(&self) -> String {
        let mut left = self.dtypes();
        if left.len() == DType::ALL.len() {
            return "all".to_owned();
        }
        let mut words = Vec::new();
        let integers = DType::ALL.into_iter().filter(|dtype| dtype.is_integer());
        let floats = DType::ALL.into_iter().filter(|dtype| dtype.is_float());
        let complex = DType::ALL.into_iter().filter(|dtype| dtype.is_complex());
        let kinds: [(&str, Vec<DType>); 3] =
            [("integers", integers.collect()), ("floats", floats.collect()), ("complex", complex.collect())];
        for (word, kind) in kinds {
            if kind.iter().all(|dtype| left.contains(dtype)) {
                left.retain(|dtype| !kind.contains(dtype));
                words.push(word);
            }
        }
        left.iter().map(|dtype| dtype.name()).chain(words).collect::<Vec<_>>().join(", ")
    }
}

/// All rows.
pub(crate) fn all() -> impl Iterator<Item = &'static Row> {
    scalar::LIBRARY.iter().chain(registry::STRUCTURAL)
}

/// The row of a name, which may be another name of it.
pub(crate) fn find(name: &str) -> Option<&'static Row> {
    all().find(|row| row.name == name || row.aliases.contains(&name))
}
