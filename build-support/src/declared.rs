//! The declared set: the ops and graphs that a program wants precompiled, each with its owner.
//!
//! The declarations form a set. Their order does not affect keys, units or bundles, and equal declarations of two
//! crates count once. Two *different* graphs with the same name are an error that names both places.

use crate::place::SourceLocation;
use crate::problem::{Problem, ProblemKind};
use precast_codegen::external::ExternalCOp;
use precast_core::{MAX_NDIM, Metadata};
use precast_graph::{DType, FunctionGraph, json};
use precast_ops::{Ops, Serve};
use precast_store::record::check_entry_name;
use std::collections::{BTreeMap, BTreeSet};

/// The most combinations that all declarations of a build may have. A larger number would mean hours of compiling.
pub(crate) const COMBINATIONS_LIMIT: usize = 50_000;

/// Checks the number of combinations before any is created. `None` means that the count overflowed.
pub(crate) fn check_combinations(found: Option<usize>) -> Result<usize, ProblemKind> {
    match found {
        Some(found) if found <= COMBINATIONS_LIMIT => Ok(found),
        found => Err(ProblemKind::Combinations { found, most: COMBINATIONS_LIMIT }),
    }
}

/// Checks that a rank is one that tensors support.
pub(crate) fn check_rank(found: usize) -> Result<(), ProblemKind> {
    if found > MAX_NDIM { Err(ProblemKind::Rank { found, most: MAX_NDIM }) } else { Ok(()) }
}

/// A matrix: every combination of one op with some dtypes and ranks, from an `[[op]]` table.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix {
    /// The op's name.
    pub name: String,
    /// The dtypes.
    pub dtypes: BTreeSet<DType>,
    /// The ranks.
    pub ndim: BTreeSet<usize>,
    /// Whether the name refers to an external op of the declaring manifest even if the library has an op of that
    /// name.
    pub is_own: bool,
    /// The place of the declaration, for messages only.
    pub place: SourceLocation,
}

impl Matrix {
    /// Returns the library in which the op's name resolves to the op that the matrix means.
    #[must_use]
    pub fn ops(&self, ops: &Ops) -> Ops {
        ops.clone().preferring(self.is_own.then(|| self.name.clone()))
    }
}

/// The package whose build script or manifest contains a declaration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Owner {
    /// The package being built.
    #[default]
    Package,
    /// A dependency of that package.
    Dependency,
}

/// A named graph: a `[[graph]]` table.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedGraph {
    /// The graph, as declared.
    pub graph: FunctionGraph,
    /// The kinds of modules compiled for the graph; never empty.
    pub serve: BTreeSet<Serve>,
    /// The declaring package; `Package` if both the package and a dependency declare the graph.
    pub owner: Owner,
    /// The place of the declaration, for messages only.
    pub place: SourceLocation,
}

/// The set of all declarations.
#[derive(Debug, Clone, Default)]
pub struct Declared {
    ops: Ops,
    /// The owner of the declarations that are added next.
    owner: Owner,
    /// Names of external ops that could not be created.
    unmade: BTreeSet<String>,
    /// The places of external ops, by name.
    externals: BTreeMap<String, SourceLocation>,
    matrices: Vec<Matrix>,
    graphs: BTreeMap<String, NamedGraph>,
    /// The metadata of graphs and functions, each with its owner.
    metadata: BTreeMap<String, (Owner, Metadata)>,
}

impl Declared {
    /// Creates an empty set whose declarations may use `ops`.
    #[must_use]
    pub fn new(ops: Ops) -> Self {
        Self { ops, ..Self::default() }
    }

    /// Sets the owner of the declarations that are added next.
    pub(crate) fn set_owner(&mut self, owner: Owner) {
        self.owner = owner;
    }

    /// Returns the library of ops, including declared external ops.
    #[must_use]
    pub fn ops(&self) -> &Ops {
        &self.ops
    }

    /// Adds an external op. Later declarations can call it by its name; adding the same op twice counts once.
    ///
    /// # Errors
    /// Fails if another op has the same name.
    pub fn external(&mut self, op: ExternalCOp, place: SourceLocation) -> Result<(), Problem> {
        let name = op.declaration().name.clone();
        match self.ops.clone().with_external(op) {
            Ok(ops) => {
                self.ops = ops;
                self.externals.entry(name).or_insert(place);
                Ok(())
            }
            Err(error) => {
                let first = self.externals.get(&name);
                let first = first.map_or_else(String::new, |first| format!("; the first is at {first}"));
                let message = format!("{error}{first}");
                Err(Problem::new(place.key("name"), ProblemKind::External { message }))
            }
        }
    }

    /// Returns the external ops whose names the library also has, each with its place.
    pub(crate) fn shadowing(&self) -> impl Iterator<Item = (&String, &SourceLocation)> {
        self.externals.iter().filter(|(name, _)| Ops::row(name).is_some())
    }

    /// Records an external op that could not be created, so that its callers do not also report an unknown op.
    pub(crate) fn unmade(&mut self, name: &str) {
        self.unmade.insert(name.to_owned());
    }

