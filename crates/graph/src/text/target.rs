//! What a statement binds: a name, or a tuple that takes a value apart: `(a, b), rows = scan(f, init, xs)`.

use super::error::ParseTextError;
use super::lex::Token;
use super::parse::{Declared, Parsed, Parser};
use crate::op::Prop;
use crate::operand::{Keywords, Operand};
use precast_core::Extent;
use std::slice;

/// The number of tuples around a name, at most.
const MAX_DEPTH: usize = 16;

/// What a statement binds.
pub(super) enum Target<'t> {
    /// A name, with the position of its token.
    Name(usize, &'t str),
    Tuple(Vec<Self>),
}

impl<'t> Target<'t> {
    /// Appends all names, with the positions of their tokens.
    pub(super) fn names(&self, found: &mut Vec<(usize, &'t str)>) {
        match self {
            Self::Name(token, name) => found.push((*token, name)),
            Self::Tuple(parts) => parts.iter().for_each(|part| part.names(found)),
        }
    }
}

impl<'t> Parser<'t> {
    /// Parses what a statement binds, and the declared type; `None` for a bare expression.
    pub(super) fn target(&mut self) -> Parsed<(Option<Target<'t>>, Option<Declared>)> {
        let (start, mut parts) = (self.next, Vec::new());
        while let Some(part) = self.part(MAX_DEPTH) {
            parts.push(part);
            let declares = match parts.as_slice() {
                [Target::Name(_, name)] => self.declares(name),
                _ => false,
            };
            let is_declared = declares && self.skip(":");
            if is_declared || self.skip("=") {
                let target = if parts.len() == 1 { parts.remove(0) } else { Target::Tuple(parts) };
                let mut names = Vec::new();
                target.names(&mut names);
                self.bindable(&names)?;
                let declared = is_declared.then(|| self.declared_type()).transpose()?;
                return Ok((Some(target), declared));
            }
            if !self.skip(",") {
                break;
            }
        }
        self.next = start;
        Ok((None, None))
    }

    /// Parses a name, or a tuple in parentheses; `None` if there is neither.
    fn part(&mut self, depth: usize) -> Option<Target<'t>> {
        let token = self.next;
        self.next += 1;
        match self.tokens.get(token)?.token {
            Token::Name(name) => Some(Target::Name(token, name)),
            Token::Sign("(") if depth > 0 => {
                let mut parts = vec![self.part(depth - 1)?];
                while self.skip(",") && self.peek() != Token::Sign(")") {
                    parts.push(self.part(depth - 1)?);
                }
                self.skip(")").then_some(Target::Tuple(parts))
            }
            _ => None,
        }
    }

    /// Binds the parts of a value, a tuple or an array with as many rows, and returns them.
    pub(super) fn unpack(&mut self, at: usize, targets: &[Target<'t>], value: &Operand) -> Parsed<Operand> {
        let items = match value {
            Operand::List(items) => items.clone(),
            value => self.rows(at, targets.len(), value)?,
        };
        if items.len() != targets.len() {
            return Err(ParseTextError::Unpack { place: self.place(at), names: targets.len() });
        }
        for (target, item) in targets.iter().zip(&items) {
            match target {
                Target::Name(_, name) => self.bind(name, item.clone(), None),
                Target::Tuple(parts) => {
                    self.unpack(at, parts, item)?;
                }
            }
        }
        Ok(Operand::List(items))
    }

    /// Returns the rows of an array; none if it is known to have another number of rows. If the number is unknown, it is
    /// checked at run time.
    fn rows(&mut self, at: usize, count: usize, value: &Operand) -> Parsed<Vec<Operand>> {
        let shape = match value {
            Operand::Var(variable) => self.graph.ty(*variable).shape(),
            _ => &[],
        };
        let mut value = value.clone();
        match shape.first() {
            Some(Extent::Fixed(n)) if *n == count as u64 => {}
            Some(Extent::Unknown) => {
                let rows = self.call(
                    at,
                    "shape_i",
                    slice::from_ref(&value),
                    &Keywords::from([("i".to_owned(), 0_i64.into())]),
                )?;
                let message = format!("the value has another number of rows than names on the left: {count}");
                value = self.asserted(
                    at,
                    value,
                    [rows, i64::try_from(count).unwrap_or(i64::MAX).into()],
                    message,
                )?;
            }
            _ => return Ok(Vec::new()),
        }
        let item = Operand::List(vec![Prop::Str("i".to_owned()).into()]);
        let keywords = Keywords::from([("index".to_owned(), item)]);
        let row = |i: usize| {
            let place = Operand::List(vec![i64::try_from(i).unwrap_or(i64::MAX).into()]);
            self.call(at, "subtensor", &[value.clone(), place], &keywords)
        };
        (0..count).map(row).collect()
    }
}
