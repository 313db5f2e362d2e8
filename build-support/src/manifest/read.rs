//! Reads a manifest and the files it names. Mistakes in the text come back with file, table and line.

use super::{Document, Manifest};
use crate::place::{Lines, Place};
use crate::problem::{DeclareError, Problem, ProblemKind};
use precast_store::file;
use serde::Deserialize as _;
use serde::de::IntoDeserializer as _;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Where a manifest's tables stand in its file.
const METADATA: [&str; 3] = ["package", "metadata", "precast"];

/// Most unknown keys that are told: the tables are read once more for each.
const MOST_UNKNOWN: usize = 20;

impl Manifest {
    /// Reads a file of its own, `precast.toml`, and the graph files that it names.
    ///
    /// # Errors
    /// The file cannot be read, or is not a manifest. A graph file that cannot be read, and a key that no table has, are problems
    /// of [`Manifest::declare`].
    pub fn read(path: &Path) -> Result<Self, DeclareError> {
        Self::parse(path, read(path)?)
    }

    /// Reads the table `[package.metadata.precast]` of a `Cargo.toml`; `None` where there is none.
    ///
    /// # Errors
    /// As [`Manifest::read`].
    pub fn read_metadata(path: &Path) -> Result<Option<Self>, DeclareError> {
        let text = read(path)?;
        let root = DeTable::parse(&text).map_err(|error| malformed(path, &text, &error))?;
        let Some(table) = metadata(root.into_inner()) else { return Ok(None) };
        let (document, unknown) = document(path, &text, table)?;
        Ok(Some(Self::of(path, text, document, unknown)))
    }

    /// Reads a manifest from its text; `path` says where it stands, for messages and for the files it names.
    ///
    /// # Errors
    /// It is not a manifest. Keys that no table has are problems of [`Manifest::declare`].
    pub fn parse(path: &Path, text: String) -> Result<Self, DeclareError> {
        let root = DeTable::parse(&text).map_err(|error| malformed(path, &text, &error))?;
        let root = Spanned::new(root.span(), DeValue::Table(root.into_inner()));
        let (document, unknown) = document(path, &text, root)?;
        Ok(Self::of(path, text, document, unknown))
    }

    fn of(path: &Path, text: String, document: Document, unknown: Vec<Problem>) -> Self {
        let files = files(path, &document);
        Self { path: path.to_owned(), lines: Lines::of(&text), text, document, unknown, files }
    }
}

/// Reads the tables, and gives the keys that none has: they are left out, so that other mistakes are found beside them.
fn document(
    path: &Path,
    text: &str,
    mut table: Spanned<DeValue<'_>>,
) -> Result<(Document, Vec<Problem>), DeclareError> {
    let mut unknown = Vec::new();
    loop {
        let error = match Document::deserialize(table.clone().into_deserializer()) {
            Ok(document) => return Ok((document, unknown)),
            Err(error) => error,
        };
        unknown.push(syntax(path, text, table.get_ref().as_table(), &error));
        let is_unknown = error.message().starts_with("unknown field") && unknown.len() < MOST_UNKNOWN;
        if !error.span().is_some_and(|span| is_unknown && leave_out(table.get_mut(), &span)) {
            return Err(DeclareError { problems: unknown });
        }
    }
}

/// Leaves out the key that stands at a place; tells whether there is one.
fn leave_out(value: &mut DeValue<'_>, at: &Range<usize>) -> bool {
    match value {
        DeValue::Table(table) => {
            let key = table.keys().find(|key| key.span() == *at).map(|key| key.get_ref().to_string());
            key.is_some_and(|key| table.remove(key.as_str()).is_some())
                || table.iter_mut().any(|(_, value)| leave_out(value.get_mut(), at))
        }
        DeValue::Array(items) => items.iter_mut().any(|item| leave_out(item.get_mut(), at)),
        _ => false,
    }
}

