//! Says why a key missed: the difference of two [`KeyDocument`]s as data, with one sentence a difference.
//!
//! [`nearest`] picks, among the documents of a store, the one that is closest to what was wanted: of the same op or the same shape
//! of graph, else there is none. Closeness is a sum of
//! weights (see [`Difference::distance`]): another dtype is nearer than another op, and another flag is nearer than either.

use std::collections::BTreeSet;
use std::fmt;

use super::{HostAbi, KeyDocument, Language, Profile, SignatureDiff};

/// One thing in which two documents differ.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Difference {
    /// The epochs of the module contract.
    Epoch {
        /// What was looked for.
        wanted: u64,
        /// What there is.
        found: u64,
    },
    /// The host ABIs.
    HostAbi {
        /// What was looked for.
        wanted: HostAbi,
        /// What there is.
        found: HostAbi,
    },
    /// The profiles.
    Profile {
        /// What was looked for.
        wanted: Profile,
        /// What there is.
        found: Profile,
    },
    /// The languages.
    Language {
        /// What was looked for.
        wanted: Language,
        /// What there is.
        found: Language,
    },
    /// The numbers of Applies.
    OpCount {
        /// What was looked for.
        wanted: usize,
        /// What there is.
        found: usize,
    },
    /// The Applies at one place.
    Op {
        /// The place, counted from 0 in the order of computation.
        at: usize,
        /// The signature that was looked for.
        wanted: String,
        /// The signature that there is.
        found: String,
        /// In what they differ.
        what: SignatureDiff,
    },
    /// Headers of precast itself have other content: another version of it made what there is.
    Library {
        /// Logical names of headers whose contents differ.
        changed: Vec<String>,
    },
    /// Files of authors in the SourceSet: with other content; where the signatures are equal, here only or there only too.
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
        /// What was looked for.
        wanted: Vec<String>,
        /// What there is.
        found: Vec<String>,
    },
    /// The libraries.
    Libraries {
        /// What was looked for.
        wanted: Vec<String>,
        /// What there is.
        found: Vec<String>,
    },
    /// The generated text, although the signatures are equal: edges, slots, entry order or another generator.
    Text,
}

/// What two documents differ in.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Diff {
    /// The differences, in the order of the document's fields.
    pub differences: Vec<Difference>,
}

impl Diff {
    /// Compares what was wanted with what was found.
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
        // Other signatures always mean another text, so it is named only where they are equal.
        if wanted.ops == found.ops && wanted.text != found.text {
            differences.push(Difference::Text);
        }
        Self { differences }
    }

    /// Tells whether nothing differs; both documents then have the same key.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.differences.is_empty()
    }

    /// Whether the two have something to do with each other: as many Applies, each of the same op or of the same
    /// shape.
    #[must_use]
    pub fn is_near(&self) -> bool {
        self.differences.iter().all(|difference| match difference {
            Difference::OpCount { .. } => false,
            Difference::Op { what, .. } => what.is_near(),
            _ => true,
        })
    }

    /// Whether another version of precast may differ so from this one in a module of the same ops; `Some(true)` where no other
    /// reason can be.
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
    // Another op or dtype brings headers of its own.
    if wanted.ops != found.ops {
        only_wanted.clear();
        only_found.clear();
    }
    let library: Vec<String> = changed.extract_if(.., |name| is_library(name)).collect();
    if !library.is_empty() {
        // Another version may have more of them, and fewer.
        [&mut only_wanted, &mut only_found]
            .into_iter()
            .for_each(|only| only.retain(|name| !is_library(name)));
    }
    let library = (!library.is_empty()).then_some(Difference::Library { changed: library });
    let equal = only_wanted.is_empty() && only_found.is_empty() && changed.is_empty();
    library.into_iter().chain((!equal).then_some(Difference::Sources { only_wanted, only_found, changed }))
}

/// Whether a logical name is that of a header of precast's own.
fn is_library(name: &str) -> bool {
    name.starts_with("precast/")
}

impl Difference {
    /// Weighs the difference: the larger, the farther apart.
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
                f.write_str("was made by another version of precast, whose ")?;
                match &changed[..] {
                    [one] => write!(f, "`{one}` is another"),
                    [first, rest @ ..] => write!(f, "`{first}` and {} more headers are others", rest.len()),
                    [] => f.write_str("headers are others"),
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

/// Finds the candidate that differs least from `wanted`; of equals the first. `None` when none is near ([`Diff::is_near`]): what
/// computes something else explains nothing.
pub fn nearest<'a, T>(
    wanted: &KeyDocument,
    candidates: impl IntoIterator<Item = (T, &'a KeyDocument)>,
) -> Option<(T, Diff)> {
    let with_diff = candidates.into_iter().map(|(name, document)| (name, Diff::between(wanted, document)));
    with_diff.filter(|(_, diff)| diff.is_near()).min_by_key(|(_, diff)| diff.distance())
}
