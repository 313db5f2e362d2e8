//! Declared types of statements: `h: f64[n] = exp(x)`.
//!
//! Dtype, rank and known extents are compared when the text is parsed. Other extents are compared by calls:
//!
//! | declared extent | of an output | of another statement |
//! |---|---|---|
//! | a number | the host compares the result | an `assert` in the graph |
//! | the name of an extent of an input, or of an output above | the host compares the two | an `assert` |
//! | the name of an extent of another statement | an `assert` | an `assert` |
//! | a new name | names the extent, for the statements below | the same |

use super::error::ParseTextError;
use super::lex::{Token, is_keyword, is_name};
use super::parse::{Parsed, Parser};
use crate::build_error::BuildError;
use crate::graph::VarId;
use crate::op::Prop;
use crate::operand::{Keywords, Operand};
use crate::{DeclaredType, Extent, Type};
use precast_core::names::excerpt;
use std::collections::BTreeMap;

/// The names of extents. The names of inputs are reserved: they have no extent.
pub(super) type Extents = BTreeMap<String, Option<Named>>;

/// The first extent of a name.
#[derive(Debug, Clone)]
pub(super) struct Named {
    pub(super) variable: VarId,
    pub(super) axis: usize,
    /// The input or statement that has it.
    pub(super) owner: String,
    /// Whether it belongs to an input or output, so that calls compare it with others of that kind.
    pub(super) is_at_edge: bool,
}

/// A type that a statement declares, with its offset in the text.
pub(super) type At<T> = (usize, T);

