//! Parses all texts of a graph, or one expression.

use super::declared::{Extents, Named};
use super::error::ParseTextError;
use super::lex::{is_name, lex};
use super::limits::Limits;
use super::names::constants;
use super::parse::{Bound, Output, Parsed, Parser};
use crate::DeclaredType;
use crate::build_error::BuildError;
use crate::graph::{FunctionGraph, VarId};
use crate::nearest::nearest;
use crate::op::OpLibrary;
use crate::operand::Operand;
use precast_core::native::DefaultFloats;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Parses a graph from texts, each of which defines one output.
///
/// The last statement of a text is the output; the statements before it are intermediates. Names bound in one text
/// can be used in later texts. If the last statement of a text binds no name, its output is unnamed; a single such
/// output is named `out`.
///
/// The types of inputs are [`Type`](crate::Type)s, or [`DeclaredType`]s with names of extents.
///
/// # Errors
/// A [`ParseTextError`] with the position and the found and expected tokens.
pub fn parse<T: Clone + Into<DeclaredType>>(
    outputs: &[&str],
    inputs: &[(String, T)],
    library: &dyn OpLibrary,
) -> Result<FunctionGraph, ParseTextError> {
    read(outputs, &declared(inputs), library).map(|(graph, _)| graph)
}

/// Parses like [`parse`], but every input must be used. For inputs that were declared for exactly these texts.
///
/// # Errors
/// As [`parse`], or an input that no text uses.
pub fn parse_used<T: Clone + Into<DeclaredType>>(
    outputs: &[&str],
    inputs: &[(String, T)],
    library: &dyn OpLibrary,
) -> Result<FunctionGraph, ParseTextError> {
    parse_using(outputs, inputs, &|_| true, library)
}

/// Parses like [`parse`], but every input selected by `is_used` must be used.
///
/// # Errors
/// As [`parse`], or a selected input that no text uses.
pub fn parse_using<T: Clone + Into<DeclaredType>>(
    outputs: &[&str],
    inputs: &[(String, T)],
    is_used: &dyn Fn(&str) -> bool,
    library: &dyn OpLibrary,
) -> Result<FunctionGraph, ParseTextError> {
    let (graph, names) = read(outputs, &declared(inputs), library)?;
    let is_missed = |name: &String| is_used(name) && names.get(name).is_some_and(|bound| !bound.used);
    let Some((unused, _)) = inputs.iter().find(|(name, _)| is_missed(name)) else {
        return Ok(graph);
    };
    let others = names.keys().filter(|name| *name != unused).map(String::as_str);
    let nearest = nearest(unused, others.chain(constants().map(|name| -> &str { name })));
    Err(ParseTextError::UnusedInput { name: unused.clone(), nearest: nearest.map(str::to_owned) })
}

/// Evaluates an expression in which names stand for operands, and appends it to their graph.
///
/// # Errors
/// As [`parse`]. The graph may keep Applies that were appended before the error.
pub fn evaluate(
    text: &str,
    names: &[(&str, Operand)],
    graph: &mut FunctionGraph,
    library: &dyn OpLibrary,
) -> Result<VarId, ParseTextError> {
    let _floats = DefaultFloats::set();
    let tokens = lex(text, None)?;
    let bound = |operand: &Operand| Bound {
        operand: operand.clone(),
        used: true,
        statement: None,
        is_outside: false,
    };
    let names = names.iter().map(|(name, operand)| ((*name).to_owned(), bound(operand))).collect();
    let own = std::mem::take(graph);
    let (limits, extents) = (Arc::default(), Extents::new());
    let mut parser = Parser {
        text,
        source: None,
        output: None,
        tokens,
        next: 0,
        graph: own,
        names,
        extents,
        library,
        limits,
    };
    let result = parser.expression();
    *graph = parser.graph;
    result
}

/// Returns inputs with their declared types.
fn declared<T: Clone + Into<DeclaredType>>(inputs: &[(String, T)]) -> Vec<(String, DeclaredType)> {
    inputs.iter().map(|(name, ty)| (name.clone(), ty.clone().into())).collect()
}

/// Parses the texts and returns their graph and the names in them.
fn read(
    outputs: &[&str],
    inputs: &[(String, DeclaredType)],
    library: &dyn OpLibrary,
) -> Parsed<(FunctionGraph, BTreeMap<String, Bound>)> {
    // Literals are rounded to nearest.
    let _floats = DefaultFloats::set();
    let mut graph = FunctionGraph::new();
    let (mut names, mut extents) = (BTreeMap::new(), Extents::new());
    for (name, ty) in inputs {
        let refuse = |problem| ParseTextError::Input { name: name.clone(), problem };
        if !is_name(name) {
            return Err(refuse("has a name that expressions cannot use"));
        }
        let added = graph.declare_input(name, ty.clone()).map_err(|error| match error {
            BuildError::Name(_) => refuse("has a name of more than 255 bytes"),
            BuildError::ExtentName { .. } => {
                refuse("has the name of an extent, or names an extent like an input")
            }
            _ => refuse("is declared twice"),
        });
        let variable = added?;
        extents.insert(name.clone(), None);
        for (axis, extent) in ty.names() {
            let named = Named { variable, axis, owner: name.clone(), is_at_edge: true };
            extents.entry(extent.to_owned()).or_insert(Some(named));
        }
        names.insert(
            name.clone(),
            Bound { operand: variable.into(), used: false, statement: None, is_outside: false },
        );
    }
    let (mut results, limits) = (Vec::new(), Arc::new(Limits::default()));
    for (position, text) in outputs.iter().enumerate() {
        let output = (outputs.len() > 1).then_some(position);
        let tokens = lex(text, output)?;
        // Does not count the end token.
        limits.spend(tokens.len().saturating_sub(1))?;
        let limits = Arc::clone(&limits);
        let parser =
            Parser { text, source: None, output, tokens, next: 0, graph, names, extents, library, limits };
        let result;
        (graph, names, extents, result) = parser.statements()?;
        results.push(result);
    }
    if results.is_empty() {
        return Err(ParseTextError::NoOutputs);
    }
    let unused = names.values().filter(|bound| !bound.used).filter_map(|bound| bound.statement.clone());
    if let Some(place) = unused.min_by_key(|place| (place.output, place.line, place.column)) {
        return Err(ParseTextError::Unused { place });
    }
    let only = results.len() == 1;
    for (position, Output { value, name, declared }) in results.into_iter().enumerate() {
        // Names are bound once, so no two outputs share a name.
        let name = name.or_else(|| only.then(|| "out".to_owned()));
        graph.push_output(value, name.as_deref());
        if let Some((place, ty)) = declared {
            graph.declare_output(position, ty).map_err(|source| {
                let (function, source) = (graph.output_name(position), Box::new(source));
                ParseTextError::Call { place, function, usage: None, source }
            })?;
        }
    }
    Ok((graph, names))
}
