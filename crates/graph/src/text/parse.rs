//! Parses texts and statements. The parser calls the op library directly and builds no syntax tree.
//!
//! Without a tree, a chain `a + a + a + …` of any length needs no stack, neither for parsing nor for dropping.
//! Brackets, signs and powers nest, and their depth is limited by `Limits`.

use super::error::ParseTextError;
use super::lex::{Spanned, Token, is_keyword, is_name, lex};
use super::limits::Limits;
use super::names::constants;
use super::position::Position;
use crate::Type;
use crate::build_error::BuildError;
use crate::graph::{FunctionGraph, VarId};
use crate::nearest::nearest;
use crate::op::OpLibrary;
use crate::operand::{Keywords, Operand};
use precast_core::names::{check_name, excerpt};
use precast_core::native::DefaultFloats;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Parses a graph from texts, each of which defines one output.
///
/// The last statement of a text is the output; the statements before it are intermediates. Names bound in one text
/// can be used in later texts. If the last statement of a text binds no name, its output is unnamed; a single such
/// output is named `out`.
///
/// # Errors
/// A [`ParseTextError`] with the position and the found and expected tokens.
pub fn parse(
    outputs: &[&str],
    inputs: &[(String, Type)],
    library: &dyn OpLibrary,
) -> Result<FunctionGraph, ParseTextError> {
    read(outputs, inputs, library).map(|(graph, _)| graph)
}

/// Parses like [`parse`], but every input must be used. For inputs that were declared for exactly these texts.
///
/// # Errors
/// As [`parse`], or an input that no text uses.
pub fn parse_used(
    outputs: &[&str],
    inputs: &[(String, Type)],
    library: &dyn OpLibrary,
) -> Result<FunctionGraph, ParseTextError> {
    parse_using(outputs, inputs, &|_| true, library)
}

/// Parses like [`parse`], but every input selected by `is_used` must be used.
///
/// # Errors
/// As [`parse`], or a selected input that no text uses.
pub fn parse_using(
    outputs: &[&str],
    inputs: &[(String, Type)],
    is_used: &dyn Fn(&str) -> bool,
    library: &dyn OpLibrary,
) -> Result<FunctionGraph, ParseTextError> {
    let (graph, names) = read(outputs, inputs, library)?;
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
    let limits = Arc::default();
    let mut parser =
        Parser { text, source: None, output: None, tokens, next: 0, graph: own, names, library, limits };
    let result = parser.expression();
    *graph = parser.graph;
    result
}

/// Parses the texts and returns their graph and the names in them.
fn read(
    outputs: &[&str],
    inputs: &[(String, Type)],
    library: &dyn OpLibrary,
) -> Parsed<(FunctionGraph, BTreeMap<String, Bound>)> {
    // Literals are rounded to nearest.
    let _floats = DefaultFloats::set();
    let mut graph = FunctionGraph::new();
    let mut names = BTreeMap::new();
    for (name, ty) in inputs {
        let refuse = |problem| ParseTextError::Input { name: name.clone(), problem };
        if !is_name(name) {
            return Err(refuse("has a name that expressions cannot use"));
        }
        let added = graph.input(name, ty.clone()).map_err(|error| match error {
            BuildError::Name(_) => refuse("has a name of more than 255 bytes"),
            _ => refuse("is declared twice"),
        });
        let variable = added?;
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
        let parser = Parser { text, source: None, output, tokens, next: 0, graph, names, library, limits };
        let (result, name);
        (graph, names, result, name) = parser.statements()?;
        results.push((result, name));
    }
    if results.is_empty() {
        return Err(ParseTextError::NoOutputs);
    }
    let unused = names.values().filter(|bound| !bound.used).filter_map(|bound| bound.statement.clone());
    if let Some(place) = unused.min_by_key(|place| (place.output, place.line, place.column)) {
        return Err(ParseTextError::Unused { place });
    }
    let only = results.len() == 1;
    for (result, name) in results {
        // Names are bound once, so no two outputs share a name.
        let name = name.or_else(|| only.then(|| "out".to_owned()));
        graph.push_output(result, name.as_deref());
    }
    Ok((graph, names))
}

