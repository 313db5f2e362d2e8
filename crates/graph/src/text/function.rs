//! Functions in texts: `lambda c, x: c + x`, and `def f(c, x): y = c + x; return y`.
//!
//! A function keeps its source and the names that were bound before it. Each call parses the source again, with the
//! arguments bound to the parameters, and appends the Applies to the caller's graph. A parameter in parentheses,
//! `(a, b)`, takes a tuple apart. Parameters and names of a function may hide names outside of it.

use super::declared::Extents;
use super::error::ParseTextError;
use super::lex::{Token, is_keyword, lex};
use super::limits::Limits;
use super::parse::{Bound, Parsed, Parser};
use crate::build_error::BuildError;
use crate::function::Function;
use crate::graph::FunctionGraph;
use crate::make_node_error::MakeNodeError;
use crate::op::OpLibrary;
use crate::operand::Operand;
use precast_core::native::DefaultFloats;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A parameter: a name, or a tuple of parameters.
enum Parameter {
    Name(String),
    Tuple(Vec<Self>),
}

/// A function of a text.
struct Written {
    text: Arc<str>,
    output: Option<usize>,
    parameters: Vec<Parameter>,
    /// The bytes of the text after the colon.
    body: std::ops::Range<usize>,
    is_def: bool,
    /// The values of the names outside.
    outside: BTreeMap<String, Operand>,
    /// The names of extents outside.
    extents: Extents,
    limits: Arc<Limits>,
}

impl Parser<'_> {
    /// Parses `"lambda" [parameters] ":" expression`; the keyword is already read.
    pub(super) fn lambda(&mut self) -> Parsed<Operand> {
        let parameters = self.parameters(":")?;
        let start = self.next;
        self.skip_expression()?;
        Ok(self.function(parameters, start, false))
    }

    /// Parses `"def" name "(" [parameters] "):" {statement} "return" expression`; the keyword is already read.
    pub(super) fn def(&mut self) -> Parsed<()> {
        let at = self.offset();
        let Token::Name(name) = self.peek() else { return Err(self.unexpected("the name of a function")) };
        self.next += 1;
        self.bindable(&[(self.next - 1, name)])?;
        self.expect("(", "`(`")?;
        let parameters = self.parameters(")")?;
        self.expect(":", "`:`")?;
        let (start, mut open) = (self.next, 1_usize);
        while open > 0 {
            match self.peek() {
                Token::Name("def") => open += 1,
                Token::Name("return") => open -= 1,
                Token::End => return Err(self.unexpected("`return`")),
                _ => {}
            }
            self.next += 1;
        }
        self.skip_expression()?;
        let function = self.function(parameters, start, true);
        let statement = Some(self.place(at));
        self.bind(name, function, statement);
        Ok(())
    }

    /// Parses the statements of a function, the last of which is `return`.
    fn body(&mut self) -> Parsed<Operand> {
        loop {
            while self.skip(";") || self.skip("\n") {}
            let at = self.offset();
            match self.peek() {
                Token::Name("def") => {
                    self.next += 1;
                    self.def()?;
                }
                Token::Name("return") => {
                    self.next += 1;
                    let value = self.whole()?;
                    let unused = self.names.values().filter(|bound| !bound.used);
                    let unused = unused.filter_map(|bound| bound.statement.clone());
                    return match unused.min_by_key(|place| (place.line, place.column)) {
                        Some(place) => Err(ParseTextError::Unused { place }),
                        None => Ok(value),
                    };
                }
                _ => {
                    if self.statement()?.0.is_none() {
                        return Err(ParseTextError::Unused { place: self.place(at) });
                    }
                }
            }
            self.separated()?;
        }
    }

    /// Skips an expression, which ends at a separator outside of brackets.
    fn skip_expression(&mut self) -> Parsed<()> {
        let (start, mut open, mut lambdas) = (self.next, 0_usize, 0_usize);
        loop {
            match self.peek() {
                Token::Sign("(" | "[") => open += 1,
                Token::Sign(")" | "]") if open > 0 => open -= 1,
                Token::Name("lambda") if open == 0 => lambdas += 1,
                Token::Sign(":") if open == 0 && lambdas > 0 => lambdas -= 1,
                Token::Sign(",") if open == 0 && lambdas > 0 => {}
                Token::Sign(")" | "]" | "," | ":" | ";" | "\n" | "=") if open == 0 => break,
                Token::End => break,
                _ => {}
            }
            self.next += 1;
        }
        if self.next == start { Err(self.unexpected("an expression")) } else { Ok(()) }
    }

    /// Parses parameters up to `close`.
    fn parameters(&mut self, close: &'static str) -> Parsed<Vec<Parameter>> {
        let mut names = Vec::new();
        self.parameters_of(close, &mut names)
    }

    fn parameters_of(&mut self, close: &'static str, names: &mut Vec<String>) -> Parsed<Vec<Parameter>> {
        let mut parameters = Vec::new();
        while !self.skip(close) {
            let at = self.offset();
            parameters.push(match self.peek() {
                Token::Name(name) if !is_keyword(name) => {
                    if names.iter().any(|known| known == name) {
                        return Err(ParseTextError::Duplicate {
                            place: self.place(at),
                            name: name.to_owned(),
                        });
                    }
                    self.next += 1;
                    names.push(name.to_owned());
                    Parameter::Name(name.to_owned())
                }
                Token::Sign("(") => {
                    self.next += 1;
                    Parameter::Tuple(self.nested(|parser| parser.parameters_of(")", names))?)
                }
                _ => return Err(self.unexpected("the name of a parameter")),
            });
            if !self.skip(",") {
                self.expect(close, "`,` or the end of the parameters")?;
                break;
            }
        }
        Ok(parameters)
    }

    /// Returns the function whose body are the tokens from `start` to the next one, and marks the names in it as used.
    fn function(&mut self, parameters: Vec<Parameter>, start: usize, is_def: bool) -> Operand {
        let body = self.tokens[start].offset..self.offset();
        let mentioned: Vec<&str> = self.tokens[start..self.next]
            .iter()
            .filter_map(|spanned| if let Token::Name(name) = spanned.token { Some(name) } else { None })
            .collect();
        let mut outside = BTreeMap::new();
        for name in mentioned {
            if let Some(value) = self.take_bound(name) {
                outside.insert(name.to_owned(), value);
            }
        }
        let text = Arc::clone(self.source.get_or_insert_with(|| self.text.into()));
        let (output, extents, limits) = (self.output, self.extents.clone(), Arc::clone(&self.limits));
        let written = Written { text, output, parameters, body, is_def, outside, extents, limits };
        Operand::Function(Function::new(move |graph, library, args| written.call(graph, library, args)))
    }
}

