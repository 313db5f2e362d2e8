//! Resolves tables to the declared set: names to ops, texts to graphs.

use super::{GraphTable, Manifest, OpTable};
use crate::declared::{Declared, matrix};
use crate::place::SourceLocation;
use crate::problem::{DeclareError, Problem, ProblemKind};
use precast_compile::Isa;
use precast_core::Metadata;
use precast_core::event::chain;
use precast_graph::text::ParseTextError;
use precast_graph::{DeclaredType, FunctionGraph, json, text};
use precast_ops::rewrite::stabilise;
use precast_ops::{Ops, Serve, value_and_grad};
use std::collections::BTreeMap;
use toml::Spanned;

/// Returns metadata with the documentation of a graph.
fn documented(doc: &str) -> Metadata {
    Metadata { documentation: doc.trim().to_owned(), ..Metadata::default() }
}

impl Manifest {
    /// Adds all declarations of this manifest to `declared`: its ops first, since its matrices and graphs may call
    /// them. Planning later checks that the ops support the requested dtypes and ranks.
    ///
    /// # Errors
    /// Fails with every problem of every table, of the target and of the ISA levels. The valid parts are added
    /// nevertheless, so that [`crate::plan()`] can find more problems.
    pub fn declare(&self, declared: &mut Declared) -> Result<(), DeclareError> {
        let mut problems = self.declare_ops(declared);
        problems.extend(self.unknown_target());
        problems.extend(self.isa().err().into_iter().flat_map(|error| error.problems));
        problems.extend(self.declare_uses(declared, &[]));
        DeclareError::check(problems)
    }

    /// Returns the library extended by this manifest's external ops, for graphs that call them by name.
    ///
    /// # Errors
    /// Fails with every problem of every external op.
    pub fn ops(&self, library: Ops) -> Result<Ops, DeclareError> {
        let mut declared = Declared::new(library);
        DeclareError::check(self.declare_ops(&mut declared))?;
        Ok(self.own_first(declared.ops(), &[]))
    }

    /// Returns a library that prefers the ops of this manifest, and those in `others`, over built-in ops of the same
    /// name.
    fn own_first(&self, ops: &Ops, others: &[String]) -> Ops {
        let names = self.document.external.iter().map(|table| table.get_ref().name.get_ref());
        ops.clone().preferring(names.chain(others).cloned())
    }

    /// Adds the external ops, and returns the schema errors followed by the problems of these ops.
    pub(crate) fn declare_ops(&self, declared: &mut Declared) -> Vec<Problem> {
        let mut problems = self.misread.clone();
        self.unmade.iter().for_each(|name| declared.unmade(name));
        problems.extend(self.externals(declared));
        problems
    }

    /// Adds matrices and graphs; their ops were added before. The ops of this manifest and those in `script` take
    /// precedence over library ops, because the library may gain ops of the same name later.
    pub(crate) fn declare_uses(&self, declared: &mut Declared, script: &[String]) -> Vec<Problem> {
        let mut problems = Vec::new();
        let ops = self.own_first(declared.ops(), script);
        for table in &self.document.op {
            let (mut matrix, found) = self.matrix(table);
            matrix.is_own = ops.prefers(&matrix.name);
            declared.op(matrix);
            problems.extend(found);
        }
        let mut names = BTreeMap::new();
        for spanned in &self.document.graph {
            let (name, place) = (spanned.get_ref().name.get_ref(), self.graph_place(spanned));
            // A manifest must not repeat a name, even for equal graphs: the second table is a mistake.
            if let Some(first) = names.insert(name, place.clone()) {
                let kind = ProblemKind::DuplicateGraph { name: name.clone(), first: Box::new(first) };
                problems.push(Problem::new(place, kind));
                continue;
            }
            let graph = self.graph(spanned.get_ref(), &place, declared, &ops);
            let (serve, found) = self.serve(spanned.get_ref(), &place);
            problems.extend(found);
            let graph = match graph {
                Ok(graph) => graph,
                Err(found) => {
                    problems.extend(found);
                    continue;
                }
            };
            let doc = documented(&spanned.get_ref().doc);
            if let Some(gradients) = self.gradients(spanned.get_ref(), &place, &graph) {
                let name = format!("{name}.value_and_grad");
                let added =
                    gradients.and_then(|graph| declared.graph_served(&name, graph, &serve, place.clone()));
                match added {
                    Ok(()) => declared.describe(&name, doc.clone()),
                    Err(problem) => problems.push(problem),
                }
            }
            match declared.graph_served(name, graph, &serve, place) {
                Ok(()) => declared.describe(name, doc),
                Err(problem) => problems.push(problem),
            }
        }
        problems.extend(self.bundle_metadata(declared));
        problems
    }

