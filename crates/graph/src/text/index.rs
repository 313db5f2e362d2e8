//! Indices in brackets: `x[i, 1:n, None, ::-1]`.

use super::error::ParseTextError;
use super::lex::Token;
use super::list;
use super::parse::{Parsed, Parser};
use crate::op::Prop;
use crate::operand::{Keywords, Operand};

impl Parser<'_> {
    /// What stands between the brackets of an index, and the call of `subtensor`.
    pub(super) fn index(&mut self, at: usize, value: Operand) -> Parsed<Operand> {
        let (mut operands, mut items) = (vec![value], Vec::new());
        loop {
            items.push(self.item(&mut operands)?);
            if !self.skip(",") {
                self.expect("]", "an operator, `:`, `,` or `]`")?;
                break;
            }
            if self.skip("]") {
                break;
            }
        }
        if let Operand::List(list) = &operands[0] {
            return list::part(list, &items, &operands[1..]).map_err(|source| {
                let (function, source) = ("index".to_owned(), Box::new(source.into()));
                ParseTextError::Call { place: self.place(at), function, usage: None, source }
            });
        }
        let items = items.into_iter().map(|item| Prop::Str(item).into()).collect();
        let keywords = Keywords::from([("index".to_owned(), Operand::List(items))]);
        // As one list, since a list among them is an index itself.
        let numbers = Operand::List(operands.split_off(1));
        operands.push(numbers);
        self.call(at, "subtensor", &operands, &keywords)
    }

    /// One item: its text; its numbers are added to the operands.
    fn item(&mut self, operands: &mut Vec<Operand>) -> Parsed<String> {
        if self.skip("...") {
            return Ok("...".to_owned());
        }
        let mut text = String::new();
        for letter in ["b", "e", "s"] {
            if !matches!(self.peek(), Token::Sign(":" | "," | "]")) {
                match self.binary(0)? {
                    // A new axis, or a part of a slice that is not given.
                    Operand::None if letter == "b" && !matches!(self.peek(), Token::Sign(":")) => {
                        return Ok("n".to_owned());
                    }
                    Operand::None => {}
                    number => {
                        operands.push(number);
                        text.push_str(letter);
                    }
                }
            }
            // The first colon makes it a slice, the second gives it a step; after that there is none.
            if letter == "s" || !self.skip(":") {
                return if letter == "b" && text == "b" {
                    Ok("i".to_owned())
                } else {
                    self.slice(letter, text)
                };
            }
        }
        Ok(text)
    }

    /// The text of a slice whose last part was `letter`; an item of nothing at all is none.
    fn slice(&self, letter: &str, text: String) -> Parsed<String> {
        if letter == "b" { Err(self.unexpected("an index, a slice, `None` or `...`")) } else { Ok(text) }
    }
}
