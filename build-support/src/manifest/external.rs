//! `[[external]]`: from a table and its C files to named graphs, one for each combination.
//!
//! A combination chooses a dtype for each letter of the type patterns, a rank where they leave it open, and how many of the
//! inputs that may be missing there are. Each becomes a graph of one Apply. With one combination the graph has the op's
//! name; of several each adds what it chose: `vector_times_vector.f32.f64`, `norm.f64.2d`, `fused.f64.3in`. Whoever calls
//! the op by its name gets the combination that his inputs ask for.

use super::{ExternalTable, Manifest, params};
use crate::declared::{Declared, check_combinations};
use crate::place::Place;
use crate::problem::{Problem, ProblemKind, chain};
use precast_codegen::external::{Declaration, ExternalCOp, ExternalError, includes, own_file};
use precast_core::MAX_NDIM;
use precast_graph::{DType, FunctionGraph, Op, Type, nearest};
use precast_store::file;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Reads the table's C files, and the own headers that they include, however deep.
pub(super) fn read(
    directory: &Path,
    table: &ExternalTable,
    files: &mut BTreeMap<String, Result<String, String>>,
) {
    let load = |name: &str| file::read_text(&directory.join(name)).map_err(|error| error.to_string());
    let mut open: Vec<String> = table.files.iter().map(|file| file.get_ref().clone()).collect();
    while let Some(name) = open.pop() {
        // A name that leads out of the directory is refused when the op is made.
        if files.contains_key(&name) || Path::new(&name).is_absolute() || name.split('/').any(|p| p == "..") {
            continue;
        }
        let text = load(&name);
        if let Ok(text) = &text {
            for include in includes(text) {
                let exists = |candidate: &str| directory.join(candidate).is_file();
                // So is an include that does.
                let own = own_file(&name, &include, &table.header_dirs, exists).ok().flatten();
                open.extend(own);
            }
        }
        files.insert(name, text);
    }
}

impl Manifest {
    /// Declares the graphs of a table; gives what is wrong with it.
    pub(super) fn external(
        &self,
        number: usize,
        table: &ExternalTable,
        declared: &mut Declared,
    ) -> Vec<Problem> {
        let title = format!("[[external]] {} (`{}`)", number + 1, table.name.get_ref());
        let place = Place { table: Some(title), ..self.place(table.name.span()) };
        let (declaration, mut problems) = self.declaration(table, &place);
        let Some(declaration) = declaration else { return problems };
        let op = match ExternalCOp::new(declaration) {
            Ok(op) => op,
            Err(error) => {
                let kind = ProblemKind::External { message: chain(&error) };
                problems.push(Problem::new(self.external_place(table, &error, &place), kind));
                return problems;
            }
        };
        let (dtypes, found) = self.dtypes(table, &op, &place);
        problems.extend(found);
        let ranks = self.ranks(table, &op, &place, &mut problems);
        if !problems.is_empty() {
            return problems;
        }
        let op: Arc<ExternalCOp> = Arc::new(op);
        let combinations =
            match combinations(table.name.get_ref(), &op, &dtypes, &ranks, declared.graphs().len()) {
                Ok(combinations) => combinations,
                Err(kind) => return vec![Problem::new(place, kind)],
            };
        for (name, types) in combinations {
            let added = graph(&op, &types)
                .map_err(|error| {
                    Problem::new(place.clone(), ProblemKind::External { message: chain(&error) })
                })
                .and_then(|graph| declared.graph(&name, graph, place.clone()));
            problems.extend(added.err());
        }
        problems
    }

    /// The declaration, unless a file cannot be read.
    fn declaration(&self, table: &ExternalTable, place: &Place) -> (Option<Declaration>, Vec<Problem>) {
        let mut problems = Vec::new();
        let texts = |list: &[toml::Spanned<String>]| list.iter().map(|item| item.get_ref().clone()).collect();
        let mut declaration = Declaration::new(table.name.get_ref());
        for file in &table.files {
            match self.files.get(file.get_ref()) {
                Some(Err(message)) => {
                    let place = Place { line: self.place(file.span()).line, ..place.key("files") };
                    let (path, message) = (self.file(file.get_ref()), message.clone());
                    problems.push(Problem::new(place, ProblemKind::File { path, message }));
                }
                // What was not read has a name that the declaration refuses.
                read => {
                    let text = read.and_then(|read| read.as_ref().ok()).map_or("", String::as_str);
                    declaration.files.push((file.get_ref().clone(), text.into()));
                }
            }
        }
        declaration.sources = self.headers(table);
        declaration.func = table.func.as_ref().map(|func| func.get_ref().clone());
        declaration.inputs = texts(&table.inputs);
        declaration.outputs = texts(&table.outputs);
        (declaration.max_inputs, declaration.max_outputs) = (table.max_inputs, table.max_outputs);
        problems.extend(self.params(table, place, &mut declaration));
        declaration.headers.clone_from(&table.headers);
        declaration.header_dirs.clone_from(&table.header_dirs);
        declaration.libraries.clone_from(&table.libraries);
        declaration.lib_dirs = table.lib_dirs.iter().map(|directory| self.absolute(directory)).collect();
        declaration.compile_args.clone_from(&table.compile_args);
        declaration.no_compile_args.clone_from(&table.no_compile_args);
        match table.language.as_ref().map(|language| (language, language.get_ref().parse())) {
            Some((language, Err(error))) => {
                let place = Place { line: self.place(language.span()).line, ..place.key("language") };
                let message = chain(&error);
                problems.push(Problem::new(place, ProblemKind::External { message }));
            }
            found => declaration.language = found.and_then(|(_, parsed)| parsed.ok()),
        }
        declaration.version.clone_from(&table.version);
        declaration.view_map.clone_from(&table.view_map);
        declaration.destroy_map.clone_from(&table.destroy_map);
        declaration.check_input = table.check_input.unwrap_or(true);
        declaration.f16_ok = table.f16_ok;
        (problems.is_empty().then_some(declaration), problems)
    }

