//! Reads a document: first its version, then its fields, then its meaning, building the graph on the way.
//!
//! The input is untrusted: ids are declared once and resolved, ops derive the types again, and sizes are checked
//! against each other before anything is allocated. Every error names its path in the document, e.g.
//! `applies[3].inputs[1]`.

use super::ParseJsonError;
use super::cycle;
use super::document::{
    ApplyDocument, ArrayDocument, ConstantDocument, GraphDocument, ResultDocument, VersionDocument,
};
use super::ops::resolve_op;
use crate::Array;
use crate::DType;
use crate::graph::{FunctionGraph, VarId};
use crate::nearest::nearest;
use crate::op::OpLibrary;
use crate::{Extent, ParseTypeError, Type};
use precast_core::names::check_name;
use precast_core::native::DefaultFloats;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::str::FromStr;

/// The maximum number of operations in a graph. Compilers take minutes for fewer, but graphs are interpreted too.
const MAX_APPLIES: usize = 200_000;

/// Parses a graph from its JSON text.
///
/// # Errors
/// A [`ParseJsonError`] with the path in the document and the found and expected values.
pub fn parse(text: &str, library: &dyn OpLibrary) -> Result<FunctionGraph, ParseJsonError> {
    // Decimal numbers are rounded to nearest.
    let _floats = DefaultFloats::set();
    let version = serde_json::from_str(text).map_err(|source| match source.classify() {
        serde_json::error::Category::Data => ParseJsonError::NoVersion(source),
        _ => ParseJsonError::Syntax(source),
    })?;
    check_version("", &version)?;
    build(&read(&mut serde_json::Deserializer::from_str(text))?, library, "")
}

/// Parses a graph from its JSON value.
///
/// # Errors
/// As [`parse`].
pub fn from_json(
    value: &serde_json::Value,
    library: &dyn OpLibrary,
) -> Result<FunctionGraph, ParseJsonError> {
    let _floats = DefaultFloats::set();
    let version = VersionDocument::deserialize(value).map_err(ParseJsonError::NoVersion)?;
    check_version("", &version)?;
    build(&read(value)?, library, "")
}

fn read<'de, D>(deserializer: D) -> Result<GraphDocument, ParseJsonError>
where
    D: serde::Deserializer<'de, Error = serde_json::Error>,
{
    serde_path_to_error::deserialize(deserializer).map_err(|error| {
        let path = error.path().to_string();
        let place = if path == "." { "document".to_owned() } else { path };
        ParseJsonError::Field { place, source: error.into_inner() }
    })
}

fn check_version(place: &str, document: &VersionDocument) -> Result<(), ParseJsonError> {
    let found = document.precast_graph;
    if found == super::VERSION {
        return Ok(());
    }
    Err(ParseJsonError::Version { place: place.to_owned(), found })
}

/// Builds the graph of a document. `place` is the path to it: empty, or ending in a dot.
pub(super) fn build(
    document: &GraphDocument,
    library: &dyn OpLibrary,
    place: &str,
) -> Result<FunctionGraph, ParseJsonError> {
    check_version(place, &VersionDocument { precast_graph: document.precast_graph })?;
    let mut builder =
        Builder { document, library, place, graph: FunctionGraph::new(), ready: BTreeMap::new() };
    if document.applies.len() > MAX_APPLIES {
        let (place, found) = (place.to_owned(), document.applies.len());
        return Err(ParseJsonError::Long { place, found, limit: MAX_APPLIES });
    }
    let makers = declare(document, place)?;
    for (i, input) in document.inputs.iter().enumerate() {
        valid_name(&input.name, || format!("{place}inputs[{i}].name"))?;
        let ty = parse_type(&input.ty, || format!("{place}inputs[{i}].type"))?;
        let refused = |source| ParseJsonError::Build { place: format!("{place}inputs[{i}]"), source };
        let variable = builder.graph.declare_input(&input.name, ty).map_err(refused)?;
        builder.ready.insert(&input.name, variable);
    }
    for (i, constant) in document.constants.iter().enumerate() {
        builder.constant(constant, &format!("{place}constants[{i}]"))?;
    }
    for (i, apply) in document.applies.iter().enumerate() {
        builder.apply(apply, i, &makers)?;
    }
    builder.outputs()?;
    Ok(builder.graph)
}

