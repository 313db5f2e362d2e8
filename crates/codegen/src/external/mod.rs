//! `ExternalCOp`: an op with C code in its own files, divided by `#section` tags.
//!
//! ```text
//! Declaration ──▶ section   splits files into parts, each with its file and line
//!                 includes  gives own headers logical names `<op>/<file>`
//!                 pattern   types of inputs and outputs with type variables: {T}[?], upcast(T, U)[?]
//!                 function  func: is it defined, and does it take that many arguments
//!                 macros    APPLY_SPECIFIC, DTYPE_INPUT_0, FAIL, …: where they are defined, and where they must not be used
//!                      │
//!                      ▼
//!            ExternalCOp ── code ──▶ the methods of COp: parts with their macros and `#line` directives
//!                      └─── props ─▶ JSON, and back
//! ```
//! Mistakes that need no compiler are reported with file and line when the op is created. Compiler errors and gdb show
//! the author's files too: `#line` maps each part to its file, and later code back to the generated text.
//!
//! # Language
//! `language` in the declaration determines the language. Without it, an op is C++ if a file name ends with `.cc`,
//! `.cpp` or `.cxx`, or if a section contains tokens that exist only in C++ (`::`, `template`, …). An op is also C++ if
//! it has a section `support_code_struct` and never uses `self->`: only C++ can access members of the struct by bare
//! names, as Theano's tutorials do. The form `self->APPLY_SPECIFIC(member)` works in C and C++. Everything else is C.
//!
//! # C API
//! An op that uses names of Python or NumPy (`PyArray_DATA`, `npy_float64`, …) or includes their headers gets the
//! compat headers. Its tensors are `PyArrayObject *`, and `DTYPE_INPUT_0` is `npy_float32`. Any other op gets
//! `pc_tensor *` and `pc_f32`. A function whose first parameter is a `pc_context *` receives the context of the call.

mod balance;
mod code;
mod declaration;
mod error;
mod function;
mod includes;
mod macros;
mod param_types;
mod params;
mod pattern;
mod props;
mod reference;
mod section;

pub use declaration::Declaration;
pub use error::{ExternalError, SourceLine};
pub use includes::{Include, header, includes, normalise, own_file, own_header};

pub(crate) use props::NAME;

use crate::module::SourceSet;
use crate::tokens::{Kind, tokens};
use function::Function;
use pattern::{Bindings, Pattern, Repeat};
use precast_abi::compat;
use precast_core::names::is_hidden;
use precast_graph::{Array, DType, MakeNodeError, Op, PerformError, Props, Type};
use precast_store::event::chain;
use precast_store::key::Language;
use section::{Part, Section};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// An op with C code in files with sections. The [module documentation](self) describes the supported features.
#[derive(Clone)]
pub struct ExternalCOp {
    declaration: Declaration,
    parts: Vec<Part>,
    /// The op's own headers by logical name.
    sources: SourceSet,
    inputs: Vec<Pattern>,
    outputs: Vec<Pattern>,
    function: Option<Function>,
    language: Language,
    is_compat: bool,
    evaluate: Option<Evaluate>,
}

/// A function that evaluates the reference of an op on some inputs. A library of ops provides it.
pub type Evaluate = fn(&ExternalCOp, &[&Array]) -> Result<Vec<Array>, PerformError>;

impl ExternalCOp {
    /// Creates an op from a declaration.
    ///
    /// # Errors
    /// Fails on any mistake that can be detected without a compiler; see [`ExternalError`].
    pub fn new(declaration: Declaration) -> Result<Self, ExternalError> {
        let declaration = plain_paths(declaration);
        let op = declaration.name.as_str();
        check_names(&declaration)?;
        let own = includes::Own { op, sources: &declaration.sources, directories: &declaration.header_dirs };
        let mut parts = Vec::new();
        for (name, text) in &declaration.files {
            for mut part in section::split(&format!("{op}/{name}"), text)? {
                part.text = own.rewrite(name, part.line, &part.text)?;
                parts.push(part);
            }
        }
        let mut sources = SourceSet::new();
        for (name, text) in &declaration.sources {
            sources.insert(format!("{op}/{name}"), own.rewrite(name, 1, text)?.into());
        }
        let inputs =
            declaration.inputs.iter().map(|text| Pattern::input(text)).collect::<Result<Vec<_>, _>>()?;
        let output = |text: &String| Pattern::output(text, &inputs);
        let outputs = declaration.outputs.iter().map(output).collect::<Result<Vec<_>, _>>()?;
        let func = declaration.func.as_deref();
        let function = func.map(|func| Function::find(op, func, &parts, &sources)).transpose()?;
        let (language, is_compat) =
            (language(&declaration, &parts), is_compat(&declaration, &parts, &sources));
        let evaluate = None;
        let op =
            Self { declaration, parts, sources, inputs, outputs, function, language, is_compat, evaluate };
        op.check()?;
        Ok(op)
    }

