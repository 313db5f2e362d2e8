//! Metadata: what a bundle states about a function beyond its program.
//!
//! A *subject* is an entry, a function of several entries, or the bundle itself, whose name is empty. Each subject has at
//! most one [`Metadata`]. No call reads it, so a host that ignores metadata computes the same results.
//!
//! | kind | content | read by |
//! |---|---|---|
//! | 1 | documentation | people |
//! | 2, 3 | names, dims and documentation of inputs and outputs | people, bindings |
//! | 4 | initial values of a stateful function, and the outputs that update them | bindings |
//! | 5 | the plan of a function of several entries | bindings |
//! | 6 | JSON by key; the key begins with a namespace: `pymc.coords` | the owner of the namespace |
//!
//! A reader keeps a kind that it does not know ([`Metadata::unknown`]) and writes it again unchanged. A kind never changes
//! its layout: a new layout gets a new number. So a new kind of metadata needs a number, a field of [`Metadata`], and two
//! lines in `wire.rs`.
//!
//! Metadata may come from an untrusted file. Its size is limited, texts may contain any character, and JSON is not parsed
//! here: readers escape the text that they print.

mod plan;
mod wire;

use crate::names::{check_name, excerpt};
use crate::value::Array;
use std::collections::{BTreeMap, BTreeSet};

pub use plan::{Callee, Plan, PlanPort, PlanStep};

/// Maximum size of the metadata of one subject, in bytes.
pub const METADATA_LIMIT_BYTES: usize = 1 << 28;

/// What a bundle states about an entry, a function of several entries, or itself.
///
/// # Examples
/// ```
/// use precast_core::metadata::{Described, Metadata};
/// let x = Described { name: "x".to_owned(), dims: vec!["day".to_owned()], ..Described::default() };
/// let metadata = Metadata { documentation: "Scores days".to_owned(), inputs: vec![x], ..Metadata::default() };
/// assert!(metadata.check().is_ok());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Metadata {
    /// The documentation, in Markdown. May be empty.
    pub documentation: String,
    /// The described inputs, in any order. Inputs without a description are left out.
    pub inputs: Vec<Described>,
    /// The described outputs.
    pub outputs: Vec<Described>,
    /// The state of a stateful function.
    pub state: Vec<State>,
    /// The steps of a function of several entries.
    pub plan: Option<Plan>,
    /// JSON texts by key. A key is a name with a namespace before its first `.`: `pymc.coords`.
    pub json: BTreeMap<String, String>,
    /// The bytes of kinds that this version does not know, by the number of the kind.
    pub unknown: BTreeMap<u32, Vec<u8>>,
}

/// The description of an input or an output.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Described {
    /// The name of the input or the output.
    pub name: String,
    /// The name of each dimension, outermost first; empty for a dimension without a name.
    pub dims: Vec<String>,
    /// The documentation. May be empty.
    pub documentation: String,
}

/// An input that a stateful function keeps between calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    /// The name of the input.
    pub input: String,
    /// The name of the output with the next value; `None` if no call changes it.
    pub update: Option<String>,
    /// The value before the first call.
    pub initial: Initial,
}

/// The initial value of a state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Initial {
    /// An array.
    Array(Array),
    /// Any other value, as JSON that the host understands: the state of a random generator.
    Json(String),
}

/// The reason why metadata cannot be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MetadataError {
    /// A name is invalid.
    #[error(transparent)]
    Name(#[from] crate::names::NameError),
    /// An input, an output or a state is described twice.
    #[error("`{name}` is described twice")]
    Twice {
        /// The name.
        name: String,
    },
    /// The function has no such input or output.
    #[error("there is no input or output `{name}`")]
    Unknown {
        /// The name.
        name: String,
    },
    /// A key has no namespace.
    #[error(
        "key `{key}` has no namespace\nhint: begin it with the name of your project and a dot: `mine.{key}`"
    )]
    Namespace {
        /// The beginning of the key.
        key: String,
    },
    /// The metadata is too large.
    #[error("the metadata has {found} bytes, expected at most {METADATA_LIMIT_BYTES}")]
    Size {
        /// Its size, in bytes.
        found: usize,
    },
}

impl Metadata {
    /// Returns whether nothing is stated. Empty metadata is not written.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Checks names, keys and size.
    ///
    /// # Errors
    /// The first defect.
    pub fn check(&self) -> Result<(), MetadataError> {
        self.check_names()?;
        let found = self.to_bytes().len();
        if found > METADATA_LIMIT_BYTES { Err(MetadataError::Size { found }) } else { Ok(()) }
    }

    /// Checks that each described input and output is one of these.
    pub(crate) fn check_ports(
        &self,
        inputs: &BTreeSet<String>,
        outputs: &BTreeSet<String>,
    ) -> Result<(), MetadataError> {
        let states = self.state.iter();
        let taken = self.inputs.iter().map(|each| &each.name).chain(states.clone().map(|state| &state.input));
        let given = self
            .outputs
            .iter()
            .map(|each| &each.name)
            .chain(states.filter_map(|state| state.update.as_ref()));
        let unknown = |known: &BTreeSet<String>, name: &&String| !known.contains(*name);
        let mut wrong =
            taken.filter(|name| unknown(inputs, name)).chain(given.filter(|name| unknown(outputs, name)));
        wrong.next().map_or(Ok(()), |name| Err(MetadataError::Unknown { name: name.clone() }))
    }

    /// Checks names and keys.
    fn check_names(&self) -> Result<(), MetadataError> {
        let names = |described: &[Described]| described.iter().map(|each| each.name.clone()).collect();
        let states: Vec<String> = self.state.iter().map(|state| state.input.clone()).collect();
        for names in [names(&self.inputs), names(&self.outputs), states] {
            check_distinct(&names)?;
        }
        for update in self.state.iter().filter_map(|state| state.update.as_deref()) {
            check_name(update)?;
        }
        for key in self.json.keys() {
            check_name(key)?;
            if !key.contains('.') {
                return Err(MetadataError::Namespace { key: excerpt(key) });
            }
        }
        self.plan.as_ref().map_or(Ok(()), Plan::check)
    }
}

/// Checks that names are valid and that none occurs twice.
fn check_distinct(names: &[String]) -> Result<(), MetadataError> {
    let mut seen = BTreeSet::new();
    for name in names {
        check_name(name)?;
        if !seen.insert(name) {
            return Err(MetadataError::Twice { name: name.clone() });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