    /// Fills in params and their types.
    fn params(&self, table: &ExternalTable, place: &Place, declaration: &mut Declaration) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut wrong = |key: &str, span: std::ops::Range<usize>, message: String| {
            let place = Place { line: self.place(span).line, ..place.key(key) };
            problems.push(Problem::new(place, ProblemKind::External { message }));
        };
        for (name, value) in &table.params {
            match params::value(value.get_ref()) {
                Some(value) => drop(declaration.params.insert(name.clone(), value)),
                None => {
                    let expected = "neither a truth value, a number, a name, nor a list of numbers";
                    wrong("params", value.span(), format!("param `{name}` is {expected}"));
                }
            }
        }
        for (name, table) in &table.param_types {
            match params::ty(table.get_ref()) {
                Ok(ty) => {
                    if let Some(value) = declaration.params.remove(name) {
                        declaration.params.insert(name.clone(), params::rounded(value, &ty));
                    }
                    declaration.param_types.insert(name.clone(), ty);
                }
                Err(problem) => wrong("param_types", table.span(), format!("type of `{name}`: {problem}")),
            }
        }
        problems
    }

    /// The own headers that the table's files reach, by name.
    fn headers(&self, table: &ExternalTable) -> precast_codegen::SourceSet {
        let mut found = precast_codegen::SourceSet::new();
        let mut open: Vec<&str> = table.files.iter().map(|file| file.get_ref().as_str()).collect();
        while let Some(name) = open.pop() {
            let Some(Ok(text)) = self.files.get(name) else { continue };
            for include in includes(text) {
                let exists = |candidate: &str| matches!(self.files.get(candidate), Some(Ok(_)));
                let own = own_file(name, &include, &table.header_dirs, exists).ok().flatten();
                let own = own.and_then(|own| self.files.get_key_value(&own));
                if let Some((own, Ok(text))) = own
                    && found.insert(own.clone(), text.as_str().into()).is_none()
                {
                    open.push(own);
                }
            }
        }
        found
    }

    fn absolute(&self, directory: &str) -> String {
        let path = self.file(directory);
        let path = fs_err::canonicalize(&path).unwrap_or(path);
        path.to_string_lossy().into_owned()
    }

    /// The place of the key that an error is about.
    fn external_place(&self, table: &ExternalTable, error: &ExternalError, place: &Place) -> Place {
        let at = |span: Option<std::ops::Range<usize>>, key: &str| Place {
            line: span.map_or(place.line, |span| self.place(span).line),
            ..place.key(key)
        };
        let func = || table.func.as_ref().map(toml::Spanned::span);
        match error {
            ExternalError::Name { .. } => at(None, "name"),
            ExternalError::FuncForm { .. }
            | ExternalError::FuncMissing { .. }
            | ExternalError::FuncArity { .. }
            | ExternalError::FuncVoid { .. }
            | ExternalError::CodeAndFunc { .. } => at(func(), "func"),
            ExternalError::Pattern { text, .. } | ExternalError::PatternType { text, .. } => {
                let is = |item: &&toml::Spanned<String>| item.get_ref().trim() == text;
                match table.inputs.iter().find(is) {
                    Some(input) => at(Some(input.span()), "inputs"),
                    None => at(table.outputs.iter().find(is).map(toml::Spanned::span), "outputs"),
                }
            }
            ExternalError::Setting { key, .. } => at(None, key),
            _ => at(table.files.first().map(toml::Spanned::span), "files"),
        }
    }

    /// The dtypes of each letter of the op.
    fn dtypes(
        &self,
        table: &ExternalTable,
        op: &ExternalCOp,
        place: &Place,
    ) -> (BTreeMap<String, Vec<DType>>, Vec<Problem>) {
        let (mut found, mut problems) = (BTreeMap::new(), Vec::new());
        let names = op.type_names();
        let mut wrong = |place: Place, problem: String| {
            problems.push(Problem::new(place, ProblemKind::Dtypes { problem }));
        };
        for name in names.iter().filter(|name| !table.dtypes.contains_key(**name)) {
            wrong(
                place.key("dtypes"),
                format!("`{name}` of the types has no dtypes; add `{name} = [\"f64\"]`"),
            );
        }
        for (name, list) in &table.dtypes {
            if !names.contains(&name.as_str()) {
                let near = nearest(name, names.iter().copied())
                    .map_or_else(String::new, |n| format!("; nearest `{n}`"));
                wrong(place.key("dtypes"), format!("no input has `{{{name}}}`{near}"));
            }
            if list.is_empty() {
                wrong(place.key("dtypes"), format!("the list of `{name}` is empty"));
            }
            let mut dtypes: Vec<DType> = Vec::new();
            for item in list {
                match item.get_ref().parse() {
                    Ok(dtype) if !dtypes.contains(&dtype) => dtypes.push(dtype),
                    Ok(_) => {}
                    Err(error) => {
                        let at = Place { line: self.place(item.span()).line, ..place.key("dtypes") };
                        wrong(at, chain(&error));
                    }
                }
            }
            found.insert(name.clone(), dtypes);
        }
        (found, problems)
    }

    /// The ranks that the table lists; one without meaning where no type leaves the rank open.
    fn ranks(
        &self,
        table: &ExternalTable,
        op: &ExternalCOp,
        place: &Place,
        problems: &mut Vec<Problem>,
    ) -> Vec<usize> {
        let mut wrong = |problem: &str| {
            let kind = ProblemKind::Dtypes { problem: problem.to_owned() };
            problems.push(Problem::new(place.key("ndim"), kind));
            Vec::new()
        };
        match (&table.ndim, op.has_open_rank()) {
            (None, false) => vec![0],
            (Some(_), false) => wrong("no input leaves its rank open, as `{T}[..]` does"),
            (None, true) => wrong("a type leaves the rank open; add `ndim = [1, 2]`"),
            (Some(list), true) if list.is_empty() => wrong("the list is empty"),
            (Some(list), true) => {
                let mut ranks: Vec<usize> = list.iter().map(|rank| *rank.get_ref()).collect();
                ranks.sort_unstable();
                ranks.dedup();
                let most = ranks.last().copied().unwrap_or(0);
                if most > MAX_NDIM {
                    let at = list.iter().find(|rank| *rank.get_ref() == most).map(toml::Spanned::span);
                    let line = at.map_or(place.line, |span| self.place(span).line);
                    let kind = ProblemKind::Rank { found: most, most: MAX_NDIM };
                    problems.push(Problem::new(Place { line, ..place.key("ndim") }, kind));
                }
                ranks
            }
        }
    }
}