/// The result of a grammar rule.
pub(super) type Parsed<T> = Result<T, ParseTextError>;

/// The parser of one text.
pub(super) struct Parser<'t> {
    pub(super) text: &'t str,
    /// The text for functions, which share it.
    pub(super) source: Option<Arc<str>>,
    pub(super) output: Option<usize>,
    pub(super) tokens: Vec<Spanned<'t>>,
    pub(super) next: usize,
    pub(super) graph: FunctionGraph,
    pub(super) names: BTreeMap<String, Bound>,
    pub(super) library: &'t dyn OpLibrary,
    pub(super) limits: Arc<Limits>,
}

/// The value bound to a name.
pub(super) struct Bound {
    pub(super) operand: Operand,
    /// Whether the name has been used.
    pub(super) used: bool,
    /// The position of the statement, if it binds this name alone.
    pub(super) statement: Option<Box<Position>>,
    /// Whether the name was bound outside of the function that is being called, so that the function may hide it.
    pub(super) is_outside: bool,
}

/// The result of a text: the graph so far, the names so far, the output and its name.
type Statements = (FunctionGraph, BTreeMap<String, Bound>, VarId, Option<String>);

impl<'t> Parser<'t> {
    fn statements(mut self) -> Parsed<Statements> {
        loop {
            while self.skip(";") || self.skip("\n") {}
            let at = self.offset();
            if self.peek() == Token::Name("def") {
                self.next += 1;
                self.def()?;
                self.separated()?;
                continue;
            }
            let (name, value) = self.statement()?;
            self.separated()?;
            while self.skip(";") || self.skip("\n") {}
            if self.peek() == Token::End {
                let result = self.output(at, &value)?;
                if let Some(name) = &name {
                    self.graph.put_name(result, name);
                    self.bound(at, name)?;
                }
                return Ok((self.graph, self.names, result, name));
            }
            if name.is_none() {
                return Err(ParseTextError::Unused { place: self.place(at) });
            }
        }
    }

    /// Checks that a statement ends here.
    pub(super) fn separated(&self) -> Parsed<()> {
        match self.peek() {
            Token::End | Token::Sign(";" | "\n") => Ok(()),
            _ => Err(self.unexpected("an operator, `;` or the end")),
        }
    }

    /// Parses one expression up to the end of the text.
    pub(super) fn whole(&mut self) -> Parsed<Operand> {
        let value = self.binary(0)?;
        match self.peek() {
            Token::End => Ok(value),
            _ => Err(self.unexpected("an operator or the end")),
        }
    }

    /// Parses the only expression of a text and returns its variable.
    fn expression(&mut self) -> Parsed<VarId> {
        let at = self.offset();
        let value = self.whole()?;
        self.output(at, &value)
    }

    /// Returns the variable of a text's final value. A tuple of numbers, e.g. `x.shape`, becomes a vector.
    fn output(&mut self, at: usize, value: &Operand) -> Parsed<VarId> {
        let number = |item: &Operand| matches!(item, Operand::Weak(_) | Operand::Literal(_));
        let value = match value {
            Operand::List(items) if items.iter().all(number) => {
                &self.call(at, "array", std::slice::from_ref(value), &Keywords::new())?
            }
            Operand::List(_) => return Err(ParseTextError::Tuple { place: self.place(at) }),
            value => value,
        };
        value.variable(&mut self.graph).map_err(|source| {
            let (function, source) = ("constant".to_owned(), Box::new(source.into()));
            ParseTextError::Call { place: self.place(at), function, usage: None, source }
        })
    }