    /// Adds the metadata of the bundle.
    fn bundle_metadata(&self, declared: &mut Declared) -> Option<Problem> {
        let json = self.document.json.as_ref()?;
        let texts = json.get_ref().iter().map(|(key, value)| (key.clone(), value.to_string()));
        let metadata = Metadata { json: texts.collect(), ..Metadata::default() };
        if let Err(error) = metadata.check() {
            let kind = ProblemKind::Syntax { message: chain(&error) };
            return Some(Problem::new(self.place(json.span()).key("json"), kind));
        }
        declared.describe("", metadata);
        None
    }

    /// Returns the requested ISA levels; `None` if the manifest leaves the choice to the target.
    ///
    /// # Errors
    /// Fails if a level is unknown.
    pub fn isa(&self) -> Result<Option<Vec<Isa>>, DeclareError> {
        let Some(levels) = &self.document.isa else { return Ok(None) };
        let (mut found, mut problems) = (Vec::new(), Vec::new());
        for level in levels {
            match level.get_ref().parse() {
                Ok(level) => found.push(level),
                Err(error) => {
                    let kind = ProblemKind::Isa { message: chain(&error) };
                    problems.push(Problem::new(self.place(level.span()).key("isa"), kind));
                }
            }
        }
        DeclareError::check(problems).map(|()| Some(found))
    }

    /// Returns the problem of an unknown target, if any.
    fn unknown_target(&self) -> Option<Problem> {
        let target =
            self.document.target.as_ref().filter(|target| Isa::defaults(target.get_ref()).is_empty())?;
        let kind = ProblemKind::Target { found: target.get_ref().clone() };
        Some(Problem::new(self.place(target.span()).key("target"), kind))
    }

    fn matrix(&self, spanned: &Spanned<OpTable>) -> (crate::Matrix, Vec<Problem>) {
        let table = spanned.get_ref();
        let place =
            SourceLocation { table: Some(self.tables.title(&table.name)), ..self.place(table.name.span()) };
        let at = |span, key| SourceLocation { line: self.place(span).line, ..place.key(key) };
        let dtypes: Vec<(&str, SourceLocation)> =
            table.dtypes.iter().map(|item| (item.get_ref().as_str(), at(item.span(), "dtypes"))).collect();
        let ndim: Vec<(usize, SourceLocation)> =
            table.ndim.iter().map(|item| (*item.get_ref(), at(item.span(), "ndim"))).collect();
        matrix(table.name.get_ref(), &dtypes, &ndim, place)
    }

    fn graph_place(&self, spanned: &Spanned<GraphTable>) -> SourceLocation {
        let name = &spanned.get_ref().name;
        SourceLocation { table: Some(self.tables.title(name)), ..self.place(name.span()) }
    }

    fn graph(
        &self,
        table: &GraphTable,
        place: &SourceLocation,
        declared: &Declared,
        ops: &Ops,
    ) -> Result<FunctionGraph, Vec<Problem>> {
        let graph = self.graph_as_written(table, place, declared, ops)?;
        if !table.stabilise {
            return Ok(graph);
        }
        stabilise(&graph).map_err(|error| {
            vec![Problem::new(place.clone().key("stabilise"), ProblemKind::Graph { message: chain(&error) })]
        })
    }

    /// Returns the graph of a cost and its gradients; `None` if the table asks for none.
    fn gradients(
        &self,
        table: &GraphTable,
        place: &SourceLocation,
        graph: &FunctionGraph,
    ) -> Option<Result<FunctionGraph, Problem>> {
        let first = table.gradients.first()?;
        let place = SourceLocation { line: self.place(first.span()).line, ..place.clone().key("gradients") };
        let names: Vec<&str> = table.gradients.iter().map(|name| name.get_ref().as_str()).collect();
        let refused = |error| Problem::new(place, ProblemKind::Graph { message: chain(&error) });
        Some(value_and_grad(graph, &names).map_err(refused))
    }

    fn graph_as_written(
        &self,
        table: &GraphTable,
        place: &SourceLocation,
        declared: &Declared,
        ops: &Ops,
    ) -> Result<FunctionGraph, Vec<Problem>> {
        let one = |problem| vec![problem];
        match (&table.file, &table.json, &table.inputs, &table.outputs) {
            (Some(file), None, None, None) => self.graph_of_file(file, place, declared).map_err(one),
            (None, Some(json), None, None) => self.graph_of_json(json, place, declared).map_err(one),
            (None, None, Some(inputs), Some(outputs)) => {
                self.graph_of_text([inputs, outputs], place, declared, ops)
            }
            (file, json, inputs, outputs) => {
                let present = [
                    ("file", file.is_some()),
                    ("json", json.is_some()),
                    ("inputs", inputs.is_some()),
                    ("outputs", outputs.is_some()),
                ];
                let present: Vec<String> =
                    present.iter().filter(|(_, is)| *is).map(|(key, _)| format!("`{key}`")).collect();
                let found = if present.is_empty() { "none of them".to_owned() } else { present.join(", ") };
                Err(one(Problem::new(place.clone(), ProblemKind::GraphForm { found })))
            }
        }
    }

