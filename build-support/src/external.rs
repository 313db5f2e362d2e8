//! External ops over dtypes and ranks: one named graph for each combination.
//!
//! A combination selects a dtype for each letter of the type patterns, a rank if the patterns leave it open, and the
//! number of optional inputs. Each combination becomes a graph with one Apply. A single combination uses the op's
//! name; several append their selection: `vector_times_vector.f32.f64`, `norm.f64.2d`, `fused.f64.3in`. A call of the
//! op by its name resolves to the combination that matches its inputs.

use crate::declared::{Declared, check_combinations, check_rank};
use crate::place::SourceLocation;
use crate::problem::{Problem, ProblemKind};
use precast_codegen::external::ExternalCOp;
use precast_core::event::chain;
use precast_graph::{DType, FunctionGraph, Op, Type, nearest};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The combinations of an external op that a manifest or a build script requests; each item has its place.
pub(crate) struct ExternalMatrix {
    pub(crate) dtypes: Vec<(String, Vec<(String, SourceLocation)>)>,
    /// The ranks; `None` if none are listed.
    pub(crate) ndim: Option<Vec<(usize, SourceLocation)>>,
    pub(crate) place: SourceLocation,
}

impl ExternalMatrix {
    /// Declares the op and a graph for each combination, and returns the problems found.
    pub(crate) fn declare(&self, op: ExternalCOp, declared: &mut Declared) -> Vec<Problem> {
        let mut problems = Vec::new();
        let dtypes = self.dtypes(&op, &mut problems);
        let op = op.with_dtypes(dtypes.clone());
        problems.extend(declared.external(op.clone(), self.place.clone()).err());
        let ranks = self.ranks(&op, &mut problems);
        if !problems.is_empty() {
            return problems;
        }
        let combinations = match combinations(&op, &dtypes, &ranks, declared.graphs().len()) {
            Ok(combinations) => combinations,
            Err(kind) => return vec![Problem::new(self.place.clone(), kind)],
        };
        problems.extend(self.reference(&op, &combinations));
        // Uses the op as the library creates it, which evaluates its reference.
        let made: Arc<dyn Op> = match declared.ops().external(&op.declaration().name) {
            Some(made) => Arc::clone(made) as Arc<dyn Op>,
            None => Arc::new(op),
        };
        for (name, types) in combinations {
            let added = graph(&made, &types)
                .map_err(|error| ProblemKind::External { message: chain(&error) })
                .map_err(|kind| Problem::new(self.place.clone(), kind))
                .and_then(|graph| declared.graph(&name, graph, self.place.clone()));
            problems.extend(added.err());
        }
        problems
    }

    /// Checks the op's reference against the first combination that has all inputs, and returns the problem, if any.
    fn reference(&self, op: &ExternalCOp, combinations: &[(String, Vec<Type>)]) -> Option<Problem> {
        let (_, types) = combinations.iter().rev().max_by_key(|(_, types)| types.len())?;
        if op.declaration().reference.is_empty() {
            return None;
        }
        let message = precast_ops::reference(op, types).err()?;
        Some(Problem::new(self.place.key("reference"), ProblemKind::External { message }))
    }

    /// Reads the dtypes of each letter of the op; duplicates count once.
    fn dtypes(&self, op: &ExternalCOp, problems: &mut Vec<Problem>) -> BTreeMap<String, Vec<DType>> {
        let letters = op.type_names();
        let mut wrong = |place: SourceLocation, problem: String| {
            problems.push(Problem::new(place, ProblemKind::Dtypes { problem }));
        };
        let has = |letter: &str| self.dtypes.iter().any(|(known, list)| known == letter && !list.is_empty());
        for letter in letters.iter().filter(|letter| !has(letter)) {
            wrong(self.place.key("dtypes"), format!("`{letter}` has no dtypes; list some, such as `f64`"));
        }
        let mut found = BTreeMap::new();
        for (letter, list) in &self.dtypes {
            if !letters.contains(&letter.as_str()) {
                let near = nearest(letter, letters.iter().copied());
                let near = near.map_or_else(String::new, |near| format!("; nearest `{near}`"));
                wrong(self.place.key("dtypes"), format!("no input uses `{{{letter}}}`{near}"));
            }
            let mut dtypes: Vec<DType> = Vec::new();
            for (text, place) in list {
                match text.parse() {
                    Ok(dtype) if !dtypes.contains(&dtype) => dtypes.push(dtype),
                    Ok(_) => {}
                    Err(error) => wrong(place.clone(), chain(&error)),
                }
            }
            found.insert(letter.clone(), dtypes);
        }
        found
    }

