//! External ops that a build script declares itself: [`Build::external`](super::Build::external).

use crate::declared::Declared;
use crate::manifest::external::{combinations, graph};
use crate::place::Place;
use crate::problem::{Problem, ProblemKind, chain};
use precast_codegen::external::{Declaration, ExternalCOp};
use precast_core::MAX_NDIM;
use precast_graph::DType;
use std::collections::BTreeMap;
use std::sync::Arc;

/// An op, the dtypes of its letters, and ranks where it leaves them open.
#[derive(Debug, Clone)]
pub(super) struct External {
    pub(super) declaration: Declaration,
    pub(super) dtypes: Vec<(String, Vec<String>)>,
    pub(super) ndim: Vec<usize>,
}

impl External {
    /// Declares a graph for each combination; gives what is wrong.
    pub(super) fn declare(&self, declared: &mut Declared) -> Vec<Problem> {
        let name = &self.declaration.name;
        let place = Place::in_build("external", name);
        let external = |error: &dyn std::error::Error| {
            Problem::new(place.clone(), ProblemKind::External { message: chain(error) })
        };
        let op = match ExternalCOp::new(self.declaration.clone()) {
            Ok(op) => Arc::new(op),
            Err(error) => return vec![external(&error)],
        };
        let (dtypes, mut problems) = self.dtypes(&op, &place);
        problems.extend(self.ranks(&op, &place));
        if !problems.is_empty() {
            return problems;
        }
        let ranks = if op.has_open_rank() { self.ndim.clone() } else { vec![0] };
        let combinations = match combinations(name, &op, &dtypes, &ranks, declared.graphs().len()) {
            Ok(combinations) => combinations,
            Err(kind) => return vec![Problem::new(place, kind)],
        };
        for (name, types) in combinations {
            let added = graph(&op, &types)
                .map_err(|error| external(&error))
                .and_then(|graph| declared.graph(&name, graph, place.clone()));
            problems.extend(added.err());
        }
        problems
    }

    fn dtypes(&self, op: &ExternalCOp, place: &Place) -> (BTreeMap<String, Vec<DType>>, Vec<Problem>) {
        let (mut found, mut problems) = (BTreeMap::new(), Vec::new());
        let mut wrong = |problem: String| {
            problems.push(Problem::new(place.key("dtypes"), ProblemKind::Dtypes { problem }));
        };
        for name in op.type_names() {
            if !self.dtypes.iter().any(|(known, list)| known == name && !list.is_empty()) {
                wrong(format!("`{name}` of the types has no dtypes"));
            }
        }
        for (name, list) in &self.dtypes {
            if !op.type_names().contains(&name.as_str()) {
                wrong(format!("no input has `{{{name}}}`"));
            }
            let parsed = list.iter().map(|dtype| dtype.parse());
            match parsed.collect::<Result<Vec<DType>, _>>() {
                Ok(list) => drop(found.insert(name.clone(), list)),
                Err(error) => wrong(chain(&error)),
            }
        }
        (found, problems)
    }

    fn ranks(&self, op: &ExternalCOp, place: &Place) -> Option<Problem> {
        let wrong = |problem: &str| {
            let kind = ProblemKind::Dtypes { problem: problem.to_owned() };
            Some(Problem::new(place.key("ndim"), kind))
        };
        match (op.has_open_rank(), self.ndim.iter().max()) {
            (true, None) => wrong("a type leaves the rank open, but no rank is given"),
            (false, Some(_)) => wrong("no input leaves its rank open, as `{T}[..]` does"),
            (true, Some(most)) if *most > MAX_NDIM => {
                let kind = ProblemKind::Rank { found: *most, most: MAX_NDIM };
                Some(Problem::new(place.key("ndim"), kind))
            }
            _ => None,
        }
    }
}
