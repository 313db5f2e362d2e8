//! Parses operators by precedence climbing, and the suffixes of a value: `[…]`, `.name`, `.name(…)`.

use super::OPERATORS;
use super::error::ParseTextError;
use super::lex::Token;
use super::list;
use super::parse::{Parsed, Parser};
use crate::make_node_error::MakeNodeError;
use crate::operand::{Keywords, Operand};

impl Parser<'_> {
    /// Parses a chain of binary operators of this level and above.
    pub(super) fn binary(&mut self, level: usize) -> Parsed<Operand> {
        self.nested(|parser| {
            let mut left = parser.factor()?;
            while let Some((function, its_level)) = parser.peek_binary().filter(|(_, its)| *its >= level) {
                let at = parser.offset();
                parser.next += 1;
                let right = parser.binary(its_level + 1)?;
                left = parser.operator(at, function, left, right)?;
                if its_level == 0 && parser.peek_binary().is_some_and(|(_, next)| next == 0) {
                    return Err(ParseTextError::Chained { place: parser.place(parser.offset()) });
                }
            }
            Ok(left)
        })
    }

    /// Parses `("+" | "-" | "~") factor | power`
    fn factor(&mut self) -> Parsed<Operand> {
        let at = self.offset();
        let function = match self.peek() {
            Token::Sign("+") => None,
            Token::Sign("-") => Some("neg"),
            Token::Sign("~") => Some("invert"),
            _ => return self.power(),
        };
        self.next += 1;
        let operand = self.nested(Self::factor)?;
        match function {
            None => Ok(operand),
            Some(function) => self.call(at, function, &[operand], &Keywords::new()),
        }
    }

    /// Parses `primary ["**" factor]`
    fn power(&mut self) -> Parsed<Operand> {
        let base = self.primary()?;
        let at = self.offset();
        if !self.skip("**") {
            return Ok(base);
        }
        let exponent = self.nested(Self::factor)?;
        self.call(at, "pow", &[base, exponent], &Keywords::new())
    }

    /// Parses `atom {"[" items "]" | "." name | "." name "(" arguments ")"}`
    fn primary(&mut self) -> Parsed<Operand> {
        let mut value = self.atom()?;
        loop {
            let at = self.offset();
            value = if self.skip("[") {
                self.nested(|parser| parser.index(at, value))?
            } else if self.skip(".") {
                self.member(value)?
            } else {
                return Ok(value);
            }
        }
    }

    /// Applies an operator to two values: Python's own operator for lists, otherwise a library call.
    fn operator(&mut self, at: usize, function: &str, left: Operand, right: Operand) -> Parsed<Operand> {
        match list::operator(function, &left, &right) {
            Some(list) => Ok(list),
            None => match list::refused(function, &left, &right) {
                Some(source) => Err(self.refused(at, function, source)),
                None => self.call(at, function, &[left, right], &Keywords::new()),
            },
        }
    }

    /// Returns the error of a call that the parser rejects without asking the library.
    pub(super) fn refused(&self, at: usize, function: &str, source: MakeNodeError) -> ParseTextError {
        let (function, source) = (function.to_owned(), Box::new(source.into()));
        ParseTextError::Call { place: self.place(at), function, usage: None, source }
    }

    /// Returns the function and the level of the next binary operator; `**` is parsed separately and has no level.
    fn peek_binary(&self) -> Option<(&'static str, usize)> {
        let Token::Sign(sign) = self.peek() else { return None };
        let level = match sign {
            "<" | "<=" | ">" | ">=" | "==" | "!=" => 0,
            "|" => 1,
            "^" => 2,
            "&" => 3,
            "<<" | ">>" => 4,
            "+" | "-" => 5,
            "*" | "/" | "//" | "%" | "@" => 6,
            _ => return None,
        };
        let (_, function) = OPERATORS.into_iter().find(|(symbol, _)| *symbol == sign)?;
        Some((function, level))
    }
}
