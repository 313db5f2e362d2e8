//! The declared set: what a program wants precompiled, and who asked for it.
//!
//! It is a set. The order in which things are declared does not reach a key, a unit or a bundle, and what two crates
//! declare alike counts once. Two *different* graphs of one name are a mistake that names both places.

use crate::place::Place;
use crate::problem::{Problem, ProblemKind};
use precast_codegen::external::ExternalCOp;
use precast_core::MAX_NDIM;
use precast_graph::{DType, FunctionGraph, json};
use precast_ops::{Ops, Serve};
use precast_store::record::check_entry_name;
use std::collections::{BTreeMap, BTreeSet};

/// Most combinations that all declarations of a build may have: hours of compiling, and a mistake long before.
pub(crate) const COMBINATIONS_LIMIT: usize = 50_000;

/// Says that there are too many combinations, before any is made. `None` is more than can be counted.
pub(crate) fn check_combinations(found: Option<usize>) -> Result<usize, ProblemKind> {
    match found {
        Some(found) if found <= COMBINATIONS_LIMIT => Ok(found),
        found => Err(ProblemKind::Combinations { found, most: COMBINATIONS_LIMIT }),
    }
}

/// Says that there are no tensors of so many dimensions.
pub(crate) fn check_rank(found: usize) -> Result<(), ProblemKind> {
    if found > MAX_NDIM { Err(ProblemKind::Rank { found, most: MAX_NDIM }) } else { Ok(()) }
}

/// Every combination of one op with some dtypes and ranks: a `[[op]]` table.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix {
    /// The op.
    pub name: String,
    /// The dtypes.
    pub dtypes: BTreeSet<DType>,
    /// The ranks.
    pub ndim: BTreeSet<usize>,
    /// Whether the name means an external op even if the library has it: that of the manifest which declares the matrix.
    pub is_own: bool,
    /// Where it is declared; for messages only.
    pub place: Place,
}

impl Matrix {
    /// The library in which the name means what the matrix asks for.
    #[must_use]
    pub fn ops(&self, ops: &Ops) -> Ops {
        ops.clone().preferring(self.is_own.then(|| self.name.clone()))
    }
}

/// The package whose build script or manifest declares something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Owner {
    /// The package that is built.
    #[default]
    Package,
    /// A package that it depends on.
    Dependency,
}

/// A graph that is called by name: a `[[graph]]` table.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedGraph {
    /// The graph, as declared.
    pub graph: FunctionGraph,
    /// What is compiled for it; never empty.
    pub serve: BTreeSet<Serve>,
    /// Who declares it; the package itself where both do.
    pub owner: Owner,
    /// Where it is declared; for messages only.
    pub place: Place,
}

/// What is to be compiled.
#[derive(Debug, Clone, Default)]
pub struct Declared {
    ops: Ops,
    /// The owner of the declarations that are added next.
    owner: Owner,
    /// Names of external ops that could not be made.
    unmade: BTreeSet<String>,
    /// Where external ops are declared, by name.
    externals: BTreeMap<String, Place>,
    matrices: Vec<Matrix>,
    graphs: BTreeMap<String, NamedGraph>,
}

impl Declared {
    /// Declares nothing yet; `ops` can be used in what is declared.
    #[must_use]
    pub fn new(ops: Ops) -> Self {
        Self { ops, ..Self::default() }
    }

    /// Says whose declarations are added from now on.
    pub(crate) fn set_owner(&mut self, owner: Owner) {
        self.owner = owner;
    }

    /// The library of ops, those that were declared included.
    #[must_use]
    pub fn ops(&self) -> &Ops {
        &self.ops
    }

    /// Adds an external op, which can be called by its name in what is declared later; the same one counts once.
    ///
    /// # Errors
    /// Another op has the name.
    pub fn external(&mut self, op: ExternalCOp, place: Place) -> Result<(), Problem> {
        let name = op.declaration().name.clone();
        match self.ops.clone().with_external(op) {
            Ok(ops) => {
                self.ops = ops;
                self.externals.entry(name).or_insert(place);
                Ok(())
            }
            Err(error) => {
                let first = self.externals.get(&name);
                let first = first.map_or_else(String::new, |first| format!("; the first stands at {first}"));
                let message = format!("{error}{first}");
                Err(Problem::new(place.key("name"), ProblemKind::External { message }))
            }
        }
    }

    /// The external ops whose names the library has too, each with its place.
    pub(crate) fn shadowing(&self) -> impl Iterator<Item = (&String, &Place)> {
        self.externals.iter().filter(|(name, _)| Ops::row(name).is_some())
    }

    /// Remembers an external op that could not be made, so that what calls it is not told that there is no such op.
    pub(crate) fn unmade(&mut self, name: &str) {
        self.unmade.insert(name.to_owned());
    }

    pub(crate) fn is_unmade(&self, name: &str) -> bool {
        self.unmade.contains(name)
    }

    /// Adds a matrix; what other matrices have too counts once.
    pub fn op(&mut self, matrix: Matrix) {
        self.matrices.push(matrix);
    }

    /// Adds a graph that one module serves.
    ///
    /// # Errors
    /// As [`Declared::graph_served`].
    pub fn graph(&mut self, name: &str, graph: FunctionGraph, place: Place) -> Result<(), Problem> {
        self.graph_served(name, graph, &[Serve::Whole], place)
    }

    /// Adds a graph, and says what is compiled for it; nothing said means one module for all of it.
    ///
    /// # Errors
    /// The name cannot be an entry's, or is that of another graph. The same graph under the same name counts once, with all
    /// that is asked for it.
    pub fn graph_served(
        &mut self,
        name: &str,
        graph: FunctionGraph,
        serve: &[Serve],
        place: Place,
    ) -> Result<(), Problem> {
        if let Err(error) = check_entry_name(name) {
            return Err(Problem::new(place, ProblemKind::Name { message: error.to_string() }));
        }
        let serve: BTreeSet<Serve> =
            if serve.is_empty() { [Serve::Whole].into() } else { serve.iter().copied().collect() };
        match self.graphs.get_mut(name) {
            // By their bits: a graph with a NaN in it is unequal to itself.
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

    /// The matrices, in the order they were added.
    #[must_use]
    pub fn matrices(&self) -> &[Matrix] {
        &self.matrices
    }

    /// The graphs, by name.
    #[must_use]
    pub fn graphs(&self) -> &BTreeMap<String, NamedGraph> {
        &self.graphs
    }

    /// Whether nothing is declared.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.matrices.is_empty() && self.graphs.is_empty()
    }
}

/// Reads the parts of a matrix, each list with the place of each of its items, as far as they make sense: what is left of a
/// matrix with a mistake is still looked at, so that its other mistakes are found too.
pub(crate) fn matrix(
    name: &str,
    dtypes: &[(&str, Place)],
    ndim: &[(usize, Place)],
    place: Place,
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