    pub(crate) fn is_unmade(&self, name: &str) -> bool {
        self.unmade.contains(name)
    }

    /// Adds a matrix. Combinations that several matrices share count once.
    pub fn op(&mut self, matrix: Matrix) {
        self.matrices.push(matrix);
    }

    /// Adds a graph that is compiled to one module.
    ///
    /// # Errors
    /// As [`Declared::graph_served`].
    pub fn graph(&mut self, name: &str, graph: FunctionGraph, place: SourceLocation) -> Result<(), Problem> {
        self.graph_served(name, graph, &[Serve::Whole], place)
    }

    /// Adds a graph with the kinds of modules to compile for it; an empty list means one module for the whole graph.
    ///
    /// # Errors
    /// Fails if the name is not valid for an entry, or if a different graph has it. Adding the same graph under the
    /// same name merges the requested kinds.
    pub fn graph_served(
        &mut self,
        name: &str,
        graph: FunctionGraph,
        serve: &[Serve],
        place: SourceLocation,
    ) -> Result<(), Problem> {
        if let Err(error) = check_entry_name(name) {
            return Err(Problem::new(place, ProblemKind::Name { message: error.to_string() }));
        }
        let serve: BTreeSet<Serve> =
            if serve.is_empty() { [Serve::Whole].into() } else { serve.iter().copied().collect() };
        match self.graphs.get_mut(name) {
            // Compares the JSON forms, since a graph that contains a NaN is not equal to itself.
            Some(known) if json::render(&known.graph) == json::render(&graph) => {
                known.serve.extend(serve);
                known.owner = known.owner.min(self.owner);
                Ok(())
            }
            Some(known) => {
                let kind = ProblemKind::DuplicateGraph {
                    name: name.to_owned(),
                    first: Box::new(known.place.clone()),
                };
                Err(Problem::new(place, kind))
            }
            None => {
                self.graphs.insert(name.to_owned(), NamedGraph { graph, serve, owner: self.owner, place });
                Ok(())
            }
        }
    }

    /// Adds the metadata of a graph, of a function of several graphs, or of the bundle, whose name is empty. If a name is
    /// described differently several times, a description by the package wins.
    pub fn describe(&mut self, name: &str, metadata: Metadata) {
        if metadata.is_empty() {
            return;
        }
        let new = (self.owner, metadata);
        // The bytes decide between descriptions of equal owners, so that their order does not matter.
        let rank = |(owner, metadata): &(Owner, Metadata)| (*owner, metadata.to_bytes());
        let known = self.metadata.entry(name.to_owned()).or_insert_with(|| new.clone());
        if rank(&new) < rank(known) {
            *known = new;
        }
    }

    /// Returns the metadata of a name, which is empty if nothing was added.
    #[must_use]
    pub fn metadata(&self, name: &str) -> Metadata {
        self.metadata.get(name).map(|(_, metadata)| metadata.clone()).unwrap_or_default()
    }

    /// Returns the metadata of all names that are not graphs.
    pub(crate) fn functions(&self) -> BTreeMap<String, Metadata> {
        let others = self.metadata.iter().filter(|(name, _)| !self.graphs.contains_key(*name));
        others.map(|(name, (_, metadata))| (name.clone(), metadata.clone())).collect()
    }

    /// Returns the matrices in insertion order.
    #[must_use]
    pub fn matrices(&self) -> &[Matrix] {
        &self.matrices
    }

    /// Returns the graphs by name.
    #[must_use]
    pub fn graphs(&self) -> &BTreeMap<String, NamedGraph> {
        &self.graphs
    }

    /// Returns whether the set contains no matrices and no graphs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.matrices.is_empty() && self.graphs.is_empty()
    }
}

/// Reads the lists of a matrix; each item carries its place. Invalid items are reported and dropped, so that the
/// remaining mistakes of the matrix are found in the same run.
pub(crate) fn matrix(
    name: &str,
    dtypes: &[(&str, SourceLocation)],
    ndim: &[(usize, SourceLocation)],
    place: SourceLocation,
) -> (Matrix, Vec<Problem>) {
    let mut problems = Vec::new();
    let mut matrix = Matrix {
        name: name.to_owned(),
        dtypes: BTreeSet::new(),
        ndim: BTreeSet::new(),
        is_own: false,
        place: place.clone(),
    };
    for (key, is_empty) in [("dtypes", dtypes.is_empty()), ("ndim", ndim.is_empty())] {
        if is_empty {
            problems.push(Problem::new(place.key(key), ProblemKind::Empty));
        }
    }
    for (text, place) in dtypes {
        match text.parse() {
            Ok(dtype) => drop(matrix.dtypes.insert(dtype)),
            Err(error) => problems.push(Problem::new(place.clone(), ProblemKind::DType(error))),
        }
    }
    for (rank, place) in ndim {
        match check_rank(*rank) {
            Ok(()) => drop(matrix.ndim.insert(*rank)),
            Err(kind) => problems.push(Problem::new(place.clone(), kind)),
        }
    }
    (matrix, problems)
}
