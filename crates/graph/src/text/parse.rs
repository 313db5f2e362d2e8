//! Parses texts and statements. The parser calls the op library directly and builds no syntax tree.
//!
//! Without a tree, a chain `a + a + a + …` of any length needs no stack, neither for parsing nor for dropping.
//! Brackets, signs and powers nest, and their depth is limited by `Limits`.

use super::declared::{At, Extents};
use super::error::ParseTextError;
use super::lex::{Spanned, Token, is_keyword};
use super::limits::Limits;
use super::position::Position;
use super::target::Target;
use crate::DeclaredType;
use crate::graph::{FunctionGraph, VarId};
use crate::op::OpLibrary;
use crate::operand::{Keywords, Operand};
use precast_core::names::{check_name, excerpt};
use std::collections::BTreeMap;
use std::sync::Arc;

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
    pub(super) extents: Extents,
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

/// The output of a text.
pub(super) struct Output {
    pub(super) value: VarId,
    pub(super) name: Option<String>,
    /// The declared type, with its position.
    pub(super) declared: Option<(Box<Position>, DeclaredType)>,
}

/// The declared type of a statement, with its offset.
pub(super) type Declared = At<DeclaredType>;

/// A statement: the first name that it binds, its value, and its declared type.
type Statement = (Option<String>, Operand, Option<Declared>);

/// The result of a text: the graph, the names and the names of extents so far, and the output.
pub(super) type Statements = (FunctionGraph, BTreeMap<String, Bound>, Extents, Output);

impl<'t> Parser<'t> {
    pub(super) fn statements(mut self) -> Parsed<Statements> {
        loop {
            while self.skip(";") || self.skip("\n") {}
            let at = self.offset();
            if self.peek() == Token::Name("def") {
                self.next += 1;
                self.def()?;
                self.separated()?;
                continue;
            }
            let (name, value, declared) = self.statement()?;
            self.separated()?;
            while self.skip(";") || self.skip("\n") {}
            if self.peek() == Token::End {
                let result = self.output(at, &value)?;
                if let Some(name) = &name {
                    self.graph.put_name(result, name);
                    self.bound(at, name)?;
                }
                let declared = declared.map(|(at, ty)| (self.place(at), ty));
                let output = Output { value: result, name, declared };
                return Ok((self.graph, self.names, self.extents, output));
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
    pub(super) fn expression(&mut self) -> Parsed<VarId> {
        let at = self.offset();
        let value = self.whole()?;
        self.output(at, &value)
    }

    /// Returns the variable of a text's final value. A tuple of numbers, e.g. `x.shape`, becomes a vector.
    pub(super) fn output(&mut self, at: usize, value: &Operand) -> Parsed<VarId> {
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

    /// Parses `[target {"," target} "=" | name ":" type "="] comparison`
    pub(super) fn statement(&mut self) -> Parsed<Statement> {
        let (target, declared) = self.target()?;
        let at = self.offset();
        let mut value = self.binary(0)?;
        if let (Some(Target::Name(_, name)), Some(declared)) = (&target, &declared) {
            self.separated()?;
            value = self.declare(name, &value, declared)?;
        }
        let mut names = Vec::new();
        match &target {
            None => return Ok((None, value, None)),
            Some(Target::Name(token, name)) => {
                let statement = Some(self.place(self.tokens[*token].offset));
                self.bind(name, value.clone(), statement);
            }
            Some(Target::Tuple(parts)) => value = self.unpack(at, parts, &value)?,
        }
        target.iter().for_each(|target| target.names(&mut names));
        Ok((names.first().map(|(_, name)| (*name).to_owned()), value, declared))
    }

    /// Checks that names, with the positions of their tokens, can be bound.
    pub(super) fn bindable(&mut self, names: &[(usize, &'t str)]) -> Parsed<()> {
        for (position, (token, name)) in names.iter().enumerate() {
            if is_keyword(name) {
                self.next = *token;
                return Err(self.unexpected("a name"));
            }
            let place = self.place(self.tokens[*token].offset);
            if check_name(name).is_err() {
                let found = excerpt(name);
                return Err(ParseTextError::Literal {
                    place,
                    found,
                    expected: "a name of at most 255 bytes",
                });
            }
            let twice = names[..position].iter().any(|(_, earlier)| earlier == name);
            if twice || self.names.get(*name).is_some_and(|bound| !bound.is_outside) {
                return Err(ParseTextError::Duplicate { place, name: (*name).to_owned() });
            }
        }
        Ok(())
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