/// Names and input types of all combinations, which are counted before the first is made; `before` are declared already.
pub(crate) fn combinations(
    name: &str,
    op: &ExternalCOp,
    dtypes: &BTreeMap<String, Vec<DType>>,
    ranks: &[usize],
    before: usize,
) -> Result<Vec<(String, Vec<Type>)>, ProblemKind> {
    let first = dtypes.iter().filter_map(|(letter, list)| Some((letter.clone(), *list.first()?))).collect();
    let lists = ranks.first().and_then(|rank| op.input_types(&first, *rank)).map_or(0, |lists| lists.len());
    let mut counts = dtypes.values().map(Vec::len).chain([ranks.len()]);
    let found = counts.try_fold(lists, |all: usize, count| all.checked_mul(count));
    check_combinations(found.and_then(|found| found.checked_add(before)))?;
    let mut choices: Vec<BTreeMap<String, DType>> = vec![BTreeMap::new()];
    for (letter, list) in dtypes {
        let with = |choice: &BTreeMap<String, DType>, dtype: &DType| {
            let mut choice = choice.clone();
            choice.insert(letter.clone(), *dtype);
            choice
        };
        choices = choices
            .iter()
            .flat_map(|c| list.iter().map(|dtype| with(c, dtype)).collect::<Vec<_>>())
            .collect();
    }
    let mut found: Vec<(String, Vec<Type>)> = Vec::new();
    for (choice, rank) in choices.iter().flat_map(|choice| ranks.iter().map(move |rank| (choice, *rank))) {
        let lists = op.input_types(choice, rank).unwrap_or_default();
        let many = lists.len() > 1;
        for types in lists {
            let mut full = name.to_owned();
            choice.values().for_each(|dtype| full.push_str(&format!(".{dtype}")));
            full.push_str(&if op.has_open_rank() { format!(".{rank}d") } else { String::new() });
            full.push_str(&if many { format!(".{}in", types.len()) } else { String::new() });
            found.push((full, types));
        }
    }
    if let [(only, _)] = found.as_mut_slice() {
        name.clone_into(only);
    }
    Ok(found)
}

pub(crate) fn graph(
    op: &Arc<ExternalCOp>,
    types: &[Type],
) -> Result<FunctionGraph, precast_graph::BuildError> {
    let mut graph = FunctionGraph::new();
    let mut inputs = Vec::new();
    for (position, ty) in types.iter().enumerate() {
        inputs.push(graph.input(&format!("x{position}"), ty.clone())?);
    }
    let op: Arc<dyn Op> = Arc::<ExternalCOp>::clone(op);
    for output in graph.apply(op, &inputs)? {
        graph.output(output, None)?;
    }
    Ok(graph)
}
