//! `[[external]]`: converts a table and its C files to the declaration of an op with its dtypes and ranks.

use super::{ExternalTable, FunctionTable, Manifest, ParamTable, ReferenceTable, params, references};
use crate::declared::Declared;
use crate::external::ExternalMatrix;
use crate::place::SourceLocation;
use crate::problem::{Problem, ProblemKind};
use precast_codegen::external::{
    Declaration, ExternalCOp, ExternalError, includes, normalise, own_file, own_header,
};
use precast_core::event::chain;
use precast_store::file;
use std::collections::BTreeMap;
use std::path::Path;
use toml::Spanned;

/// Reads the table's C files and, recursively, the package's own headers that they include.
pub(super) fn read(
    directory: &Path,
    table: &ExternalTable,
    files: &mut BTreeMap<String, Result<String, String>>,
) {
    let load = |name: &str| file::read_text(&directory.join(name)).map_err(|error| error.to_string());
    let mut open: Vec<String> = table.files.iter().map(|file| file.get_ref().clone()).collect();
    open.extend(reference_function(table).map(|function| function.file.clone()));
    let exists = |candidate: &str| directory.join(candidate).is_file();
    open.extend(headers(table).filter_map(|header| own_header(header, &table.header_dirs, exists)));
    while let Some(name) = open.pop() {
        // Creating the op reports a name that leads out of the directory.
        if files.contains_key(&name) || Path::new(&name).is_absolute() || normalise("", &name).is_none() {
            continue;
        }
        let text = load(&name);
        if let Ok(text) = &text {
            for include in includes(text) {
                // It also reports an include that leads out of the directory.
                let own = own_file(&name, &include, &table.header_dirs, exists).ok().flatten();
                open.extend(own);
            }
        }
        files.insert(name, text);
    }
}

/// Returns the headers that a table lists, including those of its enumerations.
fn headers(table: &ExternalTable) -> impl Iterator<Item = &str> {
    let of_types = table.param_types.values().flat_map(|ty| match ty.get_ref() {
        ParamTable::Enum { headers: Some(headers), .. } => headers.as_slice(),
        _ => &[],
    });
    table.headers.iter().chain(of_types).map(String::as_str)
}

/// Returns the C function that is a table's reference, if it has one.
fn reference_function(table: &ExternalTable) -> Option<&FunctionTable> {
    match table.reference.as_ref()?.get_ref() {
        ReferenceTable::Function(function) => Some(function),
        ReferenceTable::One(_) | ReferenceTable::Many(_) => None,
    }
}