    /// Creates the op from its props: the JSON form `external`.
    ///
    /// # Errors
    /// Fails if props are missing, unknown or of the wrong kind, or if [`ExternalCOp::new`] rejects the declaration.
    pub fn from_props(props: &Props) -> Result<Self, MakeNodeError> {
        let declaration = props::declaration(props)?;
        let op = declaration.name.clone();
        Self::new(declaration).map_err(|error| {
            MakeNodeError::prop(NAME, "files", format!("of `{op}` cannot be used: {}", chain(&error)))
        })
    }

    /// Restricts the type variables to the given dtypes.
    #[must_use]
    pub fn with_dtypes(mut self, dtypes: BTreeMap<String, Vec<DType>>) -> Self {
        self.declaration.dtypes = dtypes;
        self
    }

    /// Sets the function that evaluates the op's reference; without it, evaluation fails.
    #[must_use]
    pub fn with_evaluate(self, evaluate: Evaluate) -> Self {
        Self { evaluate: Some(evaluate), ..self }
    }

    /// Returns the declaration.
    #[must_use]
    pub fn declaration(&self) -> &Declaration {
        &self.declaration
    }

    /// Returns the language: C or C++.
    #[must_use]
    pub fn language(&self) -> Language {
        self.language
    }

    /// Returns the sorted names of the type variables: `T` and `U` of `["{T}[?]", "{U}[?]"]`.
    #[must_use]
    pub fn type_names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.inputs.iter().flat_map(Pattern::names).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Returns whether an input may have any number of dimensions.
    #[must_use]
    pub fn has_open_rank(&self) -> bool {
        self.inputs.iter().any(Pattern::is_any_rank)
    }

    /// Returns the types of the inputs for the given dtypes and, where left open, rank `ndim`; `None` if a dtype is
    /// missing. There is one list for each number of inputs: optional inputs are omitted, then added one by one.
    #[must_use]
    pub fn input_types(&self, dtypes: &BTreeMap<String, DType>, ndim: usize) -> Option<Vec<Vec<Type>>> {
        let all = self.inputs.iter().map(|pattern| pattern.with(dtypes, ndim)).collect::<Option<Vec<_>>>()?;
        let least = self.inputs.iter().filter(|pattern| pattern.repeat == Repeat::Once).count();
        Some((least..=all.len()).map(|count| all[..count].to_vec()).collect())
    }

    /// Returns the numbers of inputs and outputs passed to the function, for an Apply with the given numbers.
    fn called_with(&self, found: [usize; 2]) -> [usize; 2] {
        let [inputs, outputs] = self.most();
        [inputs.unwrap_or(found[0]).max(found[0]), outputs.unwrap_or(found[1]).max(found[1])]
    }

    /// Returns the maximum numbers of inputs and outputs; `None` if unlimited.
    fn most(&self) -> [Option<usize>; 2] {
        let many = self.inputs.iter().any(|pattern| pattern.repeat == Repeat::Many);
        let inputs = self.declaration.max_inputs.or((!many).then_some(self.inputs.len()));
        [inputs, Some(self.declaration.max_outputs.unwrap_or(self.outputs.len()))]
    }

