//! Parses calls: positional and keyword arguments, methods and attributes. Methods and attributes are function calls.

use super::error::{Member, ParseTextError};
use super::lex::Token;
use super::parse::{Parsed, Parser};
use crate::build_error::BuildError;
use crate::function::Function;
use crate::make_node_error::MakeNodeError;
use crate::nearest::nearest;
use crate::op::OpLibrary;
use crate::operand::{Keywords, Operand};

impl Parser<'_> {
    /// Parses the arguments between the parentheses of a call. `first` holds the operands that are already known.
    pub(super) fn arguments(&mut self, first: Vec<Operand>) -> Parsed<(Vec<Operand>, Keywords)> {
        let (mut operands, mut keywords) = (first, Keywords::new());
        while !self.skip(")") {
            let place = self.offset();
            let keyword = match (self.peek(), self.tokens.get(self.next + 1).map(|t| t.token)) {
                (Token::Name(name), Some(Token::Sign("="))) => Some(name),
                _ => None,
            };
            if let Some(name) = keyword {
                self.next += 2;
                let value = self.binary(0)?;
                if keywords.insert(name.to_owned(), value).is_some() {
                    return Err(ParseTextError::Duplicate {
                        place: self.place(place),
                        name: name.to_owned(),
                    });
                }
            } else if keywords.is_empty() {
                operands.push(self.binary(0)?);
            } else {
                return Err(self.unexpected("`name=`, because a named argument precedes it"));
            }
            if !self.skip(",") {
                self.expect(")", "an operator, `,` or `)`")?;
                break;
            }
        }
        Ok((operands, keywords))
    }

    /// Parses the call of a function by its bare name; the opening parenthesis is already read.
    pub(super) fn call_by_name(&mut self, at: usize, function: &str) -> Parsed<Operand> {
        let (operands, keywords) = self.arguments(Vec::new())?;
        let called = self.library.call_by_name(&mut self.graph, function, &operands, &keywords);
        self.called(at, function, called, |library| library.signature_by_name(function))
    }

    /// Parses the call of a function of the text; the opening parenthesis is already read.
    pub(super) fn call_bound(&mut self, at: usize, name: &str, function: &Function) -> Parsed<Operand> {
        let (operands, keywords) = self.arguments(Vec::new())?;
        if let Some(keyword) = keywords.keys().next() {
            let problem = "is named; functions of a text take arguments by position";
            let source = MakeNodeError::prop(name, keyword, problem);
            return Err(self.refused(at, name, source));
        }
        let called = function.call(&mut self.graph, self.library, &operands);
        self.called(at, name, Some(called), |_| None)
    }

    /// Parses a method or an attribute of a value; the dot is already read.
    pub(super) fn member(&mut self, value: Operand) -> Parsed<Operand> {
        let at = self.offset();
        let Token::Name(name) = self.peek() else { return Err(self.unexpected("the name of a method")) };
        self.next += 1;
        if self.skip("(") {
            return match self.library.method(name) {
                Some(function) => {
                    let (operands, keywords) = self.arguments(vec![value])?;
                    self.call(at, &function, &operands, &keywords)
                }
                None => Err(self.unknown_member(at, name)),
            };
        }
        match self.library.attribute(&mut self.graph, name, &value) {
            Some(Ok(found)) => Ok(found),
            Some(Err(source)) => {
                let (place, function) = (self.place(at), name.to_owned());
                Err(ParseTextError::Call { place, function, usage: None, source: Box::new(source) })
            }
            None => Err(self.unknown_member(at, name)),
        }
    }

    fn unknown_member(&self, at: usize, name: &str) -> ParseTextError {
        let (members, found) = (self.library.members(), name.to_owned());
        let is = match self.library.method(name) {
            None if members.contains(&found) => Member::Attribute,
            None if !self.library.names().contains(&found) => Member::Nothing,
            _ => Member::Function,
        };
        let nearest = nearest(name, members.iter().map(String::as_str)).map(str::to_owned);
        ParseTextError::UnknownMember { place: self.place(at), found, is, nearest }
    }

    /// Calls a library function for the source position `at`.
    pub(super) fn call(
        &mut self,
        at: usize,
        function: &str,
        operands: &[Operand],
        keywords: &Keywords,
    ) -> Parsed<Operand> {
        let called = self.library.call(&mut self.graph, function, operands, keywords);
        self.called(at, function, called, |library| library.signature(function))
    }

    /// Returns the result of a call, or its error with the position and the usage.
    fn called(
        &self,
        at: usize,
        function: &str,
        called: Option<Result<Operand, BuildError>>,
        signature: impl Fn(&dyn OpLibrary) -> Option<String>,
    ) -> Parsed<Operand> {
        match called {
            Some(Ok(result)) => Ok(result),
            // The position in a function is closer to the mistake.
            Some(Err(BuildError::Text(error))) => Err(*error),
            Some(Err(source)) => {
                let wrong = matches!(
                    source,
                    BuildError::MakeNode(
                        MakeNodeError::Arity { .. } | MakeNodeError::Axis { .. } | MakeNodeError::Prop { .. }
                    )
                );
                let signature = signature(self.library).filter(|_| wrong);
                let usage = signature.map(|signature| format!("signature: `{signature}`"));
                let (place, function) = (self.place(at), function.to_owned());
                Err(ParseTextError::Call { place, function, usage, source: Box::new(source) })
            }
            None => {
                let known = self.library.names();
                let nearest = nearest(function, known.iter().map(String::as_str)).map(str::to_owned);
                Err(ParseTextError::UnknownFunction {
                    place: self.place(at),
                    found: function.to_owned(),
                    nearest,
                })
            }
        }
    }
}
