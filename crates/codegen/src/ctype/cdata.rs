//! `CDataType`: a C pointer that the graph only passes on, with the function that frees it.
//!
//! One op creates the value and other ops of the same graph use it. The C variable is the bare pointer. A second
//! variable, `<name>_owned`, records whether the first must be freed:
//!
//! ```text
//! temporary of a whole-graph module   owned from init to cleanup: freed once when the call ends, even on failure
//! output of an op-by-op module        owned until c_sync moves it into a capsule; freed with the capsule's last reference
//! input of an op-by-op module         never owned: the capsule owns it
//! ```

use super::CType;
use crate::module::SourceSet;
use crate::object::{CLinkerObject, CacheVersion};
use crate::sub::Sub;
use crate::template::render;
use precast_graph::{DType, TypeRules};

/// The C side of an opaque type: a pointer with a destructor.
///
/// # Examples
/// ```
/// use precast_codegen::{CDataType, Library};
/// use std::sync::Arc;
///
/// // Values of the type `plan<opaque>`.
/// let plan = CDataType::new("plan", "struct plan *").free_func("plan_free").header("<plan.h>").library("plan");
/// let library = Library::new().with_type("plan", Arc::new(plan));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CDataType {
    name: String,
    ctype: String,
    free: Option<String>,
    headers: Vec<String>,
    header_dirs: Vec<String>,
    libraries: Vec<String>,
    lib_dirs: Vec<String>,
    compile_args: Vec<String>,
    support_code: Vec<String>,
    sources: SourceSet,
    version: CacheVersion,
}

impl CDataType {
    /// Creates a type of pointers with the C type `ctype`, including its star: `struct plan *`. `name` is the name of
    /// the graph's type.
    #[must_use]
    pub fn new(name: &str, ctype: &str) -> Self {
        Self { name: name.to_owned(), ctype: ctype.to_owned(), ..Self::default() }
    }

    /// Sets the function or macro that takes the pointer and frees the object. It is never called with NULL.
    #[must_use]
    pub fn free_func(mut self, function: &str) -> Self {
        self.free = Some(function.to_owned());
        self
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, header: &str) -> Self {
        self.headers.push(header.to_owned());
        self
    }

    /// Adds a directory to search for headers.
    #[must_use]
    pub fn header_dir(mut self, dir: &str) -> Self {
        self.header_dirs.push(dir.to_owned());
        self
    }

    /// Adds a library to link.
    #[must_use]
    pub fn library(mut self, library: &str) -> Self {
        self.libraries.push(library.to_owned());
        self
    }

    /// Adds a directory to search for libraries.
    #[must_use]
    pub fn lib_dir(mut self, dir: &str) -> Self {
        self.lib_dirs.push(dir.to_owned());
        self
    }

    /// Adds a compiler argument.
    #[must_use]
    pub fn compile_arg(mut self, argument: &str) -> Self {
        self.compile_args.push(argument.to_owned());
        self
    }

    /// Adds code at file scope, once per module.
    #[must_use]
    pub fn support_code(mut self, code: &str) -> Self {
        self.support_code.push(code.to_owned());
        self
    }

    /// Adds a source file that the headers refer to.
    #[must_use]
    pub fn source(mut self, name: &str, text: &str) -> Self {
        self.sources.insert(name.to_owned(), text.into());
        self
    }

    /// Sets the version of the generated code.
    #[must_use]
    pub fn version(mut self, version: CacheVersion) -> Self {
        self.version = version;
        self
    }

    fn render(&self, template: &str, name: &str, sub: &Sub) -> String {
        let destroy = self.destroy();
        let values = [
            ("NAME", name),
            ("CTYPE", &*self.ctype),
            ("PY", &sub.py_ptr),
            ("FAIL", &sub.fail),
            ("FREE", self.free.as_deref().unwrap_or("")),
            ("DESTROY", if self.free.is_some() { &destroy } else { "NULL" }),
        ];
        render(template, &values)
    }

    /// Returns the name of the function that frees a capsule's value.
    fn destroy(&self) -> String {
        format!("@M@_{}_destroy", self.name.replace('.', "_"))
    }
}

impl TypeRules for CDataType {}

impl CLinkerObject for CDataType {
    fn c_headers(&self) -> Vec<String> {
        let own = ["precast/link.h".to_owned(), "precast/capsule.h".to_owned()];
        own.into_iter().chain(self.headers.clone()).collect()
    }

    fn c_header_dirs(&self) -> Vec<String> {
        self.header_dirs.clone()
    }

    fn c_libraries(&self) -> Vec<String> {
        self.libraries.clone()
    }

    fn c_lib_dirs(&self) -> Vec<String> {
        self.lib_dirs.clone()
    }

    fn c_compile_args(&self) -> Vec<String> {
        self.compile_args.clone()
    }

    fn c_support_code(&self) -> Vec<String> {
        let mut code = self.support_code.clone();
        if self.free.is_some() {
            code.push(self.render(include_str!("../../c/cdata/destroy.c.in"), "", &Sub::default()));
        }
        code
    }

    fn c_code_cache_version(&self) -> CacheVersion {
        self.version.clone()
    }

    fn c_sources(&self) -> SourceSet {
        let mut sources = crate::module::support_headers();
        let capsule = include_str!("../../c/precast/capsule.h");
        sources.insert("precast/capsule.h".to_owned(), capsule.into());
        sources.extend(self.sources.clone());
        sources
    }
}

impl CType for CDataType {
    fn c_declare(&self, name: &str, sub: &Sub, _check_input: bool) -> String {
        self.render(include_str!("../../c/cdata/declare.c.in"), name, sub)
    }

    fn c_init(&self, name: &str, sub: &Sub) -> String {
        self.render("@NAME@ = NULL;\n@NAME@_owned = 1;\n", name, sub)
    }

    fn c_extract(&self, name: &str, sub: &Sub, check_input: bool) -> String {
        let typenum = DType::U64.typenum().to_string();
        let check = if check_input { include_str!("../../c/tensor_extract.c.in") } else { "" };
        let values = [("NAME", name), ("TYPENUM", &typenum), ("PY", &sub.py_ptr), ("FAIL", &sub.fail)];
        let extract = include_str!("../../c/cdata/extract.c.in").replace("@CHECK@", &render(check, &values));
        self.render(&extract, name, sub)
    }

    /// Frees the value of the previous call first, since the op creates a new one.
    fn c_extract_out(&self, name: &str, sub: &Sub, _check_input: bool) -> String {
        self.render(include_str!("../../c/cdata/extract_out.c.in"), name, sub)
    }

    fn c_sync(&self, name: &str, sub: &Sub) -> String {
        self.render(include_str!("../../c/cdata/sync.c.in"), name, sub)
    }

    fn c_cleanup(&self, name: &str, sub: &Sub) -> String {
        if self.free.is_none() {
            return format!("(void){name}_owned;\n");
        }
        self.render(include_str!("../../c/cdata/cleanup.c.in"), name, sub)
    }

    /// A temporary is only the pointer and is freed when the call ends.
    fn c_is_simple(&self) -> bool {
        true
    }
}