    fn graph_of_file(
        &self,
        file: &Spanned<String>,
        place: &SourceLocation,
        declared: &Declared,
    ) -> Result<FunctionGraph, Problem> {
        let place = SourceLocation { line: self.place(file.span()).line, ..place.key("file") };
        let path = self.file(file.get_ref());
        match self.files.get(file.get_ref()) {
            Some(Ok(text)) => json::parse(text, declared.ops()).map_err(|error| {
                let message = format!("in `{}`: {}", path.display(), chain(&error));
                Problem::new(place, ProblemKind::Graph { message })
            }),
            Some(Err(message)) => {
                Err(Problem::new(place, ProblemKind::File { path, message: message.clone() }))
            }
            None => Err(Problem::new(place, ProblemKind::File { path, message: "not read".to_owned() })),
        }
    }

    fn graph_of_json(
        &self,
        json: &Spanned<String>,
        place: &SourceLocation,
        declared: &Declared,
    ) -> Result<FunctionGraph, Problem> {
        let place = SourceLocation { line: self.place(json.span()).line, ..place.key("json") };
        json::parse(json.get_ref(), declared.ops()).map_err(|error| {
            let message = chain(&error);
            Problem::new(place, ProblemKind::Graph { message })
        })
    }

    fn serve(&self, table: &GraphTable, place: &SourceLocation) -> (Vec<Serve>, Vec<Problem>) {
        let (mut serve, mut problems) = (Vec::new(), Vec::new());
        for word in &table.serve {
            match Serve::ALL.into_iter().find(|known| known.name() == word.get_ref()) {
                Some(known) => serve.push(known),
                None => {
                    let place = SourceLocation { line: self.place(word.span()).line, ..place.key("serve") };
                    let kind = ProblemKind::Serve { found: word.get_ref().clone() };
                    problems.push(Problem::new(place, kind));
                }
            }
        }
        (serve, problems)
    }

    /// Returns the line of the manifest that holds a line of a text, counted from 1. Escapes can add or join lines; the
    /// first line of the text is then returned.
    fn line(&self, text: &Spanned<String>, line: usize) -> usize {
        let first = self.lines.number(text.span().start);
        let raw = self.text.get(text.span()).unwrap_or_default();
        let inner = match raw.strip_prefix("'''") {
            Some(inner) => inner,
            None => raw.strip_prefix("\"\"\"").filter(|raw| !raw.contains('\\')).unwrap_or_default(),
        };
        // A line break after the opening quotes is not part of the text.
        let skipped = usize::from(inner.starts_with('\n') || inner.starts_with("\r\n"));
        if inner.is_empty() { first } else { first + skipped + line - 1 }
    }

    fn graph_of_text(
        &self,
        [inputs, outputs]: [&[Spanned<String>]; 2],
        place: &SourceLocation,
        declared: &Declared,
        ops: &Ops,
    ) -> Result<FunctionGraph, Vec<Problem>> {
        let at = |span, key| SourceLocation { line: self.place(span).line, ..place.key(key) };
        let (mut parsed, mut problems) =
            (Vec::<(String, DeclaredType)>::with_capacity(inputs.len()), Vec::new());
        for input in inputs {
            let message = match text::parse_input(input.get_ref()) {
                Ok((name, _)) if parsed.iter().any(|(known, _)| *known == name) => {
                    format!("duplicate name `{name}`")
                }
                Ok(input) => {
                    parsed.push(input);
                    continue;
                }
                Err(error) => chain(&error),
            };
            problems.push(Problem::new(at(input.span(), "inputs"), ProblemKind::Graph { message }));
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        let texts: Vec<&str> = outputs.iter().map(|output| output.get_ref().as_str()).collect();
        text::parse_used(&texts, &parsed, ops).map_err(|error| {
            let output = error.place().and_then(|place| place.output).or((outputs.len() == 1).then_some(0));
            let place = match output.and_then(|position| outputs.get(position)) {
                Some(output) => {
                    let line = error.place().map_or(1, |place| place.line);
                    SourceLocation { line: Some(self.line(output, line)), ..place.key("outputs") }
                }
                None => place.clone(),
            };
            let message = match &error {
                ParseTextError::UnknownFunction { found, .. } if declared.is_unmade(found) => {
                    format!("calls `{found}`, whose `[[external]]` is invalid")
                }
                error => chain(error),
            };
            vec![Problem::new(place, ProblemKind::Graph { message })]
        })
    }
}
