//! Limits of texts: the depth of nesting, and the number of tokens.

use super::error::ParseTextError;
use super::parse::{Parsed, Parser};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The maximum nesting depth of brackets, signs, powers and calls of functions.
const MAX_DEPTH: usize = 100;

/// The maximum number of tokens in the texts of a graph: about 50 000 operations, more than a C compiler can handle.
const MAX_TOKENS: usize = 100_000;

/// Limits shared by a graph's texts and the calls of functions in them.
#[derive(Default)]
pub(super) struct Limits {
    depth: AtomicUsize,
    tokens: AtomicUsize,
}

impl Limits {
    /// Counts parsed tokens.
    pub(super) fn spend(&self, tokens: usize) -> Parsed<()> {
        let found = self.tokens.fetch_add(tokens, Ordering::Relaxed).saturating_add(tokens);
        if found > MAX_TOKENS { Err(ParseTextError::Long { found, limit: MAX_TOKENS }) } else { Ok(()) }
    }
}

impl Parser<'_> {
    /// Reads a nested part.
    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        let depth = self.limits.depth.fetch_add(1, Ordering::Relaxed);
        let result = if depth == MAX_DEPTH {
            Err(ParseTextError::Depth { place: self.place(self.offset()), limit: MAX_DEPTH })
        } else {
            read(self)
        };
        self.limits.depth.fetch_sub(1, Ordering::Relaxed);
        result
    }
}
