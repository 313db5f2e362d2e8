//! Type patterns: the input and output types of an external op, with type variables for dtypes.
//!
//! ```text
//! {T}[?]   {T}[?,3]   {T}[..]   {T}    f64[?]    double<f64[]>        any dtype, the same for each use of the letter
//! upcast(T, U)[?]                                                     outputs: NumPy's promotion
//! {T}[?]?   {T}[?]*                                                   last inputs: optional; any number of them
//! ```
//! `[..]` accepts every rank; in an output it is the rank of the first input that has it. Extents of an input work as
//! in a type: `?` accepts every extent.

use super::error::ExternalError;
use precast_graph::{DType, Extent, MakeNodeError, TensorType, Type};
use std::collections::BTreeMap;

/// A type with type variables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pattern {
    pub(super) text: String,
    shape: Shape,
    pub(super) repeat: Repeat,
}

/// The number of times that an input may occur.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Repeat {
    Once,
    Optional,
    Many,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Shape {
    /// A type without type variables.
    Exact(Type),
    Scalar(Element),
    Tensor(Element, Vec<Extent>),
    AnyRank(Element),
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Element {
    Fixed(DType),
    Var(String),
    Upcast(Vec<Self>),
}

/// The values of the type variables, derived from the inputs of an Apply.
#[derive(Default)]
pub(super) struct Bindings {
    dtypes: BTreeMap<String, (DType, usize)>,
    rank: Option<usize>,
    /// The allowed dtypes of each type variable; any dtype for a variable without an entry.
    allowed: BTreeMap<String, Vec<DType>>,
}

impl Bindings {
    pub(super) fn new(allowed: BTreeMap<String, Vec<DType>>) -> Self {
        Self { allowed, ..Self::default() }
    }
}

impl Pattern {
    /// Parses a pattern of an input.
    pub(super) fn input(text: &str) -> Result<Self, ExternalError> {
        let whole = text.trim();
        let (rest, repeat) = match (whole.strip_suffix('*'), whole.strip_suffix('?')) {
            (Some(rest), _) => (rest, Repeat::Many),
            (_, Some(rest)) => (rest, Repeat::Optional),
            _ => (whole, Repeat::Once),
        };
        let shape = shape(rest.trim(), whole)?;
        match &shape {
            Shape::Scalar(Element::Upcast(_))
            | Shape::Tensor(Element::Upcast(_), _)
            | Shape::AnyRank(Element::Upcast(_)) => Err(wrong(whole, "`upcast` is allowed in outputs only")),
            _ => Ok(Self { text: whole.to_owned(), shape, repeat }),
        }
    }

    /// Parses a pattern of an output, which may use the type variables of `inputs`.
    pub(super) fn output(text: &str, inputs: &[Self]) -> Result<Self, ExternalError> {
        let whole = text.trim();
        let shape = shape(whole, whole)?;
        let mut known: Vec<&str> = Vec::new();
        for input in inputs {
            input.element().into_iter().for_each(|element| element.names(&mut known));
        }
        let pattern = Self { text: whole.to_owned(), shape, repeat: Repeat::Once };
        let mut wanted = Vec::new();
        pattern.element().into_iter().for_each(|element| element.names(&mut wanted));
        if let Some(name) = wanted.iter().find(|name| !known.contains(name)) {
            return Err(wrong(whole, &format!("uses `{{{name}}}`, which no input defines")));
        }
        if pattern.is_any_rank() && !inputs.iter().any(Self::is_any_rank) {
            return Err(wrong(whole, "uses `[..]` for an unknown rank, because no input has `[..]`"));
        }
        Ok(pattern)
    }

    fn element(&self) -> Option<&Element> {
        match &self.shape {
            Shape::Exact(_) => None,
            Shape::Scalar(element) | Shape::Tensor(element, _) | Shape::AnyRank(element) => Some(element),
        }
    }

    /// Returns the names of the type variables.
    pub(super) fn names(&self) -> Vec<&str> {
        let mut names = Vec::new();
        self.element().into_iter().for_each(|element| element.names(&mut names));
        names
    }

    /// Checks the type of the input at `position` against the pattern, and records its dtype and rank.
    pub(super) fn bind(
        &self,
        op: &str,
        position: usize,
        ty: &Type,
        bindings: &mut Bindings,
    ) -> Result<(), MakeNodeError> {
        let refuse = |expected: String| MakeNodeError::Input {
            op: op.to_owned(),
            input: position,
            found: ty.to_string(),
            expected,
        };
        let fits = match (&self.shape, ty) {
            (Shape::Exact(exact), _) => exact.covers(ty),
            (Shape::Scalar(_), Type::Scalar(_)) => true,
            (Shape::AnyRank(_), Type::Tensor(tensor)) => {
                bindings.rank.get_or_insert(tensor.shape.len());
                true
            }
            (Shape::Tensor(_, extents), Type::Tensor(tensor)) => {
                let pairs = extents.iter().zip(&tensor.shape);
                extents.len() == tensor.shape.len()
                    && pairs.into_iter().all(|(mine, its)| *mine == Extent::Unknown || mine == its)
            }
            _ => false,
        };
        if !fits {
            return Err(refuse(format!("`{}`", self.text)));
        }
        match self.element() {
            Some(Element::Fixed(dtype)) if *dtype != ty.dtype() => Err(refuse(format!("`{}`", self.text))),
            Some(Element::Var(name)) => {
                if let Some(allowed) = bindings.allowed.get(name).filter(|list| !list.contains(&ty.dtype())) {
                    let allowed: Vec<&str> = allowed.iter().map(|dtype| dtype.name()).collect();
                    return Err(refuse(format!(
                        "`{}`, where {name} is one of {}",
                        self.text,
                        allowed.join(", ")
                    )));
                }
                let (known, first) = *bindings.dtypes.entry(name.clone()).or_insert((ty.dtype(), position));
                if known == ty.dtype() {
                    return Ok(());
                }
                Err(refuse(format!("`{}`, where {name} is `{known}` as in input {first}", self.text)))
            }
            _ => Ok(()),
        }
    }

    /// Returns the type of an output.
    pub(super) fn fill(&self, op: &str, bindings: &Bindings) -> Result<Type, MakeNodeError> {
        let dtype = |element: &Element| {
            element.fill(bindings).map_err(|name| {
                let problem = format!("needs input `{{{name}}}`, which is missing");
                MakeNodeError::prop(op, &self.text, problem)
            })
        };
        Ok(match &self.shape {
            Shape::Exact(ty) => ty.clone(),
            Shape::Scalar(element) => Type::Scalar(dtype(element)?),
            Shape::Tensor(element, shape) => {
                Type::Tensor(TensorType { dtype: dtype(element)?, shape: shape.clone() })
            }
            Shape::AnyRank(element) => Type::tensor(dtype(element)?, bindings.rank.unwrap_or(0)),
        })
    }

    pub(super) fn is_any_rank(&self) -> bool {
        matches!(self.shape, Shape::AnyRank(_))
    }

    /// Returns the type for the given dtypes and rank; `None` if a dtype is missing.
    pub(super) fn with(&self, dtypes: &BTreeMap<String, DType>, ndim: usize) -> Option<Type> {
        let dtypes = dtypes.iter().map(|(name, dtype)| (name.clone(), (*dtype, 0))).collect();
        self.fill("", &Bindings { dtypes, rank: Some(ndim), ..Bindings::default() }).ok()
    }
}

impl Element {
    fn names<'a>(&'a self, names: &mut Vec<&'a str>) {
        match self {
            Self::Fixed(_) => {}
            Self::Var(name) => names.push(name),
            Self::Upcast(parts) => parts.iter().for_each(|part| part.names(names)),
        }
    }

    /// Returns the dtype, or the name of a type variable without a value.
    fn fill<'a>(&'a self, bindings: &Bindings) -> Result<DType, &'a str> {
        match self {
            Self::Fixed(dtype) => Ok(*dtype),
            Self::Var(name) => bindings.dtypes.get(name).map(|(dtype, _)| *dtype).ok_or(name),
            Self::Upcast(parts) => {
                let dtypes = parts.iter().map(|part| part.fill(bindings)).collect::<Result<Vec<_>, _>>()?;
                Ok(DType::upcast_all(dtypes).unwrap_or(DType::Bool))
            }
        }
    }
}

