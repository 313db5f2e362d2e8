//! The C code of an external op: its parts, each surrounded by its macros and with its own file and line.
//!
//! ```c
//! #define APPLY_SPECIFIC(str) str##_@M@_n0
//! …
//! #line 12 "vector_times_vector/vector_times_vector.c"
//! …the text of the part, unchanged…
//! #line @LINE@
//! #undef APPLY_SPECIFIC
//! …
//! ```
//! [`crate::Unit::text`] replaces `@LINE@` with the line and name of the unit. So compiler errors in an author's code
//! refer to the author's file, and errors in generated code refer to the unit.

use super::ExternalCOp;
use super::includes::own_header;
use super::macros::{Defined, numpy_name};
use super::section::{Part, Section};
use crate::cop::{COp, Node};
use crate::error::LinkError;
use crate::module::SourceSet;
use crate::object::{CCompiler, CLinkerObject, CacheVersion};
use crate::params::{self, ParamsType};
use crate::sub::Sub;
use crate::template::{escape, render};
use precast_abi::compat;
use precast_store::key::Language;

/// The names that a part may use in addition to the types.
#[derive(Default)]
struct Scope<'a> {
    sub: Option<&'a Sub>,
    inputs: &'a [String],
    outputs: &'a [String],
}

impl ExternalCOp {
    fn parts(&self, section: Section) -> impl Iterator<Item = &Part> {
        self.parts.iter().filter(move |part| part.section == section && !part.is_blank())
    }

    /// Returns a header in the form to include: the op's own headers get their logical name.
    fn header(&self, header: &str) -> String {
        let d = &self.declaration;
        let own = own_header(header, &d.header_dirs, |name| d.sources.contains_key(name));
        own.map_or_else(|| header.to_owned(), |own| format!("\"{}/{own}\"", d.name))
    }

    /// Returns the text of a section with `#line` directives to its file and back; empty if the section is missing.
    fn text(&self, section: Section) -> String {
        let mut text = String::new();
        for Part { file, line, text: part, .. } in self.parts(section) {
            let end = if part.ends_with('\n') { "" } else { "\n" };
            text.push_str(&format!("\n#line {line} \"{file}\"\n{}{end}#line @LINE@\n", escape(part)));
        }
        text
    }

    /// Returns the text of a section surrounded by its macros.
    fn section(&self, section: Section, node: &Node, name: &str, scope: &Scope<'_>) -> String {
        let text = self.text(section);
        if text.is_empty() {
            return text;
        }
        let mut macros = Defined::default();
        macros.add("APPLY_SPECIFIC(str)", &format!("str##_{name}"));
        if self.declaration.check_input {
            macros.types("INPUT", &node.inputs, self.is_compat);
            macros.types("OUTPUT", &node.outputs, self.is_compat);
        }
        self.param_macros(&mut macros, name);
        if let Some(sub) = scope.sub {
            macros.add("FAIL", &self.fail("the code", sub));
            if let Some(params) = &sub.params {
                macros.add("PARAMS", params);
            }
        }
        for (side, names) in [("INPUT", scope.inputs), ("OUTPUT", scope.outputs)] {
            for (position, name) in names.iter().enumerate() {
                macros.add(&format!("{side}_{position}"), name);
            }
        }
        format!("\n{}{text}{}", macros.define, macros.undefine)
    }

    /// Defines `PARAMS_TYPE`, and `DTYPE_PARAM_x` for each field that has elements.
    fn param_macros(&self, macros: &mut Defined, name: &str) {
        if self.declaration.params.is_empty() {
            return;
        }
        macros.add("PARAMS_TYPE", &params::type_name(name));
        // Fields without a type are reported where the struct is generated.
        let Ok(fields) = self.params_type() else { return };
        for field in self.declaration.params.keys() {
            let Some(element) = fields.c_element_type(field) else { continue };
            let dtype = element.strip_prefix("pc_").and_then(|name| name.parse().ok());
            let name = dtype.filter(|_| self.is_compat).map_or(element, numpy_name);
            macros.add(&format!("DTYPE_PARAM_{field}"), &name);
        }
    }

    /// Returns `sub.fail`, which sets a generic error if the code did not set one.
    fn fail(&self, who: &str, sub: &Sub) -> String {
        let message = format!("{}: {who} failed without setting an error", self.declaration.name);
        format!("{{ pc_error_set(ctx, PC_ERROR_RUNTIME, \"{message}\"); {} }}", sub.fail)
    }

    /// Returns the call of `func`.
    fn call(&self, name: &str, inputs: &[String], outputs: &[String], sub: &Sub) -> Option<String> {
        let function = self.function.as_ref()?;
        let [n_inputs, n_outputs] = self.called_with([inputs.len(), outputs.len()]);
        let padded = |list: Vec<String>, to: usize| {
            let missing = to.saturating_sub(list.len());
            list.into_iter().chain(std::iter::repeat_n("NULL".to_owned(), missing))
        };
        let context = function.takes_context.then(|| "ctx".to_owned());
        let addresses = outputs.iter().map(|output| format!("&{output}")).collect();
        let arguments: Vec<String> = context
            .into_iter()
            .chain(padded(inputs.to_vec(), n_inputs))
            .chain(padded(addresses, n_outputs))
            .chain(sub.params.clone())
            .collect();
        let mut macros = Defined::default();
        macros.add("APPLY_SPECIFIC(str)", &format!("str##_{name}"));
        Some(render(
            include_str!("../../c/external_call.c.in"),
            &[
                ("DEFINE", &macros.define),
                ("FUNC", &function.call),
                ("ARGUMENTS", &arguments.join(", ")),
                ("FAIL", &self.fail(&format!("`{}`", function.name), sub)),
                ("UNDEFINE", &macros.undefine),
            ],
        ))
    }
}