    /// Parses `[name {"," name} "="] comparison`
    pub(super) fn statement(&mut self) -> Parsed<(Option<String>, Operand)> {
        let targets = self.targets()?;
        let at = self.offset();
        let value = self.binary(0)?;
        match (targets.as_slice(), &value) {
            ([], _) => return Ok((None, value)),
            ([(at, name)], _) => {
                let statement = Some(self.place(*at));
                self.bind(name, value.clone(), statement);
            }
            (_, Operand::List(items)) if items.len() == targets.len() => {
                for ((_, name), item) in targets.iter().zip(items) {
                    self.bind(name, item.clone(), None);
                }
            }
            _ => return Err(ParseTextError::Unpack { place: self.place(at), names: targets.len() }),
        }
        Ok((targets.first().map(|(_, name)| (*name).to_owned()), value))
    }

    /// Parses the names that a statement binds, with their offsets; empty for a bare expression.
    fn targets(&mut self) -> Parsed<Vec<(usize, &'t str)>> {
        let (start, mut found) = (self.next, Vec::new());
        loop {
            let at = self.offset();
            let Token::Name(name) = self.take() else { break };
            found.push((at, name));
            if self.skip("=") {
                return self.bindable(start, found);
            }
            if !self.skip(",") {
                break;
            }
        }
        self.next = start;
        Ok(Vec::new())
    }

    /// Checks that names can be bound.
    pub(super) fn bindable(
        &mut self,
        start: usize,
        names: Vec<(usize, &'t str)>,
    ) -> Parsed<Vec<(usize, &'t str)>> {
        for (position, (at, name)) in names.iter().enumerate() {
            if is_keyword(name) {
                self.next = start + 2 * position;
                return Err(self.unexpected("a name"));
            }
            if check_name(name).is_err() {
                let (place, found) = (self.place(*at), excerpt(name));
                return Err(ParseTextError::Literal {
                    place,
                    found,
                    expected: "a name of at most 255 bytes",
                });
            }
            let twice = names[..position].iter().any(|(_, earlier)| earlier == name);
            if twice || self.names.get(*name).is_some_and(|bound| !bound.is_outside) {
                return Err(ParseTextError::Duplicate { place: self.place(*at), name: (*name).to_owned() });
            }
        }
        Ok(names)
    }

    pub(super) fn bind(&mut self, name: &str, operand: Operand, statement: Option<Box<Position>>) {
        if let Operand::Var(variable) | Operand::Weak(variable) = operand {
            self.graph.put_name(variable, name);
        }
        self.names.insert(name.to_owned(), Bound { operand, used: false, statement, is_outside: false });
    }

    /// Returns whether a name is bound.
    pub(super) fn is_bound(&self, name: &str) -> bool {
        self.names.contains_key(name)
    }

    /// Returns the value bound to a name and marks the name as used.
    pub(super) fn take_bound(&mut self, name: &str) -> Option<Operand> {
        let bound = self.names.get_mut(name)?;
        bound.used = true;
        Some(bound.operand.clone())
    }

    /// Returns all bound names.
    pub(super) fn names_bound(&self) -> impl Iterator<Item = &str> {
        self.names.keys().map(String::as_str)
    }

    pub(super) fn peek(&self) -> Token<'t> {
        self.tokens.get(self.next).map_or(Token::End, |spanned| spanned.token)
    }

    fn take(&mut self) -> Token<'t> {
        let token = self.peek();
        self.next += 1;
        token
    }

    pub(super) fn skip(&mut self, sign: &'static str) -> bool {
        let found = self.peek() == Token::Sign(sign);
        self.next += usize::from(found);
        found
    }

    pub(super) fn expect(&mut self, sign: &'static str, expected: &'static str) -> Parsed<()> {
        if self.skip(sign) { Ok(()) } else { Err(self.unexpected(expected)) }
    }

    pub(super) fn offset(&self) -> usize {
        self.tokens.get(self.next).map_or(self.text.len(), |spanned| spanned.offset)
    }

    pub(super) fn place(&self, offset: usize) -> Box<Position> {
        Box::new(Position::new(self.output, self.text, offset))
    }

    pub(super) fn unexpected(&self, expected: &'static str) -> ParseTextError {
        let found = self.peek().describe();
        ParseTextError::Unexpected { place: self.place(self.offset()), found, expected }
    }
}