fn wrong(text: &str, problem: &str) -> ExternalError {
    ExternalError::Pattern { text: text.to_owned(), problem: problem.to_owned() }
}

fn shape(text: &str, whole: &str) -> Result<Shape, ExternalError> {
    let ty = |text: &str| {
        text.parse::<Type>().map_err(|source| ExternalError::PatternType { text: whole.to_owned(), source })
    };
    if !text.starts_with('{') && !text.starts_with("upcast") {
        let any = text.strip_suffix("[..]").map(ty).transpose()?;
        return Ok(match any {
            Some(scalar) => Shape::AnyRank(Element::Fixed(scalar.dtype())),
            None => Shape::Exact(ty(text)?),
        });
    }
    let end = text.rfind(['}', ')']).ok_or_else(|| wrong(whole, "unclosed bracket"))?;
    let (element, extents) = (element(&text[..=end], whole)?, &text[end + 1..]);
    match extents.trim() {
        "" => Ok(Shape::Scalar(element)),
        "[..]" => Ok(Shape::AnyRank(element)),
        // Any dtype works for parsing the extents.
        extents => Ok(Shape::Tensor(element, ty(&format!("bool{extents}"))?.shape().to_vec())),
    }
}

fn element(text: &str, whole: &str) -> Result<Element, ExternalError> {
    if let Some(name) = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
        return variable(name, whole);
    }
    let list = text.strip_prefix("upcast").map(str::trim).and_then(|rest| rest.strip_prefix('('));
    let list = list.and_then(|rest| rest.strip_suffix(')'));
    let list = list.ok_or_else(|| wrong(whole, "expected `{T}`, `upcast(T, …)` or a type"))?;
    let part = |part: &str| match part.trim().parse() {
        Ok(dtype) => Ok(Element::Fixed(dtype)),
        Err(_) => variable(part.trim().trim_start_matches('{').trim_end_matches('}'), whole),
    };
    Ok(Element::Upcast(list.split(',').map(part).collect::<Result<_, _>>()?))
}