impl CLinkerObject for ExternalCOp {
    fn c_headers(&self) -> Vec<String> {
        let names = [compat::PYTHON, compat::NUMPY].into_iter().filter(|_| self.is_compat);
        names
            .map(str::to_owned)
            .chain(self.declaration.headers.iter().map(|header| self.header(header)))
            .collect()
    }

    fn c_header_dirs(&self) -> Vec<String> {
        let directories = self.declaration.header_dirs.iter();
        directories.filter(|directory| directory.starts_with('/')).cloned().collect()
    }

    fn c_libraries(&self) -> Vec<String> {
        self.declaration.libraries.clone()
    }

    fn c_lib_dirs(&self) -> Vec<String> {
        self.declaration.lib_dirs.clone()
    }

    fn c_compile_args(&self) -> Vec<String> {
        self.declaration.compile_args.clone()
    }

    /// Makes mismatched argument types errors in C, as C++ does.
    fn c_compile_args_for(&self, compiler: &CCompiler) -> Option<Vec<String>> {
        let strict = ["-Werror=incompatible-pointer-types", "-Werror=int-conversion"].map(str::to_owned);
        let strict = strict.into_iter().filter(|_| compiler.language == Language::C);
        Some(strict.chain(self.declaration.compile_args.iter().cloned()).collect())
    }

    fn c_no_compile_args(&self) -> Vec<String> {
        self.declaration.no_compile_args.clone()
    }

    fn c_init_code(&self) -> Vec<String> {
        vec![self.text(Section::InitCode)]
    }

    fn c_support_code(&self) -> Vec<String> {
        vec![self.text(Section::SupportCode)]
    }

    fn c_compiler(&self) -> Option<CCompiler> {
        (self.language == Language::Cxx).then_some(CCompiler { language: Language::Cxx })
    }

    fn c_code_cache_version(&self) -> CacheVersion {
        match &self.declaration.version {
            None => CacheVersion::Content,
            Some(version) if version.is_empty() => CacheVersion::Never,
            Some(version) => CacheVersion::Version(version.clone()),
        }
    }

    fn c_sources(&self) -> SourceSet {
        self.sources.clone()
    }
}

impl COp for ExternalCOp {
    fn c_code(
        &self,
        node: &Node,
        name: &str,
        inputs: &[String],
        outputs: &[String],
        sub: &Sub,
    ) -> Result<String, LinkError> {
        if let Some(function) = &self.function {
            let called = self.called_with([inputs.len(), outputs.len()]);
            function.check(called, sub.params.is_some()).map_err(|error| LinkError::External {
                op: self.declaration.name.clone(),
                source: Box::new(error),
            })?;
        }
        if let Some(call) = self.call(name, inputs, outputs, sub) {
            return Ok(call);
        }
        let code = self.section(Section::Code, node, name, &Scope { sub: Some(sub), inputs, outputs });
        // The clean-up sees the variables of the code, so the code gets its own scope only without a clean-up.
        let shares = self.parts(Section::CodeCleanup).next().is_some();
        Ok(if shares { code } else { format!("{{{code}}}\n") })
    }

    fn c_code_cleanup(
        &self,
        node: &Node,
        name: &str,
        inputs: &[String],
        outputs: &[String],
        sub: &Sub,
    ) -> String {
        self.section(Section::CodeCleanup, node, name, &Scope { sub: Some(sub), inputs, outputs })
    }

    fn c_support_code_apply(&self, node: &Node, name: &str) -> Result<String, LinkError> {
        Ok(self.section(Section::SupportCodeApply, node, name, &Scope::default()))
    }

    fn c_init_code_apply(&self, node: &Node, name: &str) -> String {
        self.section(Section::InitCodeApply, node, name, &Scope::default())
    }

    fn c_support_code_struct(&self, node: &Node, name: &str) -> String {
        self.section(Section::SupportCodeStruct, node, name, &Scope::default())
    }

    fn c_init_code_struct(&self, node: &Node, name: &str, sub: &Sub) -> String {
        self.section(Section::InitCodeStruct, node, name, &Scope { sub: Some(sub), ..Scope::default() })
    }

    fn c_cleanup_code_struct(&self, node: &Node, name: &str) -> String {
        self.section(Section::CleanupCodeStruct, node, name, &Scope::default())
    }

    fn c_files(&self) -> SourceSet {
        let d = &self.declaration;
        let files = d.files.iter().map(|(name, text)| (name, text)).chain(&d.sources);
        files.map(|(name, text)| (format!("{}/{name}", d.name), text.clone())).collect()
    }

    fn params_type(&self) -> Result<ParamsType, LinkError> {
        let d = &self.declaration;
        let derived: Vec<String> =
            d.params.keys().filter(|name| !d.param_types.contains_key(*name)).cloned().collect();
        let params = ParamsType::derive(&d.name, &derived, &d.params)?;
        Ok(d.param_types.iter().fold(params, |params, (name, ty)| {
            params.with(name, ty.clone().map_headers(|header| self.header(header)))
        }))
    }

    /// All external ops have the same name in JSON, so debuggers get the author's name.
    fn debug_names(&self) -> Vec<String> {
        vec![self.declaration.name.clone()]
    }

    fn check_input(&self) -> bool {
        self.declaration.check_input
    }

    fn f16_ok(&self) -> bool {
        self.declaration.f16_ok
    }

    /// The C code depends only on this crate and on the props, which are part of the graph's canonical form.
    fn content_id(&self) -> Option<String> {
        Some("external".to_owned())
    }
}
