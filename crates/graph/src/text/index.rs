//! Parses indices in brackets: `x[i, 1:n, None, ::-1]`.

use super::lex::Token;
use super::list;
use super::parse::{Parsed, Parser};
use crate::make_node_error::MakeNodeError;
use crate::op::Prop;
use crate::operand::{Keywords, Operand};

impl Parser<'_> {
    /// Parses the items between the brackets of an index and calls `subtensor`.
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
            return list::part(list, &items, &operands[1..])
                .map_err(|source| self.refused(at, "index", source));
        }
        let items = items.into_iter().map(|item| Prop::Str(item).into()).collect();
        let keywords = Keywords::from([("index".to_owned(), Operand::List(items))]);
        // The numbers form one list, because a list among them is an index itself.
        let numbers = Operand::List(operands.split_off(1));
        operands.push(numbers);
        self.call(at, "subtensor", &operands, &keywords)
    }

    /// Parses one item, returns its text, and appends its numbers to the operands.
    fn item(&mut self, operands: &mut Vec<Operand>) -> Parsed<String> {
        if self.skip("...") {
            return Ok("...".to_owned());
        }
        let mut text = String::new();
        for letter in ["b", "e", "s"] {
            let (at, is_written) = (self.offset(), matches!(self.peek(), Token::Sign("[")));
            if !matches!(self.peek(), Token::Sign(":" | "," | "]")) {
                match self.binary(0)? {
                    // A new axis, or an omitted part of a slice.
                    Operand::None if letter == "b" && !matches!(self.peek(), Token::Sign(":")) => {
                        return Ok("n".to_owned());
                    }
                    Operand::None => {}
                    // A tuple means several indices, a list means one. A bound name does not show which of the two it
                    // is.
                    Operand::List(_) if !is_written => {
                        let problem = "is a tuple or a list bound to a name\nhint: write `x[i, j]` for several \
                                       indices, `x[[i, j]]` or `x[array(i)]` for an array of indices";
                        let (op, problem) = ("index".to_owned(), problem.to_owned());
                        return Err(self.refused(at, "index", MakeNodeError::Value { op, problem }));
                    }
                    number => {
                        operands.push(number);
                        text.push_str(letter);
                    }
                }
            }
            // The first colon starts a slice, the second one its step; a third colon is not allowed.
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

    /// Returns the text of a slice whose last part was `letter`, or an error for an empty item.
    fn slice(&self, letter: &str, text: String) -> Parsed<String> {
        if letter == "b" { Err(self.unexpected("an index, a slice, `None` or `...`")) } else { Ok(text) }
    }
}
