//! External ops that a build script declares itself: [`Build::external`](super::Build::external).

use crate::declared::Declared;
use crate::external::ExternalMatrix;
use crate::place::SourceLocation;
use crate::problem::{Problem, ProblemKind};
use precast_codegen::external::{Declaration, ExternalCOp};
use precast_core::event::chain;

/// An external op with the dtypes of its letters and the ranks that its types leave open.
#[derive(Debug, Clone)]
pub(super) struct External {
    pub(super) declaration: Declaration,
    pub(super) dtypes: Vec<(String, Vec<String>)>,
    pub(super) ndim: Vec<usize>,
}

impl External {
    /// Declares a graph for each combination, and returns the problems found.
    pub(super) fn declare(&self, declared: &mut Declared) -> Vec<Problem> {
        let place = SourceLocation::in_build("external", &self.declaration.name);
        let op = match ExternalCOp::new(self.declaration.clone()) {
            Ok(op) => op,
            Err(error) => return vec![Problem::new(place, ProblemKind::External { message: chain(&error) })],
        };
        let list = |(letter, list): &(String, Vec<String>)| {
            (letter.clone(), list.iter().map(|dtype| (dtype.clone(), place.key("dtypes"))).collect())
        };
        let ranks = self.ndim.iter().map(|rank| (*rank, place.key("ndim")));
        let matrix = ExternalMatrix {
            dtypes: self.dtypes.iter().map(list).collect(),
            // An empty list means that no ranks are listed.
            ndim: (!self.ndim.is_empty()).then(|| ranks.collect()),
            place: place.clone(),
        };
        matrix.declare(op, declared)
    }
}