fn read(path: &Path) -> Result<String, DeclareError> {
    file::read_text(path).map_err(|error| {
        let kind = ProblemKind::File { path: path.to_owned(), message: error.to_string() };
        DeclareError { problems: vec![Problem::new(Place::in_file(path), kind)] }
    })
}

fn metadata(root: DeTable<'_>) -> Option<Spanned<DeValue<'_>>> {
    let mut table = root;
    let [outer @ .., last] = METADATA;
    for name in outer {
        match table.remove(name)?.into_inner() {
            DeValue::Table(inner) => table = inner,
            _ => return None,
        }
    }
    table.remove(last)
}

fn files(path: &Path, document: &Document) -> BTreeMap<String, Result<String, String>> {
    let directory = path.parent().unwrap_or(Path::new(""));
    let names = document.graph.iter().filter_map(|table| table.get_ref().file.as_ref());
    let mut files: BTreeMap<String, Result<String, String>> = names
        .map(|name| {
            let text = file::read_text(&directory.join(name.get_ref())).map_err(|error| error.to_string());
            (name.get_ref().clone(), text)
        })
        .collect();
    for table in &document.external {
        super::external::read(directory, table.get_ref(), &mut files);
    }
    files
}

fn malformed(path: &Path, text: &str, error: &toml::de::Error) -> DeclareError {
    DeclareError { problems: vec![syntax(path, text, None, error)] }
}

fn syntax(path: &Path, text: &str, table: Option<&DeTable<'_>>, error: &toml::de::Error) -> Problem {
    let mut place = Place::in_file(path);
    let mut message = with_nearest(error.message());
    if let Some(span) = error.span() {
        place.line = Some(Lines::of(text).number(span.start));
        place.table = table.and_then(|table| table_at(table, span.start));
        let from = text.get(..span.start).map_or(0, |before| before.rfind('\n').map_or(0, |end| end + 1));
        message =
            with_key(message, text.get(from..).and_then(|rest| rest.lines().next()).unwrap_or_default());
    }
    Problem::new(place, ProblemKind::Syntax { message })
}

/// Names the key that stands in the `line` of a value of a wrong type, and says how what was expected is written.
fn with_key(message: String, line: &str) -> String {
    if !message.starts_with("invalid type") {
        return message;
    }
    let list = message.ends_with("expected a sequence");
    let table = line.trim().strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    match (line.split_once('='), table) {
        (Some((key, _)), _) if list => {
            let key = key.trim();
            format!("`{key}`: {message}\nhint: a list is written in brackets: `{key} = [\"…\"]`")
        }
        (Some((key, _)), _) => format!("`{}`: {message}", key.trim()),
        (None, Some(name)) if list => format!("{message}\nhint: each is a table of its own: `[[{name}]]`"),
        _ => message,
    }
}

/// Adds the known key that an unknown one was probably meant to be.
fn with_nearest(message: &str) -> String {
    let quoted = |text: &str| text.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>();
    let near = message.strip_prefix("unknown field ").and_then(|rest| {
        let mut names = quoted(rest).into_iter();
        let found = names.next()?;
        let known: Vec<String> = names.collect();
        precast_graph::nearest(&found, known.iter().map(String::as_str)).map(str::to_owned)
    });
    near.map_or_else(|| message.to_owned(), |near| format!("{message}; nearest `{near}`"))
}

/// The table that an offset is in: the last one that begins at or before it.
fn table_at(table: &DeTable<'_>, offset: usize) -> Option<String> {
    let mut tables = Vec::new();
    for kind in ["op", "graph", "external"] {
        let Some(items) = table.get(kind).and_then(|value| value.get_ref().as_array()) else { continue };
        for (number, item) in items.iter().enumerate() {
            tables.push((item.span().start, format!("[[{kind}]] {}", number + 1)));
        }
    }
    tables.into_iter().filter(|(start, _)| *start <= offset).max().map(|(_, table)| table)
}