fn variable(name: &str, whole: &str) -> Result<Element, ExternalError> {
    let name = name.trim();
    let valid = name.starts_with(|c: char| c.is_ascii_uppercase())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if valid {
        return Ok(Element::Var(name.to_owned()));
    }
    Err(wrong(whole, &format!("invalid element `{name}`: expected a dtype or a name like `T`")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the type of an output for types of the inputs.
    fn apply(inputs: &[&str], output: &str, types: &[&str]) -> Result<String, String> {
        let read = |text: &&str| Pattern::input(text).unwrap();
        let inputs: Vec<Pattern> = inputs.iter().map(read).collect();
        let output = Pattern::output(output, &inputs).map_err(|error| error.to_string())?;
        let mut bindings = Bindings::default();
        for (position, (pattern, ty)) in inputs.iter().zip(types).enumerate() {
            let ty = ty.parse().unwrap();
            pattern.bind("op", position, &ty, &mut bindings).map_err(|error| error.to_string())?;
        }
        Ok(output.fill("op", &bindings).map_err(|error| error.to_string())?.to_string())
    }

    #[test]
    fn dtypes_and_ranks_come_from_the_inputs() {
        let two = ["{T}[?]", "{U}[?]"];
        assert_eq!(apply(&two, "upcast(T, U)[?]", &["f32[3]", "f64[?]"]).unwrap(), "f64[?]");
        assert_eq!(apply(&two, "upcast(T,U,bool)[1]", &["bool[?]", "i64[?]"]).unwrap(), "i64[1]");
        assert_eq!(apply(&two, "upcast(T,U,c64)[1]", &["i16[?]", "u16[?]"]).unwrap(), "c64[1]");
        assert_eq!(apply(&["{T}[..]", "{T}"], "{T}[..]", &["f32[?,2]", "f32"]).unwrap(), "f32[?,?]");
        assert_eq!(apply(&["f64[?]"], "f64", &["f64[4]"]).unwrap(), "f64");
        assert_eq!(apply(&["f64[..]"], "bool[..]", &["f64[4]"]).unwrap(), "bool[?]");
    }

    #[test]
    fn mismatched_types_are_named() {
        let problem = |inputs: &[&str], types: &[&str]| apply(inputs, "f64", types).unwrap_err();
        assert_eq!(
            problem(&["{T}[?]", "{T}[?]"], &["f32[?]", "f64[?]"]),
            "`op`: input 1 has type `f64[?]`, expected `{T}[?]`, where T is `f32` as in input 0"
        );
        for (pattern, ty) in
            [("{T}[?]", "f32"), ("{T}[?]", "f32[?,?]"), ("{T}[3]", "f32[?]"), ("{T}", "f32[]")]
        {
            assert!(problem(&[pattern], &[ty]).ends_with(&format!("expected `{pattern}`")));
        }
    }

    #[test]
    fn invalid_patterns_are_rejected() {
        for text in ["{t}[?]", "{T[?]", "f65[?]", "{T}[x]", "upcast(T)[?]", "", "{}", "T[?]"] {
            assert!(Pattern::input(text).is_err(), "{text}");
        }
        let inputs = [Pattern::input("{T}[?]").unwrap()];
        for text in ["{U}[?]", "upcast(T, U)", "{T}[..]", "upcast T", "{T}[?]?"] {
            assert!(Pattern::output(text, &inputs).is_err(), "{text}");
        }
    }

    #[test]
    fn inputs_may_be_missing_or_many() {
        let repeat = |text: &str| Pattern::input(text).unwrap().repeat;
        assert_eq!(
            [repeat("{T}[?]"), repeat("{T}[?]?"), repeat("{T}[?] *")],
            [Repeat::Once, Repeat::Optional, Repeat::Many]
        );
    }
}