    /// Runs the checks that need the complete op.
    fn check(&self) -> Result<(), ExternalError> {
        let d = &self.declaration;
        let code = self.parts.iter().find(|part| part.section == Section::Code && !part.is_blank());
        match (code, &self.function) {
            (Some(part), Some(_)) => return Err(ExternalError::CodeAndFunc { place: part.place(0) }),
            (None, None) => return Err(ExternalError::NoCode { op: d.name.clone() }),
            _ => {}
        }
        balance::check(&self.parts)?;
        check_settings(d, &self.inputs, &self.outputs)?;
        self.check_params()?;
        d.headers.iter().try_for_each(|header| includes::header(header).map(drop))?;
        let params: Vec<String> = d.params.keys().cloned().collect();
        let most = self.most();
        macros::check(&self.parts, &macros::Known { most, check_input: d.check_input, params: &params })?;
        if self.language == Language::C {
            macros::check_returns(&self.parts)?;
        }
        match (&self.function, most) {
            (Some(function), [Some(inputs), Some(outputs)]) => {
                function.check([inputs, outputs], !params.is_empty())
            }
            _ => Ok(()),
        }
    }

    fn wrong_count(&self, found: usize) -> Option<MakeNodeError> {
        let least = self.inputs.iter().filter(|pattern| pattern.repeat == Repeat::Once).count();
        let most = self.most()[0].unwrap_or(usize::MAX);
        let expected = match most {
            _ if (least..=most).contains(&found) => return None,
            usize::MAX => format!("{least} or more"),
            most if least == most => least.to_string(),
            most => format!("{least} to {most}"),
        };
        Some(MakeNodeError::Arity { op: self.declaration.name.clone(), expected, found })
    }
}

impl fmt::Debug for ExternalCOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExternalCOp").field("name", &self.declaration.name).finish_non_exhaustive()
    }
}

impl Op for ExternalCOp {
    fn name(&self) -> &str {
        NAME
    }

    fn label(&self) -> String {
        self.declaration.name.clone()
    }

    fn props(&self) -> Props {
        props::props(&self.declaration)
    }

    fn params(&self) -> Vec<String> {
        self.declaration.params.keys().cloned().collect()
    }

    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        if let Some(error) = self.wrong_count(inputs.len()) {
            return Err(error);
        }
        let op = self.declaration.name.as_str();
        let mut bindings = Bindings::new(self.declaration.dtypes.clone());
        for (position, ty) in inputs.iter().enumerate() {
            // Additional inputs use the pattern of the last one.
            let pattern = self.inputs.get(position).or(self.inputs.last());
            pattern.map_or(Ok(()), |pattern| pattern.bind(op, position, ty, &mut bindings))?;
        }
        self.outputs.iter().map(|pattern| pattern.fill(op, &bindings)).collect()
    }

    fn perform(&self, inputs: &[&Array]) -> Result<Vec<Array>, PerformError> {
        match self.evaluate {
            Some(evaluate) if !self.declaration.reference.is_empty() => evaluate(self, inputs),
            _ => Err(PerformError::NoReference { op: self.declaration.name.clone() }),
        }
    }

    fn view_map(&self) -> Vec<(usize, usize)> {
        self.declaration.view_map.clone()
    }

    fn destroy_map(&self) -> Vec<(usize, usize)> {
        self.declaration.destroy_map.clone()
    }
}

/// Normalizes relative paths: `./src//f.c` becomes `src/f.c`.
fn plain_paths(mut declaration: Declaration) -> Declaration {
    let plain = |name: &str| match normalise("", name) {
        Some(plain) if !name.starts_with('/') => plain,
        _ => name.to_owned(),
    };
    declaration.files.iter_mut().for_each(|(name, _)| *name = plain(name));
    declaration.header_dirs.iter_mut().for_each(|name| *name = plain(name));
    declaration.sources =
        declaration.sources.iter().map(|(name, text)| (plain(name), text.clone())).collect();
    declaration
}

fn check_names(declaration: &Declaration) -> Result<(), ExternalError> {
    let name = &declaration.name;
    let valid = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !valid {
        return Err(ExternalError::Name { found: name.clone() });
    }
    let mut known = std::collections::BTreeSet::new();
    let files = declaration.files.iter().map(|(name, _)| name).chain(declaration.sources.keys());
    for name in files {
        let plain = normalise("", name).as_ref() == Some(name) && !name.is_empty();
        if !plain || name.contains(|c| is_hidden(c) || matches!(c, '\\' | ':' | '"')) {
            return Err(ExternalError::FileName { found: name.clone() });
        }
        if !known.insert(name) {
            return Err(ExternalError::FileTwice { name: name.clone() });
        }
    }
    Ok(())
}