impl Manifest {
    /// Declares the ops of all tables and returns the problems found.
    pub(super) fn externals(&self, declared: &mut Declared) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut made = Vec::new();
        for table in &self.document.external {
            let table = table.get_ref();
            let place = SourceLocation {
                table: Some(self.tables.title(&table.name)),
                ..self.place(table.name.span())
            };
            let (declaration, found) = self.declaration(table, &place);
            problems.extend(found);
            match declaration {
                Some(declaration) => made.push((table, place, declaration)),
                None => declared.unmade(table.name.get_ref()),
            }
        }
        let declarations: Vec<Declaration> =
            made.iter().map(|(.., declaration)| declaration.clone()).collect();
        for (table, place, declaration) in made {
            let with = references::attach(declaration, &declarations);
            let with = with.map_err(|message| {
                Problem::new(self.reference_place(table, &place), ProblemKind::External { message })
            });
            let op = with.and_then(|with| {
                ExternalCOp::new(with).map_err(|error| {
                    let kind = ProblemKind::External { message: chain(&error) };
                    Problem::new(self.external_place(table, &error, &place), kind)
                })
            });
            match op {
                Ok(op) => problems.extend(self.matrix_of(table, &place).declare(op, declared)),
                Err(problem) => {
                    problems.push(problem);
                    declared.unmade(table.name.get_ref());
                }
            }
        }
        problems
    }

    /// Returns the combinations that a table requests for its op.
    fn matrix_of(&self, table: &ExternalTable, place: &SourceLocation) -> ExternalMatrix {
        let at = |span, key| SourceLocation { line: self.place(span).line, ..place.key(key) };
        let dtype = |item: &Spanned<String>| (item.get_ref().clone(), at(item.span(), "dtypes"));
        ExternalMatrix {
            dtypes: table
                .dtypes
                .iter()
                .map(|(letter, list)| (letter.clone(), list.iter().map(dtype).collect()))
                .collect(),
            ndim: table
                .ndim
                .as_ref()
                .map(|list| list.iter().map(|rank| (*rank.get_ref(), at(rank.span(), "ndim"))).collect()),
            place: place.clone(),
        }
    }

    fn reference_place(&self, table: &ExternalTable, place: &SourceLocation) -> SourceLocation {
        let line = table.reference.as_ref().and_then(|reference| self.place(reference.span()).line);
        SourceLocation { line: line.or(place.line), ..place.key("reference") }
    }

    /// Builds the declaration; `None` if a file cannot be read.
    fn declaration(
        &self,
        table: &ExternalTable,
        place: &SourceLocation,
    ) -> (Option<Declaration>, Vec<Problem>) {
        let mut problems = Vec::new();
        let texts = |list: &[Spanned<String>]| list.iter().map(|item| item.get_ref().clone()).collect();
        let mut declaration = Declaration::new(table.name.get_ref());
        for file in &table.files {
            match self.files.get(file.get_ref()) {
                Some(Err(message)) => {
                    let place = SourceLocation { line: self.place(file.span()).line, ..place.key("files") };
                    let (path, message) = (self.file(file.get_ref()), message.clone());
                    problems.push(Problem::new(place, ProblemKind::File { path, message }));
                }
                // A file that was not read has a name that the declaration rejects.
                read => {
                    let text = read.and_then(|read| read.as_ref().ok()).map_or("", String::as_str);
                    declaration.files.push((file.get_ref().clone(), text.into()));
                }
            }
        }
        let files: Vec<&str> = table.files.iter().map(|file| file.get_ref().as_str()).collect();
        declaration.sources =
            self.headers(files, headers(table), &table.header_dirs, &mut |name, message| {
                let (path, message) = (self.file(name), message.to_owned());
                problems.push(Problem::new(place.key("files"), ProblemKind::File { path, message }));
            });
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
                let place =
                    SourceLocation { line: self.place(language.span()).line, ..place.key("language") };
                let message = chain(&error);
                problems.push(Problem::new(place, ProblemKind::External { message }));
            }
            found => declaration.language = found.and_then(|(_, parsed)| parsed.ok()),
        }
        declaration.version.clone_from(&table.version);
        declaration.view_map.clone_from(&table.view_map);
        declaration.destroy_map.clone_from(&table.destroy_map);
        declaration.check_input = table.check_input.unwrap_or(true);
        declaration.gradient.clone_from(&table.gradient);
        declaration.f16_ok = table.f16_ok;
        match self.reference(table, declaration, place) {
            Ok(declaration) => (problems.is_empty().then_some(declaration), problems),
            Err(problem) => {
                problems.push(problem);
                (None, problems)
            }
        }
    }

    /// Fills in the reference.
    fn reference(
        &self,
        table: &ExternalTable,
        mut declaration: Declaration,
        place: &SourceLocation,
    ) -> Result<Declaration, Problem> {
        let Some(reference) = &table.reference else { return Ok(declaration) };
        let place = SourceLocation { line: self.place(reference.span()).line, ..place.key("reference") };
        let function = match reference.get_ref() {
            ReferenceTable::One(text) => {
                declaration.reference = vec![text.clone()];
                return Ok(declaration);
            }
            ReferenceTable::Many(texts) => {
                declaration.reference.clone_from(texts);
                return Ok(declaration);
            }
            ReferenceTable::Function(function) => function,
        };
        let file = normalise("", &function.file).unwrap_or_else(|| function.file.clone());
        let unreadable = |name: &str, message: &str| {
            let kind = ProblemKind::File { path: self.file(name), message: message.to_owned() };
            Problem::new(place.clone(), kind)
        };
        let text = match self.files.get(&function.file) {
            Some(Ok(text)) => text.as_str(),
            Some(Err(message)) => return Err(unreadable(&function.file, message)),
            None => return Err(unreadable(&function.file, "it is outside the manifest's directory")),
        };
        let mut problem = None;
        let files = vec![function.file.as_str()];
        let mut sources =
            self.headers(files, std::iter::empty(), &table.header_dirs, &mut |name, message| {
                problem = Some(unreadable(name, message));
            });
        if let Some(problem) = problem {
            return Err(problem);
        }
        sources.insert(file.clone(), text.into());
        let made = declaration.reference_function(&file, sources, &function.func);
        made.map_err(|error| Problem::new(place, ProblemKind::External { message: chain(&error) }))
    }

    /// Fills in the params and their types.
    fn params(
        &self,
        table: &ExternalTable,
        place: &SourceLocation,
        declaration: &mut Declaration,
    ) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut wrong = |key: &str, span: std::ops::Range<usize>, message: String| {
            let place = SourceLocation { line: self.place(span).line, ..place.key(key) };
            problems.push(Problem::new(place, ProblemKind::External { message }));
        };
        for (name, value) in &table.params {
            match params::value(value.get_ref()) {
                Some(value) => drop(declaration.params.insert(name.clone(), value)),
                None => {
                    let expected = "invalid: expected a boolean, a number, a name, or a list of numbers";
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

    /// Returns the own headers that `files` include and the explicitly listed ones, by name. A header that cannot be
    /// read is passed to `unreadable` with the reason.
    fn headers<'a>(
        &'a self,
        mut files: Vec<&'a str>,
        asked: impl Iterator<Item = &'a str>,
        directories: &[String],
        unreadable: &mut dyn FnMut(&str, &str),
    ) -> precast_codegen::SourceSet {
        let exists = |candidate: &str| self.files.contains_key(candidate);
        let mut found = precast_codegen::SourceSet::new();
        let mut pending: Vec<String> =
            asked.filter_map(|header| own_header(header, directories, exists)).collect();
        loop {
            while let Some((own, read)) = pending.pop().and_then(|own| self.files.get_key_value(&own)) {
                match read {
                    Ok(_) if found.contains_key(own) => {}
                    Ok(text) => {
                        found.insert(own.clone(), text.as_str().into());
                        files.push(own);
                    }
                    Err(reason) => unreadable(own, reason),
                }
            }
            let Some(name) = files.pop() else { return found };
            if let Some(Ok(text)) = self.files.get(name) {
                let own = |include| own_file(name, &include, directories, exists).ok().flatten();
                pending.extend(includes(text).into_iter().filter_map(own));
            }
        }
    }

    fn absolute(&self, directory: &str) -> String {
        let path = self.file(directory);
        let path = fs_err::canonicalize(&path).unwrap_or(path);
        path.to_string_lossy().into_owned()
    }

    /// Returns the place of the key that caused an error.
    fn external_place(
        &self,
        table: &ExternalTable,
        error: &ExternalError,
        place: &SourceLocation,
    ) -> SourceLocation {
        let at = |span: Option<std::ops::Range<usize>>, key: &str| SourceLocation {
            line: span.map_or(place.line, |span| self.place(span).line),
            ..place.key(key)
        };
        let func = || table.func.as_ref().map(Spanned::span);
        match error {
            ExternalError::Name { .. } => at(None, "name"),
            ExternalError::FuncForm { .. }
            | ExternalError::FuncMissing { .. }
            | ExternalError::FuncArity { .. }
            | ExternalError::FuncVoid { .. }
            | ExternalError::CodeAndFunc { .. } => at(func(), "func"),
            ExternalError::Pattern { text, .. } | ExternalError::PatternType { text, .. } => {
                let is = |item: &&Spanned<String>| item.get_ref().trim() == text;
                match table.inputs.iter().find(is) {
                    Some(input) => at(Some(input.span()), "inputs"),
                    None => at(table.outputs.iter().find(is).map(Spanned::span), "outputs"),
                }
            }
            ExternalError::Setting { key: "reference", .. } => self.reference_place(table, place),
            ExternalError::Setting { key, .. } => at(None, key),
            ExternalError::Param { param, .. } => at(table.params.get(param).map(Spanned::span), "params"),
            _ => at(table.files.first().map(Spanned::span), "files"),
        }
    }
}
