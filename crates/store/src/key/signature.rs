//! Parses printable signatures and compares them.
//!
//! A signature is `name(type, …) -> type, …`, where a type is a dtype with an optional shape in brackets:
//! `add(f32[..], f32[..]) -> f32[..]`, `sum{axes=[0]}(f64[?,?]) -> f64[?]`. Signatures are never used for lookups.
//! This parser only serves messages, so it reports an unreadable signature as [`SignatureDiff::Other`].

use std::fmt;

/// A parsed printable signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    /// The op with its properties, such as `sum{axes=[0]}`.
    pub op: String,
    /// The input types, as (dtype, shape); the shape includes its brackets and may be empty.
    pub inputs: Vec<(String, String)>,
    /// The output types.
    pub outputs: Vec<(String, String)>,
}

impl Signature {
    /// Parses a signature; `None` if the text has another form.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (left, right) = text.rsplit_once(" -> ")?;
        let body = left.strip_suffix(')')?;
        let open = opening(body)?;
        let outputs = right.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')).unwrap_or(right);
        let op = body[..open].to_owned();
        (!op.is_empty()).then(|| Self { op, inputs: types(&body[open + 1..]), outputs: types(outputs) })
    }
}

/// Finds the parenthesis that the end of `body` would close.
fn opening(body: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, character) in body.char_indices().rev() {
        match character {
            ')' => depth += 1,
            '(' if depth == 0 => return Some(at),
            '(' => depth -= 1,
            _ => {}
        }
    }
    None
}

fn types(list: &str) -> Vec<(String, String)> {
    let mut depth = 0_i32;
    let split = list.split(|character| {
        match character {
            '[' | '(' | '{' => depth += 1,
            ']' | ')' | '}' => depth -= 1,
            _ => {}
        }
        character == ',' && depth == 0
    });
    let items = split.map(str::trim).filter(|item| !item.is_empty());
    items
        .map(|item| item.split_at(item.find('[').unwrap_or(item.len())))
        .map(|(a, b)| (a.into(), b.into()))
        .collect()
}

/// The difference between two signatures, coarsest difference first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SignatureDiff {
    /// The ops differ.
    Op,
    /// The ops have the same name and number of parts (properties or fused steps), but some parts differ.
    Parts {
        /// The first wanted part that differs.
        wanted: String,
        /// The part found in its place.
        found: String,
        /// The number of differing parts, and the number of all parts.
        of: (usize, usize),
    },
    /// The numbers of inputs or outputs differ.
    Arity,
    /// Types differ at these positions (counted from 0).
    Types {
        /// Inputs of another dtype.
        dtype_inputs: Vec<usize>,
        /// Inputs of another rank or shape.
        shape_inputs: Vec<usize>,
        /// Outputs of another dtype.
        dtype_outputs: Vec<usize>,
        /// Outputs of another rank or shape.
        shape_outputs: Vec<usize>,
    },
    /// One of the two is not in the form that [`Signature::parse`] reads.
    Other,
}

impl SignatureDiff {
    /// Compares two signatures; `None` if they are equal.
    #[must_use]
    pub fn between(wanted: &str, found: &str) -> Option<Self> {
        if wanted == found {
            return None;
        }
        let (Some(a), Some(b)) = (Signature::parse(wanted), Signature::parse(found)) else {
            return Some(Self::Other);
        };
        if a.op != b.op {
            return Some(parts(&a.op, &b.op).unwrap_or(Self::Op));
        }
        if a.inputs.len() != b.inputs.len() || a.outputs.len() != b.outputs.len() {
            return Some(Self::Arity);
        }
        let (dtype_inputs, shape_inputs) = unequal(&a.inputs, &b.inputs);
        let (dtype_outputs, shape_outputs) = unequal(&a.outputs, &b.outputs);
        // Signatures that differ only in blanks are equal.
        let equal =
            [&dtype_inputs, &shape_inputs, &dtype_outputs, &shape_outputs].iter().all(|list| list.is_empty());
        (!equal).then_some(Self::Types { dtype_inputs, shape_inputs, dtype_outputs, shape_outputs })
    }