fn check_settings(d: &Declaration, inputs: &[Pattern], outputs: &[Pattern]) -> Result<(), ExternalError> {
    let wrong = |key, problem: String| Err(ExternalError::Setting { key, problem });
    let once = inputs.iter().rposition(|pattern| pattern.repeat == Repeat::Once);
    let early = inputs.iter().position(|pattern| pattern.repeat != Repeat::Once);
    if early.zip(once).is_some_and(|(early, once)| early < once) {
        return wrong("inputs", "has an optional input before a required one".to_owned());
    }
    let many = inputs.iter().position(|pattern| pattern.repeat == Repeat::Many);
    if many.is_some_and(|many| many + 1 < inputs.len()) {
        return wrong("inputs", "has a variadic input that is not the last".to_owned());
    }
    if outputs.is_empty() {
        return wrong("outputs", "is empty".to_owned());
    }
    if !d.reference.is_empty() && d.reference.len() != outputs.len() {
        let problem = format!("has {} expression(s) for {} output(s)", d.reference.len(), outputs.len());
        return wrong("reference", problem);
    }
    for (key, most, count) in
        [("max_inputs", d.max_inputs, inputs.len()), ("max_outputs", d.max_outputs, outputs.len())]
    {
        if let Some(most) = most.filter(|most| *most < count) {
            return wrong(key, format!("is {most}, less than the {count} declared"));
        }
    }
    for (key, map) in [("view_map", &d.view_map), ("destroy_map", &d.destroy_map)] {
        let outside = |(output, input): &&(usize, usize)| *output >= outputs.len() || *input >= inputs.len();
        if let Some((output, input)) = map.iter().find(outside) {
            return wrong(
                key,
                format!(
                    "has invalid positions [{output}, {input}], expected those of an output and an input"
                ),
            );
        }
    }
    if let Some(name) = d.param_types.keys().find(|name| !d.params.contains_key(*name)) {
        return wrong("param_types", format!("has unknown param `{name}`"));
    }
    match d.params.keys().find(|name| props::KEYS.contains(&name.as_str())) {
        Some(name) => wrong("params", format!("has `{name}`, which is the name of a setting")),
        None => Ok(()),
    }
}

/// Keywords that do not occur in C.
const CXX_WORDS: [&str; 8] = [
    "template",
    "typename",
    "namespace",
    "static_cast",
    "reinterpret_cast",
    "const_cast",
    "dynamic_cast",
    "nullptr",
];

/// Returns C++ if the declaration says so or the text can only be C++, otherwise C.
fn language(declaration: &Declaration, parts: &[Part]) -> Language {
    if let Some(language) = declaration.language {
        return language;
    }
    let is_cxx_file = |(name, _): &(String, Arc<str>)| {
        [".cc", ".cpp", ".cxx"].iter().any(|extension| name.ends_with(extension))
    };
    let (mut cxx, mut says_self) = (declaration.files.iter().any(is_cxx_file), false);
    for part in parts {
        let found = tokens(&part.text);
        cxx |= found.iter().any(|t| t.is("::") || CXX_WORDS.iter().any(|word| t.is(word)));
        says_self |= found.windows(2).any(|pair| pair[0].is("self") && pair[1].is("->"));
    }
    let has_members = parts.iter().any(|p| p.section == Section::SupportCodeStruct && !p.is_blank());
    if cxx || (has_members && !says_self) { Language::Cxx } else { Language::C }
}

/// Returns whether the op uses a name or header of Python or NumPy.
fn is_compat(declaration: &Declaration, parts: &[Part], sources: &SourceSet) -> bool {
    if declaration.headers.iter().any(|header| compat::is_header(header)) {
        return true;
    }
    let texts = parts.iter().map(|part| part.text.as_str()).chain(sources.values().map(|text| &**text));
    texts.into_iter().any(|text| {
        includes(text).iter().any(|include| compat::is_header(&include.name))
            || tokens(text).iter().any(|token| token.kind == Kind::Word && compat::is_name(token.text))
    })
}
