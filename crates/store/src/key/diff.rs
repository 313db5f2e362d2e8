//! Explains why a key missed: the differences of two [`KeyDocument`]s as data, with one sentence for each.
//!
//! [`nearest`] picks the document of a store that is closest to the wanted one. Only documents with the same ops, or
//! with a graph of the same shape, are candidates. The distance is a sum of weights (see [`Difference::distance`]):
//! another dtype is nearer than another op, and another flag is nearer than either.

use std::collections::BTreeSet;
use std::fmt;

use super::{HostAbi, KeyDocument, Language, Profile, SignatureDiff};

/// One difference between two documents.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Difference {
    /// The epochs of the module contract.
    Epoch {
        /// The wanted epoch.
        wanted: u64,
        /// The epoch found.
        found: u64,
    },
    /// The host ABIs.
    HostAbi {
        /// The wanted host ABI.
        wanted: HostAbi,
        /// The host ABI found.
        found: HostAbi,
    },
    /// The profiles.
    Profile {
        /// The wanted profile.
        wanted: Profile,
        /// The profile found.
        found: Profile,
    },
    /// The languages.
    Language {
        /// The wanted language.
        wanted: Language,
        /// The language found.
        found: Language,
    },
    /// The numbers of Applies.
    OpCount {
        /// The wanted number.
        wanted: usize,
        /// The number found.
        found: usize,
    },
    /// The Applies at one position.
    Op {
        /// The position, counted from 0 in the order of computation.
        at: usize,
        /// The wanted signature.
        wanted: String,
        /// The signature found.
        found: String,
        /// The difference between the signatures.
        what: SignatureDiff,
    },
    /// Headers of precast itself differ: another version of precast built the document that was found.
    Library {
        /// Logical names of headers whose contents differ.
        changed: Vec<String>,
    },
    /// The authors' source files: changed files, and (if the signatures are equal) files in only one of the documents.
    Sources {
        /// Logical names that only the wanted document has.
        only_wanted: Vec<String>,
        /// Logical names that only the found document has.
        only_found: Vec<String>,
        /// Logical names whose contents differ.
        changed: Vec<String>,
    },
    /// The flags.
    Flags {
        /// The wanted flags.
        wanted: Vec<String>,
        /// The flags found.
        found: Vec<String>,
    },
    /// The libraries.
    Libraries {
        /// The wanted libraries.
        wanted: Vec<String>,
        /// The libraries found.
        found: Vec<String>,
    },
    /// The generated text differs although the signatures are equal: other edges, slots, entry order or another
    /// generator.
    Text,
}

/// All differences between two documents.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Diff {
    /// The differences, in the order of the document's fields.
    pub differences: Vec<Difference>,
}

impl Diff {
    /// Compares the wanted document with the one found.
    #[must_use]
    pub fn between(wanted: &KeyDocument, found: &KeyDocument) -> Self {
        let mut differences = Vec::new();
        macro_rules! field {
            ($field:ident, $variant:ident) => {
                if wanted.$field != found.$field {
                    differences.push(Difference::$variant {
                        wanted: wanted.$field.clone(),
                        found: found.$field.clone(),
                    });
                }
            };
        }
        field!(epoch, Epoch);
        field!(host_abi, HostAbi);
        field!(profile, Profile);
        field!(language, Language);
        ops(wanted, found, &mut differences);
        differences.extend(sources(wanted, found));
        field!(flags, Flags);
        field!(libraries, Libraries);
        // Other signatures always mean another text, so a text difference is only reported if the signatures are equal.
        if wanted.ops == found.ops && wanted.text != found.text {
            differences.push(Difference::Text);
        }
        Self { differences }
    }

    /// Returns whether the documents are equal; they then have the same key.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.differences.is_empty()
    }

    /// Returns whether the documents are related: equal numbers of Applies, each with the same op or a similar op.
    #[must_use]
    pub fn is_near(&self) -> bool {
        self.differences.iter().all(|difference| match difference {
            Difference::OpCount { .. } => false,
            Difference::Op { what, .. } => what.is_near(),
            _ => true,
        })
    }

    /// Returns `Some` if a different precast version alone can explain these differences, and `Some(true)` if nothing
    /// else can explain them.
    #[must_use]
    pub fn of_version(&self) -> Option<bool> {
        use Difference::{Epoch, Library, Text};
        let may = self.differences.iter().all(|it| matches!(it, Epoch { .. } | Library { .. } | Text));
        let must = || self.differences.iter().any(|it| matches!(it, Epoch { .. } | Library { .. }));
        (may && !self.is_empty()).then(must)
    }

    fn distance(&self) -> u64 {
        self.differences.iter().map(Difference::distance).sum()
    }
}

fn ops(wanted: &KeyDocument, found: &KeyDocument, differences: &mut Vec<Difference>) {
    if wanted.ops.len() != found.ops.len() {
        differences.push(Difference::OpCount { wanted: wanted.ops.len(), found: found.ops.len() });
    }
    for (at, (wanted, found)) in wanted.ops.iter().zip(&found.ops).enumerate() {
        if let Some(what) = SignatureDiff::between(wanted, found) {
            differences.push(Difference::Op { at, wanted: wanted.clone(), found: found.clone(), what });
        }
    }
}

