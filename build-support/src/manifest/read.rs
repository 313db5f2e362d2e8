//! Reads a manifest and the files it names. Errors in the text are reported with file, line and table.

use super::tables::{KINDS, Left, Tables, leave_out_key, leave_out_table};
use super::{Document, Manifest};
use crate::place::{Lines, SourceLocation};
use crate::problem::{DeclareError, Problem, ProblemKind};
use precast_store::file;
use serde::Deserialize as _;
use serde::de::IntoDeserializer as _;
use std::collections::BTreeMap;
use std::path::Path;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The path of the manifest's table in a `Cargo.toml`.
const METADATA: [&str; 3] = ["package", "metadata", "precast"];

/// The most schema errors reported in one run: the tables are read once more for each.
const MOST_MISREAD: usize = 20;

impl Manifest {
    /// Reads a `precast.toml` and the graph files that it names.
    ///
    /// # Errors
    /// Fails if the file cannot be read or is not a manifest. Unreadable graph files and schema errors in tables are
    /// reported by [`Manifest::declare`].
    pub fn read(path: &Path) -> Result<Self, DeclareError> {
        Self::parse(path, read(path)?)
    }

    /// Reads the table `[package.metadata.precast]` of a `Cargo.toml`; `None` if the file does not have it.
    ///
    /// # Errors
    /// As [`Manifest::read`].
    pub fn read_metadata(path: &Path) -> Result<Option<Self>, DeclareError> {
        let text = read(path)?;
        let root = DeTable::parse(&text).map_err(|error| malformed(path, &text, &error))?;
        let Some(table) = metadata(root.into_inner()) else { return Ok(None) };
        let read = document(path, &text, table)?;
        Ok(Some(Self::of(path, text, read)))
    }

    /// Reads a manifest from its text; `path` is used for messages and as the base of the files it names.
    ///
    /// # Errors
    /// Fails if the text is not a manifest. Schema errors in tables are reported by [`Manifest::declare`].
    pub fn parse(path: &Path, text: String) -> Result<Self, DeclareError> {
        let root = DeTable::parse(&text).map_err(|error| malformed(path, &text, &error))?;
        let root = Spanned::new(root.span(), DeValue::Table(root.into_inner()));
        let read = document(path, &text, root)?;
        Ok(Self::of(path, text, read))
    }

    fn of(path: &Path, text: String, read: Read) -> Self {
        let Read { document, misread, unmade, tables } = read;
        let files = files(path, &document);
        let lines = Lines::of(&text);
        Self { path: path.to_owned(), lines, text, document, misread, unmade, tables, files }
    }
}

/// The parts of a manifest that were read.
struct Read {
    document: Document,
    misread: Vec<Problem>,
    unmade: Vec<String>,
    tables: Tables,
}

/// Reads the tables. Invalid parts are recorded and left out, so that other mistakes are found in the same run.
fn document(path: &Path, text: &str, mut root: Spanned<DeValue<'_>>) -> Result<Read, DeclareError> {
    let tables = root.get_ref().as_table().map(Tables::of).unwrap_or_default();
    let (mut misread, mut unmade, mut has_nameless) = (Vec::new(), Vec::new(), false);
    loop {
        let error = match Document::deserialize(root.clone().into_deserializer()) {
            Ok(mut document) => {
                if has_nameless {
                    // Any of these may call the op whose table could not be read.
                    document.op.clear();
                    document.graph.clear();
                }
                return Ok(Read { document, misread, unmade, tables });
            }
            Err(error) => error,
        };
        misread.push(syntax(path, text, &tables, &error));
        let is_unknown = error.message().starts_with("unknown field");
        let span = error.span().filter(|_| misread.len() < MOST_MISREAD);
        let left = span.and_then(|span| match root.get_mut() {
            root if is_unknown => leave_out_key(root, &span),
            DeValue::Table(root) => leave_out_table(root, &span),
            _ => None,
        });
        match left {
            Some(Left::Key | Left::Table) => {}
            Some(Left::External(Some(name))) => unmade.push(name),
            Some(Left::External(None)) => has_nameless = true,
            None => return Err(DeclareError { problems: misread }),
        }
    }
}

fn read(path: &Path) -> Result<String, DeclareError> {
    file::read_text(path).map_err(|error| {
        let kind = ProblemKind::File { path: path.to_owned(), message: error.to_string() };
        DeclareError { problems: vec![Problem::new(SourceLocation::in_file(path), kind)] }
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
    DeclareError { problems: vec![syntax(path, text, &Tables::default(), error)] }
}

fn syntax(path: &Path, text: &str, tables: &Tables, error: &toml::de::Error) -> Problem {
    let mut place = SourceLocation::in_file(path);
    let mut message = in_words(&with_nearest(error.message()));
    if let Some(span) = error.span() {
        place.line = Some(Lines::of(text).number(span.start));
        let from = text.get(..span.start).map_or(0, |before| before.rfind('\n').map_or(0, |end| end + 1));
        let line = text.get(from..).and_then(|rest| rest.lines().next()).unwrap_or_default();
        match unknown_list(line).filter(|_| message.starts_with("unknown field")) {
            Some(unknown) => message = unknown,
            None => {
                place.table = tables.at(span.start).map(str::to_owned);
                message = with_key(message, line);
            }
        }
    }
    Problem::new(place, ProblemKind::Syntax { message })
}

/// Describes the header of an unknown list of tables, such as `[[ops]]`.
fn unknown_list(line: &str) -> Option<String> {
    let name = line.trim().strip_prefix("[[")?.split("]]").next()?.trim();
    let name = name.rsplit('.').next().unwrap_or(name).trim();
    let near = precast_graph::nearest(name, KINDS);
    let near = near.map(|near| format!("; nearest `[[{near}]]`")).unwrap_or_default();
    let known = KINDS.map(|kind| format!("`[[{kind}]]`")).join(", ");
    Some(format!("unknown table `[[{name}]]`, expected one of {known}{near}"))
}

/// Prefixes a type error with the key on `line`, and shows the expected syntax.
fn with_key(message: String, line: &str) -> String {
    if !message.starts_with("invalid type") {
        return message;
    }
    let list = message.ends_with("expected a sequence");
    let table = line.trim().strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    match (line.split_once('='), table) {
        (Some((key, value)), _) if list => {
            let (key, value) = (key.trim(), value.trim());
            let item = if value.parse::<f64>().is_ok() { value } else { "\"…\"" };
            format!("`{key}`: {message}\nhint: use brackets for a list: `{key} = [{item}]`")
        }
        (Some((key, _)), _) => format!("`{}`: {message}", key.trim()),
        (None, Some(name)) if list => format!("{message}\nhint: use a separate table for each: `[[{name}]]`"),
        _ => message,
    }
}

/// Replaces the names of Rust integer types by a description of the valid numbers.
fn in_words(message: &str) -> String {
    ["usize", "u64", "u32"].into_iter().fold(message.to_owned(), |message, name| {
        message.replace(&format!("expected {name}"), "expected a non-negative whole number")
    })
}

/// Adds the known key that is most similar to an unknown one.
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
