//! Indices in brackets: `x[i, 1:n, None, ::-1]`.

use super::lex::Token;
use super::parse::{Parsed, Parser};
use crate::op::{Operand, Prop, Props};

impl Parser<'_> {
    /// What stands between the brackets of an index, and the call of `subtensor`.
    pub(super) fn index(&mut self, at: usize, value: Operand) -> Parsed<Operand> {
        let (mut operands, mut items) = (vec![value], Vec::new());
        loop {
            items.push(Prop::Str(self.item(&mut operands)?));
            if !self.skip(",") {
                self.expect("]", "an operator, `:`, `,` or `]`")?;
                break;
            }
            if self.skip("]") {
                break;
            }
        }
        let props = Props::from([("index".to_owned(), Prop::List(items))]);
        self.call(at, "subtensor", &operands, &props)
    }

    /// One item: its text; its numbers are added to the operands.
    fn item(&mut self, operands: &mut Vec<Operand>) -> Parsed<String> {
        if self.skip("...") {
            return Ok("...".to_owned());
        }
        if self.peek() == Token::Name("None") {
            self.next += 1;
            return Ok("n".to_owned());
        }
        let mut text = String::new();
        for letter in ["b", "e", "s"] {
            if !matches!(self.peek(), Token::Sign(":" | "," | "]")) {
                operands.push(self.binary(0)?);
                text.push_str(letter);
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