impl Written {
    fn call(
        &self,
        graph: &mut FunctionGraph,
        library: &dyn OpLibrary,
        args: &[Operand],
    ) -> Result<Operand, BuildError> {
        let _floats = DefaultFloats::set();
        let outside = |operand: &Operand| Bound {
            operand: operand.clone(),
            used: true,
            statement: None,
            is_outside: true,
        };
        let mut names: BTreeMap<String, Bound> =
            self.outside.iter().map(|(name, operand)| (name.clone(), outside(operand))).collect();
        bind("function", &self.parameters, args, &mut names)?;
        let mut tokens = lex(&self.text[self.body.clone()], self.output).map_err(Box::new)?;
        tokens.iter_mut().for_each(|spanned| spanned.offset += self.body.start);
        if !self.is_def {
            // A line break in a lambda is inside of brackets that began before it.
            tokens.retain(|spanned| spanned.token != Token::Sign("\n"));
        }
        self.limits.spend(tokens.len()).map_err(Box::new)?;
        let mut parser = Parser {
            text: &self.text,
            source: Some(Arc::clone(&self.text)),
            output: self.output,
            tokens,
            next: 0,
            graph: std::mem::take(graph),
            names,
            extents: self.extents.clone(),
            library,
            limits: Arc::clone(&self.limits),
        };
        let result = parser.nested(|parser| if self.is_def { parser.body() } else { parser.whole() });
        *graph = parser.graph;
        Ok(result.map_err(Box::new)?)
    }
}

/// Binds parameters to arguments.
fn bind(
    function: &str,
    parameters: &[Parameter],
    args: &[Operand],
    names: &mut BTreeMap<String, Bound>,
) -> Result<(), MakeNodeError> {
    if parameters.len() != args.len() {
        let expected = parameters.len().to_string();
        return Err(MakeNodeError::Arity { op: function.to_owned(), expected, found: args.len() });
    }
    for (parameter, operand) in parameters.iter().zip(args) {
        match (parameter, operand) {
            (Parameter::Name(name), operand) => {
                let bound = Bound { operand: operand.clone(), used: true, statement: None, is_outside: true };
                names.insert(name.clone(), bound);
            }
            (Parameter::Tuple(parts), Operand::List(items)) => bind("a tuple", parts, items, names)?,
            (Parameter::Tuple(parts), other) => {
                let expected = format!("a tuple of {}", parts.len());
                let (op, found) = (function.to_owned(), other.describe());
                return Err(MakeNodeError::Input { op, input: 0, found, expected });
            }
        }
    }
    Ok(())
}
