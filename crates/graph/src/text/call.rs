//! Calls: operands, then named arguments, which become props.

use super::error::ParseTextError;
use super::lex::{Token, integer};
use super::parse::{Parsed, Parser};
use crate::DType;
use crate::nearest::nearest;
use crate::op::{Operand, Prop, Props};

/// Functions with a second name.
const ALIASES: [(&str, &str); 1] = [("where", "switch")];

impl Parser<'_> {
    /// What stands between the brackets of a call, and the call.
    pub(super) fn arguments(&mut self, at: usize, function: &str) -> Parsed<Operand> {
        let (mut operands, mut props, mut named) = (Vec::new(), Props::new(), Vec::new());
        while !self.skip(")") {
            let place = self.offset();
            let keyword = match (self.peek(), self.tokens.get(self.next + 1).map(|t| t.token)) {
                (Token::Name(name), Some(Token::Sign("="))) => Some(name),
                _ => None,
            };
            if let Some(name) = keyword {
                if named.contains(&name) {
                    return Err(ParseTextError::Duplicate {
                        place: self.place(place),
                        name: name.to_owned(),
                    });
                }
                named.push(name);
                self.next += 2;
                props.extend(self.setting()?.map(|value| (name.to_owned(), value)));
            } else if named.is_empty() {
                operands.push(self.binary(0)?);
            } else {
                return Err(self.unexpected("`name=`, since a named argument came before"));
            }
            if !self.skip(",") {
                self.expect(")", "an operator, `,` or `)`")?;
                break;
            }
        }
        let function =
            ALIASES.iter().find(|(alias, _)| *alias == function).map_or(function, |(_, name)| name);
        self.call(at, function, &operands, &props)
    }

    /// The value of a named argument; `None` for `None`.
    fn setting(&mut self) -> Parsed<Option<Prop>> {
        const EXPECTED: &str = "a number, `True`, `False`, `None`, a dtype, a text or a tuple of these";
        let negative = self.skip("-");
        let prop = match self.peek() {
            Token::Int(digits) => {
                let value = integer(digits).map(|value| if negative { -value } else { value });
                let value = value.and_then(|value| i64::try_from(value).ok());
                Prop::Int(value.ok_or_else(|| self.unexpected("an integer that fits i64"))?)
            }
            Token::Float(value) => Prop::Float(if negative { -value } else { value }),
            _ if negative => return Err(self.unexpected("a number")),
            Token::Text(text) => Prop::Str(text.to_owned()),
            Token::Name("None") => {
                self.next += 1;
                return Ok(None);
            }
            Token::Name(name) if name == "True" || name == "False" => Prop::Bool(name == "True"),
            Token::Name(name) => Prop::DType(name.parse::<DType>().map_err(|_| self.unexpected(EXPECTED))?),
            Token::Sign("(") => {
                self.next += 1;
                return self.nested(|parser| parser.list(")", true)).map(Some);
            }
            Token::Sign("[") => {
                self.next += 1;
                return self.nested(|parser| parser.list("]", false)).map(Some);
            }
            _ => return Err(self.unexpected(EXPECTED)),
        };
        self.next += 1;
        Ok(Some(prop))
    }

    /// Settings up to `close`. A single one without a comma in parentheses is itself, as in Python.
    fn list(&mut self, close: &'static str, parentheses: bool) -> Parsed<Prop> {
        let mut items = Vec::new();
        while !self.skip(close) {
            let item = self.setting()?.ok_or_else(|| self.unexpected("no `None` in a tuple"))?;
            if !self.skip(",") {
                self.expect(close, "`,` or the closing bracket")?;
                if parentheses && items.is_empty() {
                    return Ok(item);
                }
                items.push(item);
                break;
            }
            items.push(item);
        }
        Ok(Prop::List(items))
    }

    /// Calls a function of the library for what stands at `at`.
    pub(super) fn call(
        &mut self,
        at: usize,
        function: &str,
        operands: &[Operand],
        props: &Props,
    ) -> Parsed<Operand> {
        match self.library.call(&mut self.graph, function, operands, props) {
            Some(Ok(result)) => Ok(result),
            Some(Err(source)) => {
                Err(ParseTextError::Call { place: self.place(at), function: function.to_owned(), source })
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