/// Checks that ids are unique and returns the position of the Apply that produces each result id.
fn declare<'d>(document: &'d GraphDocument, place: &str) -> Result<BTreeMap<&'d str, usize>, ParseJsonError> {
    let inputs =
        document.inputs.iter().enumerate().map(|(i, input)| (&*input.name, format!("inputs[{i}]"), None));
    let constants =
        document.constants.iter().enumerate().map(|(i, c)| (&*c.id, format!("constants[{i}]"), None));
    let results = document.applies.iter().enumerate().flat_map(|(i, apply)| {
        let one = move |(j, result): (usize, &'d ResultDocument)| {
            (&*result.id, format!("applies[{i}].outputs[{j}]"), Some(i))
        };
        apply.outputs.iter().enumerate().map(one)
    });
    let mut first: BTreeMap<&str, String> = BTreeMap::new();
    let mut makers = BTreeMap::new();
    for (id, at, maker) in inputs.chain(constants).chain(results) {
        let at = format!("{place}{at}");
        if let Some(first) = first.get(id) {
            return Err(ParseJsonError::Duplicate { place: at, name: id.to_owned(), first: first.clone() });
        }
        first.insert(id, at);
        makers.extend(maker.map(|apply| (id, apply)));
    }
    Ok(makers)
}

struct Builder<'d> {
    document: &'d GraphDocument,
    library: &'d dyn OpLibrary,
    place: &'d str,
    graph: FunctionGraph,
    /// The variables created so far, by id.
    ready: BTreeMap<&'d str, VarId>,
}

impl<'d> Builder<'d> {
    fn constant(&mut self, constant: &'d ConstantDocument, place: &str) -> Result<(), ParseJsonError> {
        let ty: Type = parse_type(&constant.ty, || format!("{place}.type"))?;
        let value = constant_value(constant, &ty, place)?;
        let variable = self.graph.constant_of(value, ty);
        if let Some(name) = &constant.name {
            valid_name(name, || format!("{place}.name"))?;
            self.graph.put_name(variable, name);
        }
        self.ready.insert(&constant.id, variable);
        Ok(())
    }

    fn apply(
        &mut self,
        apply: &'d ApplyDocument,
        position: usize,
        makers: &BTreeMap<&str, usize>,
    ) -> Result<(), ParseJsonError> {
        let place = format!("{}applies[{position}]", self.place);
        let op = resolve_op(&apply.op, &apply.props, self.library, &place)?;
        let resolve = |(i, id): (usize, &String)| {
            let found = self.ready.get(id.as_str()).copied();
            found.ok_or_else(|| self.missing(&format!("{place}.inputs[{i}]"), id, Some(position), makers))
        };
        let inputs = apply.inputs.iter().enumerate().map(resolve).collect::<Result<Vec<_>, _>>()?;
        let types: Vec<Type> = inputs.iter().map(|v| self.graph.ty(*v).clone()).collect();
        let derived = op
            .make_node(&types)
            .map_err(|source| ParseJsonError::MakeNode { place: place.clone(), source })?;
        let types = declared_types(apply, &op.label(), derived, &place)?;
        let outputs = self.graph.push_apply(op, &inputs, types);
        for (j, (result, variable)) in apply.outputs.iter().zip(outputs).enumerate() {
            if let Some(name) = &result.name {
                valid_name(name, || format!("{place}.outputs[{j}].name"))?;
                self.graph.put_name(variable, name);
            }
            self.ready.insert(&result.id, variable);
        }
        Ok(())
    }

    fn outputs(&mut self) -> Result<(), ParseJsonError> {
        let mut names: BTreeMap<&str, usize> = BTreeMap::new();
        for (i, output) in self.document.outputs.iter().enumerate() {
            if let Some(name) = &output.name {
                valid_name(name, || format!("{}outputs[{i}].name", self.place))?;
            }
            if let Some(name) = &output.name
                && let Some(first) = names.insert(name, i)
            {
                return Err(ParseJsonError::Duplicate {
                    place: format!("{}outputs[{i}]", self.place),
                    name: name.clone(),
                    first: format!("{}outputs[{first}]", self.place),
                });
            }
            let Some(variable) = self.ready.get(output.value.as_str()).copied() else {
                let place = format!("{}outputs[{i}].value", self.place);
                return Err(self.missing(&place, &output.value, None, &BTreeMap::new()));
            };
            self.graph.push_output(variable, output.name.as_deref());
            let Some(ty) = &output.ty else { continue };
            let ty = parse_type(ty, || format!("{}outputs[{i}].type", self.place))?;
            let refused =
                |source| ParseJsonError::Build { place: format!("{}outputs[{i}]", self.place), source };
            self.graph.declare_output(i, ty).map_err(refused)?;
        }
        let place = format!("{}outputs", self.place);
        self.graph.validate().map_err(|source| ParseJsonError::Build { place, source })
    }

