//! Parses the start of expressions: numbers, strings, names, lists and tuples.

use super::error::ParseTextError;
use super::lex::{Spanned, Token, integer, is_keyword};
use super::list;
use super::names;
use super::parse::{Parsed, Parser};
use crate::nearest::nearest;
use crate::op::Prop;
use crate::operand::Operand;
use crate::{Complex, DType};

impl Parser<'_> {
    /// Parses a value without trailing operators or brackets, except inside its own brackets.
    pub(super) fn atom(&mut self) -> Parsed<Operand> {
        let at = self.offset();
        let value = match self.peek() {
            Token::Int(digits) => integer(digits).unwrap_or_default().into(),
            Token::Float(value) => value.into(),
            Token::Imaginary(value) => Complex::new(0.0, value).into(),
            Token::Text(text) => Prop::Str(text.to_owned()).into(),
            Token::Name("True") => true.into(),
            Token::Name("False") => false.into(),
            Token::Name("None") => Operand::None,
            Token::Name("lambda") => {
                self.next += 1;
                return self.lambda();
            }
            Token::Sign(open @ ("(" | "[")) => {
                self.next += 1;
                return if open == "(" {
                    self.tuple()
                } else {
                    self.list("]", Vec::new()).map(Operand::List)
                };
            }
            Token::Name(name) if !is_keyword(name) => {
                self.next += 1;
                return self.named(at, name);
            }
            _ => return Err(self.unexpected("a number, a name or `(`")),
        };
        self.next += 1;
        Ok(value)
    }

    /// Parses the content of parentheses: a value, or a tuple if the parentheses are empty or contain a comma.
    fn tuple(&mut self) -> Parsed<Operand> {
        if self.skip(")") {
            return Ok(Operand::List(Vec::new()));
        }
        let first = self.binary(0)?;
        if self.skip(",") {
            return self.list(")", vec![first]).map(Operand::List);
        }
        self.expect(")", "an operator, `,` or `)`")?;
        Ok(first)
    }

    /// Parses values up to `close` and appends them to `items`.
    fn list(&mut self, close: &'static str, mut items: Vec<Operand>) -> Parsed<Vec<Operand>> {
        while !self.skip(close) {
            items.push(self.binary(0)?);
            if !self.skip(",") {
                self.expect(close, "an operator, `,` or the closing bracket")?;
                break;
            }
        }
        match list::leaves(&items) {
            found if found > list::MAX_LEAVES => Err(ParseTextError::Long { found, limit: list::MAX_LEAVES }),
            _ => Ok(items),
        }
    }

    /// Parses a name: a call if a parenthesis follows; otherwise a bound value, a constant or a dtype.
    fn named(&mut self, at: usize, name: &str) -> Parsed<Operand> {
        if self.skip("(") {
            return match self.names.get(name).map(|bound| &bound.operand) {
                Some(Operand::Function(function)) => {
                    let function = function.clone();
                    self.take_bound(name);
                    self.call_bound(at, name, &function)
                }
                _ => self.call_by_name(at, name),
            };
        }
        if self.is_bound(name) {
            return self.bound(at, name);
        }
        if names::is_module(name) && self.peek() == Token::Sign(".") {
            return self.member_of_module(at);
        }
        if name == names::RANDOM && self.skip(".") {
            return self.member_of_random();
        }
        match self.known(name) {
            Some(value) => Ok(value),
            None => Err(self.unknown(at, name)),
        }
    }

    /// Parses `random.normal(key)`, a call of `random_normal`: the short names have other meanings without the module.
    fn member_of_random(&mut self) -> Parsed<Operand> {
        let at = self.offset();
        let Token::Name(name) = self.peek() else { return Err(self.unexpected("a name")) };
        self.next += 1;
        let function = format!("{}_{name}", names::RANDOM);
        if !self.skip("(") {
            return Err(self.unknown(at, &function));
        }
        let (operands, keywords) = self.arguments(Vec::new())?;
        self.call(at, &function, &operands, &keywords)
    }

    /// Parses `np.exp(x)`, `np.pi` or `scipy.special.expit(x)`. Only the last name matters, not the module.
    fn member_of_module(&mut self, at: usize) -> Parsed<Operand> {
        let (mut found, mut module) = ((at, ""), "");
        while self.skip(".") {
            let Token::Name(name) = self.peek() else { return Err(self.unexpected("a name")) };
            module = found.1;
            found = (self.offset(), name);
            self.next += 1;
            if !names::is_module(name) {
                break;
            }
        }
        let (at, name) = (found.0, names::local(module, found.1));
        if let Some(nearest) = names::namesake(name) {
            let (place, found) = (self.place(at), format!("np.{name}"));
            return Err(ParseTextError::UnknownFunction { place, found, nearest: Some(nearest.to_owned()) });
        }
        if self.skip("(") {
            let (operands, keywords) = self.arguments(Vec::new())?;
            return self.call(at, name, &operands, &keywords);
        }
        match self.known(name) {
            Some(value) => Ok(value),
            None if self.library.names().contains(&name.to_owned()) => Err(self.unknown(at, name)),
            None => Err(self.unknown_of_module(at, name)),
        }
    }

    /// Returns the error for a name in a module that is neither a constant nor a function here, e.g. `np.ma.dot`.
    fn unknown_of_module(&mut self, at: usize, name: &str) -> ParseTextError {
        let (mut path, mut last) = (name.to_owned(), name);
        while let (Token::Sign("."), Some(Token::Name(next))) =
            (self.peek(), self.tokens.get(self.next + 1).map(|spanned| spanned.token))
        {
            self.next += 2;
            path.push('.');
            path.push_str(next);
            last = next;
        }
        let known = self.library.names();
        let nearest = nearest(last, known.iter().map(String::as_str)).map(str::to_owned);
        ParseTextError::UnknownFunction { place: self.place(at), found: path, nearest }
    }

    /// Returns the constant or the dtype with this name.
    fn known(&self, name: &str) -> Option<Operand> {
        let dtype = || name.parse::<DType>().ok().map(|dtype| Prop::DType(dtype).into());
        names::constant(name).or_else(dtype)
    }

    /// Returns the value bound to a name.
    pub(super) fn bound(&mut self, at: usize, name: &str) -> Parsed<Operand> {
        match self.take_bound(name) {
            Some(value) => Ok(value),
            None => Err(self.unknown(at, name)),
        }
    }

    /// Finds a later `for name`, which means that a comprehension binds the name.
    fn comprehension(&self, name: &str) -> Option<usize> {
        let ahead = self.tokens.get(self.next..)?;
        let binds =
            |pair: &[Spanned<'_>]| pair[0].token == Token::Name("for") && pair[1].token == Token::Name(name);
        ahead.windows(2).position(binds).map(|at| self.next + at)
    }

    /// Returns the error for a name without a value.
    fn unknown(&mut self, at: usize, name: &str) -> ParseTextError {
        let (place, found) = (self.place(at), name.to_owned());
        if self.library.names().contains(&found) {
            return ParseTextError::Function { place, found };
        }
        if let Some(at) = self.comprehension(name) {
            self.next = at;
            return self.unexpected("an operator, `,` or the closing bracket");
        }
        // The name of an extent has no value.
        if let Some(named) = self.extents.get(name).and_then(Option::as_ref) {
            let nearest = Some(format!("{}.shape[{}]", named.owner, named.axis));
            return ParseTextError::UnknownName { place, found, nearest };
        }
        let known = self.names_bound().chain(names::constants().map(|constant| -> &str { constant }));
        let nearest = nearest(name, known).map(str::to_owned);
        ParseTextError::UnknownName { place, found, nearest }
    }
}