fn sources(wanted: &KeyDocument, found: &KeyDocument) -> impl Iterator<Item = Difference> {
    let names: BTreeSet<&String> = wanted.sources.keys().chain(found.sources.keys()).collect();
    let (mut only_wanted, mut only_found, mut changed) = (Vec::new(), Vec::new(), Vec::new());
    for name in names {
        match (wanted.sources.get(name), found.sources.get(name)) {
            (Some(_), None) => only_wanted.push(name.clone()),
            (None, Some(_)) => only_found.push(name.clone()),
            (a, b) if a != b => changed.push(name.clone()),
            _ => {}
        }
    }
    // Another op or dtype includes other headers, so files in only one of the documents are expected.
    if wanted.ops != found.ops {
        only_wanted.clear();
        only_found.clear();
    }
    let library: Vec<String> = changed.extract_if(.., |name| is_library(name)).collect();
    if !library.is_empty() {
        // Another precast version may have more or fewer headers.
        [&mut only_wanted, &mut only_found]
            .into_iter()
            .for_each(|only| only.retain(|name| !is_library(name)));
    }
    let library = (!library.is_empty()).then_some(Difference::Library { changed: library });
    let equal = only_wanted.is_empty() && only_found.is_empty() && changed.is_empty();
    library.into_iter().chain((!equal).then_some(Difference::Sources { only_wanted, only_found, changed }))
}

/// Returns whether a logical name belongs to one of precast's own headers.
fn is_library(name: &str) -> bool {
    name.starts_with("precast/")
}

impl Difference {
    /// Returns the weight of the difference; a larger weight means less similar documents.
    fn distance(&self) -> u64 {
        match self {
            Self::Text => 1,
            Self::Flags { .. } => 2,
            Self::Sources { .. } | Self::Library { .. } | Self::Libraries { .. } => 3,
            Self::Profile { .. } | Self::Language { .. } => 8,
            Self::HostAbi { .. } | Self::Epoch { .. } => 20,
            Self::Op { what, .. } => what.distance(),
            Self::OpCount { wanted, found } => 500 * wanted.abs_diff(*found) as u64,
        }
    }
}

/// Renders one sentence, without its full stop.
impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Epoch { wanted, found } => write!(f, "differs in format epoch: `{found}`, wanted `{wanted}`"),
            Self::HostAbi { wanted, found } => write!(f, "differs in host ABI: `{found}`, wanted `{wanted}`"),
            Self::Profile { wanted, found } => write!(f, "differs in profile: `{found}`, wanted `{wanted}`"),
            Self::Language { wanted, found } => write!(f, "differs in language: `{found}`, wanted `{wanted}`"),
            Self::OpCount { wanted, found } => write!(f, "differs in number of ops: {found}, wanted {wanted}"),
            Self::Op { found, what, .. } => write!(f, "`{found}` differs in {what}"),
            Self::Library { changed } => {
                f.write_str("was generated by another version of precast, in which ")?;
                match &changed[..] {
                    [one] => write!(f, "`{one}` differs"),
                    [first, rest @ ..] => write!(f, "`{first}` and {} more headers differ", rest.len()),
                    [] => f.write_str("headers differ"),
                }
            }
            Self::Sources { only_wanted, only_found, changed } => {
                let mut parts = Vec::new();
                for (what, names) in [("changed", changed), ("missing", only_wanted), ("surplus", only_found)] {
                    if !names.is_empty() {
                        parts.push(format!("{what} `{}`", names.join("`, `")));
                    }
                }
                write!(f, "differs in sources: {}", parts.join("; "))
            }
            Self::Flags { wanted, found } => {
                write!(f, "differs in flags: `{}`, wanted `{}`", found.join(" "), wanted.join(" "))
            }
            Self::Libraries { wanted, found } => {
                write!(f, "differs in libraries: `{}`, wanted `{}`", found.join(" "), wanted.join(" "))
            }
            Self::Text => f.write_str("differs in the generated text under equal signatures (edges, slots, entry order or the generator)"),
        }
    }
}

impl fmt::Display for Diff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sentences: Vec<String> = self.differences.iter().map(Difference::to_string).collect();
        f.write_str(&sentences.join("; "))
    }
}

/// Finds the candidate that differs least from `wanted`; the first of equally distant ones. Returns `None` if no
/// candidate is near ([`Diff::is_near`]), because a module that computes something else explains nothing.
pub fn nearest<'a, T>(
    wanted: &KeyDocument,
    candidates: impl IntoIterator<Item = (T, &'a KeyDocument)>,
) -> Option<(T, Diff)> {
    let with_diff = candidates.into_iter().map(|(name, document)| (name, Diff::between(wanted, document)));
    with_diff.filter(|(_, diff)| diff.is_near()).min_by_key(|(_, diff)| diff.distance())
}