    /// Returns the error for an id that does not exist yet: unknown, declared later, or part of a cycle.
    fn missing(
        &self,
        place: &str,
        id: &str,
        user: Option<usize>,
        makers: &BTreeMap<&str, usize>,
    ) -> ParseJsonError {
        let (place, id) = (place.to_owned(), id.to_owned());
        let (Some(user), Some(maker)) = (user, makers.get(id.as_str()).copied()) else {
            let known = self.ready.keys().copied().chain(makers.keys().copied());
            let nearest = nearest(&id, known).map(str::to_owned);
            return ParseJsonError::Dangling { place, found: id, nearest };
        };
        let applies = &self.document.applies;
        match cycle::chain(applies, makers, maker, user) {
            Some(mut chain) => {
                chain.insert(0, user);
                ParseJsonError::Cycle { place, id, chain: cycle::describe(applies, self.place, &chain) }
            }
            None => ParseJsonError::Order { place, id, maker: format!("{}applies[{maker}]", self.place) },
        }
    }
}

fn valid_name(name: &str, place: impl Fn() -> String) -> Result<(), ParseJsonError> {
    check_name(name).map_err(|source| ParseJsonError::Name { place: place(), source })
}

fn parse_type<T>(text: &str, place: impl Fn() -> String) -> Result<T, ParseJsonError>
where
    T: FromStr<Err = ParseTypeError>,
{
    text.parse().map_err(|source| ParseJsonError::Type { place: place(), source })
}

/// Returns the types of an Apply's results. A declared type is used if it differs from the derived one only in
/// unknown extents.
fn declared_types(
    apply: &ApplyDocument,
    op: &str,
    derived: Vec<Type>,
    place: &str,
) -> Result<Vec<Type>, ParseJsonError> {
    if apply.outputs.len() != derived.len() {
        let (found, expected) = (apply.outputs.len(), derived.len());
        let place = format!("{place}.outputs");
        return Err(ParseJsonError::ResultCount { place, op: op.to_owned(), found, expected });
    }
    let check = |(i, (result, derived)): (usize, (&ResultDocument, Type))| {
        let Some(text) = &result.ty else { return Ok(derived) };
        let place = || format!("{place}.outputs[{i}].type");
        let declared: Type = parse_type(text, place)?;
        if declared.covers(&derived) {
            return Ok(declared);
        }
        let (found, expected) = (declared.to_string(), derived.to_string());
        Err(ParseJsonError::ResultType { place: place(), op: op.to_owned(), found, expected })
    };
    apply.outputs.iter().zip(derived).enumerate().map(check).collect()
}

fn constant_value(constant: &ConstantDocument, ty: &Type, place: &str) -> Result<Array, ParseJsonError> {
    let shape: Option<Vec<usize>> = constant.shape.iter().map(|n| usize::try_from(*n).ok()).collect();
    let shape =
        shape.filter(|shape| ty.admits(ty.dtype(), shape)).ok_or_else(|| ParseJsonError::Constant {
            place: format!("{place}.shape"),
            problem: format!("shape {:?} does not match type `{ty}`", constant.shape),
        })?;
    elements(ty, &shape, &constant.bits, place)
}

/// Returns the value of a prop; its type must have every extent fixed.
pub(super) fn array_value(array: &ArrayDocument, place: &str) -> Result<Array, ParseJsonError> {
    let ty: Type = parse_type(&array.ty, || format!("{place}.type"))?;
    let extent = |extent: &Extent| match extent {
        Extent::Fixed(n) => usize::try_from(*n).ok(),
        Extent::Unknown => None,
    };
    let shape = ty.shape().iter().map(extent).collect::<Option<Vec<_>>>();
    let shape = shape.filter(|_| matches!(ty, Type::Tensor(_))).ok_or_else(|| ParseJsonError::Constant {
        place: format!("{place}.type"),
        problem: format!(
            "invalid type `{ty}` of a constant: expected a dtype with fixed extents, such as `f64[2,3]`"
        ),
    })?;
    elements(&ty, &shape, &array.bits, place)
}

/// Returns the array of these elements. Each element has as many hex digits as its dtype requires.
fn elements(ty: &Type, shape: &[usize], bits: &[String], place: &str) -> Result<Array, ParseJsonError> {
    let wrong =
        |at: String, problem: String| ParseJsonError::Constant { place: format!("{place}{at}"), problem };
    let digits = ty.dtype().itemsize_bytes() * 2 / ty.dtype().words();
    let element = |(i, text): (usize, &String)| {
        let hex = text.len() == digits && text.bytes().all(|b| b.is_ascii_hexdigit());
        let bits =
            u64::from_str_radix(text, 16).ok().filter(|bits| hex && (ty.dtype() != DType::Bool || *bits < 2));
        bits.ok_or_else(|| {
            let expected =
                format!("invalid element `{text}`: expected {digits} hex digits of one `{}`", ty.dtype());
            wrong(format!(".bits[{i}]"), expected)
        })
    };
    let bits = bits.iter().enumerate().map(element).collect::<Result<Vec<_>, _>>()?;
    Array::from_bits(ty.dtype(), shape, &bits)
        .ok_or_else(|| wrong(".bits".to_owned(), format!("{} element(s) for shape {shape:?}", bits.len())))
}