    /// Returns whether the two have the same op, or share at least half of their parts.
    pub(super) fn is_near(&self) -> bool {
        match self {
            Self::Op | Self::Other | Self::Arity => false,
            Self::Parts { of: (differ, all), .. } => *all == 1 || 2 * differ <= *all,
            Self::Types { .. } => true,
        }
    }

    /// Returns the weight of the difference; a larger weight means less similar signatures.
    pub(super) fn distance(&self) -> u64 {
        match self {
            Self::Op => 1000,
            Self::Parts { of: (differ, _), .. } => 100 + 10 * *differ as u64,
            Self::Other => 900,
            Self::Arity => 400,
            Self::Types { dtype_inputs, shape_inputs, dtype_outputs, shape_outputs } => {
                let count = |list: &Vec<usize>| list.len() as u64;
                10 * count(dtype_inputs)
                    + 3 * count(dtype_outputs)
                    + 5 * count(shape_inputs)
                    + 2 * count(shape_outputs)
            }
        }
    }
}

/// Compares two ops of the same name, such as `sum{axes=[0]}`, part by part; `None` if their names or numbers of parts
/// differ.
fn parts(wanted: &str, found: &str) -> Option<SignatureDiff> {
    let (name, wanted) = wanted.split_once('{')?;
    let (other, found) = found.split_once('{')?;
    let list = |text: &str| -> Vec<String> {
        text.trim_end_matches('}').split(';').map(|part| part.trim().to_owned()).collect()
    };
    let (wanted, found) = (list(wanted), list(found));
    if name != other || wanted.len() != found.len() {
        return None;
    }
    let differ = || wanted.iter().zip(&found).filter(|(a, b)| a != b);
    let (first, second) = differ().next()?;
    let of = (differ().count(), wanted.len());
    Some(SignatureDiff::Parts { wanted: first.clone(), found: second.clone(), of })
}

type Type = (String, String);

fn unequal(a: &[Type], b: &[Type]) -> (Vec<usize>, Vec<usize>) {
    let places = |differ: fn(&Type, &Type) -> bool| {
        a.iter().zip(b).enumerate().filter(|(_, (a, b))| differ(a, b)).map(|(at, _)| at).collect()
    };
    (places(|a, b| a.0 != b.0), places(|a, b| a.1 != b.1))
}

/// Renders the difference as a phrase that follows "differs in": `dtype of input 0, 1`.
impl fmt::Display for SignatureDiff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (dtype_inputs, shape_inputs, dtype_outputs, shape_outputs) = match self {
            Self::Op => return f.write_str("the op"),
            Self::Parts { wanted, found, .. } => return write!(f, "`{found}`, wanted `{wanted}`"),
            Self::Arity => return f.write_str("the number of inputs or outputs"),
            Self::Other => return f.write_str("the signature"),
            Self::Types { dtype_inputs, shape_inputs, dtype_outputs, shape_outputs } => {
                (dtype_inputs, shape_inputs, dtype_outputs, shape_outputs)
            }
        };
        let mut parts = Vec::new();
        // The output types follow from the input types, so they are only named if nothing else differs.
        let inputs_equal = dtype_inputs.is_empty() && shape_inputs.is_empty();
        for (what, places, said) in [
            ("dtype of input", dtype_inputs, true),
            ("shape of input", shape_inputs, true),
            ("dtype of output", dtype_outputs, inputs_equal),
            ("shape of output", shape_outputs, inputs_equal),
        ] {
            if said && !places.is_empty() {
                let list: Vec<String> = places.iter().map(usize::to_string).collect();
                parts.push(format!("{what} {}", list.join(", ")));
            }
        }
        f.write_str(&parts.join(" and "))
    }
}