impl Parser<'_> {
    /// Returns whether a colon after a name begins a declared type. After a known name it may be a misplaced slice.
    pub(super) fn declares(&self, name: &str) -> bool {
        let rest = self.tokens.get(self.next..).unwrap_or_default().iter().map(|spanned| spanned.token);
        let mut statement = rest.take_while(|token| !matches!(token, Token::Sign(";" | "\n")));
        !is_keyword(name) && (!self.is_bound(name) || statement.any(|token| token == Token::Sign("=")))
    }

    /// Parses `type "="`; the colon is already read.
    pub(super) fn declared_type(&mut self) -> Parsed<At<DeclaredType>> {
        let at = self.offset();
        while !matches!(self.peek(), Token::Sign("=" | ";" | "\n" | ":") | Token::End) {
            self.next += 1;
        }
        let text = &self.text[at..self.offset()];
        if self.peek() != Token::Sign("=") || text.is_empty() {
            return Err(self.unexpected("a type and `=`, as in `x: f64[n] = …`"));
        }
        self.next += 1;
        let ty: DeclaredType =
            text.parse().map_err(|source| ParseTextError::Type { place: self.place(at), source })?;
        let wrong = ty.names().map(|(_, name)| name).find(|name| !is_name(name)).map(excerpt);
        match wrong {
            None => Ok((at, ty)),
            Some(found) => {
                let place = self.place(at);
                Err(ParseTextError::Literal { place, found, expected: "a name of an extent" })
            }
        }
    }

    /// Returns whether no statement follows.
    pub(super) fn is_last(&self) -> bool {
        let rest = self.tokens.get(self.next..).unwrap_or_default();
        rest.iter().all(|spanned| matches!(spanned.token, Token::Sign(";" | "\n") | Token::End))
    }

    /// Checks the declared type of a statement's value, and returns the value with the checks that the graph contains.
    pub(super) fn declare(
        &mut self,
        name: &str,
        value: &Operand,
        declared: &At<DeclaredType>,
    ) -> Parsed<Operand> {
        let (at, ty) = declared;
        let variable = self.output(*at, value)?;
        if !self.graph.ty(variable).meets(ty) {
            return Err(self.misdeclared(name, variable, declared));
        }
        let is_output = self.is_last();
        let names: BTreeMap<usize, &str> = ty.names().collect();
        let mut checked = Operand::Var(variable);
        for (axis, extent) in ty.shape().iter().enumerate() {
            match (names.get(&axis), extent) {
                (Some(extent), _) => {
                    let own = Named { variable, axis, owner: name.to_owned(), is_at_edge: is_output };
                    checked = self.named_extent(checked, own, extent, declared)?;
                }
                (None, Extent::Fixed(n))
                    if !is_output && self.graph.ty(variable).shape()[axis] != *extent =>
                {
                    let message = format!("axis {axis} of `{name}` does not have the declared extent {n}");
                    let own = self.extent(*at, variable, axis)?;
                    let n = i64::try_from(*n).unwrap_or(i64::MAX);
                    checked = self.asserted(*at, checked, [own, n.into()], message)?;
                }
                _ => {}
            }
        }
        Ok(checked)
    }

    /// Compares an extent of a value with the first one of its name, or names it.
    fn named_extent(
        &mut self,
        value: Operand,
        own: Named,
        extent: &str,
        declared: &At<DeclaredType>,
    ) -> Parsed<Operand> {
        let at = declared.0;
        let first = match self.extents.get(extent) {
            None => {
                self.extents.insert(extent.to_owned(), Some(own));
                return Ok(value);
            }
            Some(None) => {
                let source = Box::new(BuildError::ExtentName { name: extent.to_owned() });
                let (place, function) = (self.place(at), own.owner);
                return Err(ParseTextError::Call { place, function, usage: None, source });
            }
            Some(Some(first)) => first.clone(),
        };
        let known = |named: &Named| self.graph.ty(named.variable).shape().get(named.axis).copied();
        match (known(&own), known(&first)) {
            (Some(Extent::Fixed(a)), Some(Extent::Fixed(b))) if a != b => {
                return Err(self.misdeclared(&own.owner, own.variable, declared));
            }
            (Some(Extent::Fixed(_)), Some(Extent::Fixed(_))) => return Ok(value),
            _ if own.is_at_edge && first.is_at_edge => return Ok(value),
            _ if (own.variable, own.axis) == (first.variable, first.axis) => return Ok(value),
            _ => {}
        }
        let message = format!(
            "axis {} of `{}` differs from `{extent}` (axis {} of `{}`)",
            own.axis, own.owner, first.axis, first.owner
        );
        let extents =
            [self.extent(at, own.variable, own.axis)?, self.extent(at, first.variable, first.axis)?];
        self.asserted(at, value, extents, message)
    }

    /// Returns the extent of an axis as a number.
    fn extent(&mut self, at: usize, variable: VarId, axis: usize) -> Parsed<Operand> {
        match self.library.attribute(&mut self.graph, "shape", &Operand::Var(variable)) {
            Some(Ok(Operand::List(extents))) if axis < extents.len() => Ok(extents[axis].clone()),
            Some(Err(source)) => {
                let (place, function) = (self.place(at), "shape".to_owned());
                Err(ParseTextError::Call { place, function, usage: None, source: Box::new(source) })
            }
            _ => self.call(at, "shape", &[Operand::Var(variable)], &Keywords::new()),
        }
    }

    /// Returns a value that exists only if two numbers are equal.
    pub(super) fn asserted(
        &mut self,
        at: usize,
        value: Operand,
        numbers: [Operand; 2],
        message: String,
    ) -> Parsed<Operand> {
        let condition = self.call(at, "eq", &numbers, &Keywords::new())?;
        let keywords = Keywords::from([("message".to_owned(), Prop::Str(message).into())]);
        self.call(at, "assert", &[value, condition], &keywords)
    }

    fn misdeclared(&self, name: &str, variable: VarId, (at, ty): &At<DeclaredType>) -> ParseTextError {
        let found = self.graph.ty(variable);
        ParseTextError::Declared {
            place: self.place(*at),
            name: name.to_owned(),
            found: found.to_string(),
            declared: ty.to_string(),
            remedy: remedy(found, ty),
        }
    }
}

/// Returns how to change a value of type `found` into one of type `declared`.
fn remedy(found: &Type, declared: &Type) -> Option<String> {
    let kinds = |ty: &Type| (matches!(ty, Type::Scalar(_)), ty.as_user().is_some(), ty.ndim());
    match found.dtype() == declared.dtype() {
        _ if found.ndim() == 0 && matches!((found, declared), (Type::Tensor(_), Type::Scalar(_))) => {
            Some(format!("declare it as `{found}`: only inputs can be C numbers, `{declared}`"))
        }
        _ if kinds(found) != kinds(declared) => None,
        false => Some(format!("convert the value: `(…).astype({})`", declared.dtype())),
        true => None,
    }
}
