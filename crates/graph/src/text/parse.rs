//! Texts and statements; the op library is called as a text is read, and there is no tree between.
//!
//! Without a tree a chain `a + a + a + …` of any length needs no stack, neither to read nor to drop; brackets, signs and
//! powers nest, and are counted against [`MAX_DEPTH`].

use super::error::ParseTextError;
use super::lex::{Spanned, Token, is_keyword, is_name, lex};
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

/// How deep brackets, signs and powers may nest.
const MAX_DEPTH: usize = 100;

/// How many tokens the texts of a graph may have: some 50 000 operations, more than a C compiler takes.
const MAX_TOKENS: usize = 100_000;

/// Reads a graph from texts, each of which gives one output.
///
/// The last statement of a text is the output; those before it are intermediates. Names bound in one text can be used in
/// those after it. A text whose last statement binds no name gives an output without one; a single such output is `out`.
///
/// # Errors
/// A [`ParseTextError`] that shows the place, what was found and what was expected.
pub fn parse(
    outputs: &[&str],
    inputs: &[(String, Type)],
    library: &dyn OpLibrary,
) -> Result<FunctionGraph, ParseTextError> {
    read(outputs, inputs, library).map(|(graph, _)| graph)
}

/// As [`parse`], of inputs that somebody declared for these texts: each of them is used.
///
/// # Errors
/// As [`parse`]; an input that no text names.
pub fn parse_used(
    outputs: &[&str],
    inputs: &[(String, Type)],
    library: &dyn OpLibrary,
) -> Result<FunctionGraph, ParseTextError> {
    parse_using(outputs, inputs, &|_| true, library)
}

/// As [`parse`]; each input of which `is_used` says so is used.
///
/// # Errors
/// As [`parse`]; such an input that no text names.
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

/// The graph of texts, and the names in them.
fn read(
    outputs: &[&str],
    inputs: &[(String, Type)],
    library: &dyn OpLibrary,
) -> Parsed<(FunctionGraph, BTreeMap<String, Bound>)> {
    // Literals are rounded to the nearest.
    let _floats = DefaultFloats::set();
    let mut graph = FunctionGraph::new();
    let mut names = BTreeMap::new();
    for (name, ty) in inputs {
        let refuse = |problem| ParseTextError::Input { name: name.clone(), problem };
        if !is_name(name) {
            return Err(refuse("has a name that no expression can use"));
        }
        let added = graph.input(name, ty.clone()).map_err(|error| match error {
            BuildError::Name(_) => refuse("has a name of more than 255 bytes"),
            _ => refuse("is declared twice"),
        });
        let variable = added?;
        names.insert(name.clone(), Bound { operand: variable.into(), used: false, statement: None });
    }
    let (mut results, mut all) = (Vec::new(), 0);
    for (position, text) in outputs.iter().enumerate() {
        let output = (outputs.len() > 1).then_some(position);
        let tokens = lex(text, output)?;
        // Without the end, which is a token too.
        all += tokens.len().saturating_sub(1);
        if all > MAX_TOKENS {
            return Err(ParseTextError::Long { found: all, limit: MAX_TOKENS });
        }
        let parser = Parser { text, output, tokens, next: 0, depth: 0, graph, names, library };
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
        // Names are bound once, so no two outputs share one.
        let name = name.or_else(|| only.then(|| "out".to_owned()));
        graph.push_output(result, name.as_deref());
    }
    Ok((graph, names))
}

/// What a rule of the grammar gives.
pub(super) type Parsed<T> = Result<T, ParseTextError>;

/// One text being read.
pub(super) struct Parser<'t> {
    text: &'t str,
    output: Option<usize>,
    pub(super) tokens: Vec<Spanned<'t>>,
    pub(super) next: usize,
    depth: usize,
    pub(super) graph: FunctionGraph,
    names: BTreeMap<String, Bound>,
    pub(super) library: &'t dyn OpLibrary,
}

/// What a name stands for.
struct Bound {
    operand: Operand,
    /// Whether something names it.
    used: bool,
    /// The statement that binds this name alone.
    statement: Option<Box<Position>>,
}

/// What a text leaves behind: the graph so far, the names so far, its result and the name of that.
type Statements = (FunctionGraph, BTreeMap<String, Bound>, VarId, Option<String>);

impl<'t> Parser<'t> {
    fn statements(mut self) -> Parsed<Statements> {
        loop {
            while self.skip(";") || self.skip("\n") {}
            let at = self.offset();
            let (name, value) = self.statement()?;
            if !matches!(self.peek(), Token::End | Token::Sign(";" | "\n")) {
                return Err(self.unexpected("an operator, `;` or the end"));
            }
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

    /// The variable of what a text ends with; a tuple of numbers, as `x.shape`, is a vector of them.
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

    /// `[name {"," name} "="] comparison`
    fn statement(&mut self) -> Parsed<(Option<String>, Operand)> {
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

    /// The names that a statement binds, and where each stands; none for an expression alone.
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
    fn bindable(&mut self, start: usize, names: Vec<(usize, &'t str)>) -> Parsed<Vec<(usize, &'t str)>> {
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
            if twice || self.names.contains_key(*name) {
                return Err(ParseTextError::Duplicate { place: self.place(*at), name: (*name).to_owned() });
            }
        }
        Ok(names)
    }

    fn bind(&mut self, name: &str, operand: Operand, statement: Option<Box<Position>>) {
        if let Operand::Var(variable) | Operand::Weak(variable) = operand {
            self.graph.put_name(variable, name);
        }
        self.names.insert(name.to_owned(), Bound { operand, used: false, statement });
    }

    /// Whether something is bound to a name.
    pub(super) fn is_bound(&self, name: &str) -> bool {
        self.names.contains_key(name)
    }

    /// What is bound to a name, which is used now.
    pub(super) fn take_bound(&mut self, name: &str) -> Option<Operand> {
        let bound = self.names.get_mut(name)?;
        bound.used = true;
        Some(bound.operand.clone())
    }

    /// All names that something is bound to.
    pub(super) fn names_bound(&self) -> impl Iterator<Item = &str> {
        self.names.keys().map(String::as_str)
    }

    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth == MAX_DEPTH {
            return Err(ParseTextError::Depth { place: self.place(self.offset()), limit: MAX_DEPTH });
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
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
