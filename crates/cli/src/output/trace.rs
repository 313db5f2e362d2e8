//! The spans of `precast explain --trace`: a listener that collects them, and the tree that they form.
//!
//! ```text
//! resolve  hit                                  1.90 ms
//!   lookup  hit, 1f3a… in store `artifacts`     1.20 ms
//!     verify  x86-64-v3, 9736 bytes             0.31 ms
//! ```

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::num::NonZeroU64;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::ThreadId;

use serde_json::{Value, json};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use crate::error::Failure;

/// The collected spans.
#[derive(Debug, Clone, Default)]
pub(crate) struct Trace(Arc<Mutex<Spans>>);

#[derive(Debug, Default)]
struct Spans {
    /// All spans in the order in which they began; the id of a span is its position plus one.
    all: Vec<Span>,
    /// The positions of the spans that each thread is in, the innermost last.
    entered: Vec<(ThreadId, Vec<usize>)>,
}

#[derive(Debug)]
struct Span {
    name: &'static str,
    parent: Option<usize>,
    fields: BTreeMap<&'static str, Value>,
}

impl Trace {
    /// Starts listening to all threads of the process.
    pub(crate) fn listen() -> Result<Self, Failure> {
        let trace = Self::default();
        tracing::subscriber::set_global_default(trace.clone())?;
        Ok(trace)
    }

    /// Renders one line for each span, with its inner spans below it.
    pub(crate) fn text(&self) -> String {
        let spans = self.lock();
        let mut lines = Vec::new();
        spans.walk(None, 1, &mut |depth, span| {
            lines.push((format!("{:1$}{2}", "", 2 * depth, span.shown()), span.ms()));
        });
        let width = lines.iter().map(|(line, _)| line.chars().count()).max().unwrap_or_default();
        let mut text = String::new();
        for (line, ms) in lines {
            let _ = writeln!(text, "{line:width$}  {ms:9.3} ms");
        }
        text
    }

    /// Returns the spans as JSON, each with its inner spans.
    pub(crate) fn json(&self) -> Value {
        self.lock().json(None)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Spans> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Spans {
    fn within(&self, parent: Option<usize>) -> impl Iterator<Item = (usize, &Span)> {
        self.all.iter().enumerate().filter(move |(_, span)| span.parent == parent)
    }

    fn walk(&self, parent: Option<usize>, depth: usize, visit: &mut impl FnMut(usize, &Span)) {
        for (position, span) in self.within(parent) {
            visit(depth, span);
            self.walk(Some(position), depth + 1, visit);
        }
    }

    fn json(&self, parent: Option<usize>) -> Value {
        let spans = self.within(parent).map(|(position, span)| {
            let mut value = json!({"span": span.name, "spans": self.json(Some(position))});
            for (field, found) in &span.fields {
                value[*field] = found.clone();
            }
            value
        });
        spans.collect()
    }

    /// Returns the positions of the spans that this thread is in.
    fn entered(&mut self) -> &mut Vec<usize> {
        let this = std::thread::current().id();
        let at = self.entered.iter().position(|(thread, _)| *thread == this);
        let at = at.unwrap_or_else(|| {
            self.entered.push((this, Vec::new()));
            self.entered.len() - 1
        });
        &mut self.entered[at].1
    }

    fn at(&mut self, id: &Id) -> Option<&mut Span> {
        self.all.get_mut(position(id))
    }
}

impl Span {
    fn ms(&self) -> f64 {
        self.fields.get("ms").and_then(Value::as_f64).unwrap_or_default()
    }

    /// Returns the name and the fields of the span.
    fn shown(&self) -> String {
        let text = |name| self.fields.get(name).and_then(Value::as_str);
        let bytes = self.fields.get("bytes").and_then(Value::as_u64);
        let parts = [
            text("outcome").map(str::to_owned),
            text("entry").map(|entry| format!("`{entry}`")),
            text("key").map(str::to_owned),
            text("signature").map(str::to_owned),
            text("variant").map(|variant| format!("for {variant}")),
            bytes.map(|bytes| format!("{bytes} bytes")),
            text("layer").map(|layer| format!("in {layer}")),
            text("problem").map(str::to_owned),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        format!("{:8}  {}", self.name, parts.join(", ")).trim_end().to_owned()
    }
}

fn position(id: &Id) -> usize {
    usize::try_from(id.into_u64() - 1).unwrap_or(usize::MAX)
}

impl Subscriber for Trace {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "precast" && metadata.is_span()
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        let mut spans = self.lock();
        let parent = spans.entered().last().copied();
        let mut span = Span { name: attributes.metadata().name(), parent, fields: BTreeMap::new() };
        attributes.record(&mut span);
        spans.all.push(span);
        Id::from_non_zero_u64(NonZeroU64::try_from(spans.all.len() as u64).unwrap_or(NonZeroU64::MAX))
    }

    fn record(&self, id: &Id, values: &Record<'_>) {
        if let Some(span) = self.lock().at(id) {
            values.record(span);
        }
    }

    fn enter(&self, id: &Id) {
        self.lock().entered().push(position(id));
    }

    fn exit(&self, _: &Id) {
        self.lock().entered().pop();
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {}
}

impl Visit for Span {
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.fields.insert(field.name(), json!(value));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.fields.insert(field.name(), json!(value));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.fields.insert(field.name(), json!(value));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.fields.insert(field.name(), json!(format!("{value:?}")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use precast_core::span;

    #[test]
    fn spans_are_a_tree_for_each_thread() {
        let trace = Trace::default();
        tracing::subscriber::with_default(trace.clone(), || {
            let outer = span!("resolve"; outcome);
            {
                let inner = span!("lookup", key = "1f3a", layer = "store `s`"; variant, outcome);
                inner.record("outcome", "hit");
                inner.record("variant", "x86-64-v3");
                let _innermost = span!("load", bytes = 12_u64);
            }
            outer.record("outcome", "hit");
            drop(outer);
            let _call = span!("call");
        });
        let text = trace.text();
        let lines: Vec<&str> =
            text.lines().map(|line| line.trim_end_matches(|c: char| c != ' ').trim_end()).collect();
        assert_eq!(lines.len(), 4, "{text}");
        for (line, begins) in lines.iter().zip([
            "  resolve   hit",
            "    lookup    hit, 1f3a, for x86-64-v3, in store `s`",
            "      load      12 bytes",
            "  call ",
        ]) {
            assert!(line.starts_with(begins), "{text}");
        }
        let json = trace.json();
        assert_eq!(json[0]["spans"][0]["spans"][0]["bytes"], 12);
        assert_eq!(json[0]["spans"][0]["key"], "1f3a");
        assert!(json[1]["ms"].as_f64().unwrap() >= 0.0, "{json}");
    }
}