    /// Reads the ranks. A list is required if a type leaves its rank open, and an error otherwise.
    fn ranks(&self, op: &ExternalCOp, problems: &mut Vec<Problem>) -> BTreeSet<usize> {
        let mut wrong = |problem: &str| {
            let kind = ProblemKind::Dtypes { problem: problem.to_owned() };
            problems.push(Problem::new(self.place.key("ndim"), kind));
            BTreeSet::new()
        };
        match (&self.ndim, op.has_open_rank()) {
            (None, false) => [0].into(),
            (Some(_), false) => wrong("no input has an open rank, such as `{T}[..]`"),
            (None, true) => wrong("a type has an open rank; list ranks, such as 1 and 2"),
            (Some(list), true) if list.is_empty() => wrong("empty list"),
            (Some(list), true) => {
                let refused = list.iter().filter_map(|(rank, place)| Some((place, check_rank(*rank).err()?)));
                problems.extend(refused.map(|(place, kind)| Problem::new(place.clone(), kind)));
                list.iter().map(|(rank, _)| *rank).collect()
            }
        }
    }
}

/// Returns the names and input types of all combinations. They are counted before the first is created; `before`
/// combinations are declared already.
fn combinations(
    op: &ExternalCOp,
    dtypes: &BTreeMap<String, Vec<DType>>,
    ranks: &BTreeSet<usize>,
    before: usize,
) -> Result<Vec<(String, Vec<Type>)>, ProblemKind> {
    let name = &op.declaration().name;
    let first = dtypes.iter().filter_map(|(letter, list)| Some((letter.clone(), *list.first()?))).collect();
    let lists = ranks.first().and_then(|rank| op.input_types(&first, *rank)).map_or(0, |lists| lists.len());
    let mut counts = dtypes.values().map(Vec::len).chain([ranks.len()]);
    let found = counts.try_fold(lists, |all: usize, count| all.checked_mul(count));
    check_combinations(found.and_then(|found| found.checked_add(before)))?;
    let mut choices: Vec<BTreeMap<String, DType>> = vec![BTreeMap::new()];
    for (letter, list) in dtypes {
        let with = |choice: &BTreeMap<String, DType>, dtype: &DType| {
            let mut choice = choice.clone();
            choice.insert(letter.clone(), *dtype);
            choice
        };
        choices = choices
            .iter()
            .flat_map(|c| list.iter().map(|dtype| with(c, dtype)).collect::<Vec<_>>())
            .collect();
    }
    let mut found: Vec<(String, Vec<Type>)> = Vec::new();
    for (choice, rank) in choices.iter().flat_map(|choice| ranks.iter().map(move |rank| (choice, *rank))) {
        let lists = op.input_types(choice, rank).unwrap_or_default();
        let many = lists.len() > 1;
        for types in lists {
            let mut full = name.clone();
            choice.values().for_each(|dtype| full.push_str(&format!(".{dtype}")));
            full.push_str(&if op.has_open_rank() { format!(".{rank}d") } else { String::new() });
            full.push_str(&if many { format!(".{}in", types.len()) } else { String::new() });
            found.push((full, types));
        }
    }
    if let [(only, _)] = found.as_mut_slice() {
        only.clone_from(name);
    }
    Ok(found)
}

/// Builds a graph with a single Apply.
fn graph(op: &Arc<dyn Op>, types: &[Type]) -> Result<FunctionGraph, precast_graph::BuildError> {
    let mut graph = FunctionGraph::new();
    let mut inputs = Vec::new();
    for (position, ty) in types.iter().enumerate() {
        inputs.push(graph.input(&format!("x{position}"), ty.clone())?);
    }
    for output in graph.apply(Arc::clone(op), &inputs)? {
        graph.output(output, None)?;
    }
    Ok(graph)
}
